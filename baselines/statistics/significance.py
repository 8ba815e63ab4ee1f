"""Tests of paired outcomes and of independent groups, corrections for many tests, and Wilson's interval."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # which imports scipy.stats when it is first used
from numpy.typing import ArrayLike

from baselines.statistics.arrays import (
    BLOCK,
    NOISE,
    Clusters,
    Floats,
    as_columns,
    as_differences,
    as_vector,
    by_cluster,
    on_grid,
    without_noise,
)
from baselines.statistics.resampling import Interval
from loaders.errors import InputError


def sign_flip_test(
    differences: ArrayLike, *, permutations: int = 10_000, seed: int = 0, clusters: Clusters | None = None
) -> float:
    """Two-sided p of "the paired differences (n,) are symmetric about 0", by flipping signs of rows or whole clusters.

    If there are at most `permutations` ways to flip, all are counted and p is exact. Otherwise
    p = (1 + permutations whose |sum| reaches the observed one) / (1 + permutations), never 0 (Phipson and Smyth, 2010).
    Sums that differ only by rounding count as equal.
    """
    if permutations < 1:
        raise InputError("permutations", found=str(permutations), expected="1 or more")
    units = on_grid(by_cluster(as_columns(as_vector(differences, "differences"), "differences"), clusters))[:, 0]
    observed, reached = abs(units.sum()) - NOISE * np.abs(units).sum(), 0
    if 2 ** len(units) <= permutations:
        every = np.arange(2 ** len(units))[:, None] >> np.arange(len(units)) & 1
        return float(np.mean(np.abs(2 * (every @ units) - units.sum()) >= observed))
    generator = np.random.default_rng(seed)
    step = max(1, BLOCK // len(units))
    for start in range(0, permutations, step):
        kept = generator.integers(0, 2, size=(min(step, permutations - start), len(units)), dtype=np.int8)
        # The signed sum is twice the sum of those kept minus the sum of all: exact, like every sum on the grid.
        reached += int(np.count_nonzero(np.abs(2 * (kept.astype(np.float64) @ units) - units.sum()) >= observed))
    return (1 + reached) / (1 + permutations)


@dataclass(frozen=True, slots=True)
class McNemar:
    """Rows on which the treatment is better and worse than the control, and the exact two-sided p of "as many"."""

    better: int
    worse: int
    p: float


def mcnemar_exact(treatment: ArrayLike, control: ArrayLike) -> McNemar:
    """Exact McNemar test of paired outcomes (n,): binomial test of the rows that differ.

    For graded outcomes it is the sign test, which generalises McNemar's binary one. Rows are taken as independent.
    """
    difference = without_noise(as_vector(as_differences(treatment, control), "outcomes"))
    better, worse = int((difference > 0).sum()), int((difference < 0).sum())
    return McNemar(better, worse, min(1.0, 2 * float(scipy.stats.binom.cdf(min(better, worse), better + worse, 0.5))))


def wilcoxon_signed_rank(treatment: ArrayLike, control: ArrayLike) -> tuple[float, float]:
    """Statistic and two-sided p of Wilcoxon's signed-rank test of pairs (n,); equal pairs are dropped (scipy).

    If no pair differs there is no evidence: (0.0, 1.0). Differences that are equal up to rounding share one rank. If
    all of them are of one size, as of outcomes 0 and 1, it is the sign test, which is exact.
    """
    difference = without_noise(as_vector(as_differences(treatment, control), "outcomes"))
    if not difference.any():
        return 0.0, 1.0
    # SciPy tests few pairs exactly, but not with equal ones among them.
    unequal = difference[difference != 0]
    found = scipy.stats.wilcoxon(unequal)
    if np.ptp(np.abs(unequal)) == 0:
        return float(found.statistic), mcnemar_exact(unequal, np.zeros_like(unequal)).p
    return float(found.statistic), float(found.pvalue)


def kruskal_wallis(groups: Sequence[ArrayLike]) -> tuple[float, float]:
    """H, corrected for ties, and p of "all groups come from one distribution" (scipy); (0.0, 1.0) if all are equal.

    Raises InputError on fewer than two groups, an empty one, values that are not finite.
    """
    values = _groups(groups)
    if len(np.unique(np.concatenate(values))) == 1:
        return 0.0, 1.0
    found = scipy.stats.kruskal(*values)
    return float(found.statistic), float(found.pvalue)


def mann_whitney(first: ArrayLike, second: ArrayLike) -> tuple[float, float]:
    """U of the first group and two-sided p by the normal approximation with correction for ties and continuity."""
    one, other = _groups([first, second])
    if len(np.unique(np.concatenate([one, other]))) == 1:
        return len(one) * len(other) / 2, 1.0
    found = scipy.stats.mannwhitneyu(one, other, alternative="two-sided", method="asymptotic")
    return float(found.statistic), float(found.pvalue)


_FEW = 20  # a group of fewer is too small for the normal approximation
_DRAWS = 9_999


def two_groups(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided p of "both groups come from one distribution", for groups of any size and any number of ties.

    Values of two kinds, such as right and wrong, are tested by Fisher's exact test. Others are tested by the rank sum
    of Mann and Whitney: by its normal approximation or, for a group of fewer than 20, by random reassignments, where
    p = (1 + those that reach the observed distance) / (1 + all), at least .0001.
    """
    one, other = _groups([first, second])
    values, place = np.unique(np.concatenate([one, other]), return_inverse=True)
    if len(values) == 1:
        return 1.0
    if len(values) == 2:
        high = values[1]
        hits, rest = int((one == high).sum()), int((other == high).sum())
        return float(scipy.stats.fisher_exact([[hits, len(one) - hits], [rest, len(other) - rest]]).pvalue)
    if min(len(one), len(other)) >= _FEW:
        return mann_whitney(one, other)[1]
    few = place[: len(one)] if len(one) <= len(other) else place[len(one) :]
    counts = np.bincount(place)
    ranks = np.cumsum(counts) - (counts - 1) / 2  # of tied values: the mean of theirs
    expected = len(few) * (len(place) + 1) / 2
    observed = abs(ranks[few].sum() - expected)
    # Which values a group of this size draws; ranks are multiples of 1/2, so the sums are exact.
    drawn = np.random.default_rng(0).multivariate_hypergeometric(counts, len(few), size=_DRAWS, method="marginals")
    reached = int((np.abs(drawn @ ranks - expected) >= observed).sum())
    return (1 + reached) / (1 + _DRAWS)


