"""What judges say of a finished episode: which findings are true, how the clinician talked, what the patient valued.

A judgement that could not be had is None with its reason in `failures`, and is left out of the means that need it; it
is never taken for a low score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from baselines.medconceal.matching import Pair
from baselines.medconceal.record import Episode
from loaders.errors import InputError
from loaders.medconceal import Task

Openness = Literal["open", "closed"]

STYLES: Mapping[Task, tuple[str, ...]] = {
    "confirmation": ("Empathy", "Collaboration", "Problem-Solving"),
    "intervention": ("Empathy", "Rationale", "Problem-Solving", "Actionability"),
}
"""What the style judge scores 0 (absent), 1 (partial) or 2 (clear and effective) over a dialogue (Appendix E.4)."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judges' words on one episode.

    `pairs` are all pairs of finding and concern (confirmation only); `openness` has an entry a clinician turn;
    `style` the dimensions of the task; `expressed` the value categories that the patient put into words and
    `recognised` those that the clinician took up (MC-G43), both confirmation only. `failures` is judge -> reason;
    `by_rules` says that no model judged.
    """

    pairs: tuple[Pair, ...] | None
    openness: tuple[Openness, ...] | None
    style: Mapping[str, int] | None
    expressed: tuple[str, ...] | None
    recognised: tuple[str, ...] | None
    failures: Mapping[str, str]
    by_rules: bool

    def to_json(self) -> dict[str, Any]:
        """The judgement as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Judgement:
        """The judgement that `to_json` wrote. Raises InputError for anything else."""
        try:
            return cls(
                pairs=None if read["pairs"] is None else tuple(Pair(**pair) for pair in read["pairs"]),
                openness=None if read["openness"] is None else tuple(read["openness"]),
                style=None if read["style"] is None else {str(name): int(n) for name, n in read["style"].items()},
                expressed=None if read["expressed"] is None else tuple(map(str, read["expressed"])),
                recognised=None if read["recognised"] is None else tuple(map(str, read["recognised"])),
                failures={str(judge): str(reason) for judge, reason in read["failures"].items()},
                by_rules=bool(read["by_rules"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise InputError("record of a judgement", found="cannot be read", do="Judge the episode again") from None


@dataclass(frozen=True, slots=True)
class Judged:
    """An episode with the judgement on it."""

    episode: Episode
    judgement: Judgement

    def to_json(self) -> dict[str, Any]:
        """Both as JSON."""
        return {"episode": self.episode.to_json(), "judgement": self.judgement.to_json()}

    @classmethod
    def from_json(cls, read: Mapping[str, Any]) -> Judged:
        """What `to_json` wrote. Raises InputError for anything else."""
        try:
            episode, judgement = read["episode"], read["judgement"]
        except (KeyError, TypeError):
            raise InputError("record of a judged episode", found="cannot be read", do="Run it again") from None
        return cls(Episode.from_json(episode), Judgement.from_json(judgement))
