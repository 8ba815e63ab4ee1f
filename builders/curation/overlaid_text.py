"""Text overlaid on a picture, at any angle: a row of marks that look like the letters of one line.

A mark is a connected patch that is lighter or darker than everything around it, at one of several contrasts: letters
with an outline run together at a low contrast and fall apart at a high one, faint ones show only at the lowest. The
marks are rotated in steps of 15 degrees; at each, marks of similar height that follow one another on one base line, or
under one top line, are a row. For a row of six marks or more, the line through their feet or tops gives the true angle;
what is measured there (`Row`) is combined into a score. Marks that are all alike (a spring, a ruler) are not text, nor
is what touches the edge, or lies along a ruler. The more regularly the marks on a line repeat, as ticks do
whatever is printed between them, the higher the line must score.

It misses text of fewer characters, below 6 or above 48 pixels high when the picture's longer side has 512 (smaller
pictures are not enlarged), handwriting, joined letters, wide watermarks, and logos. It errs on rulers and on rows
of lashes: a build that would leave a photo out for text alone asks a person (`bedside review`).

The weights were fitted on 300 lines of text in six fonts (DejaVu, STIX), ten angles and three opacities, drawn on two
thirds of the trial photos, and on these 562 photos without text. The demands on rulers, and the limit, were chosen on
500 other lines in nine fonts, and on 2,900 photos without text, 1,960 of them dermatoscopic: one of these lies above
the limit, a line of dots drawn with a pen. `tests/builders/curation/test_overlaid_text.py` draws from the third of the
trial photos that the weights were not fitted on.

Held-out data, run once: two sets of 200 further photos of HAM10000 as they come, rulers among them, and two sets of 60
lines in ten other fonts, twelve other angles and other words. None of the photos was flagged, and 54 and 57 of 60 lines
were found, 35 of 40 at an opacity of 0.3. Clinical photos, which have more texture, hide more: 84 % of 250 lines were
found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from builders.curation.opencv import cv2
from builders.curation.pictures import Grey

LEAST = 6  # characters in a row

_STROKE = 13  # pixels: what is lighter or darker than everything within this distance may be a stroke
_CONTRASTS = (8, 14, 24, 44, 80)  # grey levels
_HEIGHTS = (5, 48)  # pixels of a character
_LONGEST = 64  # maximum pixels of a mark in any direction
_AREAS = (8, 1200)
_MOST_MARKS = 900  # more than that is texture
_TURNS = 12  # over half a turn
_REACH = 1.9  # sizes of a mark within which the next letter is looked for
_BAR = 3.0  # minimum ratio of length to width for a mark to be a bar

# The weights of a row's measures, in the order of `Row.score`: a logistic regression, and the limit of its score.
_WEIGHTS = (1.25, -1.02, -3.87, -1.73, 2.17, -1.23, -1.74, 2.0, 1.54, 0.8)
_LIMIT = 13.7
_NEARLY = 2.2  # a row that scores this much less still shows whether its line is a ruler's
_MAYBE = 6.0  # one that scores this much less may be text where there is other text
_REPEATED = 0.55  # self-similarity one step further on: lower on a line of text, higher on a ruler's
_PENALTY = 20.0
_STEPS = (4, 45)  # pixels
_FULL = 3  # times its contrast: standing out more than that counts no more
_ALIKE = 0.08  # relative difference in width below which marks are those of a spring or a ruler
_EVEN = 0.15  # relative tolerance for the equal widths and distances of a ruler's marks
_RULER = 10  # marks
_MARGIN = 0.35  # of a row's height

Values = NDArray[np.float64]
Places = NDArray[np.intp]


class Text(NamedTuple):
    """The `characters` of the longest row of marks that looks like text, 0 if there is none of at least six; and, where
    there is one, all `rows` that look nearly like it."""

    characters: int
    rows: list[Row]


def text_over(grey: Grey) -> Text:
    """The text overlaid on a picture."""
    every = [row for hat in (cv2.MORPH_TOPHAT, cv2.MORPH_BLACKHAT) for row in _found(grey, hat)]
    rulers = [row for row in every if row.is_ruler]
    beside = (row for row in every if not any(row.is_along(ruler) for ruler in rulers))
    found = [row for row in beside if row.variety >= _ALIKE and row.score > _LIMIT - _MAYBE]
    rows = [row for row in found if row.score > _LIMIT - _NEARLY]
    likely = [row for row in rows if row.score > _LIMIT]
    characters = max((row.count for row in likely if row.score - _as_ruler(row, rows) > _LIMIT), default=0)
    return Text(characters, found if characters else [])


def _as_ruler(row: Row, rows: list[Row]) -> float:
    """What a row's score loses for how regularly the rows on its line repeat."""
    repetition = np.mean([other.repetition for other in rows if other.is_along(row)])
    return _PENALTY * max(0.0, float(repetition) - _REPEATED)


