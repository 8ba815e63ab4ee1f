"""Sections of the page that are more than the paper's tables: dialogues, confusion matrices, traces.

A baseline whose runs have something of their own to show has one module here with `sections(runs)`, named in `_MAKERS`;
it reads what its runs left in their folders.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from markupsafe import Markup

from baselines.results.comparison import FinishedRun


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its anchor on the page, its title, and its content, which holds no network address and no script."""

    anchor: str
    title: str
    html: Markup


Numbered = tuple[int, FinishedRun]
"""A run with its number on the page, from 1."""

# Baseline (as its record names it) -> the module that shows its runs.
_MAKERS: dict[str, str] = {
    "confirmation": "baselines.report.concealment",
    "intervention": "baselines.report.concealment",
    "classifier": "baselines.report.classifier",
    "consultation": "baselines.report.dialogues",
}


def sections(runs: Sequence[FinishedRun]) -> list[Section]:
    """What the runs have to show besides tables, baseline by baseline in the order of the runs.

    Raises InputError when a file of a run cannot be read.
    """
    numbered = list(enumerate(runs, start=1))
    found: list[Section] = []
    for baseline in dict.fromkeys(run.record.baseline for run in runs):
        if baseline in _MAKERS:
            module = import_module(_MAKERS[baseline])
            found += module.sections([(number, run) for number, run in numbered if run.record.baseline == baseline])
    return found
