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


_DECIDES = FAILS | {Basis.READ}


class Claim(NamedTuple):
    """`what` happened ("lost", "changed", "new", "swapped"), in words that name both values, and its basis."""

    what: str
    text: str
    basis: Basis


@dataclass(slots=True)
class Outcome:
    """Facts lost, changed, new or exchanged, for certain (`claims`), and `doubts`, for a reader to decide.

    `decided`: whether a contradiction was found, sure or not; to look for finer ones would only tell it twice.
    """

    claims: list[Claim] = field(default_factory=list)
    doubts: list[Claim] = field(default_factory=list)
    decided: bool = False

    def add(self, what: str, text: str, basis: Basis = Basis.CONTRADICTED) -> None:
        """A claim; a doubt if its basis is not among `FAILS`.

        `what` is "changed" or "swapped" of what is contradicted, "lost" or "new" of what is missing in a caption.
        """
        claims = self.claims if basis in FAILS else self.doubts
        claims.append(Claim(what, text, basis))
        self.decided |= basis in _DECIDES

    def moved(self, text: str, *, sure: bool) -> None:
        """Two values that changed places, or seem to."""
        self.add("swapped", text, Basis.CONTRADICTED if sure else Basis.READ)

    def settle(self, holds: Callable[[Claim], bool]) -> None:
        """Take the doubts that hold for what they claim."""
        self.claims += filter(holds, self.doubts)

    def has(self, what: str) -> bool:
        """Whether this happened for certain."""
        return any(claim.what == what for claim in self.claims)

    @property
    def failed(self) -> bool:
        return bool(self.claims)

    @property
    def reason(self) -> str:
        """ "lost: 2 cm; new: 3 cm"; the doubts alone where nothing is wrong for certain."""
        if not self.failed:
            return "; ".join(dict.fromkeys(f"{claim.what}: {claim.text}" for claim in self.doubts))
        told = {what: dict.fromkeys(c.text for c in self.claims if c.what == what) for what in _WHAT}
        return "; ".join(f"{what}: {', '.join(texts)}" for what, texts in told.items() if texts)


_WHAT = ("lost", "changed", "new", "swapped")
