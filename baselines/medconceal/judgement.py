"""What judges say of a finished episode: which findings are true, how the clinician talked, what the patient valued.

A judgement that could not be obtained is None with its reason in `failures`, and is left out of the means that need it;
it is never taken for a low score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from baselines.medconceal.matching import Pair
from baselines.medconceal.record import Episode
from loaders.files.bundled import bundled
from loaders.medconceal import TASKS, Task

Openness = Literal["open", "closed"]

_STYLES = bundled("baselines.medconceal", "styles.csv")
STYLES: Mapping[Task, tuple[str, ...]] = {
    task: tuple(row["dimension"] for row in _STYLES if row[task] == "yes") for task in TASKS
}
"""What the style judge scores 0 (absent), 1 (partial) or 2 (clear and effective) over a dialogue (Appendix E.4)."""
MEANING = {row["dimension"]: row["meaning"] for row in _STYLES}
"""What each of them means, in our words; the names are the paper's."""
FEATURE = {row["dimension"]: row["feature"] for row in _STYLES}
"""The rubric feature that stands for it where no model judges."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judges' verdicts on one episode.

    `pairs` are all pairs of finding and concern (confirmation only); `openness` has an entry per clinician turn;
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


@dataclass(frozen=True, slots=True)
class JudgedEpisode:
    """An episode with its judgement."""

    episode: Episode
    judgement: Judgement
