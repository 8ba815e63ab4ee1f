"""Cohen's kappa against scikit-learn and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from baselines.statistics.agreement import bootstrap_kappas, cohen_kappa
from loaders.errors import InputError


@pytest.mark.parametrize("weights", [None, "quadratic"])
def test_kappa_is_that_of_scikit_learn(weights: Any) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(5)
    first = generator.integers(1, 6, size=80)
    second = np.clip(first + generator.integers(-1, 2, size=80), 1, 5)
    found = cohen_kappa(first.tolist(), second.tolist(), [1, 2, 3, 4, 5], weights=weights, resamples=200)
    wanted = metrics.cohen_kappa_score(first, second, labels=[1, 2, 3, 4, 5], weights=weights)
    assert found.kappa == pytest.approx(wanted)
    assert found.ci95 is not None and found.ci95[0] < wanted < found.ci95[1]
    drawn = np.random.default_rng(0).integers(80, size=80)
    one = cohen_kappa(first.tolist(), second.tolist(), [1, 2, 3, 4, 5], weights=weights, resamples=1)
    same = metrics.cohen_kappa_score(first[drawn], second[drawn], labels=[1, 2, 3, 4, 5], weights=weights)
    assert one.ci95 == pytest.approx((same, same))


def test_kappa_that_no_resample_defines_has_no_interval() -> None:
    found = cohen_kappa([0, 1], [0, 1], [0, 1], resamples=1)  # which draws one item twice
    assert found.kappa == 1 and found.ci95 is None


def test_kappa_by_hand_and_at_its_edges() -> None:
    # 20 + 15 of 50 agree, chance agreement .5 (Cohen's classic): (.7 - .5) / .5
    first = ["y"] * 25 + ["n"] * 25
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    found = cohen_kappa(first, second, ["y", "n"], resamples=50)
    assert found.kappa == pytest.approx(0.4) and found.observed == 0.7 and found.n == 50
    constant = cohen_kappa(["y"] * 4, ["y"] * 4, ["y", "n"], resamples=50)
    assert constant.kappa is None and constant.ci95 is None and constant.observed == 1.0
    assert cohen_kappa(["y"], ["n"], ["y", "n"], resamples=10).kappa == 0.0
    assert cohen_kappa(["y", "n"], ["y", "n"], ["y", "n"], resamples=50).ci95 == (1.0, 1.0)
    for first, second, labels in (([], [], ["y"]), (["y"], [], ["y"]), (["y"], ["x"], ["y"]), (["y"], ["y"], "yy")):
        with pytest.raises(InputError):
            cohen_kappa(first, second, labels)


def test_kappa_of_clusters_is_that_of_the_clusters_drawn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    first, second, clusters = list("yynyynnny"), list("ynnyynyny"), [0, 0, 0, 0, 0, 1, 1, 1, 2]
    found = cohen_kappa(first, second, ["y", "n"], resamples=1, seed=3, clusters=clusters)
    drawn = np.random.default_rng(3).integers(3, size=3)
    rows = [row for cluster in drawn for row, of in enumerate(clusters) if of == cluster]
    wanted = metrics.cohen_kappa_score([first[row] for row in rows], [second[row] for row in rows])
    assert len(rows) != 9 and found.ci95 == pytest.approx((wanted, wanted))


def test_kappas_of_several_columns_are_those_of_scikit_learn_and_share_their_resamples() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(4)
    one = generator.integers(0, 3, (50, 4))
    two = np.where(generator.random((50, 4)) < 0.5, one, generator.integers(0, 3, (50, 4)))
    found = bootstrap_kappas(one, two, 3, resamples=20, seed=6)
    expected = [metrics.cohen_kappa_score(one[:, at], two[:, at]) for at in range(4)]
    np.testing.assert_allclose(found.estimates, expected, atol=1e-12)
    generator = np.random.default_rng(6)
    for replicate in found.replicates:
        drawn = generator.integers(50, size=50)
        again = [metrics.cohen_kappa_score(one[drawn, at], two[drawn, at]) for at in range(4)]
        np.testing.assert_allclose(replicate, again, atol=1e-12)
    single = cohen_kappa(one[:, 0].tolist(), two[:, 0].tolist(), [0, 1, 2], resamples=300, seed=6)
    interval = bootstrap_kappas(one[:, 0], two[:, 0], 3, resamples=300, seed=6).interval()[0]
    assert single.ci95 == pytest.approx(tuple(interval))


def test_a_kappa_that_chance_explains_is_nothing() -> None:
    assert np.isnan(bootstrap_kappas([1, 1, 1], [1, 1, 1], 2, resamples=5).estimates).all()
    assert bootstrap_kappas([1, 1, 1], [1, 0, 1], 2, resamples=5).estimates.tolist() == [0]
    with pytest.raises(InputError, match="another rating"):
        bootstrap_kappas([2], [0], 2)
    with pytest.raises(InputError, match="shape"):
        bootstrap_kappas([1, 0], [0], 2)
