"""The audit of a set of photos, from the first look to the report.

    bedside curate PHOTOS -o REPORT

writes into REPORT, the same bytes for the same photos whatever the number of workers:

    report.html       what to look at: leaks, overlap with other sets, copies, doubts, quality, what cannot be read
    photos.parquet    a row for every photo: what it is, its quality, its copies, and what it crosses (PHOTOS)
    index.sqlite      what was measured and compared so far, so that only new images cost time (not an output)
"""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from rich.progress import Progress

from builders.curation.curate import OWN, Curation, Leak, beside, curate, shared
from builders.curation.examine import Examined, by_content
from builders.curation.photo_sets import PhotoSet, photo_set
from builders.curation.report import Audit, write_report
from loaders.engines.engine import Engine
from loaders.errors import InputError, how_many
from loaders.files.disk import make_folder, write_whole
from loaders.files.opening import refuse_other
from loaders.files.paths import resolved
from loaders.files.tables import open_parquet
from loaders.pages import refuse_other_page

NAME = "photos.parquet"
PAGE = "report.html"
_OWN = {"file", "cluster", "kept", "reason"}  # columns of every version of the table
ALIKE = pa.struct(
    [
        ("file", pa.string()),
        ("kind", pa.string()),
        ("matches", pa.int64()),
        *((name, pa.float64()) for name in ("explained", "agreement", "of_this", "of_other")),
        ("turn", pa.int64()),
        ("mirrored", pa.bool_()),
    ]
)
CROSSES = pa.struct(
    [("by", pa.string()), ("boundary", pa.string()), ("same_bytes", pa.bool_()), ("values", pa.list_(pa.string()))]
)
PHOTOS = pa.schema(
    [
        *((name, pa.string()) for name in ("file", "split", "label", "group", "source", "status", "sha256")),
        *((name, pa.int64()) for name in ("bytes", "width", "height")),
        *((name, pa.float64()) for name in ("sharpness", "least_sharpness", "motion", "brightness")),
        *((name, pa.int64()) for name in ("darkest", "brightest")),
        *((name, pa.float64()) for name in ("clipped", "border")),
        ("text_characters", pa.int64()),
        ("flags", pa.list_(pa.string())),
        ("cluster", pa.string()),
        ("kept", pa.bool_()),
        ("reason", pa.string()),
        ("detail", pa.string()),
        ("alike", pa.list_(ALIKE)),
        ("crosses", pa.list_(CROSSES)),
        ("elsewhere", pa.list_(pa.string())),
    ]
)
"""`status` is `ok` or the reason of `loaders.files.images.ImageError`; measures are as in `quality.Quality`, or null.

`reason` is unique, best_copy or same_scene (kept), same_bytes, same_pixels, near_copy, collage (of photos that are here
too) or unreadable (not kept).
`alike` are photos later in the table that it was compared with and found alike, or that remained unclear, with the
measurements (`verification.PairVerdict`). `crosses` says which boundary its cluster, or its group, crosses: splits,
labels, groups or sources; `same_bytes`, whether byte for byte. `elsewhere` are its copies in the sets that it was
compared with, each `SET: FILE`.
"""


