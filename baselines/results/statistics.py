"""Statistics of paired comparisons, agreement, classification and rating sheets, shared by every baseline.

Arrays in, numbers out. `n` rows are what was compared (captions, dialogues, cases). `clusters`, an id per row (article,
case), says which rows belong together: they are drawn or flipped as a whole, and a row without an id is an error.
Everything random takes a `seed` and nothing else. Sums of resampled rows are taken on a binary grid so fine that they
are exact in float64, so no order of summation, thread count or BLAS changes a bit of an interval or a p value.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import ceil, floor, isfinite, log2
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from loaders.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Interval = tuple[float, float]
Clusters = Sequence[Hashable]
Label = TypeVar("Label", bound=Hashable)
Within = ArrayLike
"""The smallest and largest value of a statistic, (2,), or of each of m, (m, 2)."""

_TAILS = ((1 - 0.95) / 2, 1 - (1 - 0.95) / 2)
_Z2 = 1.959963984540054**2  # of the normal quantile at .975
_BLOCK = 1 << 20  # float64 weights held at a time: 8 MiB
_DRAWN = 1 << 15  # rows drawn at a time: few enough for the cache of a processor
_NOISE = 2.0**-40  # of the largest value: smaller differences come from rounding (1 - 2/3 is not 1/3)


# ---------------------------------------------------------------------------------------------------- resampling


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Estimates (m,) of m statistics and their bootstrap replicates (resamples, m), NaN where a resample defines none.

    `within` are the smallest and largest value that the statistics can have, (2,) or (m, 2); None if unbounded.
    `units` are
    the independent rows (or clusters) behind each of them, (m,) or one number for all.
    """

    estimates: Floats
    replicates: Floats
    within: Within | None = None
    units: ArrayLike = 0

    def interval(self) -> Floats:
        """95 % interval of each statistic, (m, 2): percentiles, or Wilson's if resampling the rows cannot vary it.

        If all rows are alike, every replicate is the estimate, and its percentiles would claim certainty ("100 to
        100" of 12 right answers). n equal rows leave room for others: at most z^2 / (n + z^2) of all rows, the bound of
        Wilson (1927) at 0 and at n successes. Those may have any value that the statistic can have, so the true value
        may lie that much nearer to either end. A statistic without bounds keeps an interval of no width, which a
        `Result` does not show.
        """
        partial = np.isnan(self.replicates).any()
        bounds: Floats = (np.nanquantile if partial else np.quantile)(self.replicates, _TAILS, axis=0).T
        if self.within is not None:
            ends = np.broadcast_to(np.asarray(self.within, dtype=np.float64), bounds.shape)
            room = (_Z2 / (np.asarray(self.units, dtype=np.float64) + _Z2))[..., None]
            widened = (1 - room) * self.estimates[:, None] + room * ends
            bounds = np.where(np.isclose(bounds[:, :1], bounds[:, 1:], rtol=1e-12, atol=1e-15), widened, bounds)
        return bounds

    def estimate(self, column: int = 0, *, scale: float = 1.0) -> tuple[float, Interval]:
        """One statistic and its percentile interval, both times `scale`."""
        low, high = self.interval()[column].tolist()
        return scale * float(self.estimates[column]), (scale * low, scale * high)

    def p_values(self) -> Floats:
        """Two-sided p (m,) of "the statistic is 0": twice the smaller tail, at least 1/resamples and at most 1.

        This is the rule that the p values of MedLayBench-V's Table A3 follow: even thousandths, except for the floor
        .001.
        """
        count = len(self.replicates)
        tail = np.minimum((self.replicates <= 0).sum(axis=0), (self.replicates >= 0).sum(axis=0))
        p: Floats = np.clip(2 * tail / count, 1 / count, 1.0)
        return p


def percentile_interval(replicates: Floats) -> Interval:
    """The interval of 95 % of replicates (resamples,) of a number composed of several statistics."""
    low, high = np.quantile(replicates, [0.025, 0.975]).tolist()
    return low, high


