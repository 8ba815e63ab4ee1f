"""Quality flags on pictures made for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageFont, ImageOps

from builders.curation.overlaid_text import LEAST, text_over
from builders.curation.quality import LEAST_TO_CALIBRATE, MOVED, SMALL, Quality, judge, measure
from tests.parts.pictures import drawn, picture


def _measured(image: Image.Image) -> Quality:
    read = picture(image)
    return measure(read, text_over(read.grey).characters)


def _flags(image: Image.Image) -> tuple[str, ...]:
    return judge([_measured(image)], [""])[0].flags


@pytest.mark.parametrize(
    ("image", "flags"),
    [
        (drawn(1), ()),
        (drawn(1, (400, 200)), ("small",)),
        (ImageEnhance.Brightness(drawn(1)).enhance(0.2), ("dark",)),
        (drawn(1).point(lambda level: 225 + level // 10), ("overexposed",)),
        (Image.new("RGB", (300, 300), (120, 130, 140)), ("near_uniform",)),
        (ImageOps.expand(drawn(1), 20, "white"), ("border",)),
    ],
)
def test_one_fault_one_flag(image: Image.Image, flags: tuple[str, ...]) -> None:
    assert _flags(image) == flags


@pytest.mark.parametrize(
    ("measured", "flags"),
    [
        ({"width": SMALL}, ()),
        ({"height": SMALL - 1}, ("small",)),
        ({"darkest": 9, "brightest": 64}, ()),
        ({"darkest": 9, "brightest": 63}, ("dark",)),
        ({"darkest": 200}, ()),
        ({"darkest": 201}, ("overexposed",)),
        ({"darkest": 100, "brightest": 108}, ()),
        ({"darkest": 101, "brightest": 108, "sharpness": 0.1, "motion": 0.0}, ("near_uniform",)),  # nothing to blur
        ({"sharpness": 7.7}, ()),  # 100 / exp(2.5 x 1.4826 x log 2), of the others below
        ({"sharpness": 7.6}, ("blurred",)),
        ({"motion": MOVED}, ()),
        ({"motion": 0.99 * MOVED}, ("motion_blur",)),
        ({"border": 0.0199}, ()),
        ({"border": 0.02}, ("border",)),
        ({"text_characters": LEAST - 1}, ()),
        ({"text_characters": LEAST}, ("text_overlay",)),
    ],
)
def test_each_limit_is_where_it_is_said_to_be(measured: dict[str, float], flags: tuple[str, ...]) -> None:
    usual = Quality(640, 480, 100.0, 1.0, 128.0, 20, 230, 0.0, 0.0, 0)
    others = [replace(usual, sharpness=sharpness) for sharpness in [50.0] * 10 + [100.0] * 20 + [200.0] * 10]
    odd = replace(usual, **measured)  # type: ignore[arg-type]
    assert judge([odd, *others], ["a"] * 41)[0].flags == flags


def test_sizes_are_those_of_the_original() -> None:
    quality = _measured(drawn(2, (1400, 900)))
    assert (quality.width, quality.height) == (1400, 900)


def test_blur_is_judged_within_its_source() -> None:
    images = [drawn(seed) for seed in range(LEAST_TO_CALIBRATE)]
    sharp = [measure(picture(image), 0) for image in images]
    soft = [measure(picture(image.filter(ImageFilter.GaussianBlur(1.2))), 0) for image in images]
    blurred = [measure(picture(drawn(seed).filter(ImageFilter.GaussianBlur(5))), 0) for seed in (50, 51)]
    # What is usual in the soft source would be a fault in the sharp one.
    judged = judge([*sharp, *soft, *blurred], ["a"] * len(sharp) + ["b"] * len(soft) + ["a", "b"])
    assert [n for n, judgement in enumerate(judged) if "blurred" in judgement.flags] == [40, 41]
    assert judged[0].least_sharpness > max(quality.sharpness for quality in blurred)
    assert np.median([q.sharpness for q in soft]) < judged[0].least_sharpness


def test_a_source_too_small_is_judged_with_all_others_and_a_folder_too_small_not_at_all() -> None:
    usual = _measured(drawn(3))
    many = [replace(usual, sharpness=100.0 + n) for n in range(LEAST_TO_CALIBRATE)]
    odd = replace(usual, sharpness=1.0)
    judged = judge([*many, odd], ["a"] * len(many) + ["b"])
    assert [bool(judgement.flags) for judgement in judged] == [False] * len(many) + [True]
    alone = judge([*many[:5], odd], ["a"] * 6)
    assert {(judgement.flags, judgement.least_sharpness) for judgement in alone} == {((), 0.0)}


def _written(text: str, size: int, fill: str = "white", angle: float = 0.0) -> np.ndarray:
    image = Image.new("RGB", (512, 384), (190, 150, 140))
    ImageDraw.Draw(image).text((30, 150), text, fill, ImageFont.load_default(size))
    return np.asarray(image.rotate(angle, Image.Resampling.BICUBIC, fillcolor=(190, 150, 140)).convert("L"))


def test_text_is_found_light_and_dark() -> None:
    assert 6 <= text_over(_written("Photograph by A. Example", 24)).characters <= 24
    assert text_over(_written("Photograph by A. Example", 18, "black")).characters >= 6


def test_outlined_and_half_transparent_text_is_found() -> None:
    ground = np.asarray(drawn(4, (512, 384)).filter(ImageFilter.GaussianBlur(6)))
    image = Image.fromarray(ground).convert("RGBA")
    for height, outline in ((60, 0), (220, 2)):
        layer = Image.new("RGBA", image.size)
        pen = ImageDraw.Draw(layer)
        font = ImageFont.load_default(30)
        pen.text((40, height), "© ClinicPix.com", (255, 255, 255, 170), font, stroke_width=outline, stroke_fill="#000a")
        assert text_over(np.asarray(Image.alpha_composite(image, layer).convert("L"))).characters >= 6


def test_a_row_of_spots_is_no_text() -> None:
    """Spots of any size, in a row that is not level, far apart, or a net of lines."""
    image = Image.new("L", (512, 384), 170)
    pen = ImageDraw.Draw(image)
    for n in range(10):
        pen.ellipse((20 + 30 * n, 40 + 6 * n, 34 + 30 * n, 54 + 6 * n), fill=110)  # a slope
        pen.ellipse((20 + 45 * n, 160, 34 + 45 * n, 174), fill=110)  # far apart
        side = 8 + 5 * (n % 4)
        pen.ellipse((20 + 34 * n, 250 - side, 20 + 34 * n + side, 250), fill=110)  # of any size
    assert text_over(np.asarray(image)).characters == 0


def test_what_the_text_finder_misses_is_as_its_docstring_says() -> None:
    assert text_over(_written("Fig 2", 24)).characters == 0  # fewer than six characters
    assert text_over(_written("Photograph", 6)).characters == 0  # too small
    assert text_over(_written("Photograph", 24, fill="#c0988e")).characters == 0  # all but the colour of its ground


def test_pictures_without_text_have_none() -> None:
    assert [text_over(picture(drawn(seed)).grey).characters for seed in range(4)] == [0] * 4
    assert text_over(np.random.default_rng(0).integers(0, 256, (300, 400), np.uint8)).characters == 0
