"""Copies in every disguise are copies, photos by one fixed camera are not, photos from another place are a scene."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

import pytest
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageFont, ImageOps

from builders.curation.verification import COPY, DIFFERENT, UNSURE, Features, PairVerdict, compare, features
from tests.parts.pictures import drawn, on_rig, picture


def _of(image: Image.Image) -> Features:
    return features(picture(image))


def _verdict(first: Image.Image, second: Image.Image) -> PairVerdict:
    return compare(_of(first), _of(second))


def _kinds(images: Iterable[Image.Image]) -> set[str]:
    """Of each with the next."""
    return {compare(first, second).kind for first, second in pairwise(map(_of, images))}


def _text(image: Image.Image) -> Image.Image:
    marked = image.copy()
    ImageDraw.Draw(marked).text((60, 130), "Example Pictures", "white", ImageFont.load_default(34))
    return marked


DISGUISES: dict[str, Callable[[Image.Image], Image.Image]] = {
    "half the size": lambda image: image.resize((200, 150), Image.Resampling.LANCZOS),
    "larger": lambda image: image.resize((620, 465), Image.Resampling.BICUBIC),
    "stretched": lambda image: image.resize((480, 300), Image.Resampling.BICUBIC),
    "16:9 squashed": lambda image: image.crop((0, 0, 400, 225)).resize((224, 224), Image.Resampling.LANCZOS),
    "cropped to a half": lambda image: image.crop((180, 0, 400, 300)),
    "bordered": lambda image: ImageOps.expand(image, 40, "white"),
    "brighter": lambda image: ImageEnhance.Brightness(image).enhance(1.2),
    "grey": lambda image: ImageOps.grayscale(image).convert("RGB"),
    "blurred": lambda image: image.filter(ImageFilter.GaussianBlur(2)),
    "text": _text,
    "turned a little": lambda image: image.rotate(4, Image.Resampling.BICUBIC),
    "mirrored and cropped": lambda image: ImageOps.mirror(image.crop((40, 30, 400, 300))),
}


@pytest.mark.parametrize("name", DISGUISES)
def test_a_disguised_copy_is_a_copy(name: str) -> None:
    image, copy = _of(drawn(11)), _of(DISGUISES[name](drawn(11)))
    assert compare(image, copy).kind == compare(copy, image).kind == COPY


@pytest.mark.parametrize(
    ("change", "turn", "mirrored"),
    [
        (Image.Transpose.ROTATE_270, 90, False),  # Pillow turns the other way round
        (Image.Transpose.ROTATE_180, 180, False),
        (Image.Transpose.ROTATE_90, 270, False),
        (Image.Transpose.FLIP_LEFT_RIGHT, 0, True),
        (Image.Transpose.FLIP_TOP_BOTTOM, 180, True),
        (Image.Transpose.TRANSPOSE, 270, True),
    ],
)
def test_turns_and_mirrors_are_recognised(change: Image.Transpose, turn: int, mirrored: bool) -> None:
    image, copy = _of(drawn(12)), _of(drawn(12).transpose(change))
    verdict, back = compare(image, copy), compare(copy, image)
    assert (verdict.kind, verdict.turn, verdict.mirrored) == (COPY, turn, mirrored)
    assert (verdict.swapped().turn, verdict.swapped().mirrored) == (back.turn, back.mirrored)


def test_the_common_area_is_given_for_both() -> None:
    verdict = _verdict(drawn(13), drawn(13).crop((0, 0, 200, 300)))
    assert verdict.of_first == pytest.approx(0.5, abs=0.02)
    assert verdict.of_second == pytest.approx(1.0, abs=0.02)


def test_other_pictures_are_different() -> None:
    assert _kinds(map(drawn, range(20, 25))) == {DIFFERENT}


def test_photos_by_one_fixed_camera_are_not_joined_and_their_copies_are() -> None:
    assert _kinds(map(on_rig, range(30, 34))) <= {UNSURE, DIFFERENT}
    assert _verdict(on_rig(30), ImageEnhance.Brightness(on_rig(30)).enhance(0.8)).kind == COPY


def test_one_text_over_two_pictures_joins_nothing() -> None:
    assert _verdict(_text(drawn(50)), _text(drawn(51))).kind in (DIFFERENT, UNSURE)


def test_pictures_without_keypoints_are_copies_only_when_equal() -> None:
    plain, other = Image.new("RGB", (200, 200), (200, 180, 170)), Image.new("RGB", (200, 200), (100, 180, 170))
    assert _verdict(plain, plain).kind == COPY
    assert _verdict(plain, other).kind == DIFFERENT
