"""Statistics of a release of 3MDBench, and the rules that its rows obey: what `bedside verify` measures again."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from pydantic import JsonValue

from builders.licences import read_licence
from builders.pipeline.rows import Row
from builders.release.counted import Counted
from builders.steps import unclean
from builders.threemdbench.complaints import STATUSES
from builders.threemdbench.validators import check_basic, check_facts
from loaders.errors import ReleaseError
from loaders.manifest import order_splits
from loaders.threemdbench import DIAGNOSES, DOMAINS, PERSONALITIES, SPOKEN

RULES = 5
"""The version of what `check_row` requires and `measure` counts; 1 covers everything before versions were numbered."""

FLOOR = 64  # photos of a class in the test split (Section 3.1)
# What the paper states: sizes of the splits, the largest class, the floor, and how many classes are exactly at it.
PAPER = {
    "test photos": 2_996,
    "train photos": 2_396,
    "validation photos": 596,
    "diagnoses in test": 34,
    "photos of the largest class": 383,
    "photos of the smallest class": FLOOR,
    "classes of exactly 64": 21,
}
_SPLITS = ("train", "validation", "test")
_DOMAIN_OF = {diagnosis.name: diagnosis.domain for diagnosis in DIAGNOSES}


class Tally:
    """Counts by split, diagnosis, domain, source, licence, temperament and status of complaints.

    Raises: ReleaseError if a patient, lesion, case or cluster has photos in two splits.
    """

    def __init__(self) -> None:
        self.by: dict[str, Counter[Any]] = defaultdict(Counter)
        self.split_of: dict[tuple[str, str], str] = {}

    def add(self, row: Row) -> None:
        """Count a row."""
        split = row["split"]
        self.by["split"][split] += 1
        for column in ("diagnosis", "domain", "source"):
            self.by[column][row[column] or "unknown", split] += 1
        self.by["licence"][read_licence(row["licence"]).id] += 1
        if row["personality"]:
            self.by["temperament"][row["personality"]] += 1
        if row["complaints_status"]:
            self.by["status"][row["complaints_status"]] += 1
            self.by["complaints"]["all"] += len(row["complaints"])
        for kind in ("group_id", "cluster_id"):
            if row[kind]:
                self._keep_together(kind, row[kind], split)

    def merge(self, other: Tally) -> None:
        """Add the counts of other rows."""
        for name, counts in other.by.items():
            self.by[name].update(counts)
        for (kind, name), split in other.split_of.items():
            self._keep_together(kind, name, split)

    def _keep_together(self, kind: str, name: str, split: str) -> None:
        before = self.split_of.setdefault((kind, name), split)
        if before != split:
            raise ReleaseError(
                f"{kind} {name!r}",
                found=f"has photos in {before} and in {split}",
                expected="one split",
                do="Do not use this release: build it again",
            )

    def statistics(self) -> JsonValue:
        """The counts by name, beside the paper's."""
        by, order = self.by, order_splits(self.by["split"])
        told = sum(by["status"].values())
        test = {name: by["diagnosis"][name, "test"] for name in _DOMAIN_OF}
        present = [n for n in test.values() if n]
        here = {
            **{f"{split} photos": by["split"][split] for split in _SPLITS},
            "diagnoses in test": len(present),
            "photos of the largest class": max(present, default=0),
            "photos of the smallest class": min(test.values()),
            "classes of exactly 64": sum(n == FLOOR for n in present),
        }
        return {
            "diagnosis_by_split": {name: {s: by["diagnosis"][name, s] for s in order} for name in _DOMAIN_OF},
            "domain_by_split": {name: {s: by["domain"][name, s] for s in order} for name in DOMAINS},
            "source_by_split": {
                name: {s: by["source"][name, s] for s in order}
                for name in sorted({source for source, _ in by["source"]})
            },
            "temperament": {p: by["temperament"][p] for p in PERSONALITIES},
            "complaints_status": {name: by["status"][name] for name in STATUSES if by["status"][name]},
            "complaints_per_case": round(by["complaints"]["all"] / told, 2) if told else 0.0,
            "licence": dict(sorted(by["licence"].items())),
            "below_floor": sum(n < FLOOR for n in test.values()),
            "groups": sum(kind == "group_id" for kind, _ in self.split_of),
            "clusters": sum(kind == "cluster_id" for kind, _ in self.split_of),
            "against_paper": {name: {"this release": here[name], "the paper": PAPER[name]} for name in PAPER},
        }


measure = Counted(Tally)


def check_row(row: dict[str, Any]) -> list[str]:
    """What is wrong with a row of a release: its diagnosis, who may say what in its split, or complaints that fail."""
    problems = unclean(row)
    if _DOMAIN_OF.get(row["diagnosis"]) != row["domain"]:
        problems.append(
            f"diagnosis {row['diagnosis']!r} of domain {row['domain']!r}, expected one of the 34 and its own"
        )
    if row["image"] is None:
        problems.append("no image")
    if row["split"] != "test":
        said = [name for name in SPOKEN if row[name] not in (None, [])]
        return problems + [f"{name} in split {row['split']}, expected in test only" for name in said]
    if row["personality"] not in PERSONALITIES:
        problems.append(f"personality {row['personality']!r}, expected one of {', '.join(PERSONALITIES)}")
    if row["complaints_status"] not in STATUSES:
        problems.append(f"status {row['complaints_status']!r}, expected one of {', '.join(STATUSES)}")
    if not row["general_complaint"]:
        return [*problems, "no general complaint"]
    problems += [f"general complaint, {failure}" for failure in check_basic(row["general_complaint"])]
    problems += [f"complaints, {failure}" for failure in check_facts(row["general_complaint"], row["complaints"])]
    return problems
