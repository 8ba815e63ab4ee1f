"""Lay captions of several systems compared caption by caption.

The systems rewrote the same expert captions; each measure of Tables 1 and 2 that has a value for each lay caption is
compared over the captions that both systems have. The paper compares no systems. The test is that of 3MDBench:
Wilcoxon's, adjusted over all pairs of systems and all measures of a table. Failures of the fact gates are compared by
McNemar's exact test.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from pathlib import Path

import numpy as np

from baselines.medlaybench_v.language import CAPTIONS, CaptionScores, GateFailures
from baselines.results.comparison import FinishedRun
from baselines.results.differences import Difference, adjusted, named_apart, paired
from baselines.statistics.significance import mcnemar_exact
from loaders.errors import InputError
from loaders.files.opening import read_file
from loaders.files.paths import is_there, resolved
from loaders.files.records import from_json


@dataclass(frozen=True)
class Captions:
    """What each lay caption of a run scores; `label` is what the system is called."""

    folder: Path
    label: str
    scores: CaptionScores

    @cached_property
    def places(self) -> dict[str | None, int]:
        """image_id -> its place in the lists. Raises InputError for an image_id that several captions have."""
        names = self.scores.image_id
        if several := [name for name, count in Counter(names).items() if count > 1]:
            found = f"several captions of image_id {several[0]}{_more(several)}"
            do = "Give each pair its own image_id and repeat the run"
            raise InputError(self.folder, found=found, expected="one lay caption for each image_id", do=do)
        return {name: place for place, name in enumerate(names)}


def captions_of(runs: Sequence[FinishedRun]) -> list[Captions]:
    """The captions of finished runs of `language`, called by the names of their folders. Raises InputError for a run of
    an earlier version, which did not store them, and for a file that is damaged."""
    names = [resolved(run.folder).name for run in runs]
    labels = named_apart(names, [f"run {number}" for number in range(1, len(runs) + 1)])
    return [_read(run.folder, label) for run, label in zip(runs, labels, strict=True)]


def _more(names: Sequence[object]) -> str:
    return f" and {len(names) - 1:,} more" if names[1:] else ""


def _read(folder: Path, label: str) -> Captions:
    path, do = folder / CAPTIONS, "Repeat the run"
    if not is_there(path):
        raise InputError(folder, found=f"no {CAPTIONS}", expected="the scores of each caption", do=do)
    content = read_file(path, expected="a file written by a run", do=do)
    return Captions(folder, label, from_json(CaptionScores, content, path, do=do, ours=True))


def differences(systems: Sequence[Captions], *, resamples: int = 1000, seed: int = 0) -> list[Difference]:
    """Every two systems in every measure that both have; where every caption has an article, whole articles are drawn
    for the intervals. Raises InputError for systems without a caption in common, and for one image_id with two expert
    captions."""
    pairs = (_pair(*pair, resamples=resamples, seed=seed) for pair in combinations(systems, 2))
    return adjusted(list(chain.from_iterable(pairs)))


def drawn(systems: Sequence[Captions]) -> str:
    """What the intervals of `differences` resample, in words: articles, for a pair whose first system names them."""
    known = [bool(system.scores.article_id) for system in systems[:-1]]
    if not any(known):
        return "captions"
    whole = "whole articles (the test takes captions as independent)"
    return whole if all(known) else f"{whole}, or captions if the first run of a pair names no articles"


ANY_GATE = "any gate"


@dataclass(frozen=True, slots=True)
class GateDifference:
    """How many of the n captions that both systems have fail a gate only in the first, and only in the second; p is
    two-sided and not adjusted."""

    table: str
    measure: str
    first: str
    second: str
    n: int
    only_first: int
    only_second: int
    p: float


def gate_differences(systems: Sequence[Captions]) -> list[GateDifference]:
    """Every two systems in each fact gate, and in whether a caption fails any; only systems judged by one version of
    the gates. Captions are taken as independent. Raises InputError as `differences` does."""
    found = []
    for first, second in combinations(systems, 2):
        one, other = first.scores.gates, second.scores.gates
        if one is None or other is None or one.rules != other.rules:
            continue
        common, at = _common(first, second)
        for gate in (ANY_GATE, *one.failing):
            failed = [np.isin(rows, _failing(gates, gate)) for gates, rows in zip((one, other), at, strict=True)]
            test = mcnemar_exact(*failed)
            labels = (first.label, second.label)
            found.append(GateDifference("fact gates", gate, *labels, len(common), test.better, test.worse, test.p))
    return found


def _failing(gates: GateFailures, gate: str) -> list[int]:
    if gate != ANY_GATE:
        return gates.failing.get(gate, [])
    return sorted({place for failing in gates.failing.values() for place in failing})


def _common(first: Captions, second: Captions) -> tuple[list[str | None], list[list[int]]]:
    """The image_id that both have, and the places of their captions in each. Raises InputError."""
    common = [name for name in first.places if name in second.places]
    where = f"{first.folder} and {second.folder}"
    if not common:
        do = "Give the tables a column image_id that names the same picture alike"
        raise InputError(where, found="no image_id in common", expected="lay captions of the same pictures", do=do)
    at = [[side.places[name] for name in common] for side in (first, second)]
    experts = [[side.scores.expert[place] for place in rows] for side, rows in zip((first, second), at, strict=True)]
    if differing := [name for name, one, other in zip(common, *experts, strict=True) if one != other]:
        found = f"image_id {differing[0]}{_more(differing)} with two expert captions"
        raise InputError(where, found=found, expected="lay captions of the same expert captions")
    return common, at


def _pair(first: Captions, second: Captions, *, resamples: int, seed: int) -> Iterator[Difference]:
    common, at = _common(first, second)
    articles = first.scores.article_id
    clusters = [articles[place] for place in at[0]] if articles else None
    for table, measures in first.scores.tables.items():
        for measure, measured in measures.items():
            other = second.scores.tables.get(table, {}).get(measure)
            if other is None:
                continue
            percent = measured.unit == "percent"
            sides = zip((measured, other), at, strict=True)
            value, ci95, p = paired(
                *(np.array([one.values[place] for place in rows]) for one, rows in sides),
                within=(-100.0, 100.0) if percent else None,
                resamples=resamples,
                seed=seed,
                clusters=clusters,
            )
            unit = "points" if percent else measured.unit
            yield Difference(table, measure, unit, first.label, second.label, len(common), value, ci95, p)
