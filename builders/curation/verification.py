"""Are two candidate pictures the same? Keypoints give the geometry, pixels the proof.

1. Match SIFT descriptors, as they are and mirrored; fit a similarity (RANSAC) and refine it to an affine map, since
   copies may also be stretched.
2. `explained`: what share of the keypoints in the common area, of the picture that has fewer, is matched. A copy
   repeats nearly all of them. Photos from one fixed camera share only the background.
3. `agreement`: lay one picture over the other, remove shading (band-pass), and measure what share of the structured
   keypoints correlates. Text overlaid on a copy adds structure to one picture and leaves that of the other in place, so
   the better of the two directions counts.

Overlaid text is erased from both before anything else (`erased_text`), and no measure counts what it hid.

A pair is a COPY when both measures say so, or when one says so overwhelmingly; a SCENE when it is another photo of the
same thing: many matches, spread over the picture (not on one text or logo), from a camera that has moved. The same
frame with other content is neither: that is what a fixed camera makes of two patients.

The thresholds separate copies made from one half of the trial photos from pairs of different hands on one rig. How they
hold elsewhere is what scripts/bench/duplicates.py shows: on photos that the shared set does not use, in disguises that
it does not have, and on known natural copies.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from builders.curation.alignment import (
    WHOLE,
    Box,
    Map,
    align,
    covered,
    inside,
    inverse,
    moved,
    same_frame,
    spread,
)
from builders.curation.erased_text import Hidden, erased, without_text
from builders.curation.features import Descriptors, Points, mirrored_descriptors, mirrored_points, strongest
from builders.curation.opencv import cv2
from builders.curation.pictures import Grey, Picture, shrunk
from builders.curation.seams import panel

COPY = "copy"
SCENE = "scene"
UNSURE = "unsure"
DIFFERENT = "different"

_SIDE = 320
_KEYPOINTS = 300
_LEAST_COVERED = 0.3  # minimum common area, of the picture that shows less


@dataclass(frozen=True, slots=True)
class Features:
    """What a comparison needs of a picture, at 320 pixels; `hidden` tells where overlaid text was erased."""

    points: Points
    descriptors: Descriptors
    grey: Grey
    hidden: Hidden


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The outcome for an ordered pair.

    `matches` is how many fit the map; `explained` and `agreement` are shares (see the module's docstring); `of_first`
    and `of_second` say what share of each picture the common area is. The second picture is the first one, mirrored
    left to right if `mirrored`, and then turned clockwise by `turn` degrees (0, 90, 180, 270). Unless they
    are different, `in_first` and `in_second` are the panels of each that show it, if it is a collage (`seams.panel`).
    """

    kind: str
    matches: int = 0
    explained: float = 0.0
    agreement: float = 0.0
    of_first: float = 0.0
    of_second: float = 0.0
    turn: int = 0
    mirrored: bool = False
    in_first: Box = WHOLE
    in_second: Box = WHOLE

    def swapped(self) -> PairVerdict:
        """The same, from the second picture's point of view."""
        turn = self.turn if self.mirrored else -self.turn % 360
        return replace(
            self,
            of_first=self.of_second,
            of_second=self.of_first,
            turn=turn,
            in_first=self.in_second,
            in_second=self.in_first,
        )


NOTHING = PairVerdict(DIFFERENT)


def features(picture: Picture, *, text: bool = True) -> Features:
    """Keypoints and pixels of a picture; `text` is False if it is known to have none laid over it."""
    bare, hidden = without_text(picture.grey) if text else erased(picture.grey, ())
    grey = shrunk(bare, _SIDE)
    points, descriptors = strongest(grey, _KEYPOINTS)
    hidden = np.asarray(cv2.resize(hidden, grey.shape[::-1], interpolation=cv2.INTER_NEAREST), np.uint8)
    seen = ~_covered(hidden, points)
    return Features(points[seen], descriptors[seen], grey, hidden)


def compare(first: Features, second: Features) -> PairVerdict:
    """Decide on a pair. Swapping the two may change a measure in its last digits, so give them in a fixed order."""
    # The same text has to be erased, too: without theirs, two pages may look alike.
    if np.array_equal(first.grey, second.grey) and np.array_equal(first.hidden, second.hidden):
        return PairVerdict(COPY, len(first.points), 1.0, 1.0, 1.0, 1.0)
    best = NOTHING
    for mirror in (False, True):
        verdict = _compare(mirrored(first) if mirror else first, second, mirror)
        if rank(verdict) > rank(best):
            best = verdict
    return best


def rank(verdict: PairVerdict) -> tuple[int, int]:
    """A sort key: the surer that both are the same, the greater."""
    return (DIFFERENT, UNSURE, SCENE, COPY).index(verdict.kind), verdict.matches


def mirrored(features: Features) -> Features:
    """The features of the picture mirrored left to right."""
    return Features(
        mirrored_points(features.points, features.grey.shape[1]),
        mirrored_descriptors(features.descriptors),
        np.ascontiguousarray(features.grey[:, ::-1]),
        np.ascontiguousarray(features.hidden[:, ::-1]),
    )


