"""Drawings of the page: SVG elements whose colours and font are the page's, in dark mode and in print too."""

from __future__ import annotations

import io
import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Any, NamedTuple

from loaders.errors import MissingExtra

# Stand for the page's colours while matplotlib draws; replaced by CSS variables, which change with dark mode.
_INK, _SOFT, _LINE, _EXPERT, _LAY, _THIRD = "#010203", "#020304", "#030405", "#040506", "#050607", "#060708"
_VARIABLES = {_INK: "ink", _SOFT: "soft", _LINE: "line", _EXPERT: "expert", _LAY: "lay", _THIRD: "third"}
_STYLES = ((_EXPERT, "o"), (_LAY, "s"), (_THIRD, "D"), (_SOFT, "^"))
STYLES = len(_STYLES)
"""How many series of a kind a drawing tells apart."""

_WIDTH = 4.6  # inches: legible when a phone shrinks it to its width
_HALF = 28  # characters of a label that leave room for another beside it


# Colours that tell seven groups apart for colour-blind eyes, on light and on dark (Okabe and Ito, 2008).
_GROUPS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8A8A8A")


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
    """A pair in a plane: its group, where its expert caption lies, and where its lay caption does."""

    group: str
    expert: tuple[float, float]
    layman: tuple[float, float]