def unpaired_t(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided p of Student's t test of two independent groups with one variance: what Table 7 of 3MDBench follows.

    If neither group has variance there is nothing to divide by: 1 if the means are equal, 0 if not.
    """
    one, other = _groups([first, second])
    if min(len(one), len(other)) < 2:
        raise InputError("groups", found="1 value", expected="2 or more in each: one has no variance")
    if one.var() == 0 and other.var() == 0:
        return float(one[0] == other[0])
    with warnings.catch_warnings():
        # SciPy's warning about a group without variance; of outcomes that are all right or all wrong it is exactly 0.
        warnings.filterwarnings("ignore", message="Precision loss", category=RuntimeWarning)
        return float(scipy.stats.ttest_ind(one, other).pvalue)


def _groups(groups: Sequence[ArrayLike]) -> list[Floats]:
    if len(groups) < 2:
        raise InputError("groups", found=f"{len(groups)}", expected="2 or more")
    return [as_vector(group, f"group {at}") for at, group in enumerate(groups, start=1)]


def holm(p_values: ArrayLike) -> Floats:
    """Holm's step-down adjusted p values, in the order given: family-wise error over the whole family."""
    p = _p_values(p_values)
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Benjamini and Hochberg's step-up adjusted p values, in the order given: false discovery rate over the family."""
    p = _p_values(p_values)
    adjusted: Floats = scipy.stats.false_discovery_control(p, method="bh")
    return adjusted


def _p_values(values: ArrayLike) -> Floats:
    p = np.asarray(values, dtype=np.float64)
    if p.ndim != 1 or not len(p) or not ((p >= 0) & (p <= 1)).all():
        raise InputError("p values", found=f"{p.tolist()}"[:80], expected="one or more numbers from 0 to 1")
    return p


def wilson_interval(successes: int, n: int) -> Interval:
    """Wilson's 95 % score interval of a proportion (1927): inside [0, 1], and of some width at 0 and at n."""
    if n < 1 or not 0 <= successes <= n:
        raise InputError("wilson_interval", found=f"{successes} of {n}", expected="0 <= successes <= n, n >= 1")
    low, high = scipy.stats.binomtest(successes, n).proportion_ci(method="wilson")
    return float(low), float(high)
