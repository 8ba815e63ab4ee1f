"""What a mean and a standard deviation of integer ratings, printed to two decimals, come from (GRIM, GRIMMER)."""

from __future__ import annotations

from math import ceil, floor

import numpy as np

from baselines.statistics.arrays import Floats

_HALF = 0.005 + 1e-9  # half up or half even


def possible_totals(mean: float, n: int) -> list[int]:
    """Totals of n integer ratings whose mean prints as `mean`."""
    return list(range(ceil((mean - _HALF) * n), floor((mean + _HALF) * n) + 1))


def possible_sds(total: int, n: int, *, low: int, high: int, ddof: int) -> Floats:
    """SDs, ascending, that n integer ratings from low to high with this total can have (ddof 0: population, 1: sample).

    By the sum of squares: between its smallest and largest value, and even if the total is even (GRIMMER; Anaya,
    2016). A necessary condition: what is not in the list is impossible.
    """
    if n <= ddof or not n * low <= total <= n * high:
        return np.empty(0)
    level, rest = divmod(total, n)
    least = (n - rest) * level**2 + rest * (level + 1) ** 2
    tops, rest = divmod(total - n * low, high - low)
    greatest = tops * high**2 + (n - tops) * low**2 + (low + rest) ** 2 - low**2
    squares = np.arange(least, greatest + 1, 2, dtype=np.float64)
    return np.sqrt(np.maximum(squares - total**2 / n, 0.0) / (n - ddof))


def grimmer(mean: float, sd: float, n: int, *, low: int, high: int) -> bool:
    """Whether n integer ratings from low to high can have this printed mean and SD, of the population or the sample."""
    return any(
        bool((np.abs(possible_sds(total, n, low=low, high=high, ddof=kind) - sd) <= _HALF).any())
        for total in possible_totals(mean, n)
        for kind in (0, 1)
    )
