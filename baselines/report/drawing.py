"""Drawings of the page: SVG in the page's colours and font, in dark mode and in print too.

What a drawing says about a row, a turn or a group is in `told` elements: each can be reached by keyboard, has its
values as its name, and shows them on hover and focus. A figure is `WIDTH` wide, as many units as a phone has pixels, so
that text keeps its size there.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import NamedTuple

from markupsafe import escape

from loaders.errors import how_many

WIDTH = 340
_LABELS = 122  # width for the names of rows
_LINE = 11.5  # height of a line of text
_STYLES = (("circle", "expert"), ("square", "lay"), ("diamond", "third"), ("triangle", "soft"))
STYLES = len(_STYLES)
"""How many series of a kind a drawing can distinguish."""
_STEP = 7.0  # between the series of a row

# Colours by which colour-blind readers can tell seven groups apart, on light and on dark (Okabe and Ito, 2008).
_GROUPS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8A8A8A")

Limits = tuple[float, float]
_Scale = Callable[[float], float]


class Point(NamedTuple):
    """A number with its 95 % interval, if any."""

    value: float
    ci95: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points by row; `style` numbers the colour and shape, published series are hollow."""

    label: str
    points: dict[str, Point]
    style: int
    hollow: bool = False


class Place(NamedTuple):
    """A pair in a plane: its group, and the positions of its expert caption and its lay caption."""

    group: str
    expert: tuple[float, float]
    layman: tuple[float, float]


def limits_of(series: Sequence[Series], *, zero: bool = False) -> Limits:
    """The smallest and the largest value that a drawing of these has to show."""
    ends = [end for one in series for point in one.points.values() for end in (point.value, *(point.ci95 or ()))]
    ends += [0.0] if zero else []
    low, high = min(ends), max(ends)
    same = math.isclose(low, high, rel_tol=1e-9, abs_tol=1e-12)  # but for rounding, which no axis can show
    room = abs(high) * 0.1 if same else (high - low) * 0.04
    room = room if room > 1e-12 else 1.0
    return low - room, high + room


def dot_plot(series: Sequence[Series], axis: str, *, zero: bool = False, limits: Limits | None = None) -> str:
    """One line per row with the points of every series on it; `zero` draws the line of no difference.

    `limits` are the ends of the axis, for panels that share it; None: those of these numbers.
    """
    low, high = limits or limits_of(series, zero=zero)
    left, right = _LABELS + 8.0, WIDTH - 8.0
    rows = list(dict.fromkeys(row for one in series for row in one.points))
    styles = sorted({one.style for one in series})

    def across(value: float) -> float:
        return left + (value - low) / (high - low) * (right - left)

    named = {one.style: one for one in reversed(series)}  # the own series before its published one
    marks = [(partial(mark, *_STYLES[style], hollow=named[style].hollow), named[style].label) for style in styles]
    key, top = _key(marks) if len(marks) > 1 else ([], 4.0)
    body, y = [], top
    for row in rows:
        lines = textwrap.wrap(row, 20) or [""]
        height = max(len(lines) * _LINE + 6, len(styles) * _STEP + 9)
        body.append(_row(series, row, lines, styles, across, y + height / 2, height))
        y += height
    grid = []
    for tick, name in _ticks(low, high):
        x = across(tick)
        heavy = ' class="axis"' if zero and tick == 0 else ""
        grid.append(f'<line x1="{x:.1f}" y1="{top:.1f}" x2="{x:.1f}" y2="{y:.1f}"{heavy}/>')
        grid.append(f'<text x="{x:.1f}" y="{y + 11:.1f}" class="tick middle">{name}</text>')
    grid.append(f'<text x="{(left + right) / 2:.1f}" y="{y + 24:.1f}" class="tick middle">{escape(axis)}</text>')
    return _svg(WIDTH, y + 30, "plot", [*key, f'<g class="grid">{"".join(grid)}</g>', *body])


def _row(
    series: Sequence[Series],
    row: str,
    lines: Sequence[str],
    styles: Sequence[int],
    across: _Scale,
    y: float,
    height: float,
) -> str:
    parts = []
    first = y - (len(lines) - 1) * _LINE / 2 + 3.5
    for number, line in enumerate(lines):
        parts.append(f'<text x="{_LABELS}" y="{first + number * _LINE:.1f}" class="end">{escape(line)}</text>')
    parts.append(f'<line x1="{_LABELS + 8}" y1="{y:.1f}" x2="{WIDTH - 8}" y2="{y:.1f}" class="rule"/>')
    shown = [(one, point) for one in series if (point := one.points.get(row)) is not None]
    for one, point in sorted(shown, key=lambda each: not each[0].hollow):  # own points above published ones
        # Styles are slightly offset, so that equal values do not hide each other.
        at = y + (styles.index(one.style) - (len(styles) - 1) / 2) * _STEP
        shape, colour = _STYLES[one.style]
        if point.ci95 and not one.hollow:
            low, high = (across(end) for end in point.ci95)
            parts.append(_line((low, at), (high, at), colour, 1.4))
        parts.append(mark(shape, colour, across(point.value), at, hollow=one.hollow))
    words = []
    for one, point in shown:
        spread = f" ({_number(point.ci95[0])} to {_number(point.ci95[1])})" if point.ci95 and not one.hollow else ""
        words.append(f"{one.label}{', published' if one.hollow else ''} {_number(point.value)}{spread}")
    return told(f"{row}: {'; '.join(words)}", "".join(parts), box=(0, y - height / 2, WIDTH, height))


