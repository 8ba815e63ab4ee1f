"""What two pictures share, for a page that shows them side by side: the common area and the matching keypoints."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from builders.curation.alignment import align, corners, inverse, moved
from builders.curation.features import Points, mirrored_points
from builders.curation.opencv import cv2
from builders.curation.pictures import Grey, read_picture
from builders.curation.verification import compare, features, mirrored

MOST = 8
"""Maximum number of marked keypoints, spread over the common area."""

Marks = tuple[list[tuple[float, float]], list[tuple[float, float]]]
"""The outline of the common area, and keypoints, in a square of 100 that holds the whole picture, centred."""

_NONE: Marks = ([], [])


def shared_area(first: bytes, second: bytes) -> tuple[Marks, Marks]:
    """The common area, marked in the first picture and in the second; the nth points of both correspond.

    Nothing is marked if no keypoints agree on an alignment. Raises: ImageError as `read_picture`.
    """
    one, other = features(read_picture(first)), features(read_picture(second))
    verdict = compare(one, other)
    seen = mirrored(one) if verdict.mirrored else one
    alignment = align(seen.points, seen.descriptors, other.points, other.descriptors) if verdict.matches else None
    if alignment is None:
        return _NONE, _NONE
    laid = moved(alignment.map, corners(seen.grey.shape)).astype(np.float32)
    _, common = cv2.intersectConvexConvex(laid, corners(other.grey.shape))
    if common is None:
        return _NONE, _NONE
    there = np.asarray(common, np.float32).reshape(-1, 2), _spread(alignment.points)
    here = [moved(inverse(alignment.map), points).astype(np.float32) for points in there]
    if verdict.mirrored:  # undo the view in which it was compared
        here = [mirrored_points(points, one.grey.shape[1]) for points in here]
    return _in_square(here, one.grey), _in_square(there, other.grey)


def _in_square(marks: Iterable[Points], grey: Grey) -> Marks:
    size = np.array(grey.shape[::-1], np.float32)
    outline, points = (50 + (np.clip(places, 0, size) - size / 2) * 100 / size.max() for places in marks)
    return _rounded(outline), _rounded(points)


def _rounded(places: Points) -> list[tuple[float, float]]:
    return [(round(float(x), 2), round(float(y), 2)) for x, y in places]


def _spread(points: Points) -> Points:
    """Some of the points, each as far as possible from those before it."""
    chosen = [int(np.argmin(points.sum(axis=1)))]
    while len(chosen) < min(MOST, len(points)):
        apart = np.linalg.norm(points[:, None] - points[chosen][None], axis=2).min(axis=1)
        chosen.append(int(np.argmax(apart)))
    return points[chosen]
