"""What `bedside preview` shows of MedConceal: charts as clinicians see them, and nothing hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from builders.pipeline.rows import Row
from builders.release.preview import Preview, Table, by_split, counted
from loaders.medconceal import chart, profile_of
from loaders.pages import Entry, Field


def _tables(statistics: Any, splits: Sequence[str]) -> list[Table]:
    return [
        by_split("Specialty, beside Table 5", "specialty", statistics["specialty"], ("this release", "the paper")),
        counted("Category of hidden concerns", "category", statistics["category"], "concerns"),
        counted("What curation did", "", statistics["curation"], "number"),
    ]


def _shown(row: Row) -> Entry:
    origin = "synthetic" if row["synthetic"] else "from a thread"
    return Entry(
        [Field(heading, text) for heading, text in chart(profile_of(row), "intervention").lines()],
        small=(row["case_id"], row["specialty"], origin, row["author"], row["licence"]),
    )


PREVIEW = Preview(
    "charts",
    "As a clinician sees them in an intervention. Hidden concerns are shown on no page: they are in the "
    "release's config `cases`.",
    _tables,
    _shown,
)
