"""What `bedside preview` shows of 3MDBench: photos with what their patients say, fallback complaints first.

Names of files, patients and clusters are not shown: a page is passed around more freely than a release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from builders.pipeline.rows import Row
from builders.release.preview import Preview, Table, by_split, counted
from loaders.pages import Entry, Field, thumbnail


def _tables(statistics: Any, splits: Sequence[str]) -> list[Table]:
    here = {name: counts for name, counts in statistics["diagnosis_by_split"].items() if any(counts.values())}
    return [
        by_split("Domain", "domain", statistics["domain_by_split"], splits),
        by_split("Source", "source", statistics["source_by_split"], splits),
        counted("Complaints, test split", "status", statistics["complaints_status"], "cases"),
        counted("Temperament, test split", "temperament", statistics["temperament"], "cases"),
        by_split("Diagnosis", "diagnosis", here, splits),
    ]


def _shown(row: Row) -> Entry:
    fields = [Field("diagnosis", f"{row['diagnosis']} ({row['domain']})")]
    if row["general_complaint"]:
        fields.append(Field(f"the patient, {row['personality']}, says", row["general_complaint"], "lay"))
        fields.append(Field("and, when asked", row["complaints"]))
    licence = row["licence"] or "licence unknown"
    return Entry(
        fields,
        thumbnail(row["image"]["bytes"]),
        alt=f"{row['diagnosis']}, photo {row['image_id']}",
        status=row["complaints_status"] or "",
        small=[text for text in (row["split"], row["source"], row["image_id"], licence, row["attribution"]) if text],
    )


PREVIEW = Preview(
    "photos",
    "Rows with fallback complaints come first. Photos outside the test split have no complaints.",
    _tables,
    _shown,
    first=lambda row: bool(row["complaints_status"] == "fallback"),
)
