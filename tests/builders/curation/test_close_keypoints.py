"""The join of keypoints against a plain comparison of all with all, on hashes that crowd and on parts of any size."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from builders.curation.close_keypoints import close_pairs
from builders.curation.hashes import mirrored_keypoints
from builders.curation.neighbours import Hashes, distances


def _crowded(count: int) -> Hashes:
    """Hashes of a few prototypes with up to six bits flipped, so that many pairs are four bits apart, and five."""
    draw = np.random.default_rng(3)
    hashes = draw.integers(0, 2**64, 12, np.uint64)[draw.integers(0, 12, count)]
    for _ in range(3):
        hashes = hashes ^ (np.uint64(1) << draw.integers(0, 64, count, np.uint64)) * draw.integers(
            0, 2, count, np.uint64
        )
    return hashes


@pytest.mark.parametrize("part", [1, 100, 1 << 18])
def test_each_close_pair_is_found_once_whatever_the_parts(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.curation.close_keypoints._PART", part)
    hashes = _crowded(700)
    asking = np.arange(700) % 3 != 0
    one, other = np.triu_indices(700, 1)
    close = (distances(hashes[one], hashes[other]) <= 4) & asking[one]
    assert close.sum() > 5000
    told = [pair for block in close_pairs(hashes, asking) for pair in np.stack(block, axis=1).tolist()]
    assert sorted(told) == np.stack([one[close], other[close]], axis=1).tolist()


def test_every_way_to_differ_in_four_bytes_is_found_and_five_bits_are_not() -> None:
    plain = np.uint64(0x0123456789ABCDEF)
    masks = [sum(1 << (8 * byte + byte) for byte in range(8) if chosen >> byte & 1) for chosen in range(256)]
    near = [mask for mask in masks if mask.bit_count() <= 4]
    far = [mask for mask in masks if mask.bit_count() == 5]
    hashes = np.array([plain, *(plain ^ np.uint64(mask) for mask in near + far)], np.uint64)
    asking = np.arange(len(hashes)) == 0
    found = [int(place) for _, others in close_pairs(hashes, asking) for place in others]
    assert sorted(found) == list(range(1, len(near) + 1))


@pytest.mark.parametrize("part", [1, 100, 1 << 18])
def test_mirrored_hashes_are_interleaved_and_never_ask(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.curation.close_keypoints._PART", part)
    hashes = _crowded(300)
    hashes[::7] = mirrored_keypoints(hashes[1::7])  # some are others in a mirror
    asking = np.arange(300) % 5 != 0
    both = np.stack([hashes, mirrored_keypoints(hashes)], axis=1).reshape(-1)
    one, other = np.triu_indices(600, 1)
    close = (distances(both[one], both[other]) <= 4) & (one % 2 == 0) & asking[one // 2]
    assert (close & (other % 2 == 1)).sum() > 20
    found = close_pairs(hashes, asking, mirrored=True)
    told = [pair for block in found for pair in np.stack(block, axis=1).tolist()]
    assert sorted(told) == np.stack([one[close], other[close]], axis=1).tolist()


def test_mirrored_hashes_are_never_all_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.curation.close_keypoints._PART", 1 << 10)
    hashes = np.random.default_rng(0).integers(0, 2**64, 100_000, np.uint64)
    hashes[:2] = 0  # found at once
    asking = np.ones(len(hashes), bool)
    tracemalloc.start()
    try:
        next(close_pairs(hashes, asking, mirrored=True))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(hashes)  # both would be 16 bytes each
