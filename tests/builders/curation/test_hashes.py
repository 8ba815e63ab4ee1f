"""Hashes: orientations from one DCT, borders, plain pictures, mirrored keypoints; and the pictures they are made of."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image, ImageOps

from builders.curation.hashes import inside_border, keypoints, mirrored_keypoints, whole
from builders.curation.neighbours import distances
from builders.curation.pictures import SIDE, Picture, read_picture
from loaders.files.images import ImageError
from tests.parts.pictures import drawn, jpeg, picture

TURNS = list(Image.Transpose)


def _grey(image: Image.Image) -> Picture:
    return Picture(np.asarray(image.convert("L")), image.width, image.height)


@pytest.mark.parametrize("turn", TURNS)
def test_a_turned_picture_has_one_of_the_eight_hashes(turn: Image.Transpose) -> None:
    image = drawn(1, (320, 320))  # a size that the 32 samples divide, so that turning commutes with shrinking
    before, after = whole(_grey(image)), whole(_grey(image.transpose(turn)))
    assert before is not None and after is not None
    assert after[0, 0] in before[0]
    assert set(after[0].tolist()) == set(before[0].tolist())  # the same eight, in another order


def test_another_picture_has_different_hashes() -> None:
    first, second = whole(_grey(drawn(1))), whole(_grey(drawn(2)))
    assert first is not None and second is not None
    assert distances(first.reshape(-1, 1), second[:1, 0]).min() > 8


def test_a_border_is_cut_off_and_a_background_is_not() -> None:
    image = drawn(3)
    framed = ImageOps.expand(image, (30, 20, 10, 40), "black")
    assert inside_border(np.asarray(framed.convert("L"))) == (slice(20, 320), slice(30, 430))
    assert inside_border(np.asarray(image.convert("L"))) == (slice(0, 300), slice(0, 400))
    plain, framed_hash = whole(_grey(image)), whole(_grey(framed))
    assert plain is not None and framed_hash is not None
    assert plain[0, 0] == framed_hash[0, 0]
    spot = np.full((100, 100), 200, np.uint8)
    spot[48:52, 48:52] = 0  # a mark on a plain ground: nothing here is a border
    assert inside_border(spot) == (slice(0, 100), slice(0, 100))


def test_five_percent_cut_from_each_side_is_the_second_variant() -> None:
    image = drawn(4)
    cut, before = whole(_grey(image.crop((20, 15, 380, 285)))), whole(_grey(image))
    assert cut is not None and before is not None
    assert distances(before[1, :1], cut[0, :1])[0] == 0


def test_a_plain_picture_has_no_hash() -> None:
    assert whole(_grey(Image.new("RGB", (200, 200), "pink"))) is None
    assert len(keypoints(_grey(Image.new("RGB", (200, 200), "pink")))) == 0
    assert len(keypoints(_grey(Image.new("RGB", (500, 4), "pink")))) == 0


def test_spots_of_the_mirrored_picture_are_the_mirrored_spots() -> None:
    image = drawn(5)
    before, after = keypoints(_grey(image)), keypoints(_grey(ImageOps.mirror(image)))
    assert len(before) > 20
    assert mirrored_keypoints(mirrored_keypoints(before)).tolist() == before.tolist()
    near = (distances(mirrored_keypoints(before)[:, None], after[None]) <= 4).any(axis=1)
    assert near.mean() > 0.7
    unmirrored = (distances(before[:, None], after[None]) <= 4).any(axis=1)
    assert unmirrored.mean() < 0.2


def test_spots_survive_a_crop_to_half() -> None:
    image = drawn(6)
    left, half = keypoints(picture(image)), keypoints(picture(image.crop((200, 0, 400, 300))))
    assert (distances(left[:, None], half[None]) <= 4).any(axis=1).sum() >= 2


def test_a_reduced_jpeg_is_the_picture_that_a_full_decode_gives() -> None:
    image = drawn(7, (2048, 1024))
    fast = read_picture(jpeg(image))
    buffer = io.BytesIO()
    Image.open(io.BytesIO(jpeg(image))).convert("RGB").save(buffer, "PNG")
    slow = read_picture(buffer.getvalue())
    assert fast.grey.shape == slow.grey.shape == (256, 512)
    assert np.abs(fast.grey.astype(int) - slow.grey.astype(int)).mean() < 1.5
    first, second = whole(fast), whole(slow)
    assert first is not None and second is not None
    assert distances(first[0, :1], second[0, :1])[0] <= 1


@pytest.mark.parametrize("orientation", range(9))
@pytest.mark.parametrize("size", [(400, 300), (4096, 4095), (4095, 4096)])  # the latter two are square when reduced
def test_exif_orientation_is_applied_and_the_size_is_the_upright_one(size: tuple[int, int], orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    buffer = io.BytesIO()
    picture = drawn(8) if size == (400, 300) else Image.new("L", size)
    picture.save(buffer, "JPEG", exif=exif)
    width, height = size[::-1] if orientation > 4 else size
    read = read_picture(buffer.getvalue())
    assert (read.width, read.height) == (width, height)
    assert read.grey.shape == (height, width) or max(size) > SIDE


def test_small_pictures_are_not_enlarged_and_large_ones_reduced() -> None:
    assert picture(drawn(9, (60, 40))).grey.shape == (40, 60)
    assert max(picture(drawn(9, (1300, 900))).grey.shape) == SIDE


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"no picture", "not_an_image"),
        (jpeg(drawn(1))[:2000], "truncated"),
        (b"\xff\xd8\xff", "not_an_image"),
    ],
)
def test_what_cannot_be_read_is_named(data: bytes, reason: str) -> None:
    with pytest.raises(ImageError) as caught:
        read_picture(data)
    assert caught.value.reason == reason
