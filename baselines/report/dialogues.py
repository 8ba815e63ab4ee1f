"""Dialogues that runs left, for the sections that show them: some of each run, drawn by seed, those with a problem
first; all of them are in its `dialogues.jsonl`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from baselines.dialogue.played import PlayedCase, read_played
from baselines.report.sections import Numbered
from baselines.results.comparison import FinishedRun

SHOWN = 60
"""Dialogues in a section, all its runs together."""
_LEAST = 6  # of a run, however many runs there are

Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class PlayedRun(Generic[Record]):
    """A run with its number on the page, all of its dialogues, and those that are shown."""

    number: int
    run: FinishedRun
    rows: list[PlayedCase[Record]]
    shown: list[PlayedCase[Record]]


def played(
    runs: Sequence[Numbered],
    kind: type[PlayedCase[Record]],
    troubled: Callable[[PlayedCase[Record]], bool],
    *,
    shown: int = SHOWN,
    seed: int = 0,
) -> list[PlayedRun[Record]]:
    """The runs that left dialogues. Raises: InputError when a file of dialogues cannot be read."""
    read = [(number, run, rows) for number, run in runs if (rows := read_played(run.folder, kind))]
    each = max(_LEAST, shown // max(1, len(read)))
    return [PlayedRun(number, run, rows, _drawn(rows, troubled, each, seed)) for number, run, rows in read]


def _drawn(
    rows: Sequence[PlayedCase[Record]], troubled: Callable[[PlayedCase[Record]], bool], count: int, seed: int
) -> list[PlayedCase[Record]]:
    """`count` rows drawn by seed, up to half of them with a problem; those first."""
    draw = random.Random(seed)
    first = [row for row in rows if troubled(row)]
    others = [row for row in rows if not troubled(row)]
    taken = min(len(first), max(count // 2, count - len(others)))
    places = sorted(draw.sample(range(len(first)), taken))
    rest = sorted(draw.sample(range(len(others)), min(len(others), count - taken)))
    return [first[place] for place in places] + [others[place] for place in rest]
