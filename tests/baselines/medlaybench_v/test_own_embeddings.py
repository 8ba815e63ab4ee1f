"""Embeddings made elsewhere: what is read, and what is told of files that do not fit the split."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from baselines.medlaybench_v.own_embeddings import out_of_order, read_own
from loaders.errors import InputError

CAPTIONS = {"expert": ["a cyst", "a mass", "a cyst"], "layman": ["a pocket", "a lump", "a bag"]}
FINE = {"images": np.eye(3), "expert": np.eye(3)[[0, 1, 0]], "layman": np.eye(3)[[1, 2, 0]]}


def folder(at: Path, **changed: object) -> str:
    for name, values in {**FINE, **changed}.items():
        if values is not None:
            np.save(at / f"{name}.npy", np.asarray(values))
    return f"mine={at}"


def test_rows_are_read_as_unit_vectors_one_a_distinct_caption(tmp_path: Path) -> None:
    encoder, made = read_own(folder(tmp_path, layman=2 * np.eye(3)), CAPTIONS, images=True)
    assert (encoder.name, encoder.stand_in) == ("mine", False)
    assert made.texts["expert"].vectors.shape == (2, 3) and made.images.vectors.shape == (3, 3)
    assert np.allclose(np.linalg.norm(made.texts["layman"].vectors, axis=1), 1)
    other, _ = read_own(folder(tmp_path, layman=np.eye(3)[[0, 2, 1]]), CAPTIONS, images=True)
    again, _ = read_own(folder(tmp_path, layman=np.eye(3)), CAPTIONS, images=True)
    assert again.key == encoder.key != other.key


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"images": np.eye(3)[:2]}, r"images.npy: holds 2 rows of 3 dimensions \(expected 3 rows\)"),
        ({"layman": np.ones((3, 5))}, "layman.npy: holds 3 rows of 5 dimensions"),
        ({"layman": np.ones(3)}, r"holds float64 values of shape \(3,\)"),
        ({"layman": np.eye(3, dtype=np.int64)}, "holds int64 values"),
        ({"layman": np.full((3, 3), np.nan)}, "rows that are not finite: 3, the first is row 0"),
        ({"layman": np.diag([1.0, 0.0, 1.0])}, "rows that are all zero: 1, the first is row 1"),
        ({"layman": np.array([[{}] * 3] * 3)}, "cannot be read as .npy"),
        ({"layman": None}, "layman.npy: does not exist"),
        # Rows in another order: one caption would have two vectors.
        ({"expert": np.eye(3)[[0, 0, 1]]}, "rows 0 and 2 have the same caption and other vectors"),
        ({"expert": np.eye(3)[[0, 1, 0]] + [[0], [0], [0.01]]}, "rows 0 and 2 have the same caption and other vectors"),
    ],
)
def test_what_does_not_fit_is_an_error(tmp_path: Path, changed: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said) as raised:
        read_own(folder(tmp_path, **changed), CAPTIONS, images=True)
    assert raised.value.do


def test_a_place_that_is_not_there_may_have_been_meant_as_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"vectors: does not exist \(expected a folder of images\.npy"):
        read_own(f"mine={tmp_path / 'vectors'}", CAPTIONS, images=True)


@pytest.mark.parametrize("shuffled", ["", "images", "expert", "layman"])
@pytest.mark.parametrize("images", [True, False])
def test_rows_in_another_order_are_no_more_alike_than_any(tmp_path: Path, shuffled: str, images: bool) -> None:
    rng = np.random.default_rng(0)
    things = rng.normal(size=(40, 8)) + 3  # all alike, as the vectors of many encoders are
    vectors = {name: things + rng.normal(size=(40, 8)) for name in FINE}
    if shuffled:
        vectors[shuffled] = vectors[shuffled][rng.permutation(40)]
    captions = {name: [f"{name} {row}" for row in range(40)] for name in CAPTIONS}
    _, made = read_own(folder(tmp_path, **vectors), captions, images=images)
    told = {"": "", "images": "images and expert", "expert": "images and expert", "layman": "images and layman"}
    assert out_of_order(made) == (
        told[shuffled] if images else "expert and layman" if shuffled in ("expert", "layman") else ""
    )


def test_few_rows_and_equal_vectors_tell_nothing(tmp_path: Path) -> None:
    _, made = read_own(folder(tmp_path), CAPTIONS, images=True)
    assert not out_of_order(made)
    _, made = read_own(folder(tmp_path, **dict.fromkeys(FINE, np.ones((40, 3)))), {"expert": ["a"] * 40}, images=True)
    assert not out_of_order(made)


@pytest.mark.parametrize("given", ["mine", "=folder", "mine="])
def test_a_name_and_a_place(given: str) -> None:
    with pytest.raises(InputError, match="NAME=PLACE"):
        read_own(given, CAPTIONS, images=False)


def test_one_file_holds_all_three(tmp_path: Path) -> None:
    _, apart = read_own(folder(tmp_path), CAPTIONS, images=True)
    np.save(tmp_path / "all.npy", np.stack([FINE[name] for name in ("images", "expert", "layman")]))
    _, made = read_own(f"mine={tmp_path / 'all.npy'}", CAPTIONS, images=True)
    assert np.array_equal(made.images.vectors, apart.images.vectors)
    assert all(np.array_equal(made.texts[name].vectors, apart.texts[name].vectors) for name in ("expert", "layman"))
    np.save(tmp_path / "one.npy", FINE["images"])
    with pytest.raises(
        InputError, match=r"holds float64 values of shape \(3, 3\) \(expected .*\(3, rows, dimensions\)"
    ):
        read_own(f"mine={tmp_path / 'one.npy'}", CAPTIONS, images=True)


ALL = np.stack([FINE["images"], FINE["expert"], FINE["layman"]])


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (ALL[:, :2], "all.npy: images: holds 2 rows of 3 dimensions .expected 3 rows"),
        (ALL[:, :, :0], "all.npy: images: holds 3 rows of 0 dimensions .expected 3 rows of one dimension or more"),
        (ALL.astype(np.int32), r"all.npy: images: holds int32 values of shape \(3, 3\) \(expected floating"),
        (ALL.transpose(1, 0, 2)[:2], r"all.npy: holds float64 values of shape \(2, 3, 3\) .*\(3, rows, dimensions\)"),
        (np.where([[[False]], [[True]], [[False]]], np.nan, ALL), "all.npy: expert: rows that are not finite: 3"),
        (ALL * [[[1]], [[1]], [[0]]], "all.npy: layman: rows that are all zero: 3"),
    ],
)
def test_a_file_of_all_three_is_described_layer_by_layer(tmp_path: Path, values: np.ndarray, said: str) -> None:
    np.save(tmp_path / "all.npy", values)
    with pytest.raises(InputError, match=said):
        read_own(f"mine={tmp_path / 'all.npy'}", CAPTIONS, images=True)


def test_a_file_that_is_no_array_is_not_called_pickled(tmp_path: Path) -> None:
    (tmp_path / "all.npy").write_text("0.1 0.2")
    with pytest.raises(InputError, match=r"cannot be read as .npy \(it does not begin as one\)"):
        read_own(f"mine={tmp_path / 'all.npy'}", CAPTIONS, images=True)
