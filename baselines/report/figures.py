"""The page's figures: dot plots of own and published numbers, as SVG that follows the page's colours and dark mode.

Own numbers are filled, with their 95 % intervals; published ones are hollow. Registers differ in colour and in shape.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from baselines.medlaybench_v.retrieval import average_recall
from baselines.report.drawing import STYLES, Place, Point, Series, dot_plot, graph, limits_of, scatter
from baselines.report.tables import Cell, Row, TableView
from baselines.results.comparison import FinishedRun
from loaders.files.json_values import read_json, understood
from loaders.files.paths import is_there


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing for the page: its SVG, its description in words, and its caption."""

    svg: str
    alt: str
    caption: str


@dataclass(frozen=True, slots=True)
class _Panel:
    """A dot plot to be drawn once the ends of its axis are known."""

    series: Sequence[Series]
    title: str
    axis: str
    zero: bool


PROJECTIONS = "figure-a3.json"
"""Name of the file of a run folder that holds, by model, {"projection": …} as `embedding_space.Projection.as_json`."""


def figures(view: TableView, runs: Sequence[FinishedRun] = ()) -> list[Figure]:
    """The figures of a table; none if its numbers make no picture.

    Panels that show one quantity share the ends of their axis.

    Raises InputError when a run's file of projections cannot be read.
    """
    if (view.paper, view.table) not in _FIGURES:
        return []
    panels = [panel for panel in _FIGURES[view.paper, view.table](view) if panel is not None]
    together: dict[str, list[Series]] = {}
    for panel in panels:
        if isinstance(panel, _Panel):
            together.setdefault(panel.axis, []).extend(panel.series)
    drawn = [_drawn(panel, together[panel.axis]) if isinstance(panel, _Panel) else panel for panel in panels]
    if view.table == "Figure A3 (caption)":
        for run in runs:
            drawn += _projections(run.folder / PROJECTIONS)
    return drawn


# --- What each table's figure shows -----------------------------------------------------------------------------------

_Head = tuple[str, ...]
_Maker = Callable[[TableView], Iterator[_Panel | Figure | None]]


def _readability(view: TableView) -> Iterator[_Panel | Figure | None]:
    own = [head[0] for at, head in enumerate(view.heads) if any(row.cells[at].own for row in view.rows)]
    split = "Overall" if "Overall" in own or not own else own[0]
    columns = {register: (split, register) for register in ("Expert", "Layman")}
    where = "all splits" if split == "Overall" else f"the {split.lower()} split"
    for names, axis in (
        (("FKGL", "CLI", "DCRS", "SMOG"), "grade or score, lower is easier"),
        (("FRE",), "reading ease, higher is easier"),
    ):
        rows = [row for row in view.rows if row.labels[0] in names]
        yield _columns(view, rows, columns, f"{', '.join(names)} of {where}", axis)


def _recall(*steps: int) -> _Maker:
    """A maker of drawings of recall at each k, both directions, with one line per model and one series per register."""

    def figure(view: TableView) -> Iterator[_Panel | Figure | None]:
        registers = sorted({row.labels[1] for row in view.rows})
        for direction, words in (("I2T", "Image to text"), ("T2I", "Text to image")):
            for k in steps:
                series = []
                for style, register in enumerate(registers):
                    rows = [row for row in view.rows if row.labels[1] == register]
                    series += _series(view, rows, (f"{direction} Recall@{k}",), register, style)
                yield _figure(series, f"{words}, R@{k}", "percent")

    return figure


def _compared(columns: Mapping[str, _Head], title: str, axis: str, *, zero: bool = False) -> _Maker:
    """A maker of one drawing of all rows, with one series per column; `columns` are headers by label."""

    def figure(view: TableView) -> Iterator[_Panel | Figure | None]:
        yield _columns(view, view.rows, columns, title, axis, zero=zero)

    return figure


