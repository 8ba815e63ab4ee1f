"""Exact Recall@K of paired image and text embeddings, ties included, without the similarity matrix.

Row i of a pool is an image and its caption. Images are rows of the similarity matrix and captions its columns, so that
image-to-text (I2T) ranks along a row and text-to-image (T2I) along a column (MedLayBench-V, Section 4.4).

How it stays exact. With `greater` candidates scoring strictly above the right one and `tied` sharing its score (the
right one included), a random order of the tied ones puts the right one into the first k with probability
clip((k - greater) / tied, 0, 1). That is the hit, so constant embeddings score exactly k/N. The float32 product of
two unit vectors of length D is off by at most about D * 2**-24. Each tile of the product is compared, along both
directions, with the score of the right pair plus and minus that bound, and discarded. Only queries with a rival inside
the bound *and* a chance of a hit left are scored again, in float64, where scores closer than 1e-12 are tied.

Cost. 2 * N**2 * D operations and, above the inputs, one tile and a few vectors of length N: about 1.25 times the bare
product at D = 512. Doubling N quadruples the time and leaves the memory as it is. 1,000,000 x 512 is 1e15 operations:
some 90 minutes on two cores that multiply at 190 GFLOP/s.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from baselines.statistics.arrays import Floats, Ints
from loaders.errors import InputError

Embeddings = NDArray[np.floating[Any]]

TIE = 1e-12
"""Float64 cosines closer than this are tied; their own rounding error stays below it for D up to 8,000."""

# Vectors whose norm is this close to 1 count as unit vectors; the margin allows for it.
_UNIT = 2.0**-20
_BLOCK_ROWS, _BLOCK_COLUMNS = 1000, 1024  # of a tile of the similarity matrix: it costs memory and changes no result
_PIECE_ROWS = 250  # of a tile, counted while they are in a core's cache; summed in single bytes, at most 255 of them
_EXACT_ROWS, _EXACT_COLUMNS = 256, 1024
_WORKERS = min(8, os.cpu_count() or 1)


class _Ranks(NamedTuple):
    """Of N queries: candidates that score strictly above the right one, and those that share its score (itself too).

    Both are exact wherever `greater` is below the largest k. Elsewhere `greater` is a lower bound that is itself no
    smaller, so that every hit is exact.
    """

    greater: Ints
    tied: Ints


@dataclass(frozen=True, slots=True)
class Recall:
    """Hits at each k of one pool of N rows; every array is (len(ks), N), a probability per row; their mean is Recall@k.

    i2t, t2i: instance level, only the row's own partner is right.
    group_i2t, group_t2i: any partner with the same caption is right.
    ceiling: the best that any encoder can reach at instance level, min(1, k/m) where m rows share the caption.
    """

    ks: tuple[int, ...]
    i2t: Floats
    t2i: Floats
    group_i2t: Floats
    group_t2i: Floats
    ceiling: Floats


def recall_at_k(
    images: Embeddings,
    texts: Embeddings,
    *,
    ks: Sequence[int] = (1, 5, 10),
    text_of_image: Ints | None = None,
    rows: Ints | None = None,
) -> Recall:
    """Hits of both directions at each k, at instance and at group level.

    images: (N, D); texts: (U, D), each caption once; `text_of_image`: (N,) the caption of each image, by default its
    own row. `rows` selects a pool of the N rows. Embeddings need not be normalised. Raises InputError for rows that are
    not finite or zero, lengths that do not agree, and a k outside 1..pool size.
    """
    steps = tuple(ks)
    # One BLAS thread per worker: a worker counts its tile while it is still in its core's cache.
    with threadpool_limits(limits=1, user_api="blas"), ThreadPoolExecutor(_WORKERS) as workers:
        pool = _Pool.of(images, texts, text_of_image, rows, workers)
        if not steps or min(steps) < 1 or max(steps) > pool.size:
            raise InputError(
                "ks", found=f"{list(steps)}", expected=f"one or more k from 1 to the pool's {pool.size} rows"
            )
        i2t, t2i = _count(pool, max(steps), workers)
        best, best_tied = _best_of_group(pool, t2i, workers)
    shared, alone = pool.multiplicity, np.ones_like(pool.multiplicity)
    return Recall(
        ks=steps,
        i2t=np.stack([any_hit(k, i2t.greater, alone, i2t.tied - 1) for k in steps]),
        t2i=np.stack([any_hit(k, t2i.greater, alone, t2i.tied - 1) for k in steps]),
        group_i2t=np.stack([any_hit(k, i2t.greater, shared, i2t.tied - shared) for k in steps]),
        group_t2i=np.stack([any_hit(k, best.greater, best_tied, best.tied - best_tied) for k in steps]),
        ceiling=np.stack([np.minimum(1.0, k / shared) for k in steps]),
    )


def any_hit(k: int, greater: Ints, right: Ints, wrong: Ints) -> Floats:
    """Probability (N,) that one of `right` equally good candidates is among the first k.

    `greater` candidates come first; `wrong` ones share the score of the right ones. It is one minus the chance that all
    places left go to wrong ones (hypergeometric), which with right = 1 is clip((k - greater) / (1 + wrong), 0, 1).
    """
    tied = right + wrong
    places = np.minimum(k - greater, tied)
    missed = np.ones(len(greater))
    for place in range(int(places.max(initial=0))):
        missed *= np.where(place < places, np.maximum(wrong - place, 0) / np.maximum(tied - place, 1), 1.0)
    return np.where(right == 1, np.clip((k - greater) / tied, 0.0, 1.0), 1.0 - missed)


@dataclass(frozen=True, slots=True)
class _Side:
    """One side of a pool: row i is `vectors[index[i]]` of norm `norms[i]`, normalised block by block."""

    vectors: Embeddings
    index: Ints | None  # None: every row in order, so that blocks are views
    norms: Floats

    def double(self, chosen: slice | Ints) -> Floats:
        """Chosen rows of the pool in float64, as they are: (rows, D)."""
        rows: Floats = self.vectors[chosen if self.index is None else self.index[chosen]].astype(np.float64)
        return rows

    def unit32(self, chosen: slice) -> NDArray[np.float32]:
        """Chosen rows of the pool as float32 unit vectors: (rows, D); unchanged if they already are that."""
        rows = self.vectors[chosen if self.index is None else self.index[chosen]]
        if rows.dtype == np.float32 and np.abs(self.norms[chosen] - 1).max() <= _UNIT:
            return rows.astype(np.float32, copy=False)
        scale = (1.0 / self.norms[chosen]).astype(np.float32)
        unit: NDArray[np.float32] = (rows * scale[:, None]).astype(np.float32, copy=False)
        return unit


@dataclass(frozen=True, slots=True)
class _Pool:
    """Images and captions of a pool, row by row, with the float64 score of each right pair."""

    images: _Side
    texts: _Side
    right: Floats
    caption: Ints  # (N,) the caption of each row, numbered within the pool
    multiplicity: Ints  # (N,) rows of the pool with this caption

    @property
    def size(self) -> int:
        return len(self.right)

    @property
    def margin(self) -> float:
        """Bound of |float32 score - score|: D roundings of the product, _UNIT twice, and some for thresholds."""
        return float(self.images.vectors.shape[1] + 16) * 2.0**-24 + 2 * _UNIT

    @classmethod
    def of(
        cls,
        images: Embeddings,
        texts: Embeddings,
        text_of_image: Ints | None,
        rows: Ints | None,
        workers: ThreadPoolExecutor,
    ) -> _Pool:
        images, texts = _matrix(images, "images"), _matrix(texts, "texts")
        if images.shape[1] != texts.shape[1]:
            raise InputError(
                "texts", found=f"vectors of length {texts.shape[1]}", expected=f"{images.shape[1]}, as the images"
            )
        if text_of_image is None and len(texts) != len(images):
            raise InputError(
                "texts",
                found=f"{len(texts)} rows for {len(images)} images",
                expected="one row an image, or text_of_image",
            )
        caption = None if text_of_image is None else _index(text_of_image, len(texts), "text_of_image")
        if caption is not None and len(caption) != len(images):
            raise InputError("text_of_image", found=f"{len(caption)} entries", expected=f"{len(images)}, one an image")
        chosen = None if rows is None else _index(rows, len(images), "rows")
        if chosen is not None and len(np.unique(chosen)) != len(chosen):
            raise InputError("rows", found="the same row twice", expected="distinct rows")
        size = len(images) if chosen is None else len(chosen)
        if size == 0:
            raise InputError("pool", found="no row", expected="at least one image with its caption")
        of_row = caption if chosen is None or caption is None else caption[chosen]
        left = _Side(images, chosen, np.empty(size))
        other = _Side(texts, chosen if of_row is None else of_row, np.empty(size))
        right = np.empty(size)

        def products(start: int) -> None:
            part = slice(start, start + _EXACT_ROWS)
            image, text = left.double(part), other.double(part)
            left.norms[part] = np.sqrt(np.einsum("ij,ij->i", image, image))
            other.norms[part] = np.sqrt(np.einsum("ij,ij->i", text, text))
            right[part] = np.einsum("ij,ij->i", image, text)

        list(workers.map(products, range(0, size, _EXACT_ROWS)))
        _check_norms(left, "images")
        _check_norms(other, "texts")
        right /= left.norms * other.norms
        if of_row is None:
            return cls(left, other, right, np.arange(size), np.ones(size, dtype=np.int64))
        _, number, sizes = np.unique(of_row, return_inverse=True, return_counts=True)
        return cls(left, other, right, number.astype(np.int64), sizes[number].astype(np.int64))


def _matrix(values: Embeddings, name: str) -> Embeddings:
    matrix = np.asarray(values)
    if matrix.ndim != 2 or matrix.shape[1] == 0 or not np.issubdtype(matrix.dtype, np.floating):
        raise InputError(name, found=f"{matrix.dtype} of shape {matrix.shape}", expected="floats of shape (rows, D)")
    return matrix


def _index(values: Ints, size: int, name: str) -> Ints:
    index = np.asarray(values)
    if index.ndim != 1 or not np.issubdtype(index.dtype, np.integer):
        raise InputError(name, found=f"{index.dtype} of shape {index.shape}", expected="integers of shape (rows,)")
    wrong = np.flatnonzero((index < 0) | (index >= size))
    if len(wrong):
        raise InputError(f"{name}[{wrong[0]}]", found=str(index[wrong[0]]), expected=f"0 to {size - 1}")
    return index.astype(np.int64)


def _check_norms(side: _Side, name: str) -> None:
    """Raises InputError at the first row that has no direction, by its number in the embeddings."""
    # Outside these the reciprocal is not a float32; an encoder that returns such norms is broken anyway.
    wrong = np.flatnonzero(~((side.norms > 1e-30) & (side.norms < 1e30)))
    if len(wrong):
        at = int(wrong[0])
        row = at if side.index is None else int(side.index[at])
        found = "a zero vector" if side.norms[at] <= 1e-30 else "NaN, infinite or huge values"
        raise InputError(f"{name}, row {row}", found=found, expected="finite values, not all zero")


def _count(pool: _Pool, k_max: int, workers: ThreadPoolExecutor) -> tuple[_Ranks, _Ranks]:
    size = pool.size
    low = (pool.right - pool.margin).astype(np.float32)
    high = (pool.right + pool.margin).astype(np.float32)
    # Candidates above the right score less the margin (`low`, which counts itself) and above it plus the margin.
    row_low, row_high, column_low, column_high = (np.zeros(size, dtype=np.int64) for _ in range(4))
    # As many strips of rows as the workers can share evenly, none of them higher than the block.
    height = ceil(size / (_WORKERS * ceil(size / (_WORKERS * _BLOCK_ROWS))))

    def count(row: int) -> tuple[Ints, Ints]:
        """Counts the rows of a strip in place and returns what it adds to the counts of the columns."""
        left = pool.images.unit32(slice(row, row + height))
        tile = np.empty((len(left), min(_BLOCK_COLUMNS, size)), dtype=np.float32)
        mask = np.zeros((_PIECE_ROWS, ceil(_BLOCK_COLUMNS / 8) * 8), dtype=np.bool_)
        strip_low, strip_high = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        for column in range(0, size, _BLOCK_COLUMNS):
            columns = slice(column, column + _BLOCK_COLUMNS)
            right = pool.texts.unit32(columns)
            scores = np.matmul(left, right.T, out=tile[:, : len(right)])
            for top in range(0, len(left), _PIECE_ROWS):
                piece = scores[top : top + _PIECE_ROWS]
                rows = slice(row + top, row + top + len(piece))
                row_low[rows] += _rows_above(piece, low[rows], mask)
                row_high[rows] += _rows_above(piece, high[rows], mask)
                strip_low[columns] += _columns_above(piece, low[columns], mask)
                strip_high[columns] += _columns_above(piece, high[columns], mask)
        return strip_low, strip_high

    for strip_low, strip_high in workers.map(count, range(0, size, height)):
        column_low += strip_low
        column_high += strip_high
    i2t = _settle(pool.images, pool.texts, pool.right, row_low, row_high, k_max, workers)
    t2i = _settle(pool.texts, pool.images, pool.right, column_low, column_high, k_max, workers)
    return i2t, t2i


def _rows_above(scores: NDArray[np.float32], threshold: NDArray[np.float32], mask: NDArray[np.bool_]) -> Ints:
    """Scores above the threshold of their row: (rows,)."""
    rows, columns = scores.shape
    mask[:rows, columns:] = False
    np.greater(scores, threshold[:, None], out=mask[:rows, :columns])
    # Eight marks at a time: no byte of the sum can overflow into the next, as a piece has at most 8 * 255 columns.
    lanes = np.add.reduce(mask[:rows].view(np.uint64), axis=1)
    counts: Ints = lanes.view(np.uint8).reshape(rows, 8).sum(axis=1, dtype=np.int64)
    return counts


def _columns_above(
    scores: NDArray[np.float32], threshold: NDArray[np.float32], mask: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Scores above the threshold of their column: (columns,), in bytes, for a piece has at most 255 rows."""
    rows, columns = scores.shape
    np.greater(scores, threshold, out=mask[:rows, :columns])
    counts: NDArray[np.uint8] = np.add.reduce(mask[:rows, :columns].view(np.uint8), axis=0, dtype=np.uint8)
    return counts


