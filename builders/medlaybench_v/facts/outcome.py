"""What a gate found between two captions, and what the finding rests on: here alone is decided what fails a pair."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class Basis(Enum):
    """What the claim of a gate rests on, the strongest first."""

    CONTRADICTED = "both captions name a value of one dimension, and the values exclude each other"
    MISSED = "a fact of a kind that no rewriting drops is gone: a measure, a side, a denied finding, a mark"
    CLAIMED = "a finding, treatment or cause of the tables that no term of the expert caption may stand for"
    UNCOVERED = "a claim of the tables that an expert term which they do not know may stand for"
    UNRECOGNISED = "the other caption holds no wording that the tables know; it may say it in other words"
    PLAIN_WORD = "a word that names a fact, and also stands in plain sentences without one"


FAILS = frozenset((Basis.CONTRADICTED, Basis.MISSED, Basis.CLAIMED))
"""What an alarm may rest on. All else is for a reader to decide."""


@dataclass(slots=True)
class Outcome:
    """Facts lost, changed, new or exchanged, in words that name both values; `doubts` are for a reader to decide."""

    lost: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    swapped: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def add(self, what: str, text: str, basis: Basis) -> None:
        """A claim: `what` is "lost", "changed", "new" or "swapped"; a doubt if its basis is not among `FAILS`."""
        if basis in FAILS:
            getattr(self, what).append(text)
        else:
            self.doubts.append(f"{what}: {text}")

    @property
    def failed(self) -> bool:
        return bool(self.lost or self.changed or self.new or self.swapped)

    @property
    def reason(self) -> str:
        """ "lost: 2 cm; new: 3 cm"; the doubts alone where nothing is wrong for certain."""
        if not self.failed:
            return "; ".join(dict.fromkeys(self.doubts))
        lists = (("lost", self.lost), ("changed", self.changed), ("new", self.new), ("swapped", self.swapped))
        return "; ".join(f"{what}: {', '.join(dict.fromkeys(items))}" for what, items in lists if items)
