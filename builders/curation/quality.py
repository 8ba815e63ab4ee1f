"""What a picture is fit for: size, blur, exposure, plainness, a border, overlaid text.

Blur is the variance of the Laplacian at 512 pixels. Its level depends on the camera and the subject more than on
focus, so no fixed cut-off works: `judge` calibrates within each source, on the median and the median absolute deviation
of the logarithm. It can tell the blurred from the rest of a source, but not whether a whole source is blurred. Blur
from a moving camera is detected separately by `motion_blur`, with a fixed limit.

Overlaid text is what `overlaid_text` finds; its docstring says what it misses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from builders.curation.hashes import inside_border
from builders.curation.motion_blur import MOVED, directional_detail
from builders.curation.opencv import cv2
from builders.curation.overlaid_text import LEAST
from builders.curation.pictures import Picture

SMALL = 224  # pixels of the shorter side
DARK, BRIGHT = 64, 200  # a picture that is almost entirely below or above these grey levels is dark or overexposed
LEAST_TO_CALIBRATE = 20  # images of a source
FLAGS = {
    "small": "shorter side below 224 pixels",
    "blurred": "less sharp than its source by 2.5 deviations (variance of the Laplacian at 512 pixels)",
    "motion_blur": "fine detail is gone along one direction and there across it",
    "dark": "95 % of the pixels darker than grey level 64",
    "overexposed": "95 % of the pixels brighter than grey level 200",
    "near_uniform": "90 % of the pixels within 8 grey levels; not compared with others",
    "border": "a uniform border takes 2 % or more of the area",
    "text_overlay": "a row of six or more characters, at any angle; misses shorter and joined text, and logos",
}
"""What each flag means."""

_DEVIATIONS = 2.5  # standard deviations (of a normal distribution with this median absolute deviation)
_LEAST_SPREAD = 0.2  # of the logarithm, so that a source of near-copies is not judged by its last digit


@dataclass(frozen=True, slots=True)
class Quality:
    """Measures of one picture.

    `width` and `height` in pixels, upright; `sharpness` is the variance of the Laplacian; `motion` is low where a
    camera moved (`motion_blur.directional_detail`); `brightness` the mean grey
    level; `darkest` and `brightest` the 5th and 95th percentile; `clipped` the share of pixels at either end of the
    scale; `border` the share of the area that a uniform border takes; `text_characters` the length of the longest row.
    """

    width: int
    height: int
    sharpness: float
    motion: float
    brightness: float
    darkest: int
    brightest: int
    clipped: float
    border: float
    text_characters: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """The flags of one picture, and the sharpness below which its source counts as blurred (0: not judged)."""

    flags: tuple[str, ...]
    least_sharpness: float


def measure(picture: Picture, text_characters: int) -> Quality:
    """Measure a picture over which a text was found whose longest row has so many characters."""
    grey = picture.grey
    darkest, brightest = np.percentile(grey, (5, 95), method="nearest")
    return Quality(
        width=picture.width,
        height=picture.height,
        sharpness=round(float(cv2.Laplacian(grey, cv2.CV_64F).var()), 3),
        motion=directional_detail(grey),
        brightness=round(float(grey.mean()), 1),
        darkest=int(darkest),
        brightest=int(brightest),
        clipped=round(float(np.count_nonzero((grey <= 2) | (grey >= 253)) / grey.size), 4),
        border=round(1 - grey[inside_border(grey)].size / grey.size, 4),
        text_characters=text_characters,
    )


def judge(qualities: Sequence[Quality], sources: Sequence[str]) -> list[Judgement]:
    """Flag each picture; blur against its source, or against all pictures if the source has fewer than 20."""
    thresholds = _thresholds(qualities, sources)
    return [
        Judgement(_flags(quality, thresholds[source]), round(thresholds[source], 3))
        for quality, source in zip(qualities, sources, strict=True)
    ]


def _thresholds(qualities: Sequence[Quality], sources: Sequence[str]) -> dict[str, float]:
    levels: dict[str, list[float]] = defaultdict(list)
    for quality, source in zip(qualities, sources, strict=True):
        levels[source].append(quality.sharpness)
    overall = _threshold([level for source in levels.values() for level in source])
    return {
        source: _threshold(values) if len(values) >= LEAST_TO_CALIBRATE else overall
        for source, values in levels.items()
    }


def _threshold(levels: Sequence[float]) -> float:
    if len(levels) < LEAST_TO_CALIBRATE:
        return 0.0
    logarithms = np.log(np.maximum(levels, 1e-3))
    middle = np.median(logarithms)
    spread = max(_LEAST_SPREAD, 1.4826 * float(np.median(np.abs(logarithms - middle))))
    return float(np.exp(middle - _DEVIATIONS * spread))


def _flags(quality: Quality, least_sharpness: float) -> tuple[str, ...]:
    uniform = quality.brightest - quality.darkest < 8
    has = {
        "small": min(quality.width, quality.height) < SMALL,
        "blurred": quality.sharpness < least_sharpness and not uniform,
        "motion_blur": quality.motion < MOVED and not uniform,
        "dark": quality.brightest < DARK,
        "overexposed": quality.darkest > BRIGHT,
        "near_uniform": uniform,
        "border": quality.border >= 0.02,
        "text_overlay": quality.text_characters >= LEAST,
    }
    return tuple(flag for flag in FLAGS if has[flag])
