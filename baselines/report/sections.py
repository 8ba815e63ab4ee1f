"""Sections of the page beyond the paper's tables: dialogues, confusion matrices, traces.

A baseline whose runs have something of their own to show has a module with `sections(runs)`, named in `SECTIONS`;
it reads what its runs left in their folders. A baseline of another package may have `sections(runs)` in its module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from baselines.report.rows import Explored
from baselines.results.comparison import FinishedRun
from loaders.errors import BedsideError
from loaders.plugins import Plugin


@dataclass(frozen=True, slots=True)
class Section:
    """A section: its anchor on the page, its title, its content, which contains no network address and no script, and
    the rows that it lets a reader explore."""

    anchor: str
    title: str
    html: Markup
    explored: Explored | None = None


Numbered = tuple[int, FinishedRun]
"""A run with its number on the page, from 1."""

SECTIONS = {
    "confirmation": "baselines.report.medconceal",
    "intervention": "baselines.report.medconceal",
    "patients": "baselines.report.patients",
    "classifier": "baselines.report.classifier",
    "consultation": "baselines.report.consultation",
}
"""Baseline, as its record names it -> the module that shows its runs."""


def sections(
    runs: Sequence[FinishedRun], plugins: Mapping[str, Plugin] | None = None, *, public: bool = False
) -> list[Section]:
    """What the runs have to show besides tables, baseline by baseline in the order of the runs.

    `plugins` are the baselines of other packages, by name. With `public` nothing is shown that cases hide.

    Raises InputError when a file of a run cannot be read, or the code of such a package fails.
    """
    makers = {**(plugins or {}), **{name: Plugin(name, module) for name, module in SECTIONS.items()}}
    shown: list[Section] = []
    for baseline in dict.fromkeys(run.record.baseline for run in runs):
        maker = makers.get(baseline)
        show = getattr(maker.module(), "sections", None) if maker else None
        if maker is None or show is None:
            continue
        try:
            of = [(number, run) for number, run in enumerate(runs, start=1) if run.record.baseline == baseline]
            shown += show(of) if maker.package or not public else show(of, public=True)
        except Exception as error:
            if isinstance(error, BedsideError) or not maker.package:
                raise
            raise maker.broken(error) from error
    return shown
