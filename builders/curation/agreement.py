"""Do two pictures show the same structure when one is laid over the other?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from builders.curation.alignment import Map, inverse
from builders.curation.erased_text import Hidden
from builders.curation.opencv import cv2
from builders.curation.pictures import Grey, shrunk

_SIDE = 160  # pixels of the longer side at which pictures are compared
_BAND = (1.0, 3.0)  # sigmas of the band-pass, in pixels
_WINDOW = 11
_STEP = 4
_STRUCTURE = 2.0  # grey levels: minimum standard deviation for a window to have something to compare
_CORRELATED = 0.75
_LEAST_WINDOWS = 40
_LEAST_SEEN = 0.5  # minimum share of a window that no text hides
_DARK, _BRIGHT = 4, 250  # grey levels beyond which a pixel may have been clipped

Levels = NDArray[np.float32]


def agreement_of(
    affine: Map, first: Grey, second: Grey, first_hidden: Hidden | None = None, second_hidden: Hidden | None = None
) -> float:
    """Share of the structured windows of one picture that look alike in the other; the better of both directions.

    `affine` maps the first picture onto the second. What is hidden in either is not compared. 0 if the common area has
    too little structure.
    """
    if np.linalg.det(affine[:, :2]) > 1:  # compare at the coarser of the two resolutions
        first, second = second, first
        first_hidden, second_hidden = second_hidden, first_hidden
        affine = inverse(affine)
    small = shrunk(second, _SIDE)
    affine = np.diag((small.shape[1] / second.shape[1], small.shape[0] / second.shape[0])) @ affine
    laid, covered = _laid(affine, first, small.shape)
    base = small.astype(np.float32)
    grid = np.zeros(base.shape, bool)
    grid[_WINDOW // 2 :: _STEP, _WINDOW // 2 :: _STEP] = True
    usable = covered & _unclipped(laid, base) & grid
    bands = _band(laid), _band(base)
    seen = _seen(affine, first_hidden, second_hidden, small.shape)
    if seen is not None:
        usable &= cv2.boxFilter(seen, -1, (_WINDOW, _WINDOW)) >= _LEAST_SEEN
        bands = bands[0] * seen, bands[1] * seen
    correlation, here, there = _correlation(*bands)
    alike = correlation >= _CORRELATED
    shares = []
    for structure in (here, there):
        chosen = usable & (structure >= _STRUCTURE)
        if chosen.sum() < _LEAST_WINDOWS:
            return 0.0
        shares.append(float(alike[chosen].mean()))
    return max(shares)


def _seen(affine: Map, first: Hidden | None, second: Hidden | None, shape: tuple[int, ...]) -> Levels | None:
    """1 where nothing is hidden in either picture, else 0; None if nothing is at all."""
    if first is None and second is None:
        return None
    size = shape[1], shape[0]
    hidden = np.zeros(shape, np.float32)
    if first is not None:
        hidden = cv2.warpAffine(first.astype(np.float32), affine, size)
    if second is not None:
        hidden = np.maximum(hidden, cv2.resize(second.astype(np.float32), size, interpolation=cv2.INTER_AREA))
    return np.asarray(cv2.dilate(hidden, np.ones((3, 3), np.uint8)) < 0.5, np.float32)


def _laid(affine: Map, grey: Grey, shape: tuple[int, ...]) -> tuple[Levels, NDArray[np.bool_]]:
    """A picture resampled to another one's pixels, and the pixels whose whole window comes from it."""
    levels = grey.astype(np.float32)
    shrinking = float(np.sqrt(abs(np.linalg.det(affine[:, :2]))))
    if shrinking < 0.8:
        levels = np.asarray(cv2.GaussianBlur(levels, (0, 0), 0.5 / shrinking), np.float32)
    size = shape[1], shape[0]
    laid = cv2.warpAffine(levels, affine, size, borderMode=cv2.BORDER_REPLICATE)
    ones = cv2.warpAffine(np.ones(grey.shape, np.float32), affine, size)
    margin = (_WINDOW + 4, _WINDOW + 4)
    full = cv2.boxFilter(ones, -1, margin, borderType=cv2.BORDER_REPLICATE) > 0.995
    return np.asarray(laid, np.float32), np.asarray(full)


def _unclipped(*pictures: Levels) -> NDArray[np.bool_]:
    """Windows in which less than a quarter is black or white in every picture."""
    clipped = np.zeros(pictures[0].shape, np.float32)
    for levels in pictures:
        clipped[(levels <= _DARK) | (levels >= _BRIGHT)] = 1
    return np.asarray(cv2.boxFilter(clipped, -1, (_WINDOW, _WINDOW)) < 0.25)


def _band(grey: Levels) -> Levels:
    fine, coarse = (np.asarray(cv2.GaussianBlur(grey, (0, 0), sigma), np.float32) for sigma in _BAND)
    return fine - coarse


def _correlation(first: Levels, second: Levels) -> tuple[Levels, Levels, Levels]:
    """In a window around each pixel: the best correlation within one pixel's shift, and both standard deviations."""

    def mean(values: Levels) -> Levels:
        return np.asarray(cv2.boxFilter(values, -1, (_WINDOW, _WINDOW)), np.float32)

    mean_first, mean_second = mean(first), mean(second)
    variance_first = np.maximum(mean(first * first) - mean_first**2, 0)
    variance_second = np.maximum(mean(second * second) - mean_second**2, 0)
    best = np.full(first.shape, -1, np.float32)
    for down in (-1, 0, 1):
        for across in (-1, 0, 1):
            moved = np.roll(second, (down, across), (0, 1))
            variance = np.roll(variance_second, (down, across), (0, 1))
            together = mean(first * moved) - mean_first * np.roll(mean_second, (down, across), (0, 1))
            np.maximum(best, together / np.sqrt(variance_first * variance + 1e-3), out=best)
    return best, np.sqrt(variance_first), np.sqrt(variance_second)
