"""Recall under ties against a float64 brute force, for every kind of input and block size."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray

from baselines.medlaybench_v import ranking
from baselines.medlaybench_v.ranking import Recall, any_hit, recall_at_k
from loaders.errors import InputError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

BLOCKS = [(1, 7), (7, 64), (64, 8), (250, 1030)]  # the last is larger than the input


def set_block(monkeypatch: pytest.MonkeyPatch, rows: int, columns: int) -> None:
    monkeypatch.setattr(ranking, "_BLOCK_ROWS", rows)
    monkeypatch.setattr(ranking, "_BLOCK_COLUMNS", columns)


def brute(images: Floats, texts: Floats, text_of_image: Ints, ks: tuple[int, ...]) -> dict[str, Floats]:
    """The whole float64 matrix, a Python loop over queries, and the definitions word by word."""
    left = images.astype(np.float64) / np.linalg.norm(images.astype(np.float64), axis=1, keepdims=True)
    right = texts.astype(np.float64) / np.linalg.norm(texts.astype(np.float64), axis=1, keepdims=True)
    scores = left @ right[text_of_image].T
    size = len(left)
    hits = {name: np.zeros((len(ks), size)) for name in ("i2t", "t2i", "group_i2t", "group_t2i")}
    for name, matrix in (("i2t", scores), ("t2i", scores.T)):
        for query in range(size):
            row = matrix[query]
            partners = np.flatnonzero(text_of_image == text_of_image[query])
            best = row[partners].max()
            for at, k in enumerate(ks):
                above, tied = (row > row[query] + 1e-12).sum(), (np.abs(row - row[query]) <= 1e-12).sum()
                hits[name][at, query] = min(max((k - above) / tied, 0), 1)
                above = (row > best + 1e-12).sum()
                tied = (np.abs(row - best) <= 1e-12).sum()
                good = (np.abs(row[partners] - best) <= 1e-12).sum()
                places = min(max(k - above, 0), tied)
                hits[f"group_{name}"][at, query] = 1 - comb(tied - good, places) / comb(tied, places)
    return hits


def assert_equal(found: Recall, wanted: dict[str, Floats]) -> None:
    for name, hits in wanted.items():
        np.testing.assert_allclose(getattr(found, name), hits, rtol=0, atol=1e-12, err_msg=name)


def inputs(kind: str) -> tuple[Floats, Floats, Ints]:
    rng = np.random.default_rng(7)
    size, width = 90, 24
    own = np.arange(size)
    images = rng.standard_normal((size, width)).astype(np.float32)
    texts = (images + rng.standard_normal((size, width)) * 1.5).astype(np.float32)
    if kind == "tied":  # few distinct directions: many ties that are no shared captions
        directions = rng.standard_normal((9, width)).astype(np.float32)
        return directions[rng.integers(9, size=size)], directions[rng.integers(9, size=size)] * np.float32(3), own
    if kind == "duplicated":  # shared captions, some with images that are the same too
        text_of_image = rng.integers(0, 40, size=size)
        images[50:75] = images[10]
        return images, texts[:40], text_of_image
    if kind == "constant":  # 1/768 is no binary fraction: sums round, and differently in the corners of a tile
        return np.full((size, 768), 0.3, np.float32), np.full((size, 768), 0.7, np.float32), own
    if kind == "negative":  # every cosine below zero
        return np.abs(images), -np.abs(texts), own
    if kind == "near":  # cosines that float32 cannot tell apart
        base = np.abs(rng.standard_normal(width))
        near = base + rng.standard_normal((size, width)) * 1e-4
        return near.astype(np.float32), (near + rng.standard_normal((size, width)) * 5e-5).astype(np.float32), own
    if kind == "half":  # of an encoder in half precision: unit vectors, but for rounding
        lengths = 1 + rng.uniform(-0.005, 0.005, (2, size, 1))
        lengths /= [np.linalg.norm(side, axis=1, keepdims=True) for side in (images, texts)]
        return (images * lengths[0]).astype(np.float32), (texts * lengths[1]).astype(np.float32), own
    assert kind == "random"
    return images, texts, own


@pytest.mark.parametrize("kind", ["random", "tied", "duplicated", "constant", "negative", "near", "half"])
def test_equals_a_float64_brute_force_for_every_block_size(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    images, texts, text_of_image = inputs(kind)
    ks = (1, 5, 10, 90)
    wanted = brute(images, texts, text_of_image, ks)
    for block in BLOCKS:
        set_block(monkeypatch, *block)
        assert_equal(recall_at_k(images, texts, ks=ks, text_of_image=text_of_image), wanted)
        # A small largest k leaves hopeless queries uncounted; the hits may not notice.
        few = recall_at_k(images, texts, ks=ks[:3], text_of_image=text_of_image)
        assert_equal(few, {name: hits[:3] for name, hits in wanted.items()})


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_pieces_workers_and_ragged_edges_agree(workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # 1,100 rows pass the ends of a piece (250 x 1,024) and of the byte sums in both directions.
    monkeypatch.setattr(ranking, "_WORKERS", workers)
    rng = np.random.default_rng(1)
    images = rng.standard_normal((1100, 8))
    texts = -images  # the right caption is always the last of all
    last = recall_at_k(images, texts, ks=(1099, 1100))
    assert all(hits.mean(axis=1).tolist() == [0, 1] for hits in (last.i2t, last.t2i))
    set_block(monkeypatch, 997, 1099)
    first = recall_at_k(images, images, ks=(1, 1100))
    assert (first.i2t == 1).all() and (first.t2i == 1).all()


@pytest.mark.parametrize("size", [1, 7, 64, 1025])
def test_constant_embeddings_score_k_over_n(size: int) -> None:
    k = min(5, size)
    recall = recall_at_k(np.full((size, 5), 0.1), np.full((size, 5), -0.2), ks=(k,))
    assert (recall.i2t == k / size).all() and (recall.t2i == k / size).all()
    assert (recall.group_i2t == k / size).all() and (recall.group_t2i == k / size).all()


def test_pool_of_shared_captions_counts_them_within_the_pool() -> None:
    images, texts, text_of_image = inputs("duplicated")
    rows = np.arange(0, 90, 2)[::-1].copy()
    pool = recall_at_k(images, texts, text_of_image=text_of_image, rows=rows)
    alone = brute(images[rows], texts, text_of_image[rows], (1, 5, 10))
    assert_equal(pool, alone)
    shared = np.bincount(text_of_image[rows], minlength=40)[text_of_image[rows]]
    np.testing.assert_array_equal(pool.ceiling[0], 1 / shared)


def test_a_perfect_encoder_reaches_the_ceiling() -> None:
    _, texts, text_of_image = inputs("duplicated")
    perfect = recall_at_k(texts[text_of_image], texts, text_of_image=text_of_image)
    np.testing.assert_allclose(perfect.i2t, perfect.ceiling)
    np.testing.assert_allclose(perfect.t2i, perfect.ceiling)
    assert (perfect.group_i2t == 1).all() and (perfect.group_t2i == 1).all()


def test_any_hit_by_hand() -> None:
    def one(k: int, greater: int, right: int, wrong: int) -> float:
        return float(any_hit(k, np.array([greater]), np.array([right]), np.array([wrong]))[0])

    assert one(1, 0, 1, 1) == 0.5
    assert one(2, 0, 2, 2) == pytest.approx(1 - (2 / 4) * (1 / 3))
    assert one(3, 0, 2, 2) == 1.0  # only two wrong ones fit
    assert one(3, 3, 2, 0) == 0.0
    assert one(3, 2, 2, 1) == pytest.approx(2 / 3)


def test_float16_float64_and_unnormalised_inputs_rank_as_their_directions() -> None:
    images, texts, _ = inputs("random")
    scale = np.exp(np.linspace(-40, 40, len(images)))[:, None]
    plain = recall_at_k(images.astype(np.float64), texts.astype(np.float64))
    np.testing.assert_array_equal(recall_at_k(images * scale, texts / scale).i2t, plain.i2t)
    half = recall_at_k(images.astype(np.float16), texts.astype(np.float16))
    assert_equal(half, brute(images.astype(np.float16), texts.astype(np.float16), np.arange(90), (1, 5, 10)))


def test_inputs_stay_as_they_were() -> None:
    images, texts, _ = inputs("random")
    before = images.copy(), texts.copy()
    recall_at_k(images, texts)
    assert (images == before[0]).all() and (texts == before[1]).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_named(value: float) -> None:
    images, texts, _ = inputs("random")
    images[17, 3] = value
    with pytest.raises(InputError, match="images, row 17"):
        recall_at_k(images, texts)
    with pytest.raises(InputError, match="texts, row 17"):
        recall_at_k(texts, images)


def test_a_zero_row_is_named() -> None:
    images, texts, _ = inputs("random")
    texts[[4, 9]] = 0
    with pytest.raises(InputError, match="texts, row 4: a zero vector"):
        recall_at_k(images, texts)
    with pytest.raises(InputError, match="texts, row 9: a zero vector"):
        recall_at_k(images, texts, rows=np.arange(5, 90))


def test_shapes_that_do_not_agree_are_named() -> None:
    images, texts, own = inputs("random")
    with pytest.raises(InputError, match="89 rows for 90 images"):
        recall_at_k(images, texts[:-1])
    with pytest.raises(InputError, match="vectors of length 23"):
        recall_at_k(images, texts[:, :-1])
    with pytest.raises(InputError, match="shape"):
        recall_at_k(images[0], texts)
    with pytest.raises(InputError, match="expected floats"):
        recall_at_k(np.ones((3, 2), dtype=object), texts)
    with pytest.raises(InputError, match=r"text_of_image\[2\]: 90"):
        recall_at_k(images, texts, text_of_image=np.where(own == 2, 90, own))
    with pytest.raises(InputError, match="89 entries"):
        recall_at_k(images, texts, text_of_image=own[:-1])
    with pytest.raises(InputError, match="same row twice"):
        recall_at_k(images, texts, rows=np.array([1, 1]))
    with pytest.raises(InputError, match="no row"):
        recall_at_k(images, texts, rows=np.array([], dtype=np.int64))


def test_k_outside_the_pool_is_refused() -> None:
    images, texts, _ = inputs("random")
    for ks in ((), (0,), (1, 91)):
        with pytest.raises(InputError, match="ks"):
            recall_at_k(images, texts, ks=ks)
    with pytest.raises(InputError, match="the pool's 4 rows"):
        recall_at_k(images, texts, ks=(1, 5), rows=np.arange(4))
