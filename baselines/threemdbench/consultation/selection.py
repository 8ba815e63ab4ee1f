"""Choosing a patient model (Table 3): does it follow its instructions, answer to the point, and keep to the facts?

    results([PatientCandidate("openai/gpt-4o-mini", trials)], encoder, record)

Instruction following is a judge's rating from 1 to 5 of the whole dialogue; relevance its 0 or 1 for every answer,
averaged over the dialogue; factuality the share of the patient's utterances after the opening that are close (cosine
0.8 or more) to one of the facts that it was given (3M-G28). Models are ranked by each, and the ranks averaged. A rank
is by the cases that all of them could be rated on: one that lost its hard cases must not lead for that.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy

from baselines.results.run import Direction, Result, RunRecord
from baselines.statistics.arrays import Floats
from baselines.statistics.resampling import Draws, Interval, bootstrap_ratios
from baselines.statistics.significance import wilson_interval
from baselines.threemdbench.consultation.names import PAPER, model_name
from baselines.threemdbench.consultation.selection_game import Trial
from loaders.models.sentences import SentenceEncoder

TABLE, SETTING = "Table 3", "Patient Agent candidate"
NEAR = 0.8
"""Minimum cosine between an utterance and a fact that it states (Section 3.3)."""
METRICS = ("Instruction following", "Relevance", "Factuality")


@dataclass(frozen=True, slots=True)
class PatientCandidate:
    """A model in the patient's role, its trials, and the number of cases that a model's error ended without one."""

    model: str
    trials: Sequence[Trial]
    lost: int = 0


def utterances(trial: Trial) -> list[str]:
    """What the patient said after its opening, empty turns left out."""
    said = [turn for turn in trial.turns if turn.role == "patient"][1:]
    return [turn.text for turn in said if turn.text.strip() and "empty" not in turn.flags]


def factual(trials: Sequence[Trial], encoder: SentenceEncoder) -> list[list[bool]]:
    """For every trial and every utterance, whether it is close to one of the facts that the patient was given."""
    texts = list(dict.fromkeys(text for trial in trials for text in (*trial.facts, *utterances(trial))))
    place = {text: at for at, text in enumerate(texts)}
    vectors = encoder.encode(texts)
    marks = []
    for trial in trials:
        facts = vectors[[place[fact] for fact in trial.facts]]
        said = vectors[[place[text] for text in utterances(trial)]].reshape(-1, vectors.shape[1])
        # Rounding must not push a word-for-word repetition below the threshold, nor anything else above it.
        cosines = said.astype(np.float64) @ facts.astype(np.float64).T
        marks.append((cosines.max(axis=1) >= NEAR - 1e-6).tolist())
    return marks


def mean_ranks(scores: Sequence[Sequence[float]]) -> Floats:
    """Each model's rank by each metric, 1 for the highest score, averaged: (models, metrics) in; ties share a rank."""
    places: Floats = scipy.stats.rankdata(-np.array(scores), method="average", axis=0)
    mean: Floats = places.mean(axis=1)
    return mean


def results(
    candidates: Sequence[PatientCandidate],
    encoder: SentenceEncoder,
    record: RunRecord,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Result]:
    """Table 3: the three metrics with intervals over cases, mean ranks, and what could not be rated."""
    draws: Draws = {"resamples": resamples, "seed": seed}
    rated = [_marks(candidate.trials, encoder) for candidate in candidates]
    cells: list[Result] = []
    for candidate, marks in zip(candidates, rated, strict=True):
        cells += _metrics(candidate.model, marks, encoder, record, draws)
        cells += _unrated(candidate, record, draws)
    return cells + (_ranks(candidates, rated, record) if len(candidates) > 1 else [])


class _Mark(NamedTuple):
    """What a dialogue contributes to a metric: the sum of its marks, and how many."""

    case_id: str
    cluster: str
    total: float
    of: float


def _marks(trials: Sequence[Trial], encoder: SentenceEncoder) -> list[list[_Mark]]:
    """The marks of each metric: of the dialogues that were rated, and the factuality of all."""
    relevance = [(trial, [mark for mark in trial.relevance if mark is not None]) for trial in trials]
    given: list[list[tuple[Trial, float, float]]] = [
        [(trial, float(trial.following), 1) for trial in trials if trial.following is not None],
        [(trial, float(np.mean(marks)), 1) for trial, marks in relevance if marks],
        [(trial, sum(near), len(near)) for trial, near in zip(trials, factual(trials, encoder), strict=True)],
    ]
    return [[_Mark(trial.case_id, trial.cluster, total, of) for trial, total, of in metric] for metric in given]


