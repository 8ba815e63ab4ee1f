"""Agreement of two raters beyond chance: Cohen's kappa with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from baselines.statistics.arrays import Clusters, Floats, Ints, as_columns, coded, places
from baselines.statistics.resampling import Bootstrap, Interval, percentile_interval, resampled_sums
from loaders.errors import InputError

_POWERS = {"linear": 1, "quadratic": 2}


@dataclass(frozen=True, slots=True)
class Agreement:
    """Cohen's kappa with its interval; both None if chance alone explains everything (one label throughout), and the
    interval where it does so in every resample."""

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
    place = places(labels)
    one, two = coded(first, place, "first"), coded(second, place, "second")
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
    defined = replicates[~np.isnan(replicates)]
    return Agreement(kappa, percentile_interval(defined) if len(defined) else None, observed, len(one))


def undefined(first: Ints, second: Ints) -> NDArray[np.bool_]:
    """In which columns of two raters' ratings (n, m) both gave one and the same throughout, so that chance alone
    explains their kappa: `bootstrap_kappas` takes it for 0."""
    constant: NDArray[np.bool_] = ((first == first[0]) & (second == first[0])).all(axis=0)
    return constant


def bootstrap_kappas(
    first: ArrayLike, second: ArrayLike, levels: int, *, resamples: int = 10_000, seed: int = 0
) -> Bootstrap:
    """Bootstrap of Cohen's unweighted kappa of each column of two arrays (n, m) of ratings 0, 1, …, levels - 1.

    One resample of rows serves all columns, so means and differences of kappas have intervals too. A kappa that
    chance alone explains, as when a rater gives one rating throughout, is 0.
    """
    one, two = as_columns(first, "first"), as_columns(second, "second")
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
