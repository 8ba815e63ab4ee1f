"""The page's figures: dot plots of own and published numbers, as SVG that takes the page's colours and its dark mode.

Own numbers are filled, with their 95 % intervals; published ones are hollow. Registers differ in colour and in shape.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from baselines.comparison import Run
from baselines.report.drawing import STYLES, Place, Point, Series, dot_plot, scatter
from baselines.report.tables import Row, TableView
from loaders.errors import InputError


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing for the page: its SVG, what it says in words, and its caption."""

    svg: str
    alt: str
    caption: str


PROJECTIONS = "figure-a3.json"
"""Name of the file of a run folder that holds, by model, {"projection": …} as `embedding_space.Projection.as_json`."""


def figures(view: TableView, runs: Sequence[Run] = ()) -> list[Figure]:
    """The figures of a table; none where its numbers make no picture.

    Raises MissingExtra without matplotlib, InputError when a run's file of projections cannot be read.
    """
    if view.paper != "MedLayBench-V" or view.table not in _FIGURES:
        return []
    found = [figure for figure in _FIGURES[view.table](view) if figure is not None]
    if view.table == "Figure A3 (caption)":
        for run in runs:
            found += _projections(run.folder / PROJECTIONS)
    return found


# --- What each table's figure shows -----------------------------------------------------------------------------------

_Head = tuple[str, ...]


def _readability(view: TableView) -> Iterator[Figure | None]:
    split = "Overall" if ("Overall", "Expert") in view.heads else view.heads[0][0]
    columns: list[tuple[_Head, str]] = [((split, register), register) for register in ("Expert", "Layman")]
    where = "all splits" if split == "Overall" else f"the {split.lower()} split"
    for names, axis in (
        (("FKGL", "CLI", "DCRS", "SMOG"), "grade or score, lower is easier"),
        (("FRE",), "reading ease, higher is easier"),
    ):
        rows = [row for row in view.rows if row.labels[0] in names]
        yield _columns(view, rows, columns, f"{', '.join(names)} of {where}", axis)


def _retrieval(view: TableView) -> Iterator[Figure | None]:
    for column, title in (("I2T Recall@1", "Image to text, R@1"), ("T2I Recall@1", "Text to image, R@1")):
        series = []
        for style, register in enumerate(("Expert", "Layman")):
            rows = [row for row in view.rows if row.labels[1] == register]
            series += _series(view, rows, (column,), register, style)
        yield _figure(series, title, "percent")


def _deltas(view: TableView) -> Iterator[Figure | None]:
    columns: list[tuple[_Head, str]] = [((f"R@{k} delta",), f"R@{k}") for k in (1, 5, 10)]
    yield _columns(view, view.rows, columns, "Lay less expert recall", "percentage points", zero=True)


def _ablation(view: TableView) -> Iterator[Figure | None]:
    conditions = ("Expert", "SCGR (Ours)", "LLM + CUI", "LLM Only")
    columns: list[tuple[_Head, str]] = [((name,), name) for name in conditions]
    yield _columns(view, view.rows, columns, "Mean R@1 by source of the captions", "percent")


def _ratings(view: TableView) -> Iterator[Figure | None]:
    criteria = ("Factual Correctness", "Completeness", "Simplicity", "Fluency")
    columns: list[tuple[_Head, str]] = [((name, "mean"), name) for name in criteria]
    yield _columns(view, view.rows, columns, "Mean rating", "from 1 to 5")


def _modalities(view: TableView) -> Iterator[Figure | None]:
    """Shares, since own and published counts differ in size."""
    rows = [row for row in view.rows if row.labels[0] != "Total"]
    shares = []
    for one in _series(view, rows, ("Count",), "pairs", 0):
        total = sum(point.value for point in one.points.values())
        points = {label: Point(100 * point.value / total) for label, point in one.points.items() if total}
        shares.append(Series(one.label, points, one.style, one.hollow))
    yield _figure(shares, "Share of pairs by modality", "percent")


def _captioning(view: TableView) -> Iterator[Figure | None]:
    columns: list[tuple[_Head, str]] = [(("FKGL", name), name) for name in ("Expert prompt", "Layman prompt")]
    yield _columns(view, view.rows, columns, "Reading grade of the captions by prompt", "FKGL, lower is easier")


def _concepts(view: TableView) -> Iterator[Figure | None]:
    for panel in ("UMLS concepts", "Terms"):
        rows = [row for row in view.rows if row.labels[1].startswith(f"{panel}, rank")]
        yield _figure(_series(view, rows, ("Frequency",), "captions", 0), f"{panel}, most frequent", "captions")


