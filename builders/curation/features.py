"""Local features of a picture: SIFT keypoints, ordered and rounded so that they are the same on every machine."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from builders.curation.opencv import cv2
from builders.curation.pictures import Grey

_CONTRAST = 0.02  # half of OpenCV's default: skin has little
_LEAST_SIDE = 16  # pixels; in smaller pictures there is nothing to find
LENGTH = 256  # of a descriptor: products of two are whole numbers below 2^24

Points = NDArray[np.float32]
Descriptors = NDArray[np.float32]

# In a mirrored picture the rows of a descriptor's 4 x 4 cells are swapped and its angles change sign.
_MIRROR = np.arange(128).reshape(4, 4, 8)[::-1][:, :, (-np.arange(8)) % 8].ravel()


def strongest(grey: Grey, count: int) -> tuple[Points, Descriptors]:
    """The `count` strongest keypoints: places (x, y) and RootSIFT descriptors of 128 whole numbers."""
    none = np.zeros((0, 2), np.float32), np.zeros((0, 128), np.float32)
    if min(grey.shape) < _LEAST_SIDE:
        return none
    sift = cv2.SIFT_create(nfeatures=count, contrastThreshold=_CONTRAST)  # type: ignore[attr-defined]
    keypoints, descriptors = sift.detectAndCompute(grey, None)
    if descriptors is None:
        return none
    facts = [(-k.response, k.pt[0], k.pt[1], k.size, k.angle, n) for n, k in enumerate(keypoints)]
    order = [fact[-1] for fact in sorted(facts)[:count]]
    points = np.array([keypoints[n].pt for n in order], np.float32)
    chosen = descriptors[order].astype(np.float32)
    total = np.maximum(chosen.sum(axis=1, keepdims=True), 1)
    return points, np.rint(np.sqrt(chosen / total) * LENGTH).astype(np.float32)


def mirrored_descriptors(descriptors: Descriptors) -> Descriptors:
    """The descriptors of the picture mirrored left to right."""
    return np.ascontiguousarray(descriptors[:, _MIRROR])


def mirrored_points(points: Points, width: int) -> Points:
    """The keypoints of a picture of `width` pixels mirrored left to right."""
    return np.stack([width - 1 - points[:, 0], points[:, 1]], axis=1).astype(np.float32)
