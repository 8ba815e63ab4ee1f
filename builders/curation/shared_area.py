"""What two pictures share, for a page that shows them side by side: the common area and the matching keypoints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from builders.curation.alignment import Map, align, corners, inverse, moved
from builders.curation.features import Points, mirrored_points
from builders.curation.opencv import cv2
from builders.curation.pictures import Grey, read_picture
from builders.curation.verification import Features, compare, features, mirrored

MOST = 8
"""Maximum number of marked keypoints, spread over the common area."""

_Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Marks:
    """Positions in a picture, as shares (x, y) of its width and height: the
    outline of the common area, and keypoints."""

    outline: tuple[_Place, ...]
    points: tuple[_Place, ...]


def shared_area(first: bytes, second: bytes) -> tuple[Marks, Marks] | None:
    """The common area, marked in the first picture and in the second; the nth points of both correspond.

    None if no keypoints agree on an alignment. Raises: ImageError as `read_picture`.
    """
    one, other = features(read_picture(first)), features(read_picture(second))
    verdict = compare(one, other)
    if not verdict.matches:
        return None
    turned = verdict.mirrored
    seen = mirrored(one) if turned else one
    alignment = align(seen.points, seen.descriptors, other.points, other.descriptors)
    if alignment is None:
        return None
    laid = moved(alignment.map, corners(seen.grey.shape)).astype(np.float32)
    _, common = cv2.intersectConvexConvex(laid, corners(other.grey.shape))
    if common is None:
        return None
    outline, points = np.asarray(common, np.float32).reshape(-1, 2), _spread(alignment.points)
    back = inverse(alignment.map)
    here = _marks(_back(outline, back, one, turned), _back(points, back, one, turned), one.grey)
    return here, _marks(outline, points, other.grey)


def _back(points: Points, back: Map, first: Features, turned: bool) -> Points:
    """Points of the second picture in the first as it is, undoing the view in which it was compared."""
    found = moved(back, points).astype(np.float32)
    return mirrored_points(found, first.grey.shape[1]) if turned else found


def _marks(outline: Points, points: Points, grey: Grey) -> Marks:
    size = np.array(grey.shape[::-1], np.float32)
    return Marks(_places(outline / size), _places(points / size))


def _places(shares: NDArray[np.float32]) -> tuple[_Place, ...]:
    return tuple((round(float(x), 4), round(float(y), 4)) for x, y in np.clip(shares, 0, 1))


def _spread(points: Points) -> Points:
    """Some of the points, each as far as possible from those before it."""
    chosen = [int(np.argmin(points.sum(axis=1)))]
    while len(chosen) < min(MOST, len(points)):
        apart = np.linalg.norm(points[:, None] - points[chosen][None], axis=2).min(axis=1)
        chosen.append(int(np.argmax(apart)))
    return points[chosen]
