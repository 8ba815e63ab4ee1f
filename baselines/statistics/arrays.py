"""What the statistics take: arrays of numbers, ids of clusters, coded labels, each checked; and sums that are exact.

Sums of resampled rows are taken on a binary grid so fine that they are exact in float64, so no order of summation,
thread count or BLAS changes a bit of an interval or a p value.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import ceil, log2

import numpy as np
from numpy.typing import ArrayLike, NDArray

from loaders.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Clusters = Sequence[Hashable]
"""An id per row (article, case): rows that belong together. A row without an id is an error."""

BLOCK = 1 << 20  # float64 weights held at a time: 8 MiB
NOISE = 2.0**-40  # of the largest value: smaller differences come from rounding (1 - 2/3 is not 1/3)


def as_columns(values: ArrayLike, name: str) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape:
        raise InputError(name, found=f"shape {array.shape}", expected="at least one row, as (n,) or (n, m)")
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(wrong):
        raise InputError(f"{name}, row {wrong[0]}", found="a value that is not finite", expected="finite numbers")
    return array


def as_vector(values: ArrayLike, name: str) -> Floats:
    columns = as_columns(values, name)
    if columns.shape[1] != 1:
        raise InputError(name, found=f"{columns.shape[1]} columns", expected="one value a row")
    return columns[:, 0]


def as_differences(treatment: ArrayLike, control: ArrayLike) -> Floats:
    left, right = as_columns(treatment, "treatment"), as_columns(control, "control")
    if left.shape != right.shape:
        raise InputError("control", found=f"shape {right.shape}", expected=f"{left.shape}, as treatment")
    return left - right


def without_noise(differences: Floats) -> Floats:
    """Differences (n,) that were equal before rounding are equal again."""
    step = np.ldexp(NOISE, np.frexp(np.abs(differences).max())[1])
    equal: Floats = np.rint(differences / step) * step
    return equal


def on_grid(columns: Floats, spread: int | None = None) -> Floats:
    """Columns rounded to multiples of a power of two so fine that sums of `spread` of them (default: n) are exact.

    The rounding is below 2**-52 * spread of the largest value: none at all for counts, and 1e-12 for 10,000 rows.
    """
    largest = np.abs(columns).max(axis=0)
    power = np.frexp(np.maximum(largest, np.finfo(np.float64).tiny))[1] + ceil(log2(spread or len(columns)))
    step = np.ldexp(1.0, power - 52)
    rounded: Floats = np.rint(columns / step) * step
    return rounded


def exact_sums(columns: Floats) -> Floats:
    sums: Floats = on_grid(columns).sum(axis=0)
    return sums


def by_cluster(columns: Floats, clusters: Clusters | None) -> Floats:
    """Sums of the rows of each cluster, clusters in order of first appearance; without clusters the rows themselves."""
    if clusters is None:
        return columns
    index = cluster_index(clusters, len(columns))
    count = int(index.max()) + 1
    columns = on_grid(columns, spread=len(columns) * count)
    return np.stack([np.bincount(index, weights=column, minlength=count) for column in columns.T], axis=1)


def cluster_index(clusters: Clusters, rows: int) -> Ints:
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


def places(labels: Sequence[Hashable]) -> dict[Hashable, int]:
    place = {label: at for at, label in enumerate(labels)}
    if not place or len(place) != len(labels):
        raise InputError("labels", found=f"{len(labels)} labels, {len(place)} distinct", expected="distinct labels")
    return place


def coded(values: Sequence[Hashable], place: dict[Hashable, int], name: str) -> Ints:
    for row, value in enumerate(values):
        if value not in place:
            raise InputError(f"{name}, row {row}", found=repr(value), expected="one of the labels")
    return np.fromiter((place[value] for value in values), dtype=np.int64, count=len(values))
