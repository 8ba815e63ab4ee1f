"""Statistics of a release of 3MDBench, and the rules that its rows keep: what `bedside verify` measures again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from pydantic import JsonValue

from builders.threemdbench.complaints import STATUSES
from builders.threemdbench.validators import check_basic, check_facts
from loaders.errors import ReleaseError
from loaders.manifest import order_splits
from loaders.threemdbench import DIAGNOSES, DOMAINS, PERSONALITIES, SPOKEN

RULES = 2
"""The version of what `check_row` holds rows to and `measure` counts; 1 was all that came before it had a number."""

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
_DOMAIN_OF = {diagnosis.name: diagnosis.domain for diagnosis in DIAGNOSES}


def measure(rows: Iterable[dict[str, Any]]) -> JsonValue:
    """Counts by split, diagnosis, domain, source, licence, temperament and status of complaints.

    Raises:
        ReleaseError: a patient, lesion, case or cluster has photos in two splits.
    """
    by: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    temperament: Counter[tuple[str, str]] = Counter()
    status: Counter[str] = Counter()
    licence: Counter[str] = Counter()
    split_of: dict[tuple[str, str], str] = {}
    splits: set[str] = set()
    complaints = 0
    for row in rows:
        split = row["split"]
        splits.add(split)
        for column in ("diagnosis", "domain", "source"):
            by[column][row[column] or "unknown", split] += 1
        licence[row["licence"] or "unknown"] += 1
        if row["personality"]:
            temperament[row["diagnosis"], row["personality"]] += 1
        if row["complaints_status"]:
            status[row["complaints_status"]] += 1
            complaints += len(row["complaints"])
        for kind in ("group_id", "cluster_id"):
            if row[kind] and split_of.setdefault((kind, row[kind]), split) != split:
                raise ReleaseError(
                    f"{kind} {row[kind]!r}",
                    found=f"has photos in {split_of[kind, row[kind]]} and in {split}",
                    expected="one split",
                    do="Do not use this release: build it again",
                )
    order = order_splits(splits)
    test = {name: by["diagnosis"][name, "test"] for name in _DOMAIN_OF}
    present = [n for n in test.values() if n]
    told = sum(status.values())
    here = {
        **{f"{split} photos": sum(n for (_, s), n in by["domain"].items() if s == split) for split in _SPLITS},
        "diagnoses in test": len(present),
        "photos of the largest class": max(present, default=0),
        "photos of the smallest class": min(test.values()),
        "classes of exactly 64": sum(n == FLOOR for n in present),
    }
    return {
        "diagnosis_by_split": {name: {s: by["diagnosis"][name, s] for s in order} for name in _DOMAIN_OF},
        "domain_by_split": {name: {s: by["domain"][name, s] for s in order} for name in DOMAINS},
        "source_by_split": {
            name: {s: by["source"][name, s] for s in order} for name in sorted({source for source, _ in by["source"]})
        },
        "temperament": {p: sum(n for (_, q), n in temperament.items() if q == p) for p in PERSONALITIES},
        "complaints_status": {name: status[name] for name in STATUSES if status[name]},
        "complaints_per_case": round(complaints / told, 2) if told else 0.0,
        "licence": dict(sorted(licence.items())),
        "below_floor": sum(n < FLOOR for n in test.values()),
        "groups": sum(kind == "group_id" for kind, _ in split_of),
        "clusters": sum(kind == "cluster_id" for kind, _ in split_of),
        "against_paper": {name: {"this release": here[name], "the paper": PAPER[name]} for name in PAPER},
    }


_SPLITS = ("train", "validation", "test")


def check_row(row: dict[str, Any]) -> list[str]:
    """What is wrong with a row of a release: its diagnosis, who may say what in its split, or complaints that fail."""
    problems = []
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