def _compare(first: Features, second: Features, mirror: bool) -> PairVerdict:
    alignment = align(first.points, first.descriptors, second.points, second.descriptors)
    if alignment is None:
        return NOTHING
    shapes = first.grey.shape, second.grey.shape
    of_first, of_second = covered(alignment.map, *shapes)
    if max(of_first, of_second) < _LEAST_COVERED:
        return NOTHING
    matches = len(alignment.points)
    explained = matches / max(1, _repeatable(alignment.map, first, second))
    agreement = _agreement(alignment.map, first, second)
    wide = spread(alignment.points) / max(1.0, of_second * second.grey.size)
    kind = _kind(matches, explained, agreement, wide, mirror, same_frame(alignment.map, *shapes))
    (a, b, _), (c, d, _) = alignment.map
    here = there = WHOLE
    if kind != DIFFERENT:
        here = panel(first.grey, moved(inverse(alignment.map), alignment.points).astype(np.float32))
        there = panel(second.grey, alignment.points)
    left, top, right, bottom = here
    return PairVerdict(
        kind,
        matches,
        round(min(1.0, explained), 4),
        round(agreement, 4),
        round(of_first, 4),
        round(of_second, 4),
        round(float(np.degrees(np.arctan2(c - b, a + d))) / 90) % 4 * 90,
        mirror,
        (1 - right, top, 1 - left, bottom) if mirror else here,
        there,
    )


def _repeatable(affine: Map, first: Features, second: Features) -> int:
    """How many keypoints the picture that has fewer of them has in the common area, where neither had text."""
    return min(_common(moved(affine, first.points), second), _common(moved(inverse(affine), second.points), first))


def _common(points: NDArray[np.float64], other: Features) -> int:
    points = points[inside(points, other.grey.shape)]
    return len(points) - int(_covered(other.hidden, points).sum())


def _covered(hidden: Hidden, points: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Which points, all inside the picture, lie where text was erased."""
    return np.asarray(hidden[points[:, 1].astype(int), points[:, 0].astype(int)] == 1)


def _kind(matches: int, explained: float, agreement: float, wide: float, mirror: bool, framed: bool) -> str:
    # One text over all photos of one camera makes them alike beyond their background: there, more is asked for.
    fixed_camera = framed and not mirror
    if matches >= 15 and explained >= 0.40 and agreement >= (0.90 if fixed_camera else 0.60):
        return COPY
    if matches >= 8 and explained >= (0.33 if fixed_camera else 0.15) and agreement >= 0.95:
        return COPY
    if matches >= 24 and agreement >= 0.30 and wide >= 0.10 and not framed:
        return SCENE
    return UNSURE if matches >= 12 else DIFFERENT


# --- Do two pictures show the same structure when one is laid over the other? -----------------------------------------

_LAID_SIDE = 160  # pixels of the longer side at which pictures are compared
_BAND = (1.0, 3.0)  # sigmas of the band-pass, in pixels
_WINDOW = 11
_STEP = 4
_STRUCTURE = 2.0  # grey levels: minimum standard deviation for a window to have something to compare
_CORRELATED = 0.75
_LEAST_WINDOWS = 40
_LEAST_SEEN = 0.5  # minimum share of a window that no text hides
_DARK, _BRIGHT = 4, 250  # grey levels beyond which a pixel may have been clipped

Levels = NDArray[np.float32]


def _agreement(affine: Map, first: Features, second: Features) -> float:
    """Share of the structured windows of one picture that look alike in the other; the better of both directions.

    `affine` maps the first picture onto the second. What is hidden in either is not compared. 0 if the common area has
    too little structure.
    """
    if np.linalg.det(affine[:, :2]) > 1:  # compare at the coarser of the two resolutions
        first, second, affine = second, first, inverse(affine)
    small = shrunk(second.grey, _LAID_SIDE)
    affine = np.diag((small.shape[1] / second.grey.shape[1], small.shape[0] / second.grey.shape[0])) @ affine
    laid, within = _laid(affine, first.grey, small.shape)
    base = small.astype(np.float32)
    grid = np.zeros(base.shape, bool)
    grid[_WINDOW // 2 :: _STEP, _WINDOW // 2 :: _STEP] = True
    usable = within & _unclipped(laid, base) & grid
    seen = _seen(affine, first.hidden, second.hidden, small.shape)
    usable &= cv2.boxFilter(seen, -1, (_WINDOW, _WINDOW)) >= _LEAST_SEEN
    correlation, here, there = _correlation(_band(laid) * seen, _band(base) * seen)
    alike = correlation >= _CORRELATED
    shares = []
    for structure in (here, there):
        chosen = usable & (structure >= _STRUCTURE)
        if chosen.sum() < _LEAST_WINDOWS:
            return 0.0
        shares.append(float(alike[chosen].mean()))
    return max(shares)


def _seen(affine: Map, first: Hidden, second: Hidden, shape: tuple[int, ...]) -> Levels:
    """1 where nothing is hidden in either picture, else 0."""
    size = shape[1], shape[0]
    laid = cv2.warpAffine(first.astype(np.float32), affine, size)
    hidden = np.maximum(laid, cv2.resize(second.astype(np.float32), size, interpolation=cv2.INTER_AREA))
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