def _modalities(view: TableView) -> Iterator[_Panel | Figure | None]:
    """Shares, since the counts of the runs and of the paper differ in size."""
    rows = [row for row in view.rows if row.labels[0] != "Total"]
    yield _figure(_series(view, rows, ("Count",), "pairs", 0, shares=True), "Share of pairs by modality", "percent")


def _concepts(view: TableView) -> Iterator[_Panel | Figure | None]:
    for panel in ("UMLS concepts", "Terms"):
        rows = [row for row in view.rows if row.labels[1].startswith(f"{panel}, rank")]
        yield _figure(_series(view, rows, ("Frequency",), "captions", 0), f"{panel}, most frequent", "captions")


def _similarity(view: TableView) -> Iterator[_Panel | Figure | None]:
    """Medians with the range from the 5 % to the 95 % quantile, by modality; one series per model."""
    for name in ("Expert-Layman embedding cosine similarity", "Expert-Layman Euclidean distance"):
        heads = [(f"{name}, {quantile} quantile",) for quantile in ("5%", "50%", "95%")]
        if any(head not in view.heads for head in heads):
            continue
        at = [view.heads.index(head) for head in heads]
        models: dict[str, dict[str, Point]] = {}
        for row in view.rows:
            own = [{run: pair.own.value for run, pair in row.cells[place].own} for place in at]
            for run in own[0]:
                low, middle, high = (values.get(run) for values in own)
                if low is not None and middle is not None and high is not None:
                    label = row.labels[0] if len(own[0]) == 1 else f"{row.labels[0]} (run {run})"
                    models.setdefault(label, {})[row.labels[1] or "All pairs"] = Point(middle, (low, high))
        for series in _by_style(models):
            shown = ", ".join(each.label for each in series)
            yield _figure(series, f"{name}, {shown}: median, and nine tenths of the pairs", name.split()[-1])


def _diagnosis(view: TableView) -> Iterator[_Panel | Figure | None]:
    """F1 both ways by doctor and setting, with the paper's."""
    # Of the paper's rows, those with an own number beside them: the table has the others.
    rows = [row for row in view.rows if row.own]
    series = [
        one
        for style, (column, label) in enumerate((("F1", "as the authors count"), ("F1 (strict)", "strict")))
        for one in _series(view, rows, (column,), label, style, whole=True)
    ]
    yield _figure(series, "F1 by doctor and setting", "percent")


def _by_group(column: str, title: str, axis: str) -> _Maker:
    """A maker of drawings with one line per group (domain, temperament) and one series per doctor in a setting."""

    def figure(view: TableView) -> Iterator[_Panel | Figure | None]:
        systems: dict[str, dict[str, Point]] = {}
        for row in view.rows:
            for head, cell in zip(view.heads, row.cells, strict=True):
                if len(head) > 1 and head[1] != column:
                    continue
                for run, pair in cell.own:
                    if pair.own.value is not None:
                        label = row.label if len(cell.own) == 1 else f"{row.label} (run {run})"
                        systems.setdefault(label, {})[head[0]] = Point(pair.own.value, pair.own.ci95)
        yield from (_figure(series, title, axis) for series in _by_style(systems))

    return figure


def _by_style(points: Mapping[str, dict[str, Point]]) -> Iterator[list[Series]]:
    """The series by label, as many at a time as a drawing can distinguish."""
    for start in range(0, len(points), STYLES):
        some = list(points.items())[start : start + STYLES]
        yield [Series(label, of_label, style) for style, (label, of_label) in enumerate(some)]


def _raters(view: TableView) -> Iterator[_Panel | Figure | None]:
    """The graph of the annotators, one drawing per run."""
    if (_PAIRWISE,) not in view.heads:
        return
    at = view.heads.index((_PAIRWISE,))
    graphs: dict[int, dict[tuple[str, str], float]] = {}
    for row in view.rows:
        one, _, other = row.labels[0].partition(" and ")
        for run, pair in row.cells[at].own:
            graphs.setdefault(run, {})[one, other] = pair.own.value or 0.0
    for edges in graphs.values():
        said = "; ".join(f"{one} and {other} {value:.2f}" for (one, other), value in edges.items())
        words = "Cohen's kappa of every two annotators, mean over the criteria"
        yield Figure(graph(edges), f"Graph. {words}. {said}.", f"{words}.")


