"""Put the page together: what the runs found beside the paper, in one file without script or network."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from baselines.report.examples import examples
from baselines.report.figures import figures
from baselines.report.sections import sections
from baselines.report.tables import tables
from baselines.results.comparison import Compared, FinishedRun, conditions
from baselines.results.published import Published, counterpart
from loaders import __version__
from loaders.errors import InputError
from loaders.files.places import command_without_places, seen_from, without_places
from loaders.files.untrusted import is_there
from loaders.pages import write_page
from loaders.plugins import Plugin

# Decimals of own numbers that have no published counterpart.
_DECIMALS = {"p": 3, "cosine": 3, "distance": 3, "pairs": 0, "types": 0, "captions": 0, "concepts": 0}


class Paper(NamedTuple):
    """How a paper is cited."""

    title: str
    authors: str


_PAPERS = {
    "MedLayBench-V": Paper(
        "MedLayBench-V: A Large-Scale Benchmark for Expert-Lay Semantic Alignment in Medical Vision Language Models",
        "Han Jang, Junhyeok Lee, Heeseong Eum, Kyu Sung Choi",
    ),
    "3MDBench": Paper(
        "3MDBench: Medical Multimodal Multi-agent Dialogue Benchmark",
        "Ivan Sviridov, Amina Miftakhova, Artemiy Tereshchenko, Galina Zubkova, Pavel Blinov, Andrey Savchenko",
    ),
    "MedConceal": Paper(
        "MedConceal: A Benchmark for Clinical Hidden-Concern Reasoning Under Partial Observability",
        "Yikun Han, Joey Chan, Jingyuan Chen, Mengting Ai, Simo Du, Yue Guo",
    ),
}


def write_report(
    runs: Sequence[FinishedRun],
    page: Path,
    *,
    release: Path | None = None,
    pairs: int = 6,
    seed: int = 0,
    drawn: bool = True,
    plugins: Mapping[str, Plugin] | None = None,
) -> Path:
    """Write the page and return its path; `pairs` of `release` are shown, `drawn` says whether figures are.

    `plugins` are the baselines of other packages, which may have sections of their own.

    Raises InputError without a run; MissingExtra when figures are wanted and matplotlib is not installed; what
    `examples` raises; BedsideError when the disk is full.
    """
    if not runs:
        raise InputError("report", found="no run", expected="the folder of one finished run or more")
    views = tables(runs)
    results = [result for run in runs for result in run.results]
    papers = list(dict.fromkeys(view.paper for view in views))
    return write_page(
        page,
        "baselines/report/report.html",
        own_text=_own,
        paper_text=_printed,
        interval_text=_interval,
        difference_text=_difference,
        json_text=_json,
        conditions_of=lambda view: conditions(
            [result for result in results if (result.paper, result.table) == (view.paper, view.table)]
        ),
        called={
            number: Counter(result.provenance for result in run.results) for number, run in enumerate(runs, start=1)
        },
        unknown=any(not run.record.judged for run in runs),
        command_text=lambda run: command_without_places(run.record.command, run.folder),
        runs=list(enumerate(runs, start=1)),
        papers=papers,
        cited=[_PAPERS[name] for name in papers if name in _PAPERS],
        views=[(view, figures(view, runs) if drawn else []) for view in views],
        sections=sections(runs, plugins),
        files={number: _files(run, page) for number, run in enumerate(runs, start=1)},
        examples=examples(release, count=pairs, seed=seed) if release else [],
        standing=sum(result.provenance == "stand-in" for result in results),
        reasons=list(dict.fromkeys(part for run in runs for part in (run.record.stand_in or "").split("; ") if part)),
        beside=sum(counterpart(result) is not None for result in results),
        total=len(results),
        version=__version__,
    )


# What a run's folder may hold besides numbers, worth a link from the page.
_FILES = ("dialogues.jsonl", "usage.json")


def _files(run: FinishedRun, page: Path) -> dict[str, str]:
    """Names of the run's own files and where they lie, seen from the page; "" where that would tell of the machine."""
    there = [run.folder / name for name in _FILES if is_there(run.folder / name)]
    seen = {path.name: seen_from(path, page.parent) for path in there}
    return {name: "" if place.startswith("…") else quote(place) for name, place in seen.items()}


def _decimals(pair: Compared) -> int:
    return pair.paper.decimals if pair.paper else _DECIMALS.get(pair.own.unit, 2)


def _own(pair: Compared) -> str:
    """The own number with as many decimals as the paper prints; a small p is below them, never 0."""
    value, decimals = pair.own.value, _decimals(pair)
    if value is None:
        return ""
    small = pair.own.unit == "p" and round(value, decimals) == 0
    return f"< {10.0**-decimals:.{decimals}f}" if small else _text(value, decimals)


def _interval(pair: Compared) -> str:
    low, high = pair.own.ci95 or (0.0, 0.0)
    return f"{_text(low, _decimals(pair))} to {_text(high, _decimals(pair))}"


def _difference(pair: Compared) -> str:
    assert pair.difference is not None
    value = round(pair.difference, _decimals(pair))
    return ("+" if value > 0 else "−" if value < 0 else "±") + _text(abs(value), _decimals(pair))


def _printed(number: Published) -> str:
    """The published number as printed, with separators in counts and a true minus sign."""
    return _text(number.value, number.decimals)


def _text(value: float, decimals: int) -> str:
    return f"{value:,.{decimals}f}".replace("-", "−")


def _json(value: Any) -> str:
    value = without_places(value, Path())
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
