"""What `bedside preview` shows of MedConceal: charts as clinicians see them, and nothing that is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from builders.pipeline.rows import Row
from builders.release.preview import Preview, Table
from loaders.medconceal import chart, profile_of


def _tables(statistics: Any, splits: Sequence[str]) -> list[Table]:
    both = ("this release", "the paper")
    return [
        Table(
            "Specialty, beside Table 5",
            "specialty",
            both,
            [(name, [counts[one] for one in both]) for name, counts in statistics["specialty"].items()],
        ),
        Table("Category of hidden concerns", "category", ["concerns"], _lines(statistics["category"])),
        Table("What curation did", "", ["number"], _lines(statistics["curation"])),
    ]


def _lines(counts: dict[str, int]) -> list[tuple[str, list[int]]]:
    return [(name, [count]) for name, count in counts.items()]


def _shown(row: Row) -> dict[str, Any]:
    lines = chart(profile_of(row), "intervention").lines()
    return {
        "case_id": row["case_id"],
        "specialty": row["specialty"],
        "author": row["author"],
        "licence": row["licence"],
        "synthetic": row["synthetic"],
        "lines": lines,
    }


PREVIEW = Preview("medconceal/preview.html", _tables, lambda row: False, _shown)