def _similarity(view: TableView) -> Iterator[Figure | None]:
    """Medians with the range from the 5 % to the 95 % quantile, by modality; a series a model."""
    for name in ("Expert-Layman embedding cosine similarity", "Expert-Layman Euclidean distance"):
        heads = [(f"{name}, {quantile} quantile",) for quantile in ("5%", "50%", "95%")]
        if any(head not in view.heads for head in heads):
            continue
        at = [view.heads.index(head) for head in heads]
        models: dict[str, dict[str, Point]] = {}
        for row in view.rows:
            found = [row.cells[place].own for place in at]
            if not all(found):
                continue
            low, middle, high = (numbers[0][1].own.value or 0.0 for numbers in found)
            models.setdefault(row.labels[0], {})[row.labels[1] or "All pairs"] = Point(middle, (low, high))
        for start in range(0, len(models), STYLES):
            some = list(models.items())[start : start + STYLES]
            series = [Series(model, points, style) for style, (model, points) in enumerate(some)]
            title = f"{name}, {', '.join(model for model, _ in some)}: median, and nine tenths of the pairs"
            yield _figure(series, title, name.split()[-1])


_FIGURES: dict[str, Callable[[TableView], Iterator[Figure | None]]] = {
    "Table 1": _readability,
    "Table 3": _retrieval,
    "Table 4": _ratings,
    "Table A1": _modalities,
    "Table A3": _deltas,
    "Table A4": _ablation,
    "Table A5": _captioning,
    "Figure A2": _concepts,
    "Figure A3 (caption)": _similarity,
}


def _columns(
    view: TableView, rows: Sequence[Row], columns: list[tuple[_Head, str]], title: str, axis: str, *, zero: bool = False
) -> Figure | None:
    series = [one for style, (head, label) in enumerate(columns) for one in _series(view, rows, head, label, style)]
    return _figure(series, title, axis, zero=zero)


def _series(view: TableView, rows: Sequence[Row], head: _Head, label: str, style: int) -> list[Series]:
    """The own and the published numbers of a column; own ones of several runs are told apart by the row's label."""
    if head not in view.heads:
        return []
    at = view.heads.index(head)
    own: dict[str, Point] = {}
    paper: dict[str, Point] = {}
    for row in rows:
        cell, name = row.cells[at], row.labels[0]
        for run, pair in cell.own:
            if pair.own.value is not None:
                own[name if len(cell.own) == 1 else f"{name} (run {run})"] = Point(pair.own.value, pair.own.ci95)
        if cell.paper:
            paper[name] = Point(cell.paper.value)
    found = [Series(label, own, style), Series(label, paper, style, hollow=True)]
    return [series for series in found if series.points]


# --- Drawing ----------------------------------------------------------------------------------------------------------


def _figure(series: Sequence[Series], title: str, axis: str, *, zero: bool = False) -> Figure | None:
    if not any(not one.hollow for one in series):
        return None
    words = "; ".join(
        f"{one.label}: " + ", ".join(f"{row} {point.value:.4g}" for row, point in one.points.items())
        for one in series
        if not one.hollow
    )
    published_too = any(one.hollow for one in series)
    caption = f"{title}. " + ("Filled: own, with 95 % intervals; hollow: published." if published_too else "")
    svg = dot_plot(series, axis, zero=zero)
    return Figure(svg, f"Dot plot. {title}, {axis}. {words}. The table below has every number.", caption.strip())


_POINTS = 600  # pairs shown of a projection: more hide each other


def _projections(path: Path) -> list[Figure]:
    """t-SNE of expert and lay captions, a drawing a model; none without the file."""
    if not path.exists():
        return []
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        planes = {
            str(model): [
                Place(str(name), (float(x), float(y)), (float(u), float(v)))
                for name, (x, y), (u, v) in zip(
                    facts["projection"]["modality"],
                    facts["projection"]["expert"],
                    facts["projection"]["layman"],
                    strict=True,
                )
            ]
            for model, facts in found.items()
            if facts.get("projection")
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(path, found=f"no projections: {error}", expected="the file as the run wrote it") from None
    return [_projection(model, places) for model, places in planes.items() if places]


def _projection(model: str, places: list[Place]) -> Figure:
    shown = places[:: -(-len(places) // _POINTS)]
    words = f"t-SNE of expert and lay captions, {model}, {len(shown):,} of {len(places):,} pairs"
    return Figure(
        scatter(shown), f"Scatter plot. {words}, coloured by modality.", f"{words}. Filled: expert; hollow: lay."
    )
