"""Scores of answers over a fixed list of labels (accuracy, macro and weighted F1), with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, Unpack

import numpy as np

from baselines.statistics.arrays import Clusters, Floats, Ints, coded, places
from baselines.statistics.resampling import Bootstrap, Draws, resampled_sums
from loaders.errors import InputError

Label = TypeVar("Label", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Classification:
    """Scores over a fixed list of L labels; arrays are (L,) in the order of the list."""

    n: int
    accuracy: float
    macro_f1: float
    weighted_f1: float
    precision: Floats
    recall: Floats
    f1: Floats
    support: Ints


class Answers(NamedTuple):
    """True and given labels of n answers, and the cluster (the case) of each."""

    truth: Sequence[Hashable]
    predicted: Sequence[Hashable]
    clusters: Clusters


def classification_scores(
    truth: Sequence[Hashable], predicted: Sequence[Hashable], labels: Sequence[Hashable]
) -> Classification:
    """Accuracy, macro and weighted F1 of n answers over all `labels`, whether or not they occur.

    A label without support and without a prediction has F1 0 and counts in the macro mean; the weighted mean weighs by
    support. An answer outside the list ("none", None) is a wrong answer, never left out. Raises InputError on a truth
    outside the list, unequal lengths, no row.
    """
    marks = _answer_marks(truth, predicted, labels)
    counts = marks.sum(axis=0)
    hits, support, given = np.split(counts, 3)
    accuracy, macro, weighted = _f1_means(hits[None], support[None], given[None], absent=_absent(counts))
    return Classification(
        n=len(marks),
        accuracy=float(accuracy[0]),
        macro_f1=float(macro[0]),
        weighted_f1=float(weighted[0]),
        precision=hits / np.maximum(given, 1),
        recall=hits / np.maximum(support, 1),
        f1=2 * hits / np.maximum(support + given, 1),
        support=support.astype(np.int64),
    )


def occurring(truth: Sequence[Hashable], labels: Sequence[Label]) -> tuple[list[Label], str]:
    """The labels that occur as some row's truth, over which a macro mean of part of a corpus is taken, since no answer
    can be right for the others; and a remark for that mean, "" if all occur."""
    there = set(truth)
    occur = [label for label in labels if label in there] or [*labels]  # none does: the caller reports which row it was
    return occur, "" if len(occur) == len(labels) else f"over the {len(occur)} of {len(labels)} classes that occur here"


def confusion(truth: Sequence[Hashable], predicted: Sequence[Hashable], labels: Sequence[Hashable]) -> Ints:
    """Counts (L, L + 2) of the answers whose truth is among `labels`: each label, another answer, no answer (None)."""
    place = places(labels)
    counts = np.zeros((len(labels), len(labels) + 2), dtype=np.int64)
    for true, given in zip(truth, predicted, strict=True):
        if true in place:
            counts[place[true], len(labels) + 1 if given is None else place.get(given, len(labels))] += 1
    return counts


def bootstrap_classification(
    truth: Sequence[Hashable], predicted: Sequence[Hashable], labels: Sequence[Hashable], **draws: Unpack[Draws]
) -> Bootstrap:
    """Bootstrap of (accuracy, macro F1, weighted F1), in this order, over rows or clusters.

    The macro mean of a resample is over the labels that are the truth of a row of it.
    """
    marks = _answer_marks(truth, predicted, labels)
    sums = resampled_sums(marks, **draws)
    absent = _absent(marks.sum(axis=0))
    estimates = _f1_means(*np.split(marks.sum(axis=0)[None], 3, axis=1), absent=absent)
    replicates = np.stack(_f1_means(*np.split(sums, 3, axis=1), absent=absent), axis=1)
    units = len(set(draws.get("clusters") or range(len(marks))))
    return Bootstrap(np.concatenate(estimates), replicates, (0, 1), units)


def bootstrap_f1(
    truth: Sequence[Hashable], predicted: Sequence[Hashable], labels: Sequence[Hashable], **draws: Unpack[Draws]
) -> Bootstrap:
    """Bootstrap of the F1 of each label, over rows or clusters.

    A resample that holds no row of a label says nothing about it.
    """
    marks = _answer_marks(truth, predicted, labels)
    hits, support, given = np.split(resampled_sums(marks, **draws), 3, axis=1)
    f1 = 2 * hits / np.maximum(support + given, 1)
    _, true, answered = np.split(marks, 3, axis=1)
    f1[(support == 0) & true.any(axis=0)] = np.nan
    ids = draws.get("clusters") or range(len(marks))
    units = [len({ids[row] for row in np.flatnonzero(rows).tolist()}) for rows in (true + answered).T]
    return Bootstrap(classification_scores(truth, predicted, labels).f1, f1, (0, 1), units)


def paired_bootstrap_classification(
    treatment: Answers, control: Answers, labels: Sequence[Hashable], **draws: Unpack[Draws]
) -> Bootstrap:
    """Bootstrap of treatment less control in (accuracy, macro F1, weighted F1), over the clusters of both.

    The two need not have equally many answers in a cluster, or any in each. A replicate in which one has none at all is
    left out; fewer than half left raises InputError.
    """
    left, right = (_answer_marks(side.truth, side.predicted, labels) for side in (treatment, control))
    marks = np.vstack([np.hstack([left, np.zeros_like(left)]), np.hstack([np.zeros_like(right), right])])
    clusters = [*treatment.clusters, *control.clusters]
    sums = resampled_sums(marks, **draws | {"clusters": clusters})
    counted = np.stack([np.split(half, 3, axis=1)[1].sum(axis=1) for half in np.split(sums, 2, axis=1)])
    held = np.flatnonzero((counted > 0).all(axis=0))
    if len(held) * 2 < len(sums):
        found = f"only {len(held)} of {len(sums)} resamples hold answers of both"
        raise InputError("clusters", found=found, expected="more answers")
    whole = marks.sum(axis=0)
    absent = [_absent(half) for half in np.split(whole, 2)]
    estimates, replicates = (_f1_differences(rows, absent) for rows in (whole[None], sums[held]))
    return Bootstrap(estimates[0], replicates, (-1, 1), len(set(clusters)))


def _f1_differences(sums: Floats, absent: Sequence[int]) -> Floats:
    halves = zip(np.split(sums, 2, axis=1), absent, strict=True)
    treatment, control = (_f1_means(*np.split(half, 3, axis=1), absent=never) for half, never in halves)
    return np.stack(treatment, axis=1) - np.stack(control, axis=1)


def _answer_marks(truth: Sequence[Hashable], predicted: Sequence[Hashable], labels: Sequence[Hashable]) -> Floats:
    """Marks (n, 3 * L): right with label l, label l is true, label l is predicted."""
    place = places(labels)
    true = coded(truth, place, "truth")
    if len(predicted) != len(true) or not len(true):
        raise InputError("predicted", found=f"{len(predicted)} answers", expected=f"{len(true)} (at least 1), as truth")
    given = np.fromiter((place.get(value, len(place)) for value in predicted), dtype=np.int64, count=len(true))
    one_hot: Any = np.vstack([np.eye(len(place)), np.zeros(len(place))])
    return np.hstack([one_hot[np.where(given == true, true, len(place))], one_hot[true], one_hot[given]])


def _absent(counts: Floats) -> int:
    """How many labels are no row's truth, from the sums (3 * L,) of `_answer_marks`."""
    return int((np.split(counts, 3)[1] == 0).sum())


def _f1_means(hits: Floats, support: Floats, given: Floats, *, absent: int) -> tuple[Floats, Floats, Floats]:
    """Accuracy, macro F1 and weighted F1, each (b,), from counts (b, L).

    `absent` is how many labels are no row's truth: each is a 0 in the macro mean. A label that is the truth of some
    rows, none of which was drawn, has no part in the mean of that resample.
    """
    f1 = 2 * hits / np.maximum(support + given, 1)
    rows, labels = support.sum(axis=1), (support > 0).sum(axis=1) + absent
    return hits.sum(axis=1) / rows, f1.sum(axis=1) / labels, (f1 * support).sum(axis=1) / rows
