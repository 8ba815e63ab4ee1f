"""Complaints written by hand for all 34 diagnoses, so that a release can be made without a model (CC0).

`authored_complaints.csv` holds, for each diagnosis, one basic complaint and further ones by their subject: symptom,
place, duration, intensity, trigger; `history` is shared by all. A case draws from them by its own key. They were not
written from any photo, and no clinician has reviewed them.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from builders.curation.sampling import shuffled
from builders.threemdbench.validators import check_facts
from loaders.files.bundled import bundled

SOURCE = "authored, not clinician-reviewed"
_PATH = Path(__file__).with_name("authored_complaints.csv")
# How many complaints of each kind a case draws, in the order in which a patient is asked for them.
_DRAWN = {"symptom": 3, "place": 1, "duration": 1, "intensity": 1, "trigger": 1, "history": 1}


def authored_basic(diagnosis: str) -> str:
    """The basic complaint of a diagnosis."""
    return _read()[diagnosis]["basic"][0]


def authored_facts(diagnosis: str, *, key: str, seed: int, basic: str | None = None) -> list[str]:
    """Eight additional complaints for the case `key`.

    They fit the authored basic complaint. With another one, given as `basic`, a complaint that it already covers is
    replaced by the next of its kind, or left out.
    """
    chosen: list[str] = []
    for slot, wanted in _DRAWN.items():
        there = _read()[diagnosis].get(slot) or _read()["any"][slot]
        drawn: list[str] = []
        for fact in shuffled(there, seed=seed, purpose=f"authored {slot} {key}"):
            if len(drawn) < wanted and (basic is None or _fits(basic, [*chosen, *drawn, fact])):
                drawn.append(fact)
        # In the order in which they were written, from the usual to the rarer.
        chosen += [fact for fact in there if fact in drawn]
    return chosen


def _fits(basic: str, facts: list[str]) -> bool:
    """Whether the facts pass every check except that of their number."""
    return {failure.check for failure in check_facts(basic, facts)} <= {"count"}


def authored_digest() -> str:
    """SHA-256 of all authored complaints."""
    return hashlib.sha256(_PATH.read_bytes()).hexdigest()


@cache
def _read() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for row in bundled("builders.threemdbench", _PATH.name):
        found.setdefault(row["diagnosis"], {}).setdefault(row["slot"], []).append(row["text"])
    return found
