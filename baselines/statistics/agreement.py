"""Agreement of two raters beyond chance: Cohen's kappa with bootstrap intervals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, Unpack

import numpy as np
from numpy.typing import ArrayLike

from baselines.statistics.arrays import Floats, Ints, as_columns, coded, places
from baselines.statistics.resampling import Bootstrap, Draws, Interval, percentile_interval, resampled_sums
from loaders.errors import InputError


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
    weights: Literal["quadratic"] | None = None,
    **draws: Unpack[Draws],
) -> Agreement:
    """Agreement of two raters over the same n items, beyond chance (Cohen, 1960; weighted: 1968).

    `labels` are in order; a disagreement weighs 1, or the square of the distance of the two places in the list.
    `observed` is the share of equal labels. The interval is the percentile bootstrap over items or clusters; resamples
    in which kappa is undefined are left out. Raises InputError on a label that is not in `labels`.
    """
    place = places(labels)
    one, two = coded(first, place, "first"), coded(second, place, "second")
    if len(one) != len(two) or not len(one):
        raise InputError("second", found=f"{len(two)} labels", expected=f"{len(one)} (and at least 1), as first")
    spread = _kappas(one[:, None], two[:, None], len(place), 0 if weights is None else 2, draws)
    kappa, observed = float(spread.estimates[0]), float((one == two).mean())
    if np.isnan(kappa):
        return Agreement(None, None, observed, len(one))
    defined = spread.replicates[~np.isnan(spread.replicates)]
    return Agreement(kappa, percentile_interval(defined) if len(defined) else None, observed, len(one))


def bootstrap_kappas(first: ArrayLike, second: ArrayLike, levels: int, **draws: Unpack[Draws]) -> Bootstrap:
    """Bootstrap of Cohen's unweighted kappa of each column of two arrays (n, m) of ratings 0, 1, …, levels - 1.

    One resample of rows serves all columns, so means and differences of kappas have intervals too. A kappa is NaN
    where chance alone explains it: both raters gave one and the same rating throughout.
    """
    one, two = as_columns(first, "first"), as_columns(second, "second")
    if one.shape != two.shape:
        raise InputError("second", found=f"shape {two.shape}", expected=f"{one.shape}, as first")
    for name, ratings in (("first", one), ("second", two)):
        if not np.isin(ratings, np.arange(levels)).all():
            raise InputError(name, found="another rating", expected=f"integers from 0 to {levels - 1}")
    return _kappas(one.astype(np.int64), two.astype(np.int64), levels, 0, draws)


def _kappas(one: Ints, two: Ints, levels: int, power: int, draws: Draws) -> Bootstrap:
    """Kappa of each column of ratings (n, m), where a disagreement weighs its distance to that power; NaN where chance
    alone explains it."""
    places = np.arange(levels)
    apart = np.abs(places[:, None] - places)
    cost = np.where(apart > 0, apart.astype(np.float64) ** power, 0.0)
    marks = np.eye(levels * levels)[one * levels + two].reshape(len(one), -1)  # (n, m * levels * levels)

    def kappas(counts: Floats) -> Floats:
        table = counts.reshape(len(counts), one.shape[1], levels, levels)
        found = np.einsum("bmij,ij->bm", table, cost) * table.sum(axis=(2, 3))
        chance = np.einsum("bmi,ij,bmj->bm", table.sum(axis=3), cost, table.sum(axis=2))
        return np.where(chance > 0, 1 - found / np.where(chance > 0, chance, 1), np.nan)

    return Bootstrap(kappas(marks.sum(axis=0)[None])[0], kappas(resampled_sums(marks, **draws)))