def curate_set(
    name: str,
    report: Path,
    *,
    table: Path | None = None,
    label: str | None = None,
    group: str | None = None,
    against: Sequence[str] = (),
    index: Path | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Curate what `name` means (`photo_sets`) and write the report into a folder (see the text of this module).

    Raises: InputError as `photo_set` and `curate`, and for a report folder that is the folder of images, or
    that holds a table or page of somebody else's; BedsideError when the disk is full.
    """
    for place in (name, *against):
        if resolved(report) == resolved(Path(place)):
            found = "is the folder of images itself"
            raise InputError(report, found=found, expected="another folder, possibly inside it")
    refuse_other(report / NAME, (b"PAR1",), what="table of this command", is_one=lambda _: _is_own(report / NAME))
    refuse_other_page(report / PAGE)
    photos = photo_set(name, table=table, label=label, group=group, report=report)
    others = _others(against, report)
    make_folder(report)
    index = index or report / "index.sqlite"
    curation = curate(photos.files, index=index, engine=engine, progress=progress)
    overlaps: tuple[Leak, ...] = ()
    unread: tuple[Examined, ...] = ()
    if others:
        files = beside(photos.files, {name: other.files for name, other in others.items()})
        together = curate(files, index=index, engine=engine, progress=progress)
        overlaps = shared(together)
        unread = tuple(one for one in together.files if one.content is None and one.file.set != OWN)
        lost = Counter(one.file.set for one in unread)
        for name, other in others.items():
            if lost[name] == len(other.files):
                found = f"none of {how_many(lost[name], 'file')} is a readable image"
                raise InputError(f"--against {name}", found=found, expected="images")
    audit = Audit(photos, curation, tuple(others), overlaps, unread)
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(_rows(audit), PHOTOS), buffer, compression="zstd")
    write_whole(report / NAME, buffer.getvalue())
    write_report(audit, report / PAGE)
    return audit


def _is_own(path: Path) -> bool:
    try:
        with open_parquet(path) as file:
            return set(file.schema_arrow.names) >= _OWN
    except InputError:
        return False


def _others(against: Sequence[str], report: Path) -> dict[str, PhotoSet]:
    """The sets to compare with, by name; duplicate names are numbered."""
    found: dict[str, PhotoSet] = {}
    for place in against:
        other = photo_set(place, report=report)
        number = sum(name.partition(" #")[0] == other.name for name in found)
        found[f"{other.name} #{number + 1}" if number or other.name == OWN else other.name] = other
    return found


def _rows(audit: Audit) -> list[dict[str, Any]]:
    alike, crosses, elsewhere = _alike(audit.curation), _crosses(audit.curation.leaks), _elsewhere(audit.overlaps)
    curation = audit.curation
    rows = []
    for picture, judgement, decision in zip(curation.files, curation.judgements, curation.decisions, strict=True):
        file = picture.file
        row: dict[str, Any] = {name: getattr(file, name) for name in ("split", "label", "group", "source")}
        row |= {"file": file.name, **asdict(decision), "cluster": decision.cluster or None}
        row |= {"alike": alike[file.name], "crosses": crosses[file.name], "elsewhere": elsewhere[file.name]}
        if picture.content is None or judgement is None:
            row |= {"status": picture.reason, "flags": []}
        else:
            quality = picture.content.quality
            row |= {name: getattr(quality, name) for name in PHOTOS.names if hasattr(quality, name)}
            row |= {"status": "ok", "sha256": picture.content.digest, "bytes": picture.content.size}
            row |= {"flags": list(judgement.flags), "least_sharpness": judgement.least_sharpness}
        rows.append(row)
    return rows


def _alike(curation: Curation) -> dict[str, list[dict[str, Any]]]:
    names = {digest: picture.file.name for digest, picture in by_content(curation.files).items()}
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for link in curation.groups.links:
        first, second, verdict = names[link.first], names[link.second], link.verdict
        if second < first:
            first, second, verdict = second, first, verdict.swapped()
        found[first].append(
            {"file": second, **asdict(verdict), "of_this": verdict.of_first, "of_other": verdict.of_second}
        )
    for pairs in found.values():
        pairs.sort(key=lambda pair: str(pair["file"]))
    return found


def _crosses(leaks: Sequence[Leak]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for leak in leaks:
        leak_facts = {"by": leak.by, "boundary": leak.boundary, "same_bytes": leak.exact, "values": list(leak.values)}
        for picture in leak.files:
            if leak_facts not in found[picture.file.name]:  # a collage crosses with each photo in it
                found[picture.file.name].append(leak_facts)
    return found


def _elsewhere(overlaps: Sequence[Leak]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for leak in overlaps:
        there = [picture.file.name for picture in leak.files if picture.file.set != OWN]
        for picture in leak.files:
            if picture.file.set == OWN:
                found[picture.file.name] = list(dict.fromkeys([*found[picture.file.name], *there]))
    return found
