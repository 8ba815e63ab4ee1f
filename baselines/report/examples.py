"""Pairs of a release to look at: picture, both captions, the concepts that tie them, and the gates that failed."""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from markupsafe import Markup, escape
from PIL import Image

from loaders.errors import InputError, ReleaseError
from loaders.images import open_image
from loaders.manifest import Manifest, order_splits

_THUMBNAIL = 360  # pixels of the longer side
_TEXTS = (
    "image_id", "split", "modality", "expert_caption", "layman_caption", "concepts", "gates", "status", "refiner",
    "licence", "attribution",
)  # fmt: skip

_Place = tuple[str, int, int]  # file, row group, row


@dataclass(frozen=True, slots=True)
class Example:
    """A pair as the page shows it.

    `expert` is the caption with its concepts marked and numbered, `concepts` their surface and lay phrase in order,
    `failed` gates with their reasons, `picture` a data URL, or None.
    """

    row: dict[str, Any]
    expert: Markup
    concepts: list[tuple[str, str]]
    failed: list[tuple[str, str]]
    picture: str | None


def examples(release: Path, *, count: int = 6, seed: int = 0) -> list[Example]:
    """`count` pairs of a release folder: up to half with a failed gate, the others drawn by seed.

    Raises ReleaseError when the folder is no release or a file of it cannot be read, InputError when its corpus has no
    caption pairs.
    """
    manifest = Manifest.read(release)
    if manifest.corpus != "medlaybench-v":
        raise InputError(release, found=f"a release of {manifest.corpus}", expected="one of medlaybench-v")
    draw = random.Random(seed)
    failed: list[_Place] = []
    others: list[_Place] = []
    for place, gates in _gates(release, manifest):
        (others if all(gate["passed"] for gate in gates) else failed).append(place)
    chosen = draw.sample(failed, min(len(failed), count // 2))
    chosen += draw.sample(others, min(len(others), count - len(chosen)))
    return [_example(_row(release, place)) for place in chosen]


def _gates(release: Path, manifest: Manifest) -> Iterator[tuple[_Place, list[dict[str, Any]]]]:
    """Where each row is and its gates, reading no other column."""
    for split in order_splits(manifest.splits):
        for shard in manifest.shards(split):
            with _open(release / shard) as file:
                for group in range(file.num_row_groups):
                    table = _group(file, release / shard, group, ["gates"])
                    for at, gates in enumerate(table.column("gates").to_pylist()):
                        yield (shard, group, at), gates or []


def _row(release: Path, place: _Place) -> dict[str, Any]:
    shard, group, at = place
    with _open(release / shard) as file:
        table = _group(file, release / shard, group, [*_TEXTS, "image"])
        row: dict[str, Any] = table.slice(at, 1).to_pylist()[0]
    return row


def _open(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise ReleaseError(path, found=f"cannot be read: {error}", expected="a Parquet file") from error


def _group(file: pq.ParquetFile, path: Path, group: int, columns: list[str]) -> pa.Table:
    try:
        return file.read_row_group(group, columns=columns)
    except (OSError, pa.ArrowException) as error:
        raise ReleaseError(path, found=f"cannot be read: {error}", expected="a Parquet file") from error


def _example(row: dict[str, Any]) -> Example:
    image = row.pop("image")
    expert, concepts = _marked(row["expert_caption"], row["concepts"] or [])
    failed = [(gate["gate"], gate["reason"]) for gate in row["gates"] or [] if not gate["passed"]]
    picture = _thumbnail(image["bytes"]) if image and image["bytes"] else None
    return Example(row, expert, concepts, failed, picture)


def _marked(caption: str, concepts: list[dict[str, Any]]) -> tuple[Markup, list[tuple[str, str]]]:
    """The caption with each concept that has a lay phrase marked and numbered, and those phrases by number."""
    parts: list[Markup] = []
    lay: list[tuple[str, str]] = []
    at = 0
    for concept in sorted(concepts, key=lambda one: (one["start"], -one["end"])):
        start, end = concept["start"], concept["end"]
        if start < at or not concept["lay"]:
            continue
        lay.append((caption[start:end], concept["lay"]))
        marked = Markup("<mark>{}<sup>{}</sup></mark>").format(caption[start:end], len(lay))
        parts += [escape(caption[at:start]), marked]
        at = end
    return Markup("").join([*parts, escape(caption[at:])]), lay


def _thumbnail(data: bytes) -> str:
    picture = open_image(data).convert("RGB")
    picture.thumbnail((_THUMBNAIL, _THUMBNAIL), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=80)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()