def _key(marks: Sequence[tuple[Callable[[float, float], str], str]]) -> tuple[list[str], float]:
    """The legend of marks, each made for its place, with their labels; and where the plot begins below it."""
    parts, x, y = [], 6.0, 10.0
    for made, label in marks:
        for number, line in enumerate(textwrap.wrap(label, 56) or [""]):
            width = 20 + 5.3 * len(line)
            if x > 6 and (x + width > WIDTH or number):
                x, y = 6.0, y + _LINE + 2
            if not number:
                parts.append(made(x, y - 3.5))
            parts.append(f'<text x="{x + 8:.1f}" y="{y:.1f}">{escape(line)}</text>')
            x += width
    return parts, y + 8


def scatter(places: Sequence[Place]) -> str:
    """Expert captions filled, lay captions hollow, one colour per group."""
    points = [point for place in places for point in (place.expert, place.layman)]
    (least_x, greatest_x), (least_y, greatest_y) = ((min(axis), max(axis)) for axis in zip(*points, strict=True))
    size = max(greatest_x - least_x, greatest_y - least_y) or 1.0
    colours = dict(zip(dict.fromkeys(place.group for place in places), cycle(_GROUPS), strict=False))
    parts, top = _key([(partial(_dot, "3", colour), group) for group, colour in colours.items()])
    for group, colour in colours.items():
        of = [place for place in places if place.group == group]
        dots = []
        for place in of:
            for (u, v), filled in ((place.expert, True), (place.layman, False)):
                across, down = 6 + (u - least_x) / size * (WIDTH - 12), top + (greatest_y - v) / size * (WIDTH - 12)
                dots.append(_dot("1.9", colour, across, down, filled=filled))
        parts.append(told(f"{group}: {how_many(len(of), 'pair')} shown", "".join(dots)))
    return _svg(WIDTH, top + (greatest_y - least_y) / size * (WIDTH - 12) + 6, "plot", parts)


def _dot(radius: str, colour: str, x: float, y: float, *, filled: bool = True) -> str:
    look = f'fill="{colour}"' if filled else f'stroke="{colour}" fill="none" stroke-width=".7"'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" {look}/>'


def graph(edges: Mapping[tuple[str, str], float]) -> str:
    """Nodes on a circle, joined by lines as thick as the value of their pair, which is printed on them."""
    nodes = list(dict.fromkeys(node for pair in edges for node in pair))
    turns = [math.pi / 2 - 2 * math.pi * at / len(nodes) for at in range(len(nodes))]
    centre, radius = WIDTH / 2, WIDTH * 0.34
    places = {
        node: (centre + radius * math.cos(turn), centre - radius * math.sin(turn))
        for node, turn in zip(nodes, turns, strict=True)
    }
    parts, texts = [], []
    for (one, other), value in edges.items():
        (x, y), (u, v) = places[one], places[other]
        line = _line((x, y), (u, v), "line", 1 + 9 * max(value, 0.0))
        parts.append(told(f"{one} and {other}: {value:.2f}", line))
        # Not in the middle, where the diagonals of a square would put two numbers in one place.
        s, t = x + 0.38 * (u - x), y + 0.38 * (v - y)
        texts.append(f'<text x="{s:.1f}" y="{t + 3:.1f}" class="middle">{value:.2f}</text>')
    for node, (x, y) in places.items():
        texts.append(mark("circle", "expert", x, y))
        u, v = centre + 1.16 * (x - centre), centre + 1.16 * (y - centre)
        texts.append(f'<text x="{u:.1f}" y="{v + 3:.1f}" class="middle">{escape(node)}</text>')
    return _svg(WIDTH, WIDTH, "plot", [*parts, *texts])


_LEFT, _TOP, _TURN, _HEIGHT, _BOTTOM, _RIGHT = 26, 8, 28, 84, 18, 30
_LETTER = 5.5  # approximate width of a character in a name at the end of a curve


class Curve(NamedTuple):
    """Values by turn, from `start` on, with a dash pattern and a label at its end."""

    name: str
    values: Sequence[float]
    colour: str = "expert"
    dash: str = ""
    start: int = 0
    shown: bool = False
    """Whether `name` is shown at its end."""


class Event(NamedTuple):
    """A mark on a turn: what happened, at which height."""

    what: str
    turn: int
    value: float
    colour: str
    shape: str = "circle"


def over_turns(turns: int, curves: Sequence[Curve], events: Sequence[Event] = ()) -> str:
    """Curves of values from 0 to 1 over turns from 0, with events on them; each turn shows its values."""
    names = [str(turn) if turns <= 10 or turn == 1 or turn % 5 == 0 else "" for turn in range(1, turns + 1)]
    return over_steps(names, [f"Turn {turn}" for turn in range(1, turns + 1)], curves, events)


