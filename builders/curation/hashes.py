"""Perceptual hashes: of the whole picture in its eight orientations, from one DCT; and of its strongest keypoints.

`whole` takes the signs of the 63 lowest frequencies (pHash, with the sign instead of a comparison with the median,
which changes under a mirror). A mirror flips the sign of the odd frequencies and a transposition swaps the axes, so the
hashes of all eight orientations follow from the same coefficients. A uniform border is cut off first, and a second hash
covers the central 90 %, which is what remains of the whole if somebody cropped 5 % a side.

`keypoints` hashes local features (SIFT on a 128-pixel picture): two pictures that share a few are candidates under any
crop or turn, and more stretch than `alignment` allows. The hash of a mirrored keypoint is the same one with its halves
swapped.

Hashes only propose candidates; `verification` decides.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from builders.curation.features import mirrored_descriptors, strongest
from builders.curation.neighbours import Hashes
from builders.curation.opencv import cv2
from builders.curation.pictures import Grey, Picture, shrunk

KEYPOINT_DISTANCE = 4
KEYPOINTS_SHARED = 2

_SAMPLES = 32
_FREQUENCIES = 8
_FAINT = 1.0  # a coefficient below this (grey levels, orthonormal DCT) has no reliable sign
_PLAIN = 8  # with fewer reliable coefficients, the picture is too plain for a hash
_CENTRE = 0.9
_SPOT_SIDE = 128
_SPOTS = 48
_BORDER_LEVELS = 12  # grey levels in a border's row or column differ by at most this, or an eighth of the picture's
_BORDER_SHARE = 0.35  # maximum share of a side that a border may take

_COSINES = np.cos(np.pi / _SAMPLES * np.outer(np.arange(_FREQUENCIES), np.arange(_SAMPLES) + 0.5))
_COSINES *= np.sqrt(2 / _SAMPLES)
_SIGNS = (-1.0) ** np.arange(_FREQUENCIES)
_PLACES = np.uint64(1) << np.arange(1, 64, dtype=np.uint64)


def whole(picture: Picture) -> Hashes | None:
    """Hashes of the picture and of its centre (2 x 8 orientations, the first as it is); None if it is too plain."""
    inner = picture.grey[inside_border(picture.grey)]
    height, width = inner.shape
    top, left = round(height * (1 - _CENTRE) / 2), round(width * (1 - _CENTRE) / 2)
    variants = (inner, inner[top : height - top, left : width - left])
    coefficients = np.stack([_coefficients(variant) for variant in variants])
    if np.count_nonzero(np.abs(coefficients[0]).ravel()[1:] > _FAINT) < _PLAIN:
        return None
    turned = []
    for axes in (coefficients, coefficients.transpose(0, 2, 1)):
        for vertical in (1.0, _SIGNS[:, None]):
            for horizontal in (1.0, _SIGNS[None, :]):
                turned.append(axes * vertical * horizontal)
    bits = np.stack(turned, axis=1).reshape(len(variants), 8, -1)[:, :, 1:] > _FAINT
    hashes: Hashes = (bits * _PLACES).sum(axis=2, dtype=np.uint64)
    return hashes


def _coefficients(grey: Grey) -> NDArray[np.float64]:
    small = cv2.resize(grey, (_SAMPLES, _SAMPLES), interpolation=cv2.INTER_AREA)
    return np.asarray(_COSINES @ small.astype(np.float64) @ _COSINES.T)


def inside_border(grey: Grey) -> tuple[slice, slice]:
    """The rows and columns that a uniform border (white, black, any single grey) leaves of the picture; all of them if
    there is no border."""
    plain = min(_BORDER_LEVELS, int(np.ptp(grey)) // 8)
    rows = _inner(np.ptp(grey, axis=1) <= plain)
    return rows, _inner(np.ptp(grey[rows], axis=0) <= plain)


def _inner(plain: NDArray[np.bool_]) -> slice:
    limit = int(len(plain) * _BORDER_SHARE)
    first = next((n for n in range(limit) if not plain[n]), limit)
    last = next((n for n in range(limit) if not plain[-1 - n]), limit)
    if first == limit or last == limit:  # plain far into the picture: a background, not a border
        first = 0 if first == limit else first
        last = 0 if last == limit else last
    return slice(first, len(plain) - last)


def _projection() -> NDArray[np.float32]:
    """64 directions of +1 and -1, in a form that no library's random generator can change.

    A descriptor is 4 x 4 cells of 8 angles. Each angle gets as many +1 as -1 among its corner, edge and inner cells, so
    that what all descriptors have in common (a dominant angle, a strong centre) cancels out. The second half of the
    directions are the first 32 as seen in a mirror.
    """
    edge = np.array([[(row in (0, 3)) + (column in (0, 3)) for column in range(4)] for row in range(4)])
    groups = np.repeat(edge.ravel()[:, None], 8, axis=1) * 8 + np.arange(8)
    order = np.frombuffer(hashlib.shake_256(b"bedside spots").digest(32 * 128 * 4), dtype="<u4").reshape(32, 128)
    signs = np.empty((32, 128), np.float32)
    for group in np.unique(groups):
        members = np.flatnonzero(groups.ravel() == group)
        ranks = np.argsort(np.argsort(order[:, members], axis=1, kind="stable"), axis=1)
        signs[:, members] = np.where(ranks < len(members) // 2, 1, -1)
    return np.concatenate([signs, mirrored_descriptors(signs)])


_PROJECTION = _projection()


def keypoints(picture: Picture) -> Hashes:
    """Hashes of the strongest keypoints, at most 48."""
    _, descriptors = strongest(shrunk(picture.grey, _SPOT_SIDE), _SPOTS)
    # Whole numbers below 2^24: exact in any order of summation, hence the same bits on every machine.
    bits = descriptors @ _PROJECTION.T > 0
    hashes: Hashes = (bits * (np.uint64(1) << np.arange(64, dtype=np.uint64))).sum(axis=1, dtype=np.uint64)
    return hashes


def mirrored_keypoints(hashes: Hashes) -> Hashes:
    """The hashes that the keypoints have in the mirrored picture."""
    half = np.uint64(32)
    return (hashes << half) | (hashes >> half)
