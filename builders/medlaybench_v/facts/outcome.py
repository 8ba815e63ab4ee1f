"""What a gate found between two captions, and the evidence for it; only here is it decided what fails a pair.

A new writer uses wordings that the tables do not know. So an absence proves little if a fact can be worded in many
ways, and a contradiction proves little if it depends on how a free sentence was parsed. On pairs of seven writers that
nobody here had read, the sole reason of a verdict was right in 95 of 100 for degrees, methods, exchanged marks, sides
and amounts of one unit, and in 6 to 8 of 10 for denials, comparisons, new findings and what was not found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple


class Basis(Enum):
    """What the claim of a gate rests on, the strongest first."""

    CONTRADICTED = "both captions name a value of one dimension, and the values exclude each other"
    MISSING = "a value was sought in the other caption, nothing there can carry it, and its wordings are few"
    READ = "two values exclude each other as free sentences were read, which another reading may reconcile"
    SOUGHT = "not met in words, which a long caption may tell in others and a short one hardly"
    UNMET = "not met in words: a fact that has many wordings, which the tables do not all know"


FAILS = frozenset((Basis.CONTRADICTED, Basis.MISSING))
"""What an alarm may rest on. All else is for a reader to decide, but for what `Outcome.settle` takes."""


class Claim(NamedTuple):
    """A doubt: `what` happened ("lost", "changed", "new", "swapped"), in words that name both values, and its basis."""

    what: str
    text: str
    basis: Basis


@dataclass(slots=True)
class Outcome:
    """Facts lost, changed, new or exchanged, in words that name both values; `doubts` are for a reader to decide."""

    lost: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    swapped: list[str] = field(default_factory=list)
    doubts: list[Claim] = field(default_factory=list)

    def add(self, what: str, text: str, basis: Basis) -> None:
        """A claim; a doubt if its basis is not among `FAILS`.

        `what` is "changed" or "swapped" of what is contradicted, "lost" or "new" of what is missing in a caption.
        """
        if basis in FAILS:
            getattr(self, what).append(text)
        else:
            self.doubts.append(Claim(what, text, basis))

    def moved(self, text: str, *, sure: bool) -> None:
        """Two values that changed places, or seem to."""
        self.add("swapped", text, Basis.CONTRADICTED if sure else Basis.READ)

    def settle(self, holds: Callable[[Claim], bool]) -> None:
        """Take the doubts that hold for what they claim."""
        for claim in filter(holds, self.doubts):
            getattr(self, claim.what).append(claim.text)

    @property
    def decided(self) -> bool:
        """Whether a contradiction was found, sure or not: to look for finer ones would only tell it twice."""
        return self.failed or any(claim.basis is Basis.READ for claim in self.doubts)

    @property
    def failed(self) -> bool:
        return bool(self.lost or self.changed or self.new or self.swapped)

    @property
    def reason(self) -> str:
        """ "lost: 2 cm; new: 3 cm"; the doubts alone where nothing is wrong for certain."""
        if not self.failed:
            return "; ".join(dict.fromkeys(f"{claim.what}: {claim.text}" for claim in self.doubts))
        lists = (("lost", self.lost), ("changed", self.changed), ("new", self.new), ("swapped", self.swapped))
        return "; ".join(f"{what}: {', '.join(dict.fromkeys(items))}" for what, items in lists if items)
