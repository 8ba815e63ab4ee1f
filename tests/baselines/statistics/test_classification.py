"""Accuracy and F1 against scikit-learn, and their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from baselines.statistics.classification import (
    Answers,
    bootstrap_classification,
    bootstrap_f1,
    classification_scores,
    confusion,
    occurring,
    paired_bootstrap_classification,
)
from baselines.statistics.resampling import bootstrap_ratios
from baselines.statistics.significance import (
    wilson_interval,
)
from loaders.errors import InputError


def test_f1_of_answers_that_are_all_right_or_all_wrong_is_no_certainty() -> None:
    right = bootstrap_classification(["a"] * 12, ["a"] * 12, ["a"], resamples=50)
    wrong = bootstrap_classification(["a"] * 12, [None] * 12, ["a"], resamples=50)
    assert right.interval() == pytest.approx(np.tile(wilson_interval(12, 12), (3, 1)))
    thrice = bootstrap_classification(["a"] * 12, ["a"] * 12, ["a"], resamples=50, clusters=[*range(4)] * 3)
    assert thrice.interval() == pytest.approx(np.tile(wilson_interval(4, 4), (3, 1)))
    assert wrong.interval() == pytest.approx(np.tile(wilson_interval(0, 12), (3, 1)))
    # A part's number has as many rows as the part.
    both = bootstrap_ratios(np.ones((12, 2)) * [1, 0], np.eye(2)[[0] * 9 + [1] * 3] + [0, 0], resamples=200)
    assert both.units == pytest.approx([9, 3])


def test_f1_is_that_of_scikit_learn_over_the_fixed_list() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(3)
    labels = [f"d{i}" for i in range(8)]
    truth = [labels[i] for i in generator.integers(0, 6, size=120)]  # the last two never occur
    predicted = [t if generator.random() < 0.5 else [*labels[:7], "none"][generator.integers(8)] for t in truth]
    found = classification_scores(truth, predicted, labels)
    options: Any = {"labels": labels, "zero_division": 0}
    assert found.accuracy == pytest.approx(metrics.accuracy_score(truth, predicted))
    assert found.macro_f1 == pytest.approx(metrics.f1_score(truth, predicted, average="macro", **options))
    assert found.weighted_f1 == pytest.approx(metrics.f1_score(truth, predicted, average="weighted", **options))
    wanted = metrics.precision_recall_fscore_support(truth, predicted, **options)
    for mine, theirs in zip((found.precision, found.recall, found.f1, found.support), wanted, strict=True):
        np.testing.assert_allclose(mine, theirs)
    assert found.support[6:].tolist() == [0, 0]


def test_abstaining_is_wrong_and_absent_labels_stay() -> None:
    found = classification_scores(["a", "a", "b", "b"], ["a", None, "b", "none"], ["a", "b", "c"])
    assert found.accuracy == 0.5
    # a and b: precision 1, recall 1/2, F1 2/3; c: 0.
    assert found.f1.tolist() == pytest.approx([2 / 3, 2 / 3, 0]) and found.n == 4
    assert found.macro_f1 == pytest.approx(4 / 9) and found.weighted_f1 == pytest.approx(2 / 3)
    for truth, predicted, labels in ((["x"], ["a"], ["a"]), ([], [], ["a"]), (["a"], [], ["a"]), (["a"], ["a"], [])):
        with pytest.raises(InputError):
            classification_scores(truth, predicted, labels)


def test_bootstrap_of_f1_is_the_loop_over_drawn_rows() -> None:
    labels = ["a", "b", "c"]
    generator = np.random.default_rng(8)
    truth = generator.choice(labels[:2], 40).tolist()
    predicted = generator.choice([*labels, "none"], 40).tolist()
    found = bootstrap_classification(truth, predicted, labels, resamples=25, seed=6)
    generator = np.random.default_rng(6)
    for replicate in found.replicates:
        drawn = generator.integers(40, size=40)
        one = classification_scores([truth[i] for i in drawn], [predicted[i] for i in drawn], labels)
        assert replicate.tolist() == pytest.approx([one.accuracy, one.macro_f1, one.weighted_f1])
    whole = classification_scores(truth, predicted, labels)
    assert found.estimates.tolist() == pytest.approx([whole.accuracy, whole.macro_f1, whole.weighted_f1])


def test_macro_f1_of_a_resample_is_over_the_labels_that_it_holds() -> None:
    """Of 34 rows of 34 labels each resample lacks a dozen labels: right answers to all others are no wrong ones."""
    labels = list(range(34))
    found = bootstrap_classification(labels, labels, labels, resamples=50)
    assert found.replicates.tolist() == np.ones((50, 3)).tolist()
    assert found.interval()[1].tolist() == pytest.approx(wilson_interval(34, 34))
    wrong = Answers(labels, [None] * 34, labels)
    apart = paired_bootstrap_classification(Answers(labels, labels, labels), wrong, labels, resamples=50)
    assert apart.replicates.tolist() == np.ones((50, 3)).tolist()


def test_f1_of_a_label_is_over_the_resamples_that_hold_it_and_worth_the_rows_that_name_it() -> None:
    truth, predicted, labels = list("aaabb"), ["a", "a", "c", "b", "a"], list("abc")
    for clusters, units in ((None, [4, 2, 1]), ([1, 1, 2, 3, 3], [3, 1, 1])):
        found = bootstrap_f1(truth, predicted, labels, resamples=200, seed=4, clusters=clusters)
        assert np.asarray(found.units).tolist() == units
        assert found.estimates.tolist() == pytest.approx([2 / 3, 2 / 3, 0])
        held = ~np.isnan(found.replicates)
        assert not held[:, :2].all(axis=0).any() and held[:, 2].all()  # nothing is ever a c: its F1 is 0 throughout
        assert found.interval()[0].tolist() == np.quantile(found.replicates[held[:, 0], 0], [0.025, 0.975]).tolist()
    assert found.interval()[2].tolist() == pytest.approx([0, wilson_interval(0, 1)[1]])


def test_f1_of_a_label_that_no_resample_holds_is_as_uncertain_as_its_rows_are_few() -> None:
    found = bootstrap_f1(["a"] * 3 + ["b"], ["a"] * 3 + ["b"], ["a", "b"], resamples=2, seed=23)
    assert np.isnan(found.replicates[:, 1]).all()
    assert found.interval()[1].tolist() == pytest.approx(list(wilson_interval(1, 1)))


def test_a_difference_of_two_sets_of_answers_is_the_loop_over_the_clusters_of_both() -> None:
    labels = list("abc")
    treatment = Answers(list("abcaa"), ["a", "b", None, "c", "a"], [1, 2, 3, 3, 3])
    control = Answers(list("abb"), ["a", "a", "b"], [1, 1, 4])  # whose truth is never c

    def scores(side: Answers, clusters: list[int], never: int) -> list[float] | None:
        rows = [row for one in clusters for row, cluster in enumerate(side.clusters) if cluster == one]
        if not rows:
            return None
        truth = [side.truth[row] for row in rows]
        one = classification_scores(truth, [side.predicted[row] for row in rows], labels)
        return [one.accuracy, one.f1.sum() / (len(set(truth)) + never), one.weighted_f1]

    found = paired_bootstrap_classification(treatment, control, labels, resamples=200, seed=5)
    generator = np.random.default_rng(5)
    drawn = [(1 + generator.integers(4, size=4)).tolist() for _ in range(200)]
    both = [(scores(treatment, one, 0), scores(control, one, 1)) for one in drawn]
    expected = [np.subtract(left, right) for left, right in both if left is not None and right is not None]
    assert 100 < len(expected) < 200
    np.testing.assert_allclose(found.replicates, expected, atol=1e-12)
    assert (found.within, found.units) == ((-1, 1), 4)


def test_a_confusion_tells_another_answer_from_none() -> None:
    counts = confusion(["a", "a", "b", "c"], ["a", None, "melanoma", "a"], ["a", "b"])
    assert counts.tolist() == [[1, 0, 0, 1], [0, 0, 1, 0]]


def test_labels_that_no_row_has_are_left_out_of_the_mean_and_told() -> None:
    assert occurring("bba", list("abc")) == (["a", "b"], "over the 2 of 3 classes that occur here")
    assert occurring("cab", list("abc")) == (list("abc"), "") == occurring("", list("abc"))
