"""Bootstrap intervals of means, ratios and differences over rows or clusters of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from baselines.statistics.arrays import (
    BLOCK,
    Clusters,
    Floats,
    as_columns,
    as_differences,
    by_cluster,
    cluster_index,
    exact_sums,
    on_grid,
)
from loaders.errors import InputError

Interval = tuple[float, float]
Within = ArrayLike
"""The smallest and largest value of a statistic, (2,), or of each of m, (m, 2)."""


class Draws(TypedDict, total=False):
    """How rows are drawn: how often, by which seed, and which of them as a whole (`resampled_sums`)."""

    resamples: int
    seed: int
    clusters: Clusters | None
    crossed: Clusters | None


_TAILS = ((1 - 0.95) / 2, 1 - (1 - 0.95) / 2)
_Z2 = 1.959963984540054**2  # of the normal quantile at .975
_KEPT = 1 << 22  # counts that are kept for the next number: 8 MiB
_DRAWN = 1 << 15  # rows drawn at a time: few enough for the cache of a processor


@dataclass(frozen=True)
class Bootstrap:
    """Estimates (m,) of m statistics and their bootstrap replicates (resamples, m), NaN where a resample defines none.

    `within` are the smallest and largest value that the statistics can have, (2,) or (m, 2); None if unbounded. `units`
    are the independent rows (or clusters) behind each of them, (m,) or one number for all.
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
        return self._interval

    @cached_property
    def _interval(self) -> Floats:  # once: `estimate` is asked for one statistic after another
        undefined = np.isnan(self.replicates)
        # One that no resample defines is not varied by any.
        replicates = np.where(undefined.all(axis=0), self.estimates, self.replicates)
        bounds: Floats = (np.nanquantile if undefined.any() else np.quantile)(replicates, _TAILS, axis=0).T
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


def bootstrap_means(values: ArrayLike, *, within: Within | None = None, **draws: Unpack[Draws]) -> Bootstrap:
    """Bootstrap of the mean of each column of `values`, (n,) or (n, m); one resample of rows serves all columns.

    `within` are the bounds of the values' scale (`Bootstrap`).

    With clusters a replicate is the sum over the drawn clusters divided by the number of their rows. Equal, bit for
    bit, to a loop that draws `rng.integers(units, size=units)` and averages values[drawn]. Raises InputError on no
    rows, values that are not finite, resamples < 1, a missing cluster id.
    """
    columns = as_columns(values, "values")
    return bootstrap_ratios(columns, np.ones((len(columns), 1)), within=within, **draws)


def bootstrap_ratios(
    numerators: ArrayLike, denominators: ArrayLike, *, within: Within | None = None, **draws: Unpack[Draws]
) -> Bootstrap:
    """Bootstrap of sum(numerators) / sum(denominators): (n, m) over (n, d), column j over column j mod d.

    For rates within parts of the rows: a part's denominator is 1 for its rows and 0 for others. A replicate in which
    some denominator is 0 (a small part drew no row) is left out; fewer than half left raises InputError.
    """
    top, bottom = as_columns(numerators, "numerators"), as_columns(denominators, "denominators")
    times, rest = divmod(top.shape[1], bottom.shape[1])
    if len(top) != len(bottom) or rest:
        raise InputError(
            "denominators", found=f"shape {bottom.shape}", expected=f"{top.shape} or a divisor of its columns"
        )
    if (bottom.sum(axis=0) == 0).any():
        raise InputError("denominators", found="a column that sums to 0", expected="rows in every part")
    sums = resampled_sums(np.hstack([top, bottom]), **draws)
    above, below = sums[:, : top.shape[1]], sums[:, top.shape[1] :]
    whole = (below != 0).all(axis=1)
    if whole.sum() * 2 < len(whole):
        found = f"only {whole.sum()} of {len(whole)} resamples hold every part"
        raise InputError("denominators", found=found, expected="parts with more rows")
    estimates = exact_sums(top) / np.tile(exact_sums(bottom), times)
    units = (by_cluster(bottom, draws.get("clusters")) != 0).sum(axis=0)
    crossed = draws.get("crossed")
    if crossed is not None and (drawn := [at for at, one in enumerate(crossed) if one is not None]):
        others = (by_cluster(bottom[drawn], [crossed[at] for at in drawn]) != 0).sum(axis=0)
        units = np.where(others > 0, np.minimum(units, others), units)
    return Bootstrap(estimates, above[whole] / np.tile(below[whole], times), within, np.tile(units, times))


def paired_bootstrap(
    treatment: ArrayLike, control: ArrayLike, *, within: Within | None = None, **draws: Unpack[Draws]
) -> Bootstrap:
    """Bootstrap of mean(treatment) - mean(control) over the same rows, (n,) or (n, m), column by column.

    `within` are the bounds of the differences' scale.
    """
    return bootstrap_means(as_differences(treatment, control), within=within, **draws)


