"""Tests of significance against scipy, definitions and enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import comb
from typing import Any

import numpy as np
import pytest
from scipy import stats

from baselines.statistics.significance import (
    benjamini_hochberg,
    holm,
    kruskal_wallis,
    mann_whitney,
    mcnemar_exact,
    sign_flip_test,
    two_groups,
    unpaired_t,
    wilcoxon_signed_rank,
    wilson_interval,
)
from loaders.errors import InputError


def test_sign_flips_reach_the_exact_p_by_enumeration() -> None:
    differences = np.array([1.5, -0.5, 2.0, 3.0, -1.0, 0.5, 2.5, 0.0])
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
            for signs in itertools.product((-1, 1), repeat=8)]  # fmt: skip
    exact = np.mean([value >= abs(differences.sum()) for value in sums])
    assert sign_flip_test(differences, permutations=255, seed=1) == pytest.approx(exact, abs=0.06)  # drawn
    # Of 256 ways all are counted.
    assert sign_flip_test(differences, permutations=256) == sign_flip_test(-differences) == exact


def test_sums_that_differ_by_rounding_alone_reach_each_other() -> None:
    sevenths = [1 / 7, -4 / 7, -4 / 5, -2 / 7, 5 / 7]
    whole = np.array([5, -20, -28, -10, 25])  # the same in parts of 35, where sums are exact
    assert sign_flip_test(sevenths) == sign_flip_test(whole) == 0.625


def test_ranks_and_signs_are_those_of_the_means_before_rounding() -> None:
    thirds = np.array([1, 2 / 3, 1 / 3, 2 / 3, 1, 0]), np.array([2 / 3, 1 / 3, 0, 0, 0, 1 / 3])
    whole = np.array([3, 2, 1, 2, 3, 0]), np.array([2, 1, 0, 0, 0, 1])
    assert wilcoxon_signed_rank(*thirds) == wilcoxon_signed_rank(*whole)
    assert mcnemar_exact([0.1 + 0.2, 1.0], [0.3, 0.0]) == mcnemar_exact([0.0, 1.0], [0.0, 0.0])


def test_sign_flips_of_clusters_move_their_rows_together() -> None:
    differences, clusters = np.array([1.0, 1, 1, 1, 1, 1]), ["a"] * 3 + ["b"] * 3
    # Two units: of four flips two keep the whole sum.
    assert sign_flip_test(differences, clusters=clusters) == 0.5
    assert sign_flip_test(differences) == 2 / 64


def test_sign_flip_p_is_never_zero_and_one_without_evidence() -> None:
    assert sign_flip_test(np.ones(60), permutations=99) == 0.01
    assert sign_flip_test(np.zeros(5), permutations=99) == sign_flip_test(np.zeros(60), permutations=99) == 1.0
    assert sign_flip_test([0.3], permutations=99) == 1.0
    tenths = np.array([0.1] * 7 + [-0.1] * 3)  # sums that tie only if they are exact
    exact = 2 * sum(comb(10, k) for k in range(7, 11)) / 1024
    assert sign_flip_test(tenths) == exact
    assert sign_flip_test(tenths, permutations=1_000) == pytest.approx(exact, abs=0.03)


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 0), (5, 5), (3, 9), (40, 84), (2000, 1800)])
def test_mcnemar_is_the_exact_binomial_test(better: int, worse: int) -> None:
    treatment = np.array([1] * better + [0] * worse + [1, 0])
    control = np.array([0] * better + [1] * worse + [1, 0])
    found = mcnemar_exact(treatment, control)
    assert (found.better, found.worse) == (better, worse)
    wanted = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
    assert found.p == pytest.approx(wanted)


def test_wilcoxon_by_hand_and_without_a_difference() -> None:
    # Ranks of 1, 2, 3, 4 with signs + - + +: the smaller sum is 2; P(min <= 2) = 2 * 3 / 16.
    statistic, p = wilcoxon_signed_rank([1.0, 0, 3, 4, 7], [0.0, 2, 0, 0, 7])
    assert statistic == 2 and p == pytest.approx(6 / 16)
    assert wilcoxon_signed_rank([1, 2], [1, 2]) == (0.0, 1.0)
    assert wilcoxon_signed_rank([2.0], [1.0]) == (0.0, 1.0)
    # Of pairs that all differ by as much it is the exact sign test, however many are equal.
    for worse, better, size in ((3, 10, 1.0), (2, 12, 1.0), (23, 8, 0.5)):
        outcomes = [size] * better + [-size] * worse + [0.0] * 59
        found = wilcoxon_signed_rank(outcomes, [0.0] * len(outcomes))[1]
        assert found == pytest.approx(stats.binomtest(worse, worse + better).pvalue)


FAMILIES = (
    [0.04],
    [0.01, 0.01, 0.02, 0.5, 1.0],
    [1.0, 1.0],
    [0.0, 0.3],
    *np.random.default_rng(0).random((20, 8)) ** 3,
)


@pytest.mark.parametrize("p", FAMILIES)
def test_holm_is_bonferroni_in_every_part_of_the_family(p: Sequence[float]) -> None:
    """Closed testing: one is rejected if Bonferroni rejects every part of the family that it belongs to."""
    parts = [part for size in range(1, len(p) + 1) for part in itertools.combinations(range(len(p)), size)]
    wanted = [max(min(1, len(part) * min(p[at] for at in part)) for part in parts if one in part)
              for one in range(len(p))]  # fmt: skip
    np.testing.assert_allclose(holm(p), wanted, rtol=1e-12)


@pytest.mark.parametrize("p", FAMILIES)
def test_benjamini_hochberg_is_the_least_rate_that_rejects(p: Sequence[float]) -> None:
    """At a rate q, those up to the largest p are rejected that is at most q / n for each of the p up to it."""
    rates = {bound: len(p) * bound / sum(other <= bound for other in p) for bound in p}
    wanted = [min(rate for bound, rate in rates.items() if bound >= one) for one in p]
    np.testing.assert_allclose(benjamini_hochberg(p), wanted, rtol=1e-12)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_what_are_no_p_values(adjust: Any) -> None:
    for bad in ([], [0.1, float("nan")], [-0.1], [1.1]):
        with pytest.raises(InputError, match="p values"):
            adjust(bad)


@pytest.mark.parametrize(("successes", "n"), [(0, 1), (1, 1), (0, 30), (30, 30), (7, 33), (4500, 9927)])
def test_the_ends_of_wilsons_interval_are_as_far_as_their_own_spread_allows(successes: int, n: int) -> None:
    share, z = successes / n, stats.norm.ppf(0.975)
    low, high = wilson_interval(successes, n)
    for end in (low, high):
        assert abs(share - end) == pytest.approx(z * np.sqrt(end * (1 - end) / n), abs=1e-7)
    assert 0 <= low <= share <= high <= 1 and low < high


def test_wilson_interval_refuses_what_is_no_proportion() -> None:
    for successes, n in ((0, 0), (3, 2), (-1, 5)):
        with pytest.raises(InputError):
            wilson_interval(successes, n)


@pytest.mark.parametrize("ties", [True, False])
def test_tests_of_independent_groups_are_those_of_scipy_and_a_regressions(ties: bool) -> None:
    generator = np.random.default_rng(8)
    for _ in range(20):
        groups = [generator.normal(at / 3, 1, 12 + at) for at in range(4)]
        groups = [np.round(group) for group in groups] if ties else groups
        assert kruskal_wallis(groups) == pytest.approx(tuple(stats.kruskal(*groups)))
        expected = stats.mannwhitneyu(groups[0], groups[1], method="asymptotic")
        assert mann_whitney(groups[0], groups[1]) == pytest.approx((expected.statistic, expected.pvalue))
        # Student's t is that of the slope on which group a value is of.
        slope = stats.linregress([0] * len(groups[0]) + [1] * len(groups[1]), np.concatenate(groups[:2]))
        assert unpaired_t(groups[0], groups[1]) == pytest.approx(slope.pvalue)


@pytest.mark.filterwarnings("error")
def test_groups_without_any_variance_differ_or_do_not() -> None:
    assert kruskal_wallis([[1, 1], [1], [1, 1]]) == (0.0, 1.0)
    assert mann_whitney([2, 2], [2]) == (1.0, 1.0)
    assert unpaired_t([1, 1], [1, 1, 1]) == 1.0 and unpaired_t([1, 1], [0, 0]) == 0.0
    # One of the two has some: 1 - 2/3 over sqrt(1/3 / 2 * 2/3) is t = 1 with 4 degrees of freedom.
    assert unpaired_t([1, 1, 1], [1, 0, 1]) == pytest.approx(2 * stats.t.sf(1, 4))
    for call in (lambda: kruskal_wallis([[1]]), lambda: kruskal_wallis([[1], []]), lambda: unpaired_t([1], [1, 2])):
        with pytest.raises(InputError, match="group"):
            call()


def test_the_t_test_gives_the_p_values_of_table_7_of_3mdbench() -> None:
    def outcomes(right: int) -> list[int]:
        return [1] * right + [0] * (33 - right)

    found = [round(unpaired_t(outcomes(18), outcomes(right)), 2) for right in (13, 9, 19, 18)]
    assert found == [0.22, 0.02, 0.81, 1.0]


def test_two_groups_of_any_size_with_any_ties() -> None:
    """The normal approximation calls one error among two cases, and none among 200, certain: p = 2.5e-23."""
    assert mann_whitney([0, 1], [0] * 200)[1] < 1e-20
    assert two_groups([0, 1], [0] * 200) == pytest.approx(2 / 202)
    assert two_groups([1, 1], [1]) == 1.0
    for seed in range(5):
        draw = np.random.default_rng(seed)
        few, many = draw.integers(0, 4, 5), draw.integers(0, 4, 40)
        large, larger = draw.integers(0, 4, 20), draw.integers(0, 4, 40)
        assert two_groups(large, larger) == mann_whitney(large, larger)[1]
        reference = stats.permutation_test(
            (few, many),
            lambda x, y: stats.rankdata(np.concatenate([x, y]))[: len(x)].sum(),
            n_resamples=4_000,
            rng=seed,
        )
        assert two_groups(few, many) == two_groups(many, few) == pytest.approx(reference.pvalue, abs=0.04)
    apart = two_groups([0, 1, 2, 3], [10, 11, 12, 13, 14])  # one of the 126 assignments a side
    assert apart == pytest.approx(2 / 126, abs=0.004)
