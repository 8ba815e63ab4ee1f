"""Curation of a folder of images, from the first look to the report.

    bedside curate DIR -o REPORT

writes into REPORT, the same bytes for the same files whatever the number of workers:

    report.html         what to look at: leaks, clusters, quality, files that cannot be read; opens from disk
    clusters.parquet    file, cluster, kept, reason, detail: every file once
    quality.parquet     measures and flags of every file, or why it has none
    pairs.parquet       pairs that were compared and found alike, or could not be told apart for sure
    leaks.parquet       clusters that cross splits, labels or sources
    index.sqlite        what was measured and compared so far, so that only new images cost time (not an output)
"""

from __future__ import annotations

import io
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from rich.progress import Progress

from builders.curation.curate import Curation, curate
from builders.curation.folders import files_of
from builders.curation.report import write_report
from loaders.errors import InputError
from loaders.files.disk import make_folder, write_whole
from loaders.files.untrusted import resolved

CLUSTERS = pa.schema(
    [
        ("file", pa.string()),
        ("cluster", pa.string()),
        ("kept", pa.bool_()),
        ("reason", pa.string()),
        ("detail", pa.string()),
    ]
)
"""Reasons: unique, best_copy, same_scene (kept); same_bytes, same_pixels, near_copy, unreadable (not kept)."""

QUALITY = pa.schema(
    [
        *((name, pa.string()) for name in ("file", "split", "label", "source", "status", "detail", "sha256")),
        *((name, pa.int64()) for name in ("bytes", "width", "height")),
        ("sharpness", pa.float64()),
        ("least_sharpness", pa.float64()),
        ("brightness", pa.float64()),
        ("darkest", pa.int64()),
        ("brightest", pa.int64()),
        ("clipped", pa.float64()),
        ("border", pa.float64()),
        ("text_characters", pa.int64()),
        ("flags", pa.list_(pa.string())),
    ]
)
"""Status is `ok` or the reason of `loaders.files.images.ImageError`; the rest is as in `quality.Quality`, or null."""

PAIRS = pa.schema(
    [
        ("file", pa.string()),
        ("other", pa.string()),
        ("kind", pa.string()),
        ("matches", pa.int64()),
        *((name, pa.float64()) for name in ("explained", "agreement", "of_file", "of_other")),
        ("turn", pa.int64()),
        ("mirrored", pa.bool_()),
    ]
)
LEAKS = pa.schema(
    [
        ("boundary", pa.string()),
        ("cluster", pa.string()),
        ("exact", pa.bool_()),
        ("same_bytes", pa.int64()),
        ("values", pa.list_(pa.string())),
        ("files", pa.list_(pa.string())),
    ]
)
"""`same_bytes` counts the contents of the cluster that lie on several sides byte for byte; `exact`: there is one."""


def curate_folder(
    folder: Path,
    report: Path,
    *,
    table: Path | None = None,
    index: Path | None = None,
    workers: int = 1,
    progress: Progress | None = None,
) -> Curation:
    """Curate a folder and write the report into another one (see the text of this module).

    Raises: InputError as `folders.files_of` and `curate`, and for a report folder that is the folder of images;
    BedsideError when the disk is full.
    """
    if resolved(report) == resolved(folder):
        raise InputError(
            report, found="is the folder of images itself", expected="another folder, which may lie inside it"
        )
    files = files_of(folder, table=table, without=report)
    make_folder(report)
    curation = curate(files, index=index or report / "index.sqlite", workers=workers, progress=progress)
    _write(report / "quality.parquet", QUALITY, _quality_rows(curation))
    _write(report / "clusters.parquet", CLUSTERS, _cluster_rows(curation))
    _write(report / "pairs.parquet", PAIRS, _pair_rows(curation))
    _write(report / "leaks.parquet", LEAKS, _leak_rows(curation))
    write_report(curation, resolved(folder).name, report / "report.html")
    return curation


def _quality_rows(curation: Curation) -> list[dict[str, Any]]:
    rows = []
    for picture, judgement in zip(curation.files, curation.judgements, strict=True):
        file = picture.file
        row: dict[str, Any] = {"file": file.name, "split": file.split, "label": file.label, "source": file.source}
        if picture.content is None or judgement is None:
            row |= {"status": picture.reason, "detail": picture.detail, "flags": []}
        else:
            quality = picture.content.quality
            row |= {name: getattr(quality, name) for name in QUALITY.names if hasattr(quality, name)}
            row |= {"status": "ok", "detail": "", "sha256": picture.content.digest, "bytes": picture.content.size}
            row |= {"flags": list(judgement.flags), "least_sharpness": judgement.least_sharpness}
        rows.append(row)
    return rows


def _cluster_rows(curation: Curation) -> list[dict[str, Any]]:
    return [
        {"file": picture.file.name, **asdict(decision), "cluster": decision.cluster or None}
        for picture, decision in zip(curation.files, curation.decisions, strict=True)
    ]


def _pair_rows(curation: Curation) -> list[dict[str, Any]]:
    names: dict[str, str] = {}
    for picture in curation.files:
        if picture.content:
            names.setdefault(picture.content.digest, picture.file.name)
    rows = []
    for link in curation.groups.links:
        first, second, verdict = names[link.first], names[link.second], link.verdict
        if second < first:
            first, second, verdict = second, first, verdict.swapped()
        shares = {"of_file": verdict.of_first, "of_other": verdict.of_second}
        rows.append({"file": first, "other": second, **asdict(verdict), **shares})
    return sorted(rows, key=lambda row: (row["file"], row["other"]))


def _leak_rows(curation: Curation) -> list[dict[str, Any]]:
    return [
        {
            "boundary": leak.boundary,
            "cluster": leak.cluster,
            "exact": leak.exact,
            "same_bytes": leak.same_bytes,
            "values": list(leak.values),
            "files": [picture.file.name for picture in leak.files],
        }
        for leak in curation.leaks
    ]


def _write(path: Path, schema: pa.Schema, rows: list[dict[str, Any]]) -> None:
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema), buffer, compression="zstd")
    write_whole(path, buffer.getvalue())