_PAIRWISE = "Pairwise kappa"


_RATINGS = {name: (name, "mean") for name in ("Factual Correctness", "Completeness", "Simplicity", "Fluency")}
_DELTAS = {f"R@{k}": (f"R@{k} delta",) for k in (1, 5, 10)}
_CONDITIONS = ("Expert", "SCGR (Ours)", "LLM + CUI", "LLM Only")


def _by_condition(view: TableView) -> Iterator[_Panel | Figure | None]:
    """One series per source of captions, the user's own after the expert's; as many as a drawing can distinguish."""
    named = (name for (name,) in view.heads if name not in _CONDITIONS)
    columns = [(name, (name,)) for name in (_CONDITIONS[0], *named, *_CONDITIONS[1:])]
    for start in range(0, len(columns), STYLES):
        some = dict(columns[start : start + STYLES])
        yield _columns(view, view.rows, some, f"{average_recall(1)} by source of the captions", "percent")


_PROMPTS = {name: ("FKGL", name) for name in ("Expert prompt", "Layman prompt")}

_FIGURES: dict[tuple[str, str], _Maker] = {
    ("MedLayBench-V", "Table 1"): _readability,
    ("MedLayBench-V", "Table 3"): _recall(1),
    ("MedLayBench-V", "Table 4"): _compared(_RATINGS, "Mean rating", "from 1 to 5"),
    ("MedLayBench-V", "Table A1"): _modalities,
    ("MedLayBench-V", "Table A3"): _compared(_DELTAS, "Lay less expert recall", "percentage points", zero=True),
    ("MedLayBench-V", "Table A4"): _by_condition,
    ("MedLayBench-V", "Table A5"): _compared(
        _PROMPTS, "Reading grade of the captions by prompt", "FKGL, lower is easier"
    ),
    ("MedLayBench-V", "Figure A2"): _concepts,
    ("MedLayBench-V", "Figure A3 (caption)"): _similarity,
    ("MedLayBench-V", "Figure A4i (assets/downstream.png)"): _recall(1, 5, 10),
    ("MedLayBench-V", "Figure A4ii (assets/motivation.png)"): _recall(1, 5, 10),
    ("3MDBench", "Table 5"): _diagnosis,
    ("3MDBench", "Figure 3 (text Sec 4.2)"): _by_group("F1", "F1 by medical domain", "percent"),
    ("3MDBench", "Figure 4 (text Sec 4.4)"): _by_group(
        "Number of utterances (mean)", "Number of utterances by temperament", "utterances"
    ),
    ("3MDBench", "Figure 5"): _by_group("F1", "F1 by temperament", "percent"),
    ("3MDBench", "Figure 8 (text App B)"): _raters,
    ("3MDBench", "Figure 9"): _by_group("", "Overall clinical competence by domain", "mean, from 0 to 2"),
    ("3MDBench", "Figure 10"): _by_group("", "Overall clinical competence by temperament", "mean, from 0 to 2"),
    ("3MDBench", "Figure 11"): _by_group("", "Number of utterances by domain", "utterances"),
}


def _columns(
    view: TableView, rows: Sequence[Row], columns: Mapping[str, _Head], title: str, axis: str, *, zero: bool = False
) -> _Panel | None:
    shown: list[Series] = []
    for style, (label, head) in enumerate(columns.items()):
        shown += _series(view, rows, head, label, style)
    return _figure(shown, title, axis, zero=zero)


_PAPER = 0  # among the numbers of runs, which are from 1