def resampled_sums(
    values: ArrayLike,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    clusters: Clusters | None = None,
    crossed: Clusters | None = None,
) -> Floats:
    """Sums (resamples, m) of the columns of `values` (n, m) over rows, or clusters of rows, drawn with replacement.

    Each resample is a vector of counts and the sums are one product counts @ values, computed in blocks: 8 MiB whatever
    n and resamples are. With `crossed`, a second id per row (the person who saw the case), the outer id is drawn where
    one lies within the other: people, if each case was seen by one of them; cases, if each person saw one. Else both
    ids are drawn independently, and a row counts as often as its two ids together (the pigeonhole bootstrap, Owen 2007,
    which is too wide, up to sqrt(3) times, where neither id matters); a row whose second id is None belongs to nobody
    who was drawn, and counts as its first.
    """
    if resamples < 1:
        raise InputError("resamples", found=str(resamples), expected="1 or more")
    if crossed is not None:
        outer = _outer(clusters, crossed)
        if outer is None:
            return _crossed_sums(as_columns(values, "values"), resamples, seed, clusters, crossed)
        clusters = outer
    units = on_grid(by_cluster(as_columns(values, "values"), clusters))
    count = len(units)
    sums = np.empty((resamples, units.shape[1]))
    block = np.empty((min(resamples, max(1, BLOCK // count)), count))
    generator = np.random.default_rng(seed)
    kept = _kept_counts(resamples, count, seed) if resamples * count <= _KEPT and count < 1 << 16 else None
    for start in range(0, resamples, len(block)):
        weights = block[: resamples - start]
        if kept is None:
            _draw(weights, generator)
        else:
            weights[:] = kept[start : start + len(weights)]
        np.matmul(weights, units, out=sums[start : start + len(weights)])
    return sums


def _outer(clusters: Clusters | None, crossed: Clusters) -> Clusters | None:
    """The one of two ids within which the other lies; None if neither does. Of a single person nothing is known but
    what varies between the cases."""
    first: Clusters = range(len(crossed)) if clusters is None else clusters
    if any(one is None for one in crossed):
        return None
    pairs, people = len(set(zip(first, crossed, strict=True))), len(set(crossed))
    if people in (1, pairs):
        return first
    return crossed if len(set(first)) == pairs else None


def _draw(counts: NDArray[Any], generator: np.random.Generator) -> None:
    """Fill in how often each unit is drawn in each resample, (resamples, units)."""
    count = counts.shape[1]
    for start in range(0, len(counts), max(1, _DRAWN // count)):
        rows = counts[start : start + max(1, _DRAWN // count)]
        drawn = generator.integers(count, size=rows.shape)  # the draws of one row after another
        drawn += np.arange(len(rows))[:, None] * count
        rows[:] = np.bincount(drawn.ravel(), minlength=rows.size).reshape(rows.shape)


@lru_cache(maxsize=1)
def _kept_counts(resamples: int, count: int, seed: int) -> NDArray[np.uint16]:
    """The counts of a new generator. The numbers of a run are over the same cases, one after another."""
    counts = np.empty((resamples, count), dtype=np.uint16)
    _draw(counts, np.random.default_rng(seed))
    return counts


def _crossed_sums(columns: Floats, resamples: int, seed: int, clusters: Clusters | None, crossed: Clusters) -> Floats:
    """`resampled_sums` of rows with two ids each, which are drawn independently."""
    rows = len(columns)
    first = np.arange(rows) if clusters is None else cluster_index(clusters, rows)
    drawn = np.array([one is not None for one in crossed])
    second = np.zeros(rows, dtype=np.int64)
    second[drawn] = 1 + cluster_index([one for one in crossed if one is not None], int(drawn.sum()))
    here, there = int(first.max()) + 1, int(second.max())
    # No row counts more often than here * max(there, 1) times.
    values = on_grid(columns, spread=rows * here * max(there, 1))
    generator = np.random.default_rng(seed)
    sums = np.empty((resamples, columns.shape[1]))
    # For each resample, first the draws of one id, then those of the other.
    bounds, offsets = (np.repeat(ends, [here, there]) for ends in ([here, there], [0, here]))
    at_once = max(1, min(BLOCK // rows, _DRAWN // (here + there)))
    for start in range(0, resamples, at_once):
        count = min(at_once, resamples - start)
        ids = generator.integers(bounds, size=(count, here + there)) + offsets
        ids += np.arange(count)[:, None] * (here + there)
        counts = np.bincount(ids.ravel(), minlength=ids.size).reshape(ids.shape)
        weights = counts[:, first] * np.where(second > 0, counts[:, here + second - 1], 1)
        np.matmul(weights.astype(np.float64), values, out=sums[start : start + count])
    return sums