def bootstrap_means(
    values: ArrayLike,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    clusters: Clusters | None = None,
    within: Within | None = None,
) -> Bootstrap:
    """Bootstrap of the mean of each column of `values`, (n,) or (n, m); one resample of rows serves all columns.

    `within` are the bounds of the values' scale (`Bootstrap`).

    With clusters a replicate is the sum over the drawn clusters divided by the number of their rows. Equal, bit for
    bit, to a loop that draws `rng.integers(units, size=units)` and averages values[drawn]. Raises InputError on no
    rows, values that are not finite, resamples < 1, a missing cluster id.
    """
    columns = _columns(values, "values")
    if clusters is None:
        sums = resampled_sums(columns, resamples=resamples, seed=seed)
        return Bootstrap(_exact_sums(columns) / len(columns), sums / len(columns), within, len(columns))
    rows = np.ones((len(columns), 1))
    return bootstrap_ratios(columns, rows, resamples=resamples, seed=seed, clusters=clusters, within=within)


def bootstrap_ratios(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    clusters: Clusters | None = None,
    crossed: Clusters | None = None,
    within: Within | None = None,
) -> Bootstrap:
    """Bootstrap of sum(numerators) / sum(denominators): (n, m) over (n, d), column j over column j mod d.

    For rates within parts of the rows: a part's denominator is 1 for its rows and 0 for others. A replicate in which
    some denominator is 0 (a small part drew no row) is left out; fewer than half left raises InputError.
    """
    top, bottom = _columns(numerators, "numerators"), _columns(denominators, "denominators")
    times, rest = divmod(top.shape[1], bottom.shape[1])
    if len(top) != len(bottom) or rest:
        raise InputError(
            "denominators", found=f"shape {bottom.shape}", expected=f"{top.shape} or a divisor of its columns"
        )
    if (bottom.sum(axis=0) == 0).any():
        raise InputError("denominators", found="a column that sums to 0", expected="rows in every part")
    both = np.hstack([top, bottom])
    sums = resampled_sums(both, resamples=resamples, seed=seed, clusters=clusters, crossed=crossed)
    above, below = sums[:, : top.shape[1]], sums[:, top.shape[1] :]
    whole = (below != 0).all(axis=1)
    if whole.sum() * 2 < resamples:
        raise InputError(
            "denominators",
            found=f"only {whole.sum()} of {resamples} resamples hold every part",
            expected="parts with more rows",
        )
    estimates = _exact_sums(top) / np.tile(_exact_sums(bottom), times)
    units = (_by_cluster(bottom, clusters) != 0).sum(axis=0)
    if crossed is not None and (drawn := [at for at, one in enumerate(crossed) if one is not None]):
        others = (_by_cluster(bottom[drawn], [crossed[at] for at in drawn]) != 0).sum(axis=0)
        units = np.where(others > 0, np.minimum(units, others), units)
    units = np.tile(units, times)
    return Bootstrap(estimates, above[whole] / np.tile(below[whole], times), within, units)


def paired_bootstrap(
    treatment: ArrayLike,
    control: ArrayLike,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    clusters: Clusters | None = None,
    within: Within | None = None,
) -> Bootstrap:
    """Bootstrap of mean(treatment) - mean(control) over the same rows, (n,) or (n, m), column by column.

    `within` are the bounds of the differences' scale.
    """
    differences = _differences(treatment, control)
    return bootstrap_means(differences, resamples=resamples, seed=seed, clusters=clusters, within=within)


