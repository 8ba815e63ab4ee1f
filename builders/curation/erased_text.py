"""A picture without the text laid over it, so that its letters are no evidence that it is, or is not, another one.

Letters have more contrast than skin, so they would take the places of the photo's own keypoints; and photos of one
agency would resemble each other by its name. What is erased is filled from around it, and remembered as hidden: what
lay below it cannot be compared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from builders.curation.opencv import cv2
from builders.curation.overlaid_text import Row, text_over
from builders.curation.pictures import Grey

Hidden = NDArray[np.uint8]  # 1 where text was, else 0

_FAINT = 0.5  # of the contrast at which a row was found: the rims of its letters
_RIM = 5  # pixels
_REACHES = (7, 15, 31, 61, 121)  # pixels: the windows from which a hidden pixel is filled, the smallest that suffices
_PLAIN = 16  # grey levels from the 5th to the 95th percentile: with fewer, nothing but the text was there
_KNOWN = 0.15  # minimum share of such a window that is not hidden


def without_text(grey: Grey) -> tuple[Grey, Hidden]:
    """The picture without overlaid text, and where that was."""
    return erased(grey, text_over(grey).rows)


def erased(grey: Grey, rows: Sequence[Row]) -> tuple[Grey, Hidden]:
    """The picture without these rows, and where they were."""
    hidden = np.zeros(grey.shape, np.uint8)
    if not rows:
        return grey, hidden
    for row in rows:
        band = np.zeros(grey.shape, np.uint8)
        cv2.fillConvexPoly(band, np.rint(row.band).astype(np.int32), 1)
        hidden |= band & (row.strokes >= _FAINT * row.contrast)
    hidden = np.asarray(cv2.dilate(hidden, np.ones((_RIM, _RIM), np.uint8)), np.uint8)
    filled = _filled(grey, hidden)
    darkest, brightest = np.percentile(filled, (5, 95), method="nearest")
    if brightest - darkest < _PLAIN:  # the text is the picture
        return grey, np.zeros_like(hidden)
    return filled, hidden


def _filled(grey: Grey, hidden: Hidden) -> Grey:
    """The mean of what is not hidden around each hidden pixel."""
    seen = (1 - hidden).astype(np.float32)
    levels = grey * seen
    filled, left = grey.copy(), hidden.astype(bool)
    for reach in _REACHES:
        share, total = (cv2.boxFilter(values, -1, (reach, reach)) for values in (seen, levels))
        now = left & (share >= _KNOWN)
        filled[now] = np.rint(total[now] / share[now])
        left &= ~now
    return filled
