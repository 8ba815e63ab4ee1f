"""What `bedside preview` shows of 3MDBench: photos with what their patients say, fallen-back complaints first.

Names of files, patients and clusters are not shown: a page is passed around more freely than a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from builders.pipeline.rows import Row
from builders.release.preview import Preview, Table, by_split, thumbnail

_SHOWN = (
    "image_id",
    "split",
    "diagnosis",
    "domain",
    "general_complaint",
    "complaints",
    "complaints_status",
    "personality",
    "source",
    "licence",
    "attribution",
)


def _tables(statistics: Any, splits: Sequence[str]) -> list[Table]:
    here = {name: counts for name, counts in statistics["diagnosis_by_split"].items() if any(counts.values())}
    return [
        by_split("Domain", "domain", statistics["domain_by_split"], splits),
        by_split("Source", "source", statistics["source_by_split"], splits),
        Table(
            "Complaints, test split",
            "status",
            ["cases"],
            [(name, [count]) for name, count in statistics["complaints_status"].items()],
        ),
        Table(
            "Temperament, test split",
            "temperament",
            ["cases"],
            [(name, [count]) for name, count in statistics["temperament"].items()],
        ),
        by_split("Diagnosis", "diagnosis", here, splits),
    ]


def _shown(row: Row) -> dict[str, Any]:
    return {**{name: row[name] for name in _SHOWN}, "thumbnail": thumbnail(row["image"])}


PREVIEW = Preview(
    "threemdbench/preview.html", _tables, lambda row: bool(row["complaints_status"] == "fallback"), _shown
)