@dataclass
class Row:
    """A row of marks: its position, the contrast and rotation at which it was found, and its measurements."""

    count: int
    at: tuple[float, float]
    height: float
    contrast: int
    turn: int
    variety: float
    unevenness: float
    axis: float  # the true angle, in radians
    span: tuple[float, float, float, float]  # where it begins and ends along that axis, and across it
    strokes: Grey  # where it was found
    measured: Values
    levels: int = 1
    votes: int = 1

    @cached_property
    def score(self) -> float:
        """Of what was measured, at how many contrasts and how often it was found."""
        return float(np.append(self.measured, [self.levels, np.log(self.votes)]) @ np.array(_WEIGHTS))

    @cached_property
    def repetition(self) -> float:
        """How similar the content along the row is to itself one step further on, for the best step: a correlation.

        The ticks of a ruler are evenly spaced, even if long ticks, digits and dirt make its marks differ. So are the
        letters of a typewriter, but they differ from each other.
        """
        left, right, top, foot = self.span
        along = np.arange(round(left), round(right), dtype=np.float64)
        across = np.arange(round(top), max(round(foot), round(top) + 3), dtype=np.float64)[:, None]
        x, y = _turned(along, across, -self.axis)
        band = cv2.remap(self.strokes, x.astype(np.float32), y.astype(np.float32), cv2.INTER_LINEAR)
        profile = np.minimum(band, _FULL * self.contrast).mean(axis=0)
        profile -= profile.mean()
        power = float(profile @ profile) / len(profile)
        steps = range(1, min(_STEPS[1], len(profile) // 3) + 1)
        agreeing = [float(profile[step:] @ profile[:-step]) / (len(profile) - step) for step in steps]
        # Below the first step at which similarity breaks down, a mark is compared with itself.
        apart = next((n for n, agrees in enumerate(agreeing) if agrees < 0), len(agreeing))
        return max(agreeing[max(apart, _STEPS[0] - 1) :], default=0.0) / max(power, 1e-9)

    @property
    def is_ruler(self) -> bool:
        """Are its marks equally wide, and equally far apart?"""
        return self.count >= _RULER and self.variety < _EVEN and self.unevenness < _EVEN

    @property
    def band(self) -> Values:
        """The corners (x, y) of what it covers, with the parts of letters that reach above and below."""
        left, right, top, foot = self.span
        more = _MARGIN * self.height
        along = np.array([left - more, right + more, right + more, left - more])
        across = np.array([top - more, top - more, foot + more, foot + more])
        return np.stack(_turned(along, across, -self.axis), axis=1)

    def is_with(self, other: Row) -> bool:
        """Do both lie in the same place and direction, with letters of similar height?"""
        apart = np.hypot(self.at[0] - other.at[0], self.at[1] - other.at[1])
        turned = abs(self.turn - other.turn)
        return bool(
            min(turned, _TURNS - turned) <= 1 and apart <= 4 * self.height and 0.6 < other.height / self.height < 1.6
        )

    def is_along(self, ruler: Row) -> bool:
        """Does it lie on the line of a ruler? A ruler's rotation is known to about seven degrees."""
        x, y = self.at[0] - ruler.at[0], self.at[1] - ruler.at[1]
        angle = np.pi * ruler.turn / _TURNS
        along, across = x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)
        return bool(abs(across) <= 4 * ruler.height + 0.13 * abs(along))


def _found(grey: Grey, hat: int) -> list[Row]:
    """The rows of lighter marks, or of darker ones."""
    kernel = cv2.getStructuringElement(cv2.MORPH_RECT, (_STROKE, _STROKE))
    strokes = np.asarray(cv2.morphologyEx(grey, hat, kernel), np.uint8)
    found = [row for contrast in _CONTRASTS for row in _rows(strokes, contrast)]
    for row in found:
        near = [other for other in found if row.is_with(other)]
        row.levels = len({other.contrast for other in near})
        row.votes = len(near)
    return found


def _rows(strokes: Grey, contrast: int) -> Iterator[Row]:
    """The rows of six marks or more at a contrast, in any direction."""
    marks = _Marks.of(strokes >= contrast)
    if marks is None:
        return
    pairs = marks.pairs()
    boxes = [marks.boxes(np.pi * turn / _TURNS) for turn in range(_TURNS // 2)]
    # After another quarter turn, across becomes down, and the other way round.
    boxes += [_Boxes(box.top, box.foot, -box.right, -box.left) for box in boxes]
    for turn, box in enumerate(boxes):
        for row in _chains(box, pairs):
            yield _measured(strokes, marks, np.array(row), turn, contrast)


@dataclass(frozen=True)
class _Boxes:
    """The extents of marks along and across a direction, in pixels."""

    left: Values
    right: Values
    top: Values
    foot: Values


@dataclass(frozen=True)
class _Marks:
    """Patches that may be letters: their pixels, mark by mark, where each begins, how many it has; `dense` is the share
    of the picture covered by patches."""

    x: Values
    y: Values
    starts: Places
    area: Places
    dense: float

    @classmethod
    def of(cls, mask: NDArray[np.bool_]) -> _Marks | None:
        """Patches of the size of a letter that do not touch the edge; None if there are too few or too many."""
        # The default algorithm takes three times as long.
        count, patch_of, patches, _ = cv2.connectedComponentsWithStatsWithAlgorithm(
            mask.astype(np.uint8), connectivity=8, ltype=cv2.CV_32S, ccltype=cv2.CCL_GRANA
        )
        left, top, width, height, area = np.asarray(patches).T
        longest = np.maximum(width, height)
        fits = (longest >= _HEIGHTS[0]) & (longest <= _LONGEST) & (area >= _AREAS[0]) & (area <= _AREAS[1])
        fits &= (left > 0) & (top > 0) & (left + width < mask.shape[1]) & (top + height < mask.shape[0])
        fits[0] = False  # the background
        if not LEAST <= fits.sum() <= _MOST_MARKS:
            return None
        number = np.full(count, -1, np.int16)  # which numpy sorts by counting
        number[fits] = np.arange(fits.sum())
        mark_of = number[patch_of].ravel()
        pixels = np.flatnonzero(mark_of >= 0)
        y, x = np.divmod(pixels[np.argsort(mark_of[pixels], kind="stable")], mask.shape[1])
        starts = np.append(0, np.cumsum(area[fits])[:-1])
        return cls(x.astype(np.float64), y.astype(np.float64), starts, area[fits], float(mask.mean()))

    def boxes(self, angle: float) -> _Boxes:
        along, across = _turned(self.x, self.y, angle)
        low, high = np.minimum.reduceat, np.maximum.reduceat
        return _Boxes(
            low(along, self.starts) - 0.5,
            high(along, self.starts) + 0.5,
            low(across, self.starts) - 0.5,
            high(across, self.starts) + 0.5,
        )

    def some(self, row: Places) -> _Marks:
        """A few of the marks."""
        ends = np.append(self.starts[1:], len(self.x))
        pixels = np.concatenate([np.arange(self.starts[mark], ends[mark]) for mark in row])
        area = self.area[row]
        return _Marks(self.x[pixels], self.y[pixels], np.append(0, np.cumsum(area)[:-1]), area, self.dense)

    def pairs(self) -> tuple[Places, Places]:
        """Marks of similar size that are near each other."""
        box = self.boxes(0.0)
        middle = np.stack([box.left + box.right, box.top + box.foot], axis=1) / 2
        size = np.hypot(box.right - box.left, box.foot - box.top)
        farthest = _REACH * min(float(np.hypot(_LONGEST, _LONGEST)) / 2, float(size.max()))
        pairs = cKDTree(middle).query_pairs(farthest, output_type="ndarray")
        first, second = pairs[np.lexsort(pairs.T[::-1])].T
        larger, smaller = np.maximum(size[first], size[second]), np.minimum(size[first], size[second])
        apart = np.linalg.norm(middle[first] - middle[second], axis=1)
        near = (apart <= _REACH * larger) & (larger <= 3.2 * smaller)
        return first[near], second[near]


def _turned(x: Values, y: Values, angle: float) -> tuple[Values, Values]:
    return x * np.cos(angle) + y * np.sin(angle), y * np.cos(angle) - x * np.sin(angle)


def _chains(box: _Boxes, pairs: tuple[Places, Places]) -> Iterator[list[int]]:
    """Chains of at least six marks, the longest first; no mark is in two of them."""
    follower = _followers(box, pairs)
    sixth = after = np.append(follower, -1)  # behind the last mark there is none
    for _ in range(LEAST - 2):
        sixth = after[sixth]
    if sixth.max() < 0:  # as nearly always
        return
    middle = box.left + box.right
    length = np.ones(len(middle), np.int64)
    for mark in np.argsort(-middle, kind="stable").tolist():
        if follower[mark] >= 0:
            length[mark] += length[follower[mark]]
    used = np.zeros(len(middle), bool)
    for start in np.argsort(-length, kind="stable").tolist():
        if length[start] < LEAST:
            return
        row: list[int] = []
        mark = start
        while mark >= 0 and not used[mark]:
            row.append(mark)
            used[mark] = True
            mark = int(follower[mark])
        if len(row) >= LEAST:
            yield row


def _followers(box: _Boxes, pairs: tuple[Places, Places]) -> Places:
    """The nearest mark further along that may be the next letter on a mark's line; -1 for none."""
    height, width, middle = box.foot - box.top, box.right - box.left, box.left + box.right
    letter = (height >= _HEIGHTS[0]) & (height <= _HEIGHTS[1]) & (width <= 2.2 * height)
    first, second = pairs
    both = letter[first] & letter[second]
    first, second = first[both], second[both]
    back = middle[first] > middle[second]
    first, second = np.where(back, second, first), np.where(back, first, second)
    tall, low = np.maximum(height[first], height[second]), np.minimum(height[first], height[second])
    gap = box.left[second] - box.right[first]
    fits = (gap > -0.3 * tall) & (gap < tall) & (low >= 0.55 * tall)
    # "p" and "y" reach below the line, but share their top with "a".
    level = abs(box.foot[second] - box.foot[first]) <= 0.22 * tall + 1
    fits &= level | (abs(box.top[second] - box.top[first]) <= 0.15 * tall + 1)
    first, second = first[fits], second[fits]
    order = np.lexsort((middle[second], first))
    first, second = first[order], second[order]
    follower = np.full(len(height), -1)
    begins = np.append(True, first[1:] != first[:-1])[: len(first)]
    follower[first[begins]] = second[begins]
    return follower


def _measured(strokes: Grey, marks: _Marks, row: Places, turn: int, contrast: int) -> Row:
    """A row, rotated until the line through its feet, or its tops, is level."""
    some = marks.some(row)
    angle = np.pi * turn / _TURNS
    box = some.boxes(angle)
    along = (box.left + box.right) / 2
    slopes = [_slope(along, box.foot), _slope(along, box.top)]
    astray = [_astray(along, ends, slope) for ends, slope in zip((box.foot, box.top), slopes, strict=True)]
    axis = float(angle + np.arctan(slopes[int(np.argmin(astray))]))
    box = some.boxes(axis)
    order = np.argsort(box.left, kind="stable")
    left, right, top, foot = (ends[order] for ends in (box.left, box.right, box.top, box.foot))
    along, height = (left + right) / 2, foot - top
    usual = _median(height)
    feet, tops = _slope(along, foot), _slope(along, top)
    line = (right.max() - left.min()) * max(1.0, float(np.percentile(foot, 80) - np.percentile(top, 20)))
    variety = float((right - left).std() / (right - left).mean())
    steps = np.diff(np.sort(along))
    facts = (
        np.log(len(row)),
        np.log(min(_astray(along, foot, feet), _astray(along, top, tops)) / usual + 0.01),  # not straight
        height.std() / height.mean(),
        _median(left[1:] - right[:-1]) / usual,  # apart
        some.area.sum() / line,  # filled
        np.log(marks.dense + 0.005),  # on texture
        _bars(some),
        variety,
    )
    at = float(some.x.mean()), float(some.y.mean())
    span = float(left.min()), float(right.max()), _median(top), _median(foot)
    uneven = float(steps.std() / steps.mean())
    return Row(len(row), at, usual, contrast, turn, variety, uneven, axis, span, strokes, np.array(facts))


def _slope(along: Values, ends: Values) -> float:
    """The median of the slopes between any two points (Theil and Sen)."""
    first, second = _pairs(len(along))
    step = along[second] - along[first]
    apart = abs(step) > 1
    return _median((ends[second] - ends[first])[apart] / step[apart]) if apart.any() else 0.0


_pairs = lru_cache(partial(np.triu_indices, k=1))


def _astray(along: Values, ends: Values, slope: float) -> float:
    rest = ends - slope * along
    return _median(abs(rest - _median(rest)))


def _median(values: Values) -> float:
    """As numpy's, which takes ten times as long for a few values."""
    ordered = np.sort(values)
    return float((ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2)


def _bars(some: _Marks) -> float:
    """The share of the marks that are bars, like a ruler's."""
    x, y = (v - np.repeat(np.add.reduceat(v, some.starts) / some.area, some.area) for v in (some.x, some.y))
    xx, yy, xy = (np.add.reduceat(v, some.starts) / (some.area - 1) for v in (x * x, y * y, x * y))
    # The eigenvalues of the covariance, each a twelfth larger: a pixel has a width.
    middle, apart = (xx + yy) / 2 + 1 / 12, np.hypot((xx - yy) / 2, xy)
    return float(np.mean(middle + apart > _BAR**2 * (middle - apart)))
