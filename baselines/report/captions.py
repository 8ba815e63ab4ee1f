"""Pairs of a release to explore: captions, the concepts that link them, gates and provenance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from baselines.report.rows import Explored, Row, Told
from loaders.errors import InputError, ReleaseError
from loaders.files.images import ImageError
from loaders.files.json_values import understood
from loaders.files.tables import open_parquet
from loaders.manifest import Manifest
from loaders.medlaybench_v import CORPUS, MODALITY_NAMES
from loaders.pages import cut, marks, thumbnail

FACETS = ("gate", "status", "method of imaging", "split", "written by")
_FIXED = 6
_SIDE = 260  # pixels of the longer side of a picture


def captions(release: Path) -> Explored:
    """The pairs of a release folder, a few of them on the page without scripts: some with a failed gate first. Raises:
    ReleaseError when it is no release or cannot be read, InputError when its corpus has no caption pairs."""
    manifest = Manifest.read(release)
    if manifest.corpus != CORPUS.name:
        raise InputError(release, found=f"a release of {manifest.corpus}", expected=f"one of {CORPUS.name}")
    with understood(release, expected="a release as `bedside build` wrote it"):
        columns = [name for name in CORPUS.columns if name != "image"]
        rows = [_row(content) for content in _rows(release, manifest, columns)]
        marks = ("every gate passed", "a gate failed")
        explored = Explored.of("captions", rows, FACETS, marks=marks, fixed=_FIXED)
        return explored.pictured(
            (content["image_id"], partial(_picture, data))
            for content in _rows(release, manifest, ["image_id", "image"])
            if (data := (content["image"] or {}).get("bytes"))
        )


def _row(content: Mapping[str, Any]) -> Row:
    expert, lay = content["expert_caption"], content["layman_caption"]
    places, concepts = marks(expert, content["concepts"] or [])
    gates = content["gates"] or []
    failed = [gate for gate in gates if not gate["passed"]]
    told = [Told("Expert caption", expert, "expert", places), Told("Lay caption", lay, "lay")]
    told += [Told("Concepts", concepts, "inline")] if concepts else []
    told += [Told("Failed gates", [f"{gate['gate']}: {gate['reason']}" for gate in failed], "failed")] if failed else []
    if content["status"]:
        told.append(Told("Status", ": ".join(filter(None, (content["status"], content["status_reason"])))))
    if source := "; ".join(filter(None, (content["licence"], content["attribution"]))):
        told.append(Told("Source", source))
    return Row(
        case=content["image_id"],
        title=cut(lay, 140),
        good=not failed if gates else None,
        note=f"{MODALITY_NAMES.get(content['modality'], content['modality'])} · {content['image_id']}",
        problem=", ".join(f"{gate['gate']} failed" for gate in failed),
        facets={
            "gate": [gate["gate"] for gate in failed] or ["none failed"],
            "status": [content["status"] or "none"],
            "method of imaging": [MODALITY_NAMES.get(content["modality"], content["modality"] or "unknown")],
            "split": [content["split"]],
            "written by": [content["refiner"] or "unknown"],
        },
        told=told,
        alt=lay,
    )


def _picture(image: bytes) -> str:
    try:
        return thumbnail(image, _SIDE)
    except ImageError:  # an unreadable image of a release is left out; the page is still written
        return ""


def _rows(release: Path, manifest: Manifest, columns: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """These columns of the rows, None where an earlier release lacks one."""
    for shard in manifest.shards(*manifest.splits):
        try:
            with open_parquet(release / shard) as file:
                for group in range(file.num_row_groups):
                    for row in file.read_row_group(group, columns=list(columns)).to_pylist():
                        yield {**dict.fromkeys(columns), **row}
        except InputError as error:
            found = f"cannot be read: {error.found}"
            raise ReleaseError(release / shard, found=found, expected="a Parquet file", do=error.do) from error