def _ranks(
    candidates: Sequence[PatientCandidate], rated: Sequence[Sequence[Sequence[_Mark]]], record: RunRecord
) -> list[Result]:
    """The mean rank of each candidate, each metric over the cases that could be rated with all of them."""
    by_metric = list(zip(*rated, strict=True))
    cases = [[{mark.case_id for mark in own if mark.of} for own in metric] for metric in by_metric]
    shared = [set[str].intersection(*several) for several in cases]
    note = ""
    if any(own != common for several, common in zip(cases, shared, strict=True) for own in several):
        counts = ", ".join(f"{len(common)} ({metric})" for metric, common in zip(METRICS, shared, strict=True))
        note = f"over the cases that could be rated with all candidates: {counts}"
    ranks: list[float] | list[None] = [None] * len(candidates)
    if all(shared):
        scores = [[_mean(own, common) for own in metric] for metric, common in zip(by_metric, shared, strict=True)]
        ranks = mean_ranks(list(zip(*scores, strict=True))).tolist()
    return [
        _cell(record, candidate.model, "Mean Rank", rank, "rank", "down", n=len(candidates), note=note)
        for candidate, rank in zip(candidates, ranks, strict=True)
    ]


def _mean(marks: Sequence[_Mark], cases: Container[str]) -> float:
    """Rounded: equal scores share a rank, whatever the order of their sums."""
    own = [mark for mark in marks if mark.case_id in cases]
    return round(sum(mark.total for mark in own) / sum(mark.of for mark in own), 9)


def _cell(
    record: RunRecord, model: str, column: str, value: float | None, unit: str, direction: Direction, **more: Any
) -> Result:
    split = record.data.split
    group = "validation set" if split == "validation" else split
    return Result(
        paper=PAPER, table=TABLE, row=model_name(model), setting=SETTING, column=column, split_or_group=group,
        value=value, unit=unit, direction=direction, record=record, **more,
    )  # fmt: skip


def _metrics(
    model: str, rated: Sequence[Sequence[_Mark]], encoder: SentenceEncoder, record: RunRecord, draws: Draws
) -> list[Result]:
    """The three metrics of a candidate, with intervals over cases."""
    units = ("score 1-5", "proportion", "proportion")
    scales: tuple[Interval, ...] = ((1, 5), (0, 1), (0, 1))
    notes = ("judge's rating of the dialogue", "mean over dialogues", f"{encoder.name}, cosine {NEAR} or more")
    cells = []
    for metric, marks, unit, scale, note in zip(METRICS, rated, units, scales, notes, strict=True):
        n = int(sum(mark.of for mark in marks))
        value, ci95 = _ratio(marks, scale, draws) if n else (None, None)
        note = note if n else "nothing could be rated"
        cells.append(_cell(record, model, metric, value, unit, "up", n=n, note=note, ci95=ci95))
    return cells


def _unrated(candidate: PatientCandidate, record: RunRecord, draws: Draws) -> list[Result]:
    """Shares of what could not be rated, or not be played.

    The answers of a dialogue are not independent: a judge that cannot read it rates none of them. So their share has an
    interval over cases, and the others, one a case, have Wilson's.
    """
    trials = candidate.trials
    relevance = [_Mark(one.case_id, one.cluster, one.relevance.count(None), len(one.relevance)) for one in trials]
    counts = {
        "Unfinished": (sum(trial.ended != "break" for trial in trials), len(trials)),
        "Following not rated": (sum(trial.following is None for trial in trials), len(trials)),
        "Relevance not rated": (sum(mark.total for mark in relevance), sum(mark.of for mark in relevance)),
        "Not played": (candidate.lost, len(trials) + candidate.lost),
    }
    cells = []
    for column, (bad, n) in counts.items():
        if n:
            own = _ratio(relevance, (0, 1), draws)[1] if column == "Relevance not rated" else None
            cells.append(
                _cell(record, candidate.model, column, bad / n, "proportion", "down", n=int(n), numerator=float(bad),
                      denominator=float(n), ci95=own or wilson_interval(int(bad), int(n)))
            )  # fmt: skip
    return cells


def _ratio(marks: Sequence[_Mark], scale: Interval, draws: Draws) -> tuple[float, Interval]:
    _, clusters, sums, counts = zip(*marks, strict=True)
    return bootstrap_ratios(sums, counts, within=scale, **draws | {"clusters": clusters}).estimate()