def over_steps(
    names: Sequence[str], steps: Sequence[str], curves: Sequence[Curve], events: Sequence[Event] = ()
) -> str:
    """The same over other steps from 1, with their short `names`."""
    turns = len(names)
    width = float(_LEFT + turns * _TURN + _RIGHT)
    parts = [_frame(names)]
    ends: dict[tuple[int, float], list[str]] = {}  # lines that end in the same place share a label
    for curve in curves:
        points = list(enumerate(curve.values, start=curve.start))
        path = " ".join(f"{x:g},{y:g}" for x, y in (_at(*point) for point in points))
        dashes = f' stroke-dasharray="{curve.dash}"' if curve.dash else ""
        line = f'fill="none" stroke="var(--{curve.colour})" stroke-width="1.5"{dashes}'
        parts.append(f'<polyline points="{path}" {line}/>')
        if curve.shown and points:
            ends.setdefault((points[-1][0], round(points[-1][1], 1)), []).append(curve.name)
    parts += [mark(event.shape, event.colour, *_at(event.turn, event.value)) for event in events]
    for point, names in ends.items():
        x, y = _at(*point)
        label = ", ".join(names)
        parts.append(f'<text x="{x + 6:g}" y="{y + 3:g}">{escape(label)}</text>')
        width = max(width, x + 6 + _LETTER * len(label))
    for turn, step in enumerate(steps, start=1):
        on = [curve for curve in curves if 0 <= turn - curve.start < len(curve.values)]
        said = [f"{curve.name} {curve.values[turn - curve.start]:.2f}" for curve in on]
        if said := [*said, *(event.what for event in events if event.turn == turn)]:
            box = (_at(turn - 0.5, 0)[0], _TOP, _TURN, _HEIGHT)
            parts.append(told(f"{step}: {'; '.join(said)}", "", box=box))
    return _svg(width, _TOP + _HEIGHT + _BOTTOM, "plot trace", parts)


def _at(turn: float, value: float) -> tuple[float, float]:
    return round(_LEFT + turn * _TURN, 1), round(_TOP + (1 - value) * _HEIGHT, 1)


def _frame(names: Sequence[str]) -> str:
    parts = []
    for value in (0.0, 0.5, 1.0):
        (x, y), (end, _) = _at(0, value), _at(len(names), value)
        parts.append(f'<line x1="{x:g}" y1="{y:g}" x2="{end:g}" y2="{y:g}"/>')
        parts.append(f'<text x="{x - 5:g}" y="{y + 3:g}" class="tick end">{value:g}</text>')
    for turn, name in enumerate(names, start=1):
        x, y = _at(turn, 0)
        if name:
            parts.append(f'<text x="{x:g}" y="{y + 13:g}" class="tick middle">{escape(name)}</text>')
    return f'<g class="grid">{"".join(parts)}</g>'


def told(words: str, content: str, *, box: tuple[float, float, float, float] | None = None) -> str:
    """A part of a drawing that shows its values, and the area where a pointer finds it besides what it draws."""
    area = '<rect x="{:g}" y="{:g}" width="{:g}" height="{:g}" class="area"/>'.format(*box) if box else ""
    return f'<g class="told" role="img" tabindex="0" aria-label="{escape(words)}">{area}{content}</g>'


def mark(shape: str, colour: str, x: float, y: float, *, hollow: bool = False) -> str:
    """A mark of one of the four shapes."""
    fill = f'fill="none" stroke="var(--{colour})"' if hollow else f'fill="var(--{colour})" stroke="var(--{colour})"'
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" {fill}/>'
    if shape == "square":
        return f'<rect x="{x - 2.6:.1f}" y="{y - 2.6:.1f}" width="5.2" height="5.2" {fill}/>'
    corners = ((0, -3.8), (3.8, 0), (0, 3.8), (-3.8, 0)) if shape == "diamond" else ((0, -3.6), (3.4, 2.8), (-3.4, 2.8))
    points = " ".join(f"{x + u:.1f},{y + v:.1f}" for u, v in corners)
    return f'<polygon points="{points}" {fill}/>'


def _line(start: tuple[float, float], end: tuple[float, float], colour: str, width: float) -> str:
    (x, y), (u, v) = start, end
    ends = f'x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}"'
    return f'<line {ends} stroke="var(--{colour})" stroke-width="{width:.1f}"/>'


def _svg(width: float, height: float, kind: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width:g} {height:.0f}" class="{kind}" style="max-width: {width * 1.5:.0f}px" '
        f'focusable="false">{"".join(parts)}</svg>'
    )


def _ticks(low: float, high: float) -> Iterator[tuple[float, str]]:
    """Round values between the ends, four to seven of them, with their labels."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9)) + (step / power == 2.5)
    for number in range(math.ceil(low / step), math.floor(high / step) + 1):
        value = number * step
        yield value, minus(f"{value:,.{decimals}f}")


def _number(value: float) -> str:
    return minus(f"{value:,.4g}")


def minus(number: str) -> str:
    """A number with a true minus sign."""
    return number.replace("-", "−")