def _settle(
    queries: _Side, candidates: _Side, right: Floats, low: Ints, high: Ints, k_max: int, workers: ThreadPoolExecutor
) -> _Ranks:
    """Exact ranks from the float32 bounds: rescores queries with both a rival inside the margin and a possible hit."""
    greater, tied = high.copy(), np.ones_like(high)
    open_ = np.flatnonzero((low - high > 1) & (high < k_max))
    greater[open_], tied[open_] = _exact(queries, candidates, open_, right[open_], workers)
    return _Ranks(greater, tied)


def _exact(
    queries: _Side, candidates: _Side, chosen: Ints, right: Floats, workers: ThreadPoolExecutor
) -> tuple[Ints, Ints]:
    """Of the chosen queries, in float64: candidates above the score `right` and candidates tied with it."""
    greater, tied = np.zeros(len(chosen), dtype=np.int64), np.zeros(len(chosen), dtype=np.int64)
    tiles = [slice(start, start + _EXACT_COLUMNS) for start in range(0, len(candidates.norms), _EXACT_COLUMNS)]
    for start in range(0, len(chosen), _EXACT_ROWS):
        part = slice(start, start + _EXACT_ROWS)
        left = queries.double(chosen[part]) / queries.norms[chosen[part], None]
        score = right[part, None]

        def count(tile: slice, left: Floats = left, score: Floats = score) -> tuple[Ints, Ints]:
            excess = left @ candidates.double(tile).T / candidates.norms[tile] - score
            return np.count_nonzero(excess > TIE, axis=1), np.count_nonzero(np.abs(excess) <= TIE, axis=1)

        for above, same in workers.map(count, tiles):
            greater[part] += above
            tied[part] += same
    return greater, tied


def _best_of_group(pool: _Pool, t2i: _Ranks, workers: ThreadPoolExecutor) -> tuple[_Ranks, Ints]:
    """Text-to-image ranks of the best image with each row's caption, and how many of its images share that score."""
    shared = np.flatnonzero(pool.multiplicity > 1)
    greater, tied, right = t2i.greater.copy(), t2i.tied.copy(), np.ones_like(t2i.tied)
    if len(shared):
        _, first, group = np.unique(pool.caption[shared], return_index=True, return_inverse=True)
        best = np.full(len(first), -np.inf)
        np.maximum.at(best, group, pool.right[shared])
        partners = np.bincount(group, weights=pool.right[shared] >= best[group] - TIE).astype(np.int64)
        counts = _exact(pool.texts, pool.images, shared[first], best, workers)
        greater[shared], tied[shared], right[shared] = counts[0][group], counts[1][group], partners[group]
    return _Ranks(greater, tied), right
