"""Which pairs of pictures are worth comparing: exact joins over the hashes of the whole and of its keypoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from builders.curation.examine import Content
from builders.curation.hashes import KEYPOINT_DISTANCE, KEYPOINTS_SHARED, WHOLE_DISTANCE, mirrored_keypoints
from builders.curation.neighbours import Hashes, Places, blocks_within, matches_within

# A keypoint that so many others are like (the ruler of one clinic, the rig of one camera) says nothing about a copy.
COMMON = 64


def candidates(contents: Sequence[Content]) -> list[tuple[int, int]]:
    """Places (i, j), i < j, of the pairs to compare: those alike as a whole first, then those that share keypoints."""
    alike = _by_whole(contents)
    sharing = _by_spots(contents)
    return [*sorted(alike), *sorted(sharing - alike)]


def _by_whole(contents: Sequence[Content]) -> set[tuple[int, int]]:
    """Pairs of which one, in some orientation or with its edges cut, has nearly the hash of the other."""
    places = np.array([n for n, content in enumerate(contents) if content.whole is not None], np.int64)
    if not len(places):
        return set()
    hashes = np.stack([content.whole for content in contents if content.whole is not None])  # n x 2 variants x 8
    queries, matched = matches_within(hashes.reshape(-1), np.ascontiguousarray(hashes[:, 0, 0]), WHOLE_DISTANCE)
    left, right = places[queries // 16], places[matched]
    return _pairs(left, right)


def _by_spots(contents: Sequence[Content]) -> set[tuple[int, int]]:
    """Pairs that share at least two keypoints, both pictures as they are or one of them mirrored."""
    hashes = np.concatenate([np.empty(0, np.uint64), *(content.keypoints for content in contents)])
    owners = np.repeat(np.arange(len(contents)), [len(content.keypoints) for content in contents])
    common = _alike_elsewhere(hashes, owners) > COMMON
    hashes, owners = hashes[~common], owners[~common]
    pairs: set[tuple[int, int]] = set()
    for queries in (None, mirrored_keypoints(hashes)):
        pairs |= _sharing(*_matches(hashes, queries, owners), owners)
    return pairs


def _alike_elsewhere(hashes: Hashes, owners: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many keypoints of other pictures each keypoint is like."""
    count = np.zeros(len(hashes), np.int64)
    for left, right in blocks_within(hashes, None, KEYPOINT_DISTANCE):
        other = owners[left] != owners[right]
        np.add.at(count, left[other], 1)
        np.add.at(count, right[other], 1)
    return count


def _matches(hashes: Hashes, queries: Hashes | None, owners: NDArray[np.int64]) -> tuple[Places, Places]:
    """Matching keypoints (left, right), the left one of the picture that comes first."""
    lefts, rights = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for left, right in blocks_within(hashes, queries, KEYPOINT_DISTANCE):
        # With mirrored queries each match comes from both sides, so that one of them is enough.
        first = owners[left] < owners[right]
        lefts.append(left[first])
        rights.append(right[first])
        if queries is None:
            last = owners[left] > owners[right]
            lefts.append(right[last])
            rights.append(left[last])
    return np.concatenate(lefts), np.concatenate(rights)


def _sharing(left: Places, right: Places, owners: NDArray[np.int64]) -> set[tuple[int, int]]:
    """Pairs of pictures that at least two keypoints of the one and two of the other connect."""
    width = np.int64(len(owners) + 1)
    pair = owners[left] * width + owners[right]
    enough: Places | None = None
    for keypoint in (left, right):
        distinct = np.unique(np.stack([pair, keypoint]), axis=1)[0]
        pairs, count = np.unique(distinct, return_counts=True)
        pairs = pairs[count >= KEYPOINTS_SHARED]
        enough = pairs if enough is None else np.intersect1d(enough, pairs)
    assert enough is not None
    return set(zip((enough // width).tolist(), (enough % width).tolist(), strict=True))


def _pairs(left: Places, right: Places) -> set[tuple[int, int]]:
    low, high = np.minimum(left, right), np.maximum(left, right)
    return set(_rows(np.unique(np.stack([low, high])[:, low != high], axis=1)))


def _rows(columns: Places) -> Iterator[tuple[int, int]]:
    yield from zip(columns[0].tolist(), columns[1].tolist(), strict=True)
