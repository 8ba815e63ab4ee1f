"""All 64-bit hashes within a Hamming distance of others: exact, by a multi-index join in plain numpy.

Two hashes at most eight bits apart differ by at most two in one of three chunks (pigeonhole). So it is enough to look,
chunk by chunk, for hashes whose chunk is within that radius, and to measure the true distance to those (Norouzi,
Punjani and Fleet, 2014). Three chunks are best from half a million hashes; below that, all take less than a second.
Memory is bounded by blocks and by the table of the longest chunk (17 MB).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Places = NDArray[np.int64]
Numbers = NDArray[np.signedinteger[Any]]

DISTANCE = 8
_CHUNKS = ((0, 21), (21, 22), (43, 21))  # lowest bit, bits
_RADIUS = (DISTANCE + 1) // len(_CHUNKS) - 1  # to differ by more in every chunk takes more than that many bits
_BLOCK = 1 << 17  # candidates measured at a time


def distances(left: Hashes, right: Hashes) -> NDArray[np.uint8]:
    """Number of differing bits, element by element."""
    return _count_bits(left ^ right)


def blocks_within(hashes: Hashes, queries: Hashes) -> Iterator[tuple[Places, Places]]:
    """Places (of a query, of a hash) of all matches at most DISTANCE apart, each once, in any order."""
    for number, (low, bits) in enumerate(_CHUNKS):
        for left, right in _agreeing(hashes, queries, low, bits):
            differing = queries[left] ^ hashes[right]
            new = np.ones(len(left), bool)
            for earlier, wide in _CHUNKS[:number]:  # a match found by several chunks counts for the first
                new &= _count_bits(differing & np.uint64(((1 << wide) - 1) << earlier)) > _RADIUS
            yield left[new], right[new]


def _agreeing(hashes: Hashes, queries: Hashes, low: int, bits: int) -> Iterator[tuple[Places, Places]]:
    """Blocks of matches (of a query, of a hash) within DISTANCE whose chunks differ by the radius or less."""
    chunk = _chunk(hashes, low, bits)
    order = np.argsort(chunk, kind="stable").astype(np.int32)
    starts = np.zeros((1 << bits) + 1, np.int32)  # where each value of the chunk starts in this order
    values, counts = np.unique(chunk, return_counts=True)  # not `bincount`, whose table is twice as large
    starts[values + 1] = counts
    np.cumsum(starts, dtype=np.int32, out=starts)
    sorted_hashes, asked = hashes[order], _chunk(queries, low, bits)
    asking = np.argsort(asked, kind="stable").astype(np.int32)
    asked, sorted_queries = asked[asking], queries[asking]
    for mask in _masks(bits):
        other = asked ^ mask
        for rows, counts, right in ranges(np.arange(len(asked), dtype=np.int32), starts[other], starts[other + 1]):
            asked_for = np.repeat(sorted_queries[rows], counts)
            near = np.flatnonzero(distances(asked_for, sorted_hashes[right]) <= DISTANCE)
            if len(near):
                left = np.repeat(rows, counts)[near]
                yield asking[left].astype(np.int64), order[right[near]].astype(np.int64)


def _chunk(hashes: Hashes, low: int, bits: int) -> NDArray[np.int32]:
    return ((hashes >> np.uint64(low)) & np.uint64((1 << bits) - 1)).astype(np.int32)


def _masks(bits: int) -> Iterator[int]:
    for flipped in range(_RADIUS + 1):
        for places in combinations(range(bits), flipped):
            yield sum(1 << place for place in places)


def ranges(rows: Numbers, first: Numbers, last: Numbers) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """For each row the places from its `first` to before its `last`, in blocks of about `_BLOCK`: rows, how many places
    each of them has, and the places of all, one row after another."""
    some = np.flatnonzero(last > first)
    rows, first, counts = rows[some], first[some], (last - first)[some]
    ends = np.cumsum(counts, dtype=np.int64)
    begin, before = 0, 0
    while begin < len(rows):
        stop = max(begin + 1, int(np.searchsorted(ends, before + _BLOCK, side="right")))
        n = counts[begin:stop]
        shift = (first[begin:stop] - (ends[begin:stop] - n - before)).astype(first.dtype)
        place = np.arange(ends[stop - 1] - before, dtype=first.dtype)
        place += np.repeat(shift, n)
        yield rows[begin:stop], n, place
        begin, before = stop, int(ends[stop - 1])


def _swar(words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Bits set in each word, by adding ever wider fields in parallel."""
    words = words - ((words >> np.uint64(1)) & np.uint64(0x5555555555555555))
    words = (words & np.uint64(0x3333333333333333)) + ((words >> np.uint64(2)) & np.uint64(0x3333333333333333))
    words = (words + (words >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return ((words * np.uint64(0x0101010101010101)) >> np.uint64(56)).astype(np.uint8)


_count_bits = getattr(np, "bitwise_count", _swar)  # numpy 1 has none
