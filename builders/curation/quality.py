"""What a picture is fit for: size, blur, exposure, plainness, a border, text laid over.

Blur is the variance of the Laplacian at 512 pixels. Its level depends on the camera and the subject more than on
focus, so no fixed cut-off works: `judge` calibrates within each source, on the median and the median absolute deviation
of the logarithm. It can tell the blurred from the rest of a source, and not whether a whole source is blurred.

`text_characters` looks for a row of at least six separate marks of like height on one straight base line, lighter or
darker than their surroundings: what a caption, a burnt-in name or a typed watermark is made of. It misses text of fewer
characters, smaller than 6 or larger than 48 pixels at 512, written at an angle or by hand, joined letters, faint or
wide watermarks, and logos. scripts/bench/duplicates.py prints what it finds and misses on real photos.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from builders.curation.hashes import inside_border
from builders.curation.opencv import cv2
from builders.curation.pictures import Grey, Picture

SMALL = 224  # pixels of the shorter side
LEAST_TO_CALIBRATE = 20  # images of a source
FLAGS = ("small", "blurred", "dark", "overexposed", "near_uniform", "border", "text_overlay")

_DEVIATIONS = 2.5  # standard deviations (of a normal distribution with this median absolute deviation)
_LEAST_SPREAD = 0.2  # of the logarithm: a source of near-copies is not held to its last digit
_TEXT = 6  # characters in a row

_STROKE = 13  # pixels: what is brighter or darker than all within this reach may be a stroke
_MARKED = 14  # grey levels
_HEIGHTS = (6, 48)  # pixels of a character
_MOST_MARKS = 1500  # more are texture


@dataclass(frozen=True, slots=True)
class Quality:
    """Measures of one picture.

    `width` and `height` in pixels, upright; `sharpness` is the variance of the Laplacian; `brightness` the mean grey
    level; `darkest` and `brightest` the 5th and 95th percentile; `clipped` the share of pixels at either end of the
    scale; `border` the share of the area that a uniform border takes; `text_characters` the length of the longest row.
    """

    width: int
    height: int
    sharpness: float
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


def measure(picture: Picture) -> Quality:
    """Measure a picture."""
    grey = picture.grey
    darkest, brightest = np.percentile(grey, (5, 95), method="nearest")
    box = inside_border(grey)
    kept = (box.bottom - box.top) * (box.right - box.left)
    return Quality(
        width=picture.width,
        height=picture.height,
        sharpness=round(float(cv2.Laplacian(grey, cv2.CV_64F).var()), 3),
        brightness=round(float(grey.mean()), 1),
        darkest=int(darkest),
        brightest=int(brightest),
        clipped=round(float(np.count_nonzero((grey <= 2) | (grey >= 253)) / grey.size), 4),
        border=round(1 - kept / grey.size, 4),
        text_characters=text_characters(grey),
    )


def judge(qualities: Sequence[Quality], sources: Sequence[str]) -> list[Judgement]:
    """Flag each picture; blur against its source, or against all pictures where the source has fewer than 20."""
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
    found = {
        "small": min(quality.width, quality.height) < SMALL,
        "blurred": quality.sharpness < least_sharpness and not uniform,
        "dark": quality.brightest < 64,
        "overexposed": quality.darkest > 200,
        "near_uniform": uniform,
        "border": quality.border >= 0.02,
        "text_overlay": quality.text_characters >= _TEXT,
    }
    return tuple(flag for flag in FLAGS if found[flag])


def text_characters(grey: Grey) -> int:
    """Characters in the longest row of marks that looks like text; 0 where there is none of at least six."""
    kernel = cv2.getStructuringElement(cv2.MORPH_RECT, (_STROKE, _STROKE))
    rows = [
        _longest_row(cv2.morphologyEx(grey, hat, kernel) >= _MARKED) for hat in (cv2.MORPH_TOPHAT, cv2.MORPH_BLACKHAT)
    ]
    longest = max(rows)
    return longest if longest >= _TEXT else 0


def _longest_row(strokes: NDArray[np.bool_]) -> int:
    _, _, found, _ = cv2.connectedComponentsWithStats(strokes.astype(np.uint8), connectivity=8)
    left, _, width, height, area = found[1:].T
    shape = (height >= _HEIGHTS[0]) & (height <= _HEIGHTS[1]) & (width >= 2) & (width <= 2.2 * height)
    filled = (area >= 10) & (area >= 0.18 * width * height) & (area <= 0.9 * width * height)
    marks = found[1:][shape & filled]
    if not _TEXT <= len(marks) <= _MOST_MARKS:
        return 0
    marks = marks[np.lexsort((marks[:, 1], marks[:, 0]))]
    left, right, foot, tall = marks[:, 0], marks[:, 0] + marks[:, 2], marks[:, 1] + marks[:, 3], marks[:, 3]
    used = np.zeros(len(marks), bool)
    longest = 0
    for start in range(len(marks)):
        if used[start]:
            continue
        row = [start]
        while True:
            last = row[-1]
            gap = left - right[last]
            follows = (left > left[last]) & (gap > -0.3 * tall[last]) & (gap < tall[last])
            follows &= np.abs(foot - foot[last]) <= 0.25 * tall[last] + 1
            follows &= (tall >= 0.6 * tall[last]) & (tall <= 1.67 * tall[last])
            after = np.flatnonzero(follows)
            if not len(after):
                break
            row.append(int(after[0]))
        used[row] = True
        if (
            len(row) > longest
            and len(row) >= _TEXT
            and _is_straight((left[row] + right[row]) / 2, foot[row], tall[row])
        ):
            longest = len(row)
    return longest


def _is_straight(across: NDArray[np.float64], foot: NDArray[np.int32], tall: NDArray[np.int32]) -> bool:
    line = np.polyval(np.polyfit(across, foot, 1), across)
    return bool(np.median(np.abs(line - foot)) <= 1.5 and tall.std() < 0.28 * tall.mean())
