"""Text laid over a picture: a row of marks that look like letters of one line.

A mark is a connected patch that is lighter or darker than all around it, at one of three contrasts: letters with an
outline run together at a low contrast and fall apart at a high one. Marks of like height that follow one another, on
one base line or under one top line, are a row; a row is text when it has at least six marks, is level and straight, and
its marks stand close, are of like height and fill their line: what a caption, a burnt-in name or a typed watermark is
made of.

It misses text of fewer characters, below 6 or above 48 pixels high where the picture's longer side has 512 (smaller
pictures are not enlarged), written at an angle or by hand, joined letters, faint or wide watermarks, and logos.

The constants were chosen on lines of text in the fonts of DejaVu, plain, outlined, with a shadow and half transparent,
drawn on 150 photos of throats, hands and dermoscopy; on 550 others without text; and on the drawn sample photos. They
were not chosen on the watermarks of the set that scripts/bench/duplicates.py reports on. It finds nearly all plain
lines of those that were drawn (44 of 45), two in three of the outlined, shadowed or half transparent ones, and errs on
less than one real photo in a hundred.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from builders.curation.opencv import cv2
from builders.curation.pictures import Grey

LEAST = 6  # characters in a row

_STROKE = 13  # pixels: what is lighter or darker than all within this reach may be a stroke
_CONTRASTS = (14, 28, 56)  # grey levels
_HEIGHTS = (6, 48)  # pixels of a character
_MOST_MARKS = 1500  # more are texture
_NEXT = 24  # marks from left to right among which the next letter is looked for

Marks = NDArray[np.int64]  # n x (left, top, width, height, area), from left to right


def text_characters(grey: Grey) -> int:
    """Characters in the longest row of marks that looks like text; 0 where there is none of at least six."""
    kernel = cv2.getStructuringElement(cv2.MORPH_RECT, (_STROKE, _STROKE))
    longest = 0
    for hat in (cv2.MORPH_TOPHAT, cv2.MORPH_BLACKHAT):
        strokes = cv2.morphologyEx(grey, hat, kernel)
        for contrast in _CONTRASTS:
            marks = _marks(strokes >= contrast)
            longest = max([longest, *(len(row) for row in _rows(marks) if _is_text(marks[row]))])
    return longest


def _marks(strokes: NDArray[np.bool_]) -> Marks:
    """Patches of the size and shape of a letter; none where there are too few for text or too many for letters."""
    # The default algorithm takes three times as long.
    _, _, patches, _ = cv2.connectedComponentsWithStatsWithAlgorithm(
        strokes.astype(np.uint8), connectivity=8, ltype=cv2.CV_32S, ccltype=cv2.CCL_GRANA
    )
    marks: Marks = np.asarray(patches[1:], np.int64)
    _, _, width, height, area = marks.T
    fits = (height >= _HEIGHTS[0]) & (height <= _HEIGHTS[1]) & (width >= 2) & (width <= 2.2 * height)
    fits &= (area >= 10) & (area >= 0.18 * width * height) & (area <= 0.9 * width * height)
    marks = marks[fits]
    if not LEAST <= len(marks) <= _MOST_MARKS:
        return marks[:0]
    return marks[np.lexsort(marks.T[::-1])]


def _rows(marks: Marks) -> Iterator[list[int]]:
    """Chains of at least six marks, the longest first; no mark is in two of them."""
    follower = _followers(marks)
    length = np.ones(len(marks), np.int64)
    for place in range(len(marks) - 1, -1, -1):
        if follower[place] >= 0:
            length[place] += length[follower[place]]
    used = np.zeros(len(marks), bool)
    for start in np.argsort(-length, kind="stable").tolist():
        if length[start] < LEAST:
            return
        row: list[int] = []
        place = start
        while place >= 0 and not used[place]:
            row.append(place)
            used[place] = True
            place = int(follower[place])
        if len(row) >= LEAST:
            yield row


def _followers(marks: Marks) -> Marks:
    """The first mark to the right of each that may be the next letter of its line; -1 for none."""
    left, top, width, height, _ = marks.T
    right, foot = left + width, top + height
    follower = np.full(len(marks), -1, np.int64)
    for step in range(1, min(_NEXT, len(marks) - 1) + 1):
        tall = height[:-step]
        gap = left[step:] - right[:-step]
        fits = (follower[:-step] < 0) & (left[step:] > left[:-step]) & (gap > -0.3 * tall) & (gap < tall)
        # "p" and "y" reach below the line, and share their top with "a".
        fits &= (abs(foot[step:] - foot[:-step]) <= 0.25 * tall + 1) | (
            abs(top[step:] - top[:-step]) <= 0.15 * tall + 1
        )
        fits &= (height[step:] >= 0.6 * tall) & (height[step:] <= 1.67 * tall)
        places = np.flatnonzero(fits)
        follower[places] = places + step
    return follower


def _is_text(row: Marks) -> bool:
    left, top, width, height, area = row.T
    foot, across = top + height, left + width / 2
    slope, start = np.polyfit(across, foot, 1)
    straight = np.median(np.abs(slope * across + start - foot)) <= 1.5 and abs(slope) <= 0.05
    alike = height.std() <= 0.22 * height.mean()
    close = np.median(left[1:] - (left + width)[:-1]) <= 0.35 * height.mean()
    line = ((left + width).max() - left.min()) * (foot.max() - top.min())
    return bool(straight and alike and close and area.sum() >= 0.2 * line)
