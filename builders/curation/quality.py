"""What a picture is fit for: size, blur, exposure, plainness, a border, overlaid text.

Blur is the variance of the Laplacian at 512 pixels. Its level depends on the camera and the subject more than on
focus, so no fixed cut-off works: `judge` calibrates within each source, on the median and the median absolute deviation
of the logarithm. It can tell the blurred from the rest of a source, but not whether a whole source is blurred. Blur
from a moving camera is detected separately, with a fixed limit.

Overlaid text is what `overlaid_text` finds; its docstring says what it misses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from builders.curation.hashes import inside_border
from builders.curation.opencv import cv2
from builders.curation.overlaid_text import LEAST
from builders.curation.pictures import Grey, Picture

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

    `width` and `height` in pixels, upright; `sharpness` is the variance of the Laplacian; `motion` is low where the
    camera moved (`directional_detail`); `brightness` the mean grey level; `darkest` and `brightest` the 5th and 95th
    percentile; `clipped` the share of pixels at either end of the scale; `border` the share of the area that a uniform
    border takes; `text_characters` the length of the longest row.
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


# --- Motion blur ------------------------------------------------------------------------------------------------------

# A camera that moves by n pixels multiplies the spectrum by a sinc along its path and leaves it alone across it. So the
# power of fine detail is compared between each direction and the one at a right angle to it. Photos also have their own
# directions (hair, fingers, a horizon), so it is measured against the power of coarse structure in the same direction.
# Drawings have few edges, hence directions without detail; but what little there is, is sharp. So there must be next to
# nothing along that direction, both in itself and compared with the picture's coarse structure.
#
# Bands, sectors and limits were chosen on 200 photos of throats, hands and dermoscopy, moved by 9, 12 and 17 pixels in
# any direction: 94 % are found, and none of the photos as they were. Of the drawn sample photos, 7 % are flagged: the
# flag is advice, and no photo is left out of a build for it.
MOVED = 0.18
"""A lower value counts as motion blur."""

_TILE = 256  # of the tiles whose spectra are summed
_SECTORS = 16  # over half a turn
_COARSE, _FINE = (0.02, 0.06), (0.06, 0.2)  # cycles a pixel
_LEAST_SIDE = 64
_NOISE = 1e-3
# Maximum power per pixel along the weakest direction, and as a share of the coarse power.
_MOST_DETAIL, _MOST_SHARE = 5.0, 0.004


def directional_detail(grey: Grey) -> float:
    """Fine detail in the direction that has least of it, as a share of that across; 1 if a picture is too small to say.

    The larger of two measures, plain and relative to coarse structure; 1 if even the least is not next to nothing.
    """
    if min(grey.shape) < _LEAST_SIDE:
        return 1.0
    power = _power(grey).ravel()
    fine_of, coarse_of = _bands()
    fine = np.array([np.exp(np.log(power[places] + _NOISE).mean()) for places in fine_of])
    coarse = np.array([power[places].mean() + _NOISE for places in coarse_of])
    across = np.roll(fine, _SECTORS // 2)
    relative = fine / coarse
    relative_across = np.roll(relative, _SECTORS // 2)
    shares = np.maximum(fine / across, relative / relative_across)
    least = int(shares.argmin())
    if fine[least] > _MOST_DETAIL * grey.size or fine[least] > _MOST_SHARE * np.median(coarse):
        return 1.0
    return round(float(shares[least]), 4)


def _power(grey: Grey) -> NDArray[np.float64]:
    """The power spectrum, over tiles that cover the picture and fade out at their edges."""
    height, width = grey.shape
    power = np.zeros((_TILE, _TILE // 2 + 1))
    for top in _starts(height):
        for left in _starts(width):
            tile = grey[top : top + _TILE, left : left + _TILE].astype(np.float64)
            faded = (tile - tile.mean()) * np.outer(np.hanning(tile.shape[0]), np.hanning(tile.shape[1]))
            power += np.abs(np.fft.rfft2(faded, (_TILE, _TILE))) ** 2
    return power


def _starts(length: int) -> list[int]:
    last = max(0, length - _TILE)
    return sorted({0, last // 2, last})


@cache
def _bands() -> tuple[list[NDArray[np.intp]], list[NDArray[np.intp]]]:
    """The positions in the spectrum of each sector, for fine and for coarse detail."""
    down, across = np.meshgrid(np.fft.fftfreq(_TILE), np.fft.rfftfreq(_TILE), indexing="ij")
    frequency = np.hypot(across, down)
    sector = np.floor(np.degrees(np.arctan2(down, across)) * _SECTORS / 180 + 0.5).astype(int) % _SECTORS
    found = []
    for low, high in (_FINE, _COARSE):
        band = (frequency >= low) & (frequency < high)
        found.append([np.flatnonzero(band & (sector == number)) for number in range(_SECTORS)])
    return found[0], found[1]
