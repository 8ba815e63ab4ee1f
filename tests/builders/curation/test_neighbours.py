"""The exact join against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.curation import neighbours
from builders.curation.neighbours import DISTANCE, Hashes, Places, blocks_within, distances


def _brute(left: Hashes, right: Hashes) -> np.ndarray:
    differing = (left[:, None] ^ right[None]).view(np.uint8).reshape(len(left), len(right), 8)
    return np.asarray(np.unpackbits(differing, axis=2).sum(axis=2))


def _near(draw: np.random.Generator, count: int) -> Hashes:
    """Hashes of which a third is a few bits from another."""
    hashes = draw.integers(0, 2**64, count, dtype=np.uint64)
    for _ in range(count // 3):
        flipped = {int(bit) for bit in draw.integers(0, 64, draw.integers(0, DISTANCE + 3))}
        hashes[draw.integers(count)] = hashes[draw.integers(count)] ^ np.uint64(sum(1 << bit for bit in flipped))
    return hashes


def pairs_within(hashes: Hashes, queries: Hashes) -> tuple[Places, Places]:
    """The result of `blocks_within`, sorted."""
    none = np.empty((2, 0), np.int64)
    left, right = np.concatenate([none, *map(np.stack, blocks_within(hashes, queries))], axis=1)
    order = np.lexsort((right, left))
    return left[order], right[order]


@settings(max_examples=25)
@given(seed=st.integers(0, 1000), count=st.integers(0, 60))
def test_matches_are_those_of_brute_force(seed: int, count: int) -> None:
    draw = np.random.default_rng(seed)
    hashes, queries = _near(draw, count), _near(draw, 20)
    queries[:10] = hashes[draw.integers(0, count, 10)] ^ np.uint64(3) if count else queries[:10]
    left, right = pairs_within(hashes, queries)
    assert list(zip(left, right, strict=True)) == [tuple(m) for m in np.argwhere(_brute(queries, hashes) <= DISTANCE)]


def test_blocks_smaller_than_a_bucket_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = np.zeros(40, np.uint64)  # all in one bucket
    monkeypatch.setattr(neighbours, "_BLOCK", 7)
    assert len(pairs_within(hashes, hashes)[0]) == 40 * 40


def test_bits_are_counted_alike_without_numpy_2() -> None:
    words = np.array([0, 1, 2**63, 2**64 - 1, 0x0123456789ABCDEF], np.uint64)
    assert neighbours._swar(words).tolist() == [0, 1, 1, 64, 32]
    assert distances(words, np.zeros(5, np.uint64)).tolist() == [0, 1, 1, 64, 32]