def _series(
    view: TableView,
    rows: Sequence[Row],
    head: _Head,
    label: str,
    style: int,
    *,
    whole: bool = False,
    shares: bool = False,
) -> list[Series]:
    """The own and the published numbers of a column; own ones of several runs are told apart by the row's label.

    Points are named by the first part of the row's label, with `whole` by all of it. With `shares`, each is in percent
    of what its run, or the paper, has in all these rows.
    """
    if head not in view.heads:
        return []
    at = view.heads.index(head)
    totals = _totals(row.cells[at] for row in rows) if shares else {}
    own: dict[str, Point] = {}
    paper: dict[str, Point] = {}
    for row in rows:
        cell, shown = row.cells[at], row.label if whole else row.labels[0]
        for run, pair in cell.own:
            value, ci95 = pair.own.value, pair.own.ci95
            if value is not None:
                point = Point(100 * value / totals[run]) if shares else Point(value, ci95)
                own[shown if len(cell.own) == 1 else f"{shown} (run {run})"] = point
        if cell.paper:
            paper[shown] = Point(100 * cell.paper.value / totals[_PAPER] if shares else cell.paper.value)
    both = Series(label, own, style), Series(label, paper, style, hollow=True)
    return [series for series in both if series.points]


def _totals(cells: Iterable[Cell]) -> dict[int, float]:
    """What each run has in these cells in all, and the paper."""
    found: defaultdict[int, float] = defaultdict(float)
    for cell in cells:
        for run, pair in cell.own:
            found[run] += pair.own.value or 0.0
        found[_PAPER] += cell.paper.value if cell.paper else 0.0
    return {run: total or 1.0 for run, total in found.items()}


# --- Drawing ----------------------------------------------------------------------------------------------------------


def _figure(series: Sequence[Series], title: str, axis: str, *, zero: bool = False) -> _Panel | None:
    return _Panel(series, title, axis, zero) if any(not one.hollow for one in series) else None


def _drawn(panel: _Panel, together: Sequence[Series]) -> Figure:
    """The panel, on the common axis of all that are shown `together`."""
    own = [one for one in panel.series if not one.hollow]
    words = "; ".join(
        f"{one.label}: " + ", ".join(f"{row} {point.value:.4g}" for row, point in one.points.items()) for one in own
    )
    spread = ", with 95 % intervals" if any(point.ci95 for one in own for point in one.points.values()) else ""
    published = f"Filled: yours{spread}; hollow: published." if len(own) < len(panel.series) else ""
    svg = dot_plot(panel.series, panel.axis, zero=panel.zero, limits=limits_of(together, zero=panel.zero))
    alt = f"Dot plot. {panel.title}, {panel.axis}. {words}. The table below has every number."
    return Figure(svg, alt, f"{panel.title}. {published}".strip())


_POINTS = 600  # pairs shown of a projection: more hide each other


def _projections(path: Path) -> list[Figure]:
    """t-SNE of expert and lay captions, one drawing per model; none without the file."""
    if not is_there(path):
        return []
    expected = "the file as the run wrote it"
    content = read_json(path, expected=expected)
    with understood(path, expected=expected):
        planes: dict[str, list[Place]] = {}
        for model, facts in content.items():
            plane = facts.get("projection") or {"modality": [], "expert": [], "layman": []}
            pairs = zip(plane["modality"], plane["expert"], plane["layman"], strict=True)
            planes[model] = [
                Place(str(name), (float(x), float(y)), (float(u), float(v))) for name, (x, y), (u, v) in pairs
            ]
    return [_projection(model, places) for model, places in planes.items() if places]


def _projection(model: str, places: list[Place]) -> Figure:
    shown = places[:: -(-len(places) // _POINTS)]
    words = f"t-SNE of expert and lay captions, {model}, {len(shown):,} of {len(places):,} pairs"
    return Figure(
        scatter(shown), f"Scatter plot. {words}, coloured by modality.", f"{words}. Filled: expert; hollow: lay."
    )