def dot_plot(series: Sequence[Series], axis: str, *, zero: bool = False) -> str:
    """A line a row with the points of every series on it; `zero` draws the line of no difference."""
    with _style((series, axis)):
        from matplotlib.figure import Figure as Sheet
        from matplotlib.lines import Line2D

        rows = list(dict.fromkeys(row for one in series for row in one.points))
        styles = {one.style: one for one in reversed(series)}  # the own series before its published one
        names = [textwrap.fill(row, 26) for row in rows]
        lines = sum(name.count("\n") + 1 for name in names)
        across = 2 if max(len(one.label) for one in series) <= _HALF else 1
        height = 0.55 + 0.17 * (len(rows) + lines) + 0.2 * -(-len(styles) // across)
        sheet = Sheet(figsize=(_WIDTH, height), layout="constrained")
        axes = sheet.subplots()
        if zero:
            axes.axvline(0, color=_SOFT, linewidth=0.8)
        for at, row in enumerate(rows):
            axes.axhline(at, color=_LINE, linewidth=0.6, zorder=0)
            _dots(axes, series, row, at)
        axes.set_yticks(range(len(rows)), names)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlabel(axis)
        axes.tick_params(length=0)
        axes.locator_params(axis="x", nbins=6)
        if len(styles) > 1:
            marks = [
                Line2D([], [], color=colour, marker=marker, linestyle="", markersize=5,
                       markerfacecolor="none" if styles[style].hollow else colour)
                for style, (colour, marker) in enumerate(_STYLES)
                if style in styles
            ]  # fmt: skip
            labels = [styles[style].label for style in sorted(styles)]
            sheet.legend(marks, labels, loc="outside upper left", ncols=across, frameon=False, handletextpad=0.3)
        return _saved(sheet, axes)


def _dots(axes: Any, series: Sequence[Series], row: str, at: int) -> None:
    styles = sorted({one.style for one in series})
    for one in series:
        if row not in one.points:
            continue
        point, (colour, marker) = one.points[row], _STYLES[one.style]
        # Styles lie a little apart, so that equal values do not hide each other.
        y = at + (styles.index(one.style) - (len(styles) - 1) / 2) * 0.2
        if point.ci95 and not one.hollow:
            axes.plot(point.ci95, (y, y), color=colour, linewidth=1.2, solid_capstyle="butt")
        axes.plot(
            point.value, y, marker=marker, color=colour, markersize=4.5, linestyle="",
            markerfacecolor="none" if one.hollow else colour, markeredgewidth=1.0, zorder=2 if one.hollow else 3,
        )  # fmt: skip


def scatter(places: Sequence[Place]) -> str:
    """Expert captions filled, lay captions hollow, a colour a group."""
    with _style(places):
        from matplotlib.figure import Figure as Sheet

        sheet = Sheet(figsize=(_WIDTH, _WIDTH), layout="constrained")
        axes = sheet.subplots()
        for group, colour in zip(dict.fromkeys(place.group for place in places), cycle(_GROUPS), strict=False):
            of = [place for place in places if place.group == group]
            x, y = zip(*(place.expert for place in of), strict=True)
            axes.scatter(x, y, s=9, c=colour, linewidths=0, label=group)
            x, y = zip(*(place.layman for place in of), strict=True)
            axes.scatter(x, y, s=9, facecolors="none", edgecolors=colour, linewidths=0.7)
        sheet.legend(loc="outside upper left", ncols=4, frameon=False, handletextpad=0.1, columnspacing=0.8)
        axes.set_axis_off()
        return _saved(sheet, axes)


def graph(edges: Mapping[tuple[str, str], float]) -> str:
    """Nodes on a circle, joined by lines as thick as the value of their pair, which stands on them."""
    with _style(sorted(edges.items())):
        from matplotlib.figure import Figure as Sheet

        nodes = list(dict.fromkeys(node for pair in edges for node in pair))
        turns = [math.pi / 2 - 2 * math.pi * at / len(nodes) for at in range(len(nodes))]
        places = {node: (math.cos(turn), math.sin(turn)) for node, turn in zip(nodes, turns, strict=True)}
        sheet = Sheet(figsize=(_WIDTH, _WIDTH), layout="constrained")
        axes = sheet.subplots()
        for (one, other), value in edges.items():
            (x, y), (u, v) = places[one], places[other]
            axes.plot((x, u), (y, v), color=_LINE, linewidth=0.5 + 7 * max(value, 0.0), zorder=1)
            # Not in the middle, where the lines of a square would put two numbers into one place.
            axes.text(x + 0.38 * (u - x), y + 0.38 * (v - y), f"{value:.2f}", ha="center", va="center", zorder=3)
        for node, (x, y) in places.items():
            axes.plot(x, y, marker="o", color=_EXPERT, markersize=6, zorder=2)
            axes.text(1.17 * x, 1.17 * y, node, ha="center", va="center")
        axes.set_aspect("equal")
        axes.set_xlim(-1.35, 1.35)
        axes.set_ylim(-1.35, 1.35)
        axes.set_axis_off()
        return _saved(sheet, axes)


@contextmanager
def _style(content: object) -> Iterator[None]:
    try:
        import matplotlib
    except ModuleNotFoundError as missing:
        raise MissingExtra.named("matplotlib", extra="figures", purpose="drawing the figures of a report") from missing
    settings: Any = {
        "svg.fonttype": "none",  # text stays text, in the page's font
        "svg.hashsalt": repr(content),  # ids that no other drawing of the page has
        "text.parse_math": False,  # a name with two dollar signs is a name
        "font.size": 9,
        "text.color": _INK,
        "axes.labelcolor": _SOFT,
        "xtick.color": _SOFT,
        "ytick.color": _INK,
    }
    with matplotlib.rc_context(settings):
        yield


def _saved(sheet: Any, axes: Any) -> str:
    sheet.patch.set_alpha(0)
    axes.patch.set_alpha(0)
    for side in axes.spines.values():
        side.set_visible(False)
    buffer = io.StringIO()
    sheet.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return _inline(buffer.getvalue())


def _inline(svg: str) -> str:
    """The SVG as an element of the page: its colours, its font, and its width free."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<svg [^>]*?)width="[^"]*" height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)  # would hold for the whole page
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)
    # Older releases of matplotlib write the shorthand.
    svg = re.sub(r"font-family: [^;\"]*", "font-family: var(--sans)", svg)
    svg = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font: \1 var(--sans)", svg)
    for colour, name in _VARIABLES.items():
        svg = svg.replace(colour, f"var(--{name})")
    return svg.replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)
