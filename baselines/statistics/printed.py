"""What a printed mean and standard deviation of integer ratings can come from (GRIM, GRIMMER)."""

from __future__ import annotations

from math import ceil, floor, isfinite

import numpy as np

from baselines.statistics.arrays import Floats
from loaders.errors import InputError


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
