"""Assembles the page: the runs' findings beside the paper's, in one file that fetches nothing.

Without scripts it has the tables, the figures and some rows of each section. The only script that its content policy
allows (`report.js`) adds all rows, which are packed in the page (`rows.py`).
"""

from __future__ import annotations

import html
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from baselines.dialogue.hidden import Secrets
from baselines.dialogue.played import STORED
from baselines.report.captions import captions
from baselines.report.dialogues import hidden_texts
from baselines.report.drawing import minus
from baselines.report.figures import figures
from baselines.report.printed import TEX
from baselines.report.sections import Section, sections
from baselines.report.tables import Cell, tables
from baselines.results.comparison import Compared, FinishedRun, conditions, fixed
from baselines.results.published import counterpart, meaning
from baselines.results.run import Result
from loaders import __version__
from loaders.errors import InputError
from loaders.files.bundled import bundled
from loaders.files.paths import is_there
from loaders.files.places import seen_from, without_places
from loaders.manifest import as_text
from loaders.pages import part, render, script_digest, write_text
from loaders.plugins import Plugin


def write_report(
    runs: Sequence[FinishedRun],
    page: Path,
    *,
    release: Path | None = None,
    plugins: Mapping[str, Plugin] | None = None,
    public: bool = False,
) -> Path:
    """Write the page and return its path.

    All pairs of `release` can be explored. `plugins` are the baselines of other packages, which may have sections of
    their own. A `public` page holds nothing that `Secrets` finds of what the cases of the runs hide, and no photo of a
    run, since its licence is unknown here. Any other page of such runs is for its owner alone, as their files are.

    Raises InputError for a public page if a run's description of itself contains a hidden text; what `captions` and
    `sections` raise; BedsideError when the disk is full.
    """
    views = tables(runs)
    results = [result for run in runs for result in run.results]
    papers = list(dict.fromkeys(view.paper for view in views))
    shown = sections(runs, plugins, public=public)
    if release:
        said = render("baselines/report/captions.html")
        shown.append(Section("captions", "Captions of the release", said, captions(release)))
    secrets = hidden_texts(runs)
    if public:
        shown = [replace(one, explored=one.explored and one.explored.without(secrets)) for one in shown]
    script = Markup(str(part("baselines/report/report.js")).replace('"TEX"', json.dumps(TEX, ensure_ascii=False)))
    text = render(
        "baselines/report/report.html",
        script=script,
        script_digest=script_digest,
        style=part("baselines/report/report.css"),
        public=public,
        anchor=_Anchors(),
        meaning=meaning,
        worth=_worth,
        written=_written,
        called_text=_called,
        minus=minus,
        interval_text=_interval,
        difference_text=_difference,
        json_text=lambda value: as_text(without_places(value, Path())),
        conditions_of=lambda view: conditions(
            [result for result in results if (result.paper, result.table) == (view.paper, view.table)]
        ),
        command_text=lambda run: without_places(run.record.command, run.folder),
        runs=list(enumerate(runs, start=1)),
        papers=papers,
        cited=[one for name in papers for one in bundled("baselines.results", "papers.csv") if one["paper"] == name],
        views=[(view, figures(view, runs)) for view in views],
        sections=shown,
        files={number: _files(run, page) for number, run in enumerate(runs, start=1)},
        **_counted(runs, results),
        version=__version__,
    )
    if public:
        _check_public(text, secrets, page)
    return write_text(page, text, private=bool(secrets) and not public)


def _counted(runs: Sequence[FinishedRun], results: Sequence[Result]) -> dict[str, Any]:
    """How many numbers there are, what they may be called, and why some are stand-ins."""
    reasons = (reason for run in runs for reason in (run.record.stand_in or "").split("; ") if reason)
    return {
        "called": {number: Counter(one.provenance for one in run.results) for number, run in enumerate(runs, start=1)},
        "unknown": any(not run.record.judged for run in runs),
        "standing": sum(result.provenance == "stand-in" for result in results),
        "reasons": list(dict.fromkeys(reasons)),
        "beside": sum(counterpart(result) is not None for result in results),
        "total": len(results),
    }


def _check_public(text: str, secrets: Secrets, page: Path) -> None:
    """Raises InputError if a hidden text appears in the page, apart from its packed rows."""
    if secrets.stands_in(html.unescape(re.sub(r"<[^<>]*>", " ", text.partition('<script type="application')[0]))):
        do = "Remove it from the run's options or its plug-in's section"
        found, expected = "a hidden text in a run's record", "no hidden text on a public page"
        raise InputError(page, found=found, expected=expected, do=do)


class _Anchors:
    """Ids for links to rows and numbers, derived from what they are so that links last; duplicates are numbered."""

    def __init__(self) -> None:
        self._used: Counter[str] = Counter()

    def __call__(self, name: str) -> str:
        plain = "--".join(re.sub(r"[^a-z0-9]+", "-", one).strip("-") for one in name.casefold().split("--"))
        self._used[plain] += 1
        return plain if self._used[plain] == 1 else f"{plain}-{self._used[plain]}"


def _worth(cell: Cell) -> str:
    """The value by which a cell is sorted: its first own number, or the published one."""
    own = next((pair.own.value for pair in cell.own if pair.own.value is not None), None)
    value = own if own is not None else cell.paper.value if cell.paper else None
    return "" if value is None else repr(float(value))


def _written(cell: Cell, several: bool) -> str:
    """A cell as copied text: own numbers with their intervals, and their runs if there are `several`; then the
    published one."""
    own = [_called(pair, interval=True) + (f", run {pair.run}" if several else "") for pair in cell.own]
    doubt = " (in doubt)" if cell.doubt else ""
    return "; ".join([*own, *([f"published {minus(cell.paper.shown)}{doubt}"] if cell.paper else [])])


def _called(pair: Compared, *, interval: bool = False) -> str:
    """A number and what it may be called, which no mark tells where the text is pasted."""
    if pair.own.value is None:
        return "not computed"
    within = f" ({_interval(pair)})" if interval and pair.own.ci95 else ""
    return f"{minus(pair.printed)}{within}, {pair.own.provenance}"


def _files(run: FinishedRun, page: Path) -> dict[str, str]:
    """Names of the run's own files and their paths relative to the page; "" if a path would reveal the machine."""
    there = [run.folder / name for name in STORED if is_there(run.folder / name)]
    seen = {path.name: seen_from(path, page.parent) for path in there}
    return {name: "" if place.startswith("…") else quote(place) for name, place in seen.items()}


def _interval(pair: Compared) -> str:
    return minus(" to ".join(pair.interval or ()))


def _difference(pair: Compared) -> str:
    assert pair.difference is not None
    value = round(pair.difference, pair.decimals)
    return ("+" if value > 0 else "−" if value < 0 else "±") + fixed(abs(value), pair.decimals)