def resampled_sums(
    values: ArrayLike,
    *,
    resamples: int,
    seed: int,
    clusters: Clusters | None = None,
    crossed: Clusters | None = None,
) -> Floats:
    """Sums (resamples, m) of the columns of `values` (n, m) over rows, or clusters of rows, drawn with replacement.

    Each resample is a vector of counts and the sums are one product counts @ values, computed in blocks: 8 MiB whatever
    n and resamples are. With `crossed`, a second id per row (the person who saw the case), both ids are drawn
    independently, and a row counts as often as its two ids together (the pigeonhole bootstrap, Owen 2007); a row whose
    second id is None belongs to nobody who was drawn, and counts as its first.
    """
    if resamples < 1:
        raise InputError("resamples", found=str(resamples), expected="1 or more")
    if crossed is not None:
        return _crossed_sums(_columns(values, "values"), resamples, seed, clusters, crossed)
    units = _on_grid(_by_cluster(_columns(values, "values"), clusters))
    count = len(units)
    generator = np.random.default_rng(seed)
    sums = np.empty((resamples, units.shape[1]))
    block = np.empty((min(resamples, max(1, _BLOCK // count)), count))
    at_once = max(1, _DRAWN // count)
    for start in range(0, resamples, len(block)):
        weights = block[: resamples - start]
        for at in range(0, len(weights), at_once):
            rows = weights[at : at + at_once]
            drawn = generator.integers(count, size=rows.shape)  # the draws of one row after another
            drawn += np.arange(len(rows))[:, None] * count
            rows[:] = np.bincount(drawn.ravel(), minlength=rows.size).reshape(rows.shape)
        np.matmul(weights, units, out=sums[start : start + len(weights)])
    return sums


def _crossed_sums(columns: Floats, resamples: int, seed: int, clusters: Clusters | None, crossed: Clusters) -> Floats:
    """`resampled_sums` of rows with two ids each, which are drawn independently."""
    rows = len(columns)
    first = np.arange(rows) if clusters is None else _cluster_index(clusters, rows)
    drawn = np.array([one is not None for one in crossed])
    second = np.zeros(rows, dtype=np.int64)
    second[drawn] = 1 + _cluster_index([one for one in crossed if one is not None], int(drawn.sum()))
    here, there = int(first.max()) + 1, int(second.max())
    # No row counts more often than here * max(there, 1) times.
    values = _on_grid(columns, spread=rows * here * max(there, 1))
    generator = np.random.default_rng(seed)
    sums = np.empty((resamples, columns.shape[1]))
    # For each resample, first the draws of one id, then those of the other.
    bounds, offsets = (np.repeat(ends, [here, there]) for ends in ([here, there], [0, here]))
    at_once = max(1, min(_BLOCK // rows, _DRAWN // (here + there)))
    for start in range(0, resamples, at_once):
        count = min(at_once, resamples - start)
        ids = generator.integers(bounds, size=(count, here + there)) + offsets
        ids += np.arange(count)[:, None] * (here + there)
        counts = np.bincount(ids.ravel(), minlength=ids.size).reshape(ids.shape)
        weights = counts[:, first] * np.where(second > 0, counts[:, here + second - 1], 1)
        np.matmul(weights.astype(np.float64), values, out=sums[start : start + count])
    return sums


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
    units = _on_grid(_by_cluster(_columns(_vector(differences, "differences"), "differences"), clusters))[:, 0]
    observed, reached = abs(units.sum()) - _NOISE * np.abs(units).sum(), 0
    if 2 ** len(units) <= permutations:
        every = np.arange(2 ** len(units))[:, None] >> np.arange(len(units)) & 1
        return float(np.mean(np.abs(2 * (every @ units) - units.sum()) >= observed))
    generator = np.random.default_rng(seed)
    step = max(1, _BLOCK // len(units))
    for start in range(0, permutations, step):
        kept = generator.integers(0, 2, size=(min(step, permutations - start), len(units)), dtype=np.int8)
        # The signed sum is twice the sum of those kept minus the sum of all: exact, like every sum on the grid.
        reached += int(np.count_nonzero(np.abs(2 * (kept.astype(np.float64) @ units) - units.sum()) >= observed))
    return (1 + reached) / (1 + permutations)


# -------------------------------------------------------------------------------------------------- paired tests


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
    difference = _without_noise(_vector(_differences(treatment, control), "outcomes"))
    better, worse = int((difference > 0).sum()), int((difference < 0).sum())
    from scipy import stats

    return McNemar(better, worse, min(1.0, 2 * float(stats.binom.cdf(min(better, worse), better + worse, 0.5))))


def wilcoxon_signed_rank(treatment: ArrayLike, control: ArrayLike) -> tuple[float, float]:
    """Statistic and two-sided p of Wilcoxon's signed-rank test of pairs (n,); equal pairs are dropped (scipy).

    If no pair differs there is no evidence: (0.0, 1.0). Differences that are equal up to rounding share one rank.
    """
    difference = _without_noise(_vector(_differences(treatment, control), "outcomes"))
    if not difference.any():
        return 0.0, 1.0
    from scipy import stats

    found = stats.wilcoxon(difference)
    return float(found.statistic), float(found.pvalue)


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
    from scipy import stats

    adjusted: Floats = stats.false_discovery_control(p, method="bh")
    return adjusted


# ------------------------------------------------------------------------------------ agreement, classification


@dataclass(frozen=True, slots=True)
class Agreement:
    """Cohen's kappa with its interval; both None if chance alone explains everything (one label throughout)."""

    kappa: float | None
    ci95: Interval | None
    observed: float
    n: int


def cohen_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    labels: Sequence[Hashable],
    *,
    weights: Literal["linear", "quadratic"] | None = None,
    resamples: int = 10_000,
    seed: int = 0,
    clusters: Clusters | None = None,
) -> Agreement:
    """Agreement of two raters over the same n items, beyond chance (Cohen, 1960; weighted: 1968).

    `labels` are in order; a disagreement weighs 1, or by the distance of the two places in the list (linear,
    quadratic). `observed` is the share of equal labels. The interval is the percentile bootstrap over items or
    clusters; resamples in which kappa is undefined are left out. Raises InputError on a label that is not in `labels`.
    """
    place = _places(labels)
    one, two = _coded(first, place, "first"), _coded(second, place, "second")
    if len(one) != len(two) or not len(one):
        raise InputError("second", found=f"{len(two)} labels", expected=f"{len(one)} (and at least 1), as first")
    apart = np.abs(np.arange(len(place))[:, None] - np.arange(len(place)))
    cost = (apart > 0).astype(np.float64) if weights is None else apart.astype(np.float64) ** _POWERS[weights]
    pairs, which = np.unique(one * len(place) + two, return_inverse=True)
    rows, columns = np.divmod(pairs, len(place))

    def kappas(counts: Floats) -> Floats:
        """Kappa (b,), NaN where undefined, from the counts (b, pairs) of the label pairs that occur."""
        by_row = counts @ np.eye(len(place))[rows]
        by_column = counts @ np.eye(len(place))[columns]
        chance = np.einsum("bi,ij,bj->b", by_row, cost, by_column)
        found = (counts @ cost[rows, columns]) * counts.sum(axis=1)
        return np.where(chance > 0, 1 - found / np.where(chance > 0, chance, 1), np.nan)

    marks = np.eye(len(pairs))[which]
    kappa = float(kappas(marks.sum(axis=0)[None])[0])
    observed = float((one == two).mean())
    if np.isnan(kappa):
        return Agreement(None, None, observed, len(one))
    replicates = kappas(resampled_sums(marks, resamples=resamples, seed=seed, clusters=clusters))
    low, high = np.quantile(replicates[~np.isnan(replicates)], [0.025, 0.975])
    return Agreement(kappa, (float(low), float(high)), observed, len(one))


def bootstrap_kappas(
    first: ArrayLike, second: ArrayLike, levels: int, *, resamples: int = 10_000, seed: int = 0
) -> Bootstrap:
    """Bootstrap of Cohen's unweighted kappa of each column of two arrays (n, m) of ratings 0, 1, …, levels - 1.

    One resample of rows serves all columns, so means and differences of kappas have intervals too. A kappa that
    chance alone explains, as when a rater gives one rating throughout, is 0.
    """
    one, two = _columns(first, "first"), _columns(second, "second")
    if one.shape != two.shape:
        raise InputError("second", found=f"shape {two.shape}", expected=f"{one.shape}, as first")
    for name, ratings in (("first", one), ("second", two)):
        if not np.isin(ratings, np.arange(levels)).all():
            raise InputError(name, found="another rating", expected=f"integers from 0 to {levels - 1}")
    cells = (one * levels + two).astype(np.int64)
    marks = np.eye(levels * levels)[cells].reshape(len(one), -1)  # (n, m * levels * levels)

    def kappas(counts: Floats) -> Floats:
        table = counts.reshape(len(counts), one.shape[1], levels, levels)
        total = table.sum(axis=(2, 3))
        same = np.einsum("bmii->bm", table) * total
        chance = (table.sum(axis=3) * table.sum(axis=2)).sum(axis=2)
        beyond = total * total - chance
        return np.where(beyond > 0, (same - chance) / np.where(beyond > 0, beyond, 1), 0.0)

    sums = resampled_sums(marks, resamples=resamples, seed=seed)
    return Bootstrap(kappas(marks.sum(axis=0)[None])[0], kappas(sums))


_POWERS = {"linear": 1, "quadratic": 2}


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
    place = _places(labels)
    counts = np.zeros((len(labels), len(labels) + 2), dtype=np.int64)
    for true, given in zip(truth, predicted, strict=True):
        if true in place:
            counts[place[true], len(labels) + 1 if given is None else place.get(given, len(labels))] += 1
    return counts


def bootstrap_classification(
    truth: Sequence[Hashable],
    predicted: Sequence[Hashable],
    labels: Sequence[Hashable],
    *,
    resamples: int = 10_000,
    seed: int = 0,
    clusters: Clusters | None = None,
) -> Bootstrap:
    """Bootstrap of (accuracy, macro F1, weighted F1), in this order, over rows or clusters.

    The macro mean of a resample is over the labels that are the truth of a row of it.
    """
    marks = _answer_marks(truth, predicted, labels)
    sums = resampled_sums(marks, resamples=resamples, seed=seed, clusters=clusters)
    absent = _absent(marks.sum(axis=0))
    estimates = _f1_means(*np.split(marks.sum(axis=0)[None], 3, axis=1), absent=absent)
    replicates = np.stack(_f1_means(*np.split(sums, 3, axis=1), absent=absent), axis=1)
    units = len(marks) if clusters is None else len(set(clusters))
    return Bootstrap(np.concatenate(estimates), replicates, (0, 1), units)


def bootstrap_f1(
    truth: Sequence[Hashable],
    predicted: Sequence[Hashable],
    labels: Sequence[Hashable],
    *,
    resamples: int = 10_000,
    seed: int = 0,
    clusters: Clusters | None = None,
) -> Bootstrap:
    """Bootstrap of the F1 of each label, over rows or clusters.

    A resample that holds no row of a label says nothing about it.
    """
    marks = _answer_marks(truth, predicted, labels)
    sums = resampled_sums(marks, resamples=resamples, seed=seed, clusters=clusters)
    hits, support, given = np.split(sums, 3, axis=1)
    f1 = 2 * hits / np.maximum(support + given, 1)
    _, true, answered = np.split(marks, 3, axis=1)
    f1[(support == 0) & true.any(axis=0)] = np.nan
    ids = list(range(len(marks)) if clusters is None else clusters)
    units = [len({ids[row] for row in np.flatnonzero(rows)}) for rows in (true + answered).T]
    return Bootstrap(classification_scores(truth, predicted, labels).f1, f1, (0, 1), units)


def wilson_interval(successes: int, n: int) -> Interval:
    """Wilson's 95 % score interval of a proportion (1927): inside [0, 1], and of some width at 0 and at n."""
    if n < 1 or not 0 <= successes <= n:
        raise InputError("wilson_interval", found=f"{successes} of {n}", expected="0 <= successes <= n, n >= 1")
    from scipy import stats

    low, high = stats.binomtest(successes, n).proportion_ci(method="wilson")
    return float(low), float(high)


class Answers(NamedTuple):
    """True and given labels of n answers, and the cluster (the case) of each."""

    truth: Sequence[Hashable]
    predicted: Sequence[Hashable]
    clusters: Clusters


def paired_bootstrap_classification(
    treatment: Answers, control: Answers, labels: Sequence[Hashable], *, resamples: int = 10_000, seed: int = 0
) -> Bootstrap:
    """Bootstrap of treatment less control in (accuracy, macro F1, weighted F1), over the clusters of both.

    The two need not have equally many answers in a cluster, or any in each. A replicate in which one has none at all is
    left out; fewer than half left raises InputError.
    """
    order = {cluster: at for at, cluster in enumerate(dict.fromkeys((*treatment.clusters, *control.clusters)))}
    sides = []
    for side in (treatment, control):
        marks = _answer_marks(side.truth, side.predicted, labels)
        if len(side.clusters) != len(marks):
            raise InputError("clusters", found=f"{len(side.clusters)} ids", expected=f"{len(marks)}, one an answer")
        by_cluster = np.zeros((len(order), marks.shape[1]))
        np.add.at(by_cluster, [order[cluster] for cluster in side.clusters], marks)
        sides.append(by_cluster)
    units = np.hstack(sides)
    sums = resampled_sums(units, resamples=resamples, seed=seed)
    counted = np.stack([np.split(half, 3, axis=1)[1].sum(axis=1) for half in np.split(sums, 2, axis=1)])
    sums = sums[(counted > 0).all(axis=0)]
    if len(sums) * 2 < resamples:
        raise InputError(
            "clusters", found=f"only {len(sums)} of {resamples} resamples hold answers of both", expected="more answers"
        )
    whole = units.sum(axis=0)
    absent = [_absent(half) for half in np.split(whole, 2)]
    return Bootstrap(_f1_differences(whole[None], absent)[0], _f1_differences(sums, absent), (-1, 1), len(units))


def _f1_differences(sums: Floats, absent: Sequence[int]) -> Floats:
    halves = zip(np.split(sums, 2, axis=1), absent, strict=True)
    treatment, control = (_f1_means(*np.split(half, 3, axis=1), absent=never) for half, never in halves)
    return np.stack(treatment, axis=1) - np.stack(control, axis=1)


# ------------------------------------------------------------------------------------------- independent groups


def kruskal_wallis(groups: Sequence[ArrayLike]) -> tuple[float, float]:
    """H, corrected for ties, and p of "all groups come from one distribution" (scipy); (0.0, 1.0) if all are equal.

    Raises InputError on fewer than two groups, an empty one, values that are not finite.
    """
    values = _groups(groups)
    if len(np.unique(np.concatenate(values))) == 1:
        return 0.0, 1.0
    from scipy import stats

    found = stats.kruskal(*values)
    return float(found.statistic), float(found.pvalue)


def mann_whitney(first: ArrayLike, second: ArrayLike) -> tuple[float, float]:
    """U of the first group and two-sided p by the normal approximation with correction for ties and continuity."""
    one, other = _groups([first, second])
    if len(np.unique(np.concatenate([one, other]))) == 1:
        return len(one) * len(other) / 2, 1.0
    from scipy import stats

    found = stats.mannwhitneyu(one, other, alternative="two-sided", method="asymptotic")
    return float(found.statistic), float(found.pvalue)


def unpaired_t(first: ArrayLike, second: ArrayLike) -> float:
    """Two-sided p of Student's t test of two independent groups with one variance: what Table 7 of 3MDBench follows.

    If neither group has variance there is nothing to divide by: 1 if the means are equal, 0 if not.
    """
    one, other = _groups([first, second])
    if min(len(one), len(other)) < 2:
        raise InputError("groups", found="1 value", expected="2 or more in each: one has no variance")
    if one.var() == 0 and other.var() == 0:
        return float(one[0] == other[0])
    from scipy import stats

    return float(stats.ttest_ind(one, other).pvalue)


def _groups(groups: Sequence[ArrayLike]) -> list[Floats]:
    if len(groups) < 2:
        raise InputError("groups", found=f"{len(groups)}", expected="2 or more")
    return [_vector(group, f"group {at}") for at, group in enumerate(groups, start=1)]


# -------------------------------------------------------------------------------------------- printed statistics


def possible_totals(mean: float, n: int, *, decimals: int = 2, items: int = 1) -> list[int]:
    """Totals of n * items integer ratings whose mean prints as `mean` with so many decimals (half up or half even)."""
    count = n * items
    if n < 1 or items < 1 or decimals < 0 or not isfinite(mean):
        raise InputError(
            "possible_totals",
            found=f"mean {mean}, n {n}, {items} items, {decimals} decimals",
            expected="a finite mean, n and items >= 1, decimals >= 0",
        )
    half = 0.5 * 10.0**-decimals + 1e-9
    return list(range(ceil((mean - half) * count), floor((mean + half) * count) + 1))


def possible_sds(total: int, n: int, *, low: int, high: int, ddof: int) -> Floats:
    """SDs, ascending, that n integer ratings from low to high with this total can have (ddof 0: population, 1: sample).

    By the sum of squares: between its smallest and largest value, and even if the total is even (GRIMMER; Anaya,
    2016). A necessary condition: what is not in the list is impossible.
    """
    if n <= ddof or low >= high or ddof not in (0, 1):
        raise InputError(
            "possible_sds",
            found=f"n {n}, ratings {low} to {high}, ddof {ddof}",
            expected="n > ddof, low < high, ddof 0 or 1",
        )
    if not n * low <= total <= n * high:
        return np.empty(0)
    level, rest = divmod(total, n)
    least = (n - rest) * level**2 + rest * (level + 1) ** 2
    tops, rest = divmod(total - n * low, high - low)
    greatest = tops * high**2 + (n - tops) * low**2 + (low + rest) ** 2 - low**2
    squares = np.arange(least, greatest + 1, 2, dtype=np.float64)
    return np.sqrt(np.maximum(squares - total**2 / n, 0.0) / (n - ddof))


def grimmer(mean: float, sd: float, n: int, *, low: int, high: int, decimals: int = 2, ddof: int | None = None) -> bool:
    """Whether n integer ratings from low to high can have this printed mean and SD; ddof None accepts either SD."""
    if not isfinite(sd) or sd < 0:
        raise InputError("grimmer", found=f"SD {sd}", expected="a finite SD >= 0")
    half = 0.5 * 10.0**-decimals + 1e-9
    kinds = [ddof] if ddof is not None else [kind for kind in (0, 1) if n > kind]
    return any(
        bool((np.abs(possible_sds(total, n, low=low, high=high, ddof=kind) - sd) <= half).any())
        for total in possible_totals(mean, n, decimals=decimals)
        for kind in kinds
    )


# -------------------------------------------------------------------------------------------------------- inputs


def _columns(values: ArrayLike, name: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(name, found=f"shape {array.shape}", expected="at least one row, as (n,) or (n, m)")
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(wrong):
        raise InputError(f"{name}, row {wrong[0]}", found="a value that is not finite", expected="finite numbers")
    return array


def _vector(values: ArrayLike, name: str) -> Floats:
    columns = _columns(values, name)
    if columns.shape[1] != 1:
        raise InputError(name, found=f"{columns.shape[1]} columns", expected="one value a row")
    return columns[:, 0]


def _differences(treatment: ArrayLike, control: ArrayLike) -> Floats:
    left, right = _columns(treatment, "treatment"), _columns(control, "control")
    if left.shape != right.shape:
        raise InputError("control", found=f"shape {right.shape}", expected=f"{left.shape}, as treatment")
    return left - right


def _without_noise(differences: Floats) -> Floats:
    """Differences (n,) that were equal before rounding are equal again."""
    step = np.ldexp(_NOISE, np.frexp(np.abs(differences).max())[1])
    equal: Floats = np.rint(differences / step) * step
    return equal


def _p_values(values: ArrayLike) -> Floats:
    p = np.asarray(values, dtype=np.float64)
    if p.ndim != 1 or not len(p) or not ((p >= 0) & (p <= 1)).all():
        raise InputError("p values", found=f"{p.tolist()}"[:80], expected="one or more numbers from 0 to 1")
    return p


def _by_cluster(columns: Floats, clusters: Clusters | None) -> Floats:
    """Sums of the rows of each cluster, clusters in order of first appearance; without clusters the rows themselves."""
    if clusters is None:
        return columns
    index = _cluster_index(clusters, len(columns))
    count = int(index.max()) + 1
    columns = _on_grid(columns, spread=len(columns) * count)
    return np.stack([np.bincount(index, weights=column, minlength=count) for column in columns.T], axis=1)


def _cluster_index(clusters: Clusters, rows: int) -> Ints:
    """The number of each row's cluster, in order of first appearance."""
    if len(clusters) != rows:
        raise InputError("clusters", found=f"{len(clusters)} ids", expected=f"{rows}, one a row")
    number: dict[Hashable, int] = {}
    index = np.empty(len(clusters), dtype=np.int64)
    for row, cluster in enumerate(clusters):
        if cluster is None or cluster == "" or cluster != cluster:
            raise InputError(
                f"clusters, row {row}",
                found="no id",
                expected="an id for every row",
                do="Leave clusters out to treat rows as independent",
            )
        index[row] = number.setdefault(cluster, len(number))
    return index


def _on_grid(columns: Floats, spread: int | None = None) -> Floats:
    """Columns rounded to multiples of a power of two so fine that sums of `spread` of them (default: n) are exact.

    The rounding is below 2**-52 * spread of the largest value: none at all for counts, and 1e-12 for 10,000 rows.
    """
    largest = np.abs(columns).max(axis=0)
    power = np.frexp(np.maximum(largest, np.finfo(np.float64).tiny))[1] + ceil(log2(spread or len(columns)))
    step = np.ldexp(1.0, power - 52)
    rounded: Floats = np.rint(columns / step) * step
    return rounded


def _exact_sums(columns: Floats) -> Floats:
    sums: Floats = _on_grid(columns).sum(axis=0)
    return sums


def _places(labels: Sequence[Hashable]) -> dict[Hashable, int]:
    place = {label: at for at, label in enumerate(labels)}
    if not place or len(place) != len(labels):
        raise InputError("labels", found=f"{len(labels)} labels, {len(place)} distinct", expected="distinct labels")
    return place


def _coded(values: Sequence[Hashable], place: dict[Hashable, int], name: str) -> Ints:
    for row, value in enumerate(values):
        if value not in place:
            raise InputError(f"{name}, row {row}", found=repr(value), expected="one of the labels")
    return np.fromiter((place[value] for value in values), dtype=np.int64, count=len(values))


def _answer_marks(truth: Sequence[Hashable], predicted: Sequence[Hashable], labels: Sequence[Hashable]) -> Floats:
    """Marks (n, 3 * L): right with label l, label l is true, label l is predicted."""
    place = _places(labels)
    true = _coded(truth, place, "truth")
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
