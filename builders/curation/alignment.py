"""How one picture lies on another: the affine map that most of their matching keypoints agree on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from builders.curation.features import LENGTH, Descriptors, Points
from builders.curation.opencv import cv2

_RATIO = 0.85  # maximum, as a share of the distance to the second best match
_REACH = 4.0  # pixels: how far a match may be from the similarity
_REFINED = 3.0  # and from the affine map
_LEAST_MATCHES = 6
_STRETCH = 1.9  # maximum ratio between an affine map's scales along its two axes: 16:9 squashed to a square is 1.78
_SCALES = (0.3, 1 / 0.3)
_APART = 0.15  # maximum overlap of areas that lie apart, as a share of the smaller
_FRAME = 0.08  # of the longer side: how far the corners may move in photos of one fixed camera

Map = NDArray[np.float64]  # 2 x 3, from the first picture's pixels to the second's
Shape = tuple[int, ...]  # height, width
Box = tuple[float, float, float, float]  # left, top, right, bottom, as shares of a picture's sides
WHOLE: Box = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True, slots=True)
class Alignment:
    """An affine map, and where the keypoints that fit it are in the second picture."""

    map: Map
    points: Points


def _matches(first: Descriptors, second: Descriptors) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Mutual best matches that are clearly better than the second best."""
    if min(len(first), len(second)) < _LEAST_MATCHES:
        return np.empty(0, np.intp), np.empty(0, np.intp)
    # Whole numbers: exact in any order of summation. OpenCV's product starts no threads of its own here, numpy's does.
    none = np.zeros((0, 0), np.float32)
    products = np.asarray(cv2.gemm(first, second, 1, none, 0, flags=cv2.GEMM_2_T))
    rows = np.arange(len(first))
    best = products.argmax(axis=1)
    top = products[rows, best]
    mutual = products.argmax(axis=0)[best] == rows
    products[rows, best] = -1
    squared, next_squared = (np.maximum(0, 2 * (LENGTH**2 - product)) for product in (top, products.max(axis=1)))
    clear = squared < _RATIO**2 * next_squared
    chosen = np.flatnonzero(mutual & clear)
    return chosen, best[chosen]


def align(
    first: Points, first_descriptors: Descriptors, second: Points, second_descriptors: Descriptors
) -> Alignment | None:
    """The affine map that most matches agree on; None if no camera or editor could have made any."""
    left, right = _matches(first_descriptors, second_descriptors)
    if len(left) < _LEAST_MATCHES:
        return None
    source, target = first[left], second[right]
    found, _ = cv2.estimateAffinePartial2D(
        source, target, method=cv2.RANSAC, ransacReprojThreshold=_REACH, maxIters=1000, confidence=0.999
    )
    if found is None:
        return None
    best, reach = np.asarray(found, np.float64), _REACH
    near = _apart(best, source, target) < 3 * _REACH  # a stretched copy strays from any similarity
    if near.sum() >= _LEAST_MATCHES:
        refined, _ = cv2.estimateAffine2D(
            source[near],
            target[near],
            method=cv2.RANSAC,
            ransacReprojThreshold=_REFINED,
            maxIters=1000,
            confidence=0.999,
        )
        if refined is not None and _plausible(np.asarray(refined, np.float64)):
            best, reach = np.asarray(refined, np.float64), _REFINED
    fitting = _apart(best, source, target) < reach
    if fitting.sum() < _LEAST_MATCHES or not _plausible(best):
        return None
    return Alignment(best, target[fitting])


def _plausible(affine: Map) -> bool:
    singular = np.linalg.svd(affine[:, :2], compute_uv=False)
    return bool(_SCALES[0] <= singular[1] and singular[0] <= min(_SCALES[1], _STRETCH * singular[1]))


def inverse(affine: Map) -> Map:
    """The map back, from the second picture's pixels to the first's."""
    return np.asarray(cv2.invertAffineTransform(affine), np.float64)


def moved(affine: Map, points: Points) -> NDArray[np.float64]:
    """The images of points (x, y) under the map."""
    return np.asarray(points @ affine[:, :2].T + affine[:, 2])


def _apart(affine: Map, source: Points, target: Points) -> NDArray[np.float64]:
    return np.asarray(np.linalg.norm(moved(affine, source) - target, axis=1))


def inside(points: NDArray[np.float64], shape: Shape) -> NDArray[np.bool_]:
    """Which points lie inside a picture."""
    return np.asarray((points >= 0).all(axis=1) & (points[:, 0] < shape[1]) & (points[:, 1] < shape[0]))


def corners(shape: Shape) -> Points:
    """The corners (x, y) of a picture, clockwise from the upper left one."""
    height, width = shape
    return np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)


def covered(affine: Map, first: Shape, second: Shape) -> tuple[float, float]:
    """The common area as a share of the first picture and of the second."""
    laid = moved(affine, corners(first)).astype(np.float32)
    common = float(cv2.intersectConvexConvex(laid, corners(second))[0])
    area = abs(float(np.linalg.det(affine[:, :2]))) * first[0] * first[1]
    return min(1.0, common / area), min(1.0, common / (second[0] * second[1]))


def apart(one: Box, other: Box) -> bool:
    """Do two areas of a picture lie apart, or nearly so?"""
    width, height = (min(one[at + 2], other[at + 2]) - max(one[at], other[at]) for at in (0, 1))
    least = min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return max(0.0, width) * max(0.0, height) <= _APART * least


def spread(points: Points) -> float:
    """The area, in pixels, that points enclose."""
    return float(cv2.contourArea(cv2.convexHull(points)))


def same_frame(affine: Map, first: Shape, second: Shape) -> bool:
    """Does the map take corners roughly to corners, in any order? A fixed camera does, a hand-held one hardly ever."""
    laid, own = moved(affine, corners(first)), corners(second)
    apart = np.linalg.norm(laid[:, None] - own[None], axis=2).min(axis=1)
    return bool(apart.max() <= _FRAME * max(second))
