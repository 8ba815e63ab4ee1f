"""All pairs of keypoint hashes at most four bits apart: exact, by sorting them once for each of 70 keys.

Two hashes that differ in four bits agree in at least four of their eight bytes. So, for each choice of four bytes, sort
by these 32 bits and measure the true distance between hashes that share them (Manku, Jain and Das Sarma, "Detecting
near-duplicates for web crawling", 2007). The number to measure grows as the square of the hashes, but the keys are
twice as long as those of `neighbours`, which serves any distance, and keypoint hashes are far from evenly distributed:
of a million, each has to be measured against 20 others instead of 2,000.

Memory: hashes are processed in parts that (nearly) agree in the first of the bytes, and are rearranged only there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from builders.curation.hashes import KEYPOINT_DISTANCE, mirrored_keypoints
from builders.curation.neighbours import Hashes, Places, distances, ranges

_AGREED = 8 - KEYPOINT_DISTANCE  # how many of eight bytes contain no differing bit
_PART = 1 << 17  # hashes sorted at a time, more if one byte value has more: fits into a cache
_COARSE = 8  # parts that are separated from all hashes at once, then from each other
_BYTE = np.uint64(0xFF)


def close_pairs(
    hashes: Hashes, asking: NDArray[np.bool_], *, mirrored: bool = False
) -> Iterator[tuple[Places, Places]]:
    """Places (i, j), i < j, of the pairs within KEYPOINT_DISTANCE whose first is `asking`: in blocks, each once.

    `mirrored`: place 2n is hash n, and 2n + 1 its form in the mirrored picture, which never asks.
    """
    keys = [*combinations(range(8), _AGREED)]
    for first in range(8 - _AGREED + 1):
        for places in _parts(hashes, first, mirrored):
            if mirrored:
                some, asked = hashes[places >> 1], asking[places >> 1]
                turned = np.flatnonzero(places & 1)
                some[turned], asked[turned] = mirrored_keypoints(some[turned]), False
            else:
                some, asked = hashes[places], asking[places]
            if len(places) < 2 or not asked.any():
                continue
            columns = np.ascontiguousarray(_bytes(some).T)
            for key in keys:
                if key[0] == first:
                    for left, right in _agreeing(some, columns, asked, key):
                        yield places[left], places[right]


def _bytes(hashes: Hashes) -> NDArray[np.uint8]:
    """The bytes of each, the lowest first."""
    return hashes.astype("<u8", copy=False).view(np.uint8).reshape(-1, 8)


def _parts(hashes: Hashes, byte: int, mirrored: bool) -> Iterator[Places]:
    """Places, ascending, of the hashes whose byte lies between two values: about `_PART` of them."""
    value = _bytes(hashes)[:, [byte, (byte + 4) % 8][: 1 + mirrored]].reshape(-1)  # a mirror swaps the halves
    counts = np.zeros(256, np.int64)
    for start in range(0, len(value), _PART):  # numpy makes numbers of 8 bytes of what it counts
        counts += np.bincount(value[start : start + _PART], minlength=256)
    ends = np.cumsum(counts)
    for low, high in _ranges_of(ends, 0, 256, _COARSE * _PART):
        many = np.flatnonzero(value - np.uint8(low) < high - low)
        those = value[many]
        for least, most in _ranges_of(ends, low, high, _PART):
            yield many[(those >= least) & (those < most)]


def _ranges_of(ends: Places, low: int, high: int, size: int) -> Iterator[tuple[int, int]]:
    """The values from `low` to before `high` in ranges of about `size` hashes;
    hashes up to each value end at `ends`."""
    while low < high:
        before = int(ends[low - 1]) if low else 0
        stop = min(high, max(low + 1, int(np.searchsorted(ends, before + size, side="right"))))
        yield low, stop
        low = stop


def _agreeing(
    hashes: Hashes, columns: NDArray[np.uint8], asking: NDArray[np.bool_], key: tuple[int, ...]
) -> Iterator[tuple[Places, Places]]:
    """The pairs for which these are the first bytes in which they agree."""
    entries = np.arange(len(hashes), dtype="<u8")  # the key, then the place: sorting without indices is fastest
    for place, byte in enumerate(key, 8 - _AGREED):
        _bytes(entries)[:, place] = columns[byte]
    entries.sort()
    halves = entries.view("<u4").reshape(-1, 2)
    order, value = halves[:, 0].astype(np.int64), halves[:, 1]
    rows = np.flatnonzero(value[1:] == value[:-1])
    if not len(rows):
        return
    last = np.flatnonzero(np.append(np.diff(rows) != 1, True))
    ends = np.repeat(rows[last] + 2, np.diff(last, prepend=-1))  # where those of one value end
    told = np.flatnonzero(asking[order[rows]])
    rows, ends = rows[told], ends[told]
    lying = hashes[order]
    for asked, counts, others in ranges(rows, rows + 1, ends):
        near = np.flatnonzero(distances(np.repeat(lying[asked], counts), lying[others]) <= KEYPOINT_DISTANCE)
        if not len(near):
            continue
        left, right = asked[np.searchsorted(np.cumsum(counts), near, side="right")], others[near]
        differing = lying[left] ^ lying[right]
        first = np.ones(len(near), bool)
        for byte in range(key[-1]):
            if byte not in key:
                first &= (differing >> np.uint64(8 * byte)) & _BYTE != 0
        yield order[left[first]], order[right[first]]
