"""The page's figures: dot plots of own numbers (filled, with their 95 % intervals) and published ones (hollow)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
    """A dot plot to be drawn, in `_parts` if it has many series, once the ends of its axis are known; only if it has a
    number of ours. `zero` draws the line of no difference."""

    series: Sequence[Series]
    title: str
    axis: str
    zero: bool = False


PROJECTIONS = "figure-a3.json"
"""Name of the file of a run folder that holds, by model, {"projection": …} as `embedding_space.project` makes it."""


def figures(view: TableView, runs: Sequence[FinishedRun] = ()) -> list[Figure]:
    """The figures of a table; none if its numbers make no picture. Panels that show one quantity share the ends of
    their axis. Raises InputError when a run's file of projections cannot be read."""
    if (view.paper, view.table) == ("3MDBench", "Figure 8 (text App B)"):
        return list(_raters(view))
    if (view.paper, view.table) not in _FIGURES:
        return []
    made = _FIGURES[view.paper, view.table](view)
    panels = [part for panel in made for part in _parts(panel) if any(not one.hollow for one in part.series)]
    together: dict[str, list[Series]] = {}
    for panel in panels:
        together.setdefault(panel.axis, []).extend(panel.series)
    drawn = [_drawn(panel, together[panel.axis]) for panel in panels]
    if view.table == "Figure A3 (caption)":
        for run in runs:
            drawn += _projections(run.folder / PROJECTIONS)
    return drawn


def _parts(panel: _Panel) -> Iterator[_Panel]:
    """The panel in as many as it takes to distinguish its series, however many; each part names its own."""
    parts: dict[int, list[Series]] = {}
    for one in panel.series:
        parts.setdefault(one.style // STYLES, []).append(replace(one, style=one.style % STYLES))
    for series in parts.values():
        names = dict.fromkeys(one.label for one in series)
        yield replace(panel, series=series, title=", ".join([panel.title, *(names if len(parts) > 1 else ())]))


_Head = tuple[str, ...]


def _columns(
    view: TableView,
    columns: Mapping[str, _Head],
    title: str,
    axis: str,
    *,
    rows: Sequence[Row] | None = None,
    zero: bool = False,
    whole: bool = False,
    shares: bool = False,
) -> _Panel:
    """One line per row (by default of the table), and a series of own and one of published numbers per column; these
    are heads by label.

    Lines are named by the first part of the row's label, with `whole` by all of it. With `shares`, each number is in
    percent of what its run, or the paper, has in all these rows.
    """
    series = []
    rows = view.rows if rows is None else rows
    for style, (label, head) in enumerate(columns.items()):
        if head not in view.heads:
            continue
        at = view.heads.index(head)
        totals = _totals(row.cells[at] for row in rows) if shares else {}
        own: dict[str, Point] = {}
        paper: dict[str, Point] = {}
        for row in rows:
            cell, shown = row.cells[at], row.label if whole else row.labels[0]
            for name, run, point in _own(cell, shown):
                own[name] = Point(100 * point.value / totals[run]) if shares else point
            if cell.paper:
                paper[shown] = Point(100 * cell.paper.value / totals[_PAPER] if shares else cell.paper.value)
        series += [Series(label, own, style), Series(label, paper, style, hollow=True)]
    return _Panel([one for one in series if one.points], title, axis, zero)


def _own(cell: Cell, label: str) -> Iterator[tuple[str, int, Point]]:
    """The own numbers of a cell under that label, and their runs, by which several are told apart."""
    for pair in cell.own:
        if pair.own.value is not None:
            name = label if len(cell.own) == 1 else f"{label} (run {pair.run})"
            yield name, pair.run, Point(pair.own.value, pair.own.ci95)


_PAPER = 0  # among the numbers of runs, which are from 1


def _totals(cells: Iterable[Cell]) -> dict[int, float]:
    """What each run has in these cells in all, and the paper."""
    found: defaultdict[int, float] = defaultdict(float)
    for cell in cells:
        for pair in cell.own:
            found[pair.run] += pair.own.value or 0.0
        found[_PAPER] += cell.paper.value if cell.paper else 0.0
    return {run: total or 1.0 for run, total in found.items()}


def _readability(view: TableView) -> Iterator[_Panel]:
    own = [head[0] for at, head in enumerate(view.heads) if any(row.cells[at].own for row in view.rows)]
    split = "Overall" if "Overall" in own or not own else own[0]
    columns = {register: (split, register) for register in ("Expert", "Layman")}
    where = "all splits" if split == "Overall" else f"the {split.lower()} split"
    for names, axis in (
        (("FKGL", "CLI", "DCRS", "SMOG"), "grade or score, lower is easier"),
        (("FRE",), "reading ease, higher is easier"),
    ):
        rows = [row for row in view.rows if row.labels[0] in names]
        yield _columns(view, columns, f"{', '.join(names)} of {where}", axis, rows=rows)


def _recall(view: TableView, *steps: int) -> Iterator[_Panel]:
    """Recall at each k, both directions, with one line per model and one series per register."""
    registers = sorted({row.labels[1] for row in view.rows})
    for direction, words in (("I2T", "Image to text"), ("T2I", "Text to image")):
        for k in steps:
            series: list[Series] = []
            for style, register in enumerate(registers):
                rows = [row for row in view.rows if row.labels[1] == register]
                panel = _columns(view, {register: (f"{direction} Recall@{k}",)}, "", "", rows=rows)
                series += [replace(one, style=style) for one in panel.series]
            yield _Panel(series, f"{words}, R@{k}", "percent")


def _modalities(view: TableView) -> Iterator[_Panel]:
    """Shares, since the counts of the runs and of the paper differ in size."""
    rows = [row for row in view.rows if row.labels[0] != "Total"]
    yield _columns(view, {"pairs": ("Count",)}, "Share of pairs by modality", "percent", rows=rows, shares=True)


def _concepts(view: TableView) -> Iterator[_Panel]:
    for panel in ("UMLS concepts", "Terms"):
        rows = [row for row in view.rows if row.labels[1].startswith(f"{panel}, rank")]
        yield _columns(view, {"captions": ("Frequency",)}, f"{panel}, most frequent", "captions", rows=rows)


def _similarity(view: TableView) -> Iterator[_Panel]:
    """Medians with the range from the 5 % to the 95 % quantile, by modality; one series per model."""
    for name in ("Expert-Layman embedding cosine similarity", "Expert-Layman Euclidean distance"):
        heads = [(f"{name}, {quantile} quantile",) for quantile in ("5%", "50%", "95%")]
        if any(head not in view.heads for head in heads):
            continue
        models: dict[str, dict[str, Point]] = {}
        for row in view.rows:
            low, middle, high = (list(_own(row.cells[view.heads.index(head)], row.labels[0])) for head in heads)
            for (label, _, lowest), (_, _, median), (_, _, highest) in zip(low, middle, high, strict=True):
                point = Point(median.value, (lowest.value, highest.value))
                models.setdefault(label, {})[row.labels[1] or "All pairs"] = point
        only = f", {next(iter(models))}" if len(models) == 1 else ""  # a drawing has no key of one series
        yield _Panel(_by_style(models), f"{name}{only}: median, and nine tenths of the pairs", name.split()[-1])


def _diagnosis(view: TableView) -> Iterator[_Panel]:
    """F1 both ways by doctor and setting, with the paper's."""
    # Of the paper's rows, those with an own number beside them: the table has the others.
    rows, columns = [row for row in view.rows if row.own], {"as the authors count": ("F1",), "strict": ("F1 (strict)",)}
    yield _columns(view, columns, "F1 by doctor and setting", "percent", rows=rows, whole=True)


def _by_group(view: TableView, column: str, title: str, axis: str) -> Iterator[_Panel]:
    """One line per group (domain, temperament) and one series per doctor in a setting."""
    systems: dict[str, dict[str, Point]] = {}
    for row in view.rows:
        for head, cell in zip(view.heads, row.cells, strict=True):
            for label, _, point in _own(cell, row.label) if head[1:] in ((), (column,)) else ():
                systems.setdefault(label, {})[head[0]] = point
    yield _Panel(_by_style(systems), title, axis)


def _by_style(points: Mapping[str, dict[str, Point]]) -> list[Series]:
    return [Series(label, of_label, style) for style, (label, of_label) in enumerate(points.items())]


def _by_condition(view: TableView) -> Iterator[_Panel]:
    """One series per source of captions, the user's own after the expert's."""
    theirs = ("Expert", "SCGR (Ours)", "LLM + CUI", "LLM Only")
    columns = [theirs[0], *(name for (name,) in view.heads if name not in theirs), *theirs[1:]]
    some = {name: (name,) for name in columns}
    yield _columns(view, some, f"{average_recall(1)} by source of the captions", "percent")


def _raters(view: TableView) -> Iterator[Figure]:
    """The graph of the annotators, one drawing per run."""
    if ("Pairwise kappa",) not in view.heads:
        return
    at = view.heads.index(("Pairwise kappa",))
    graphs: dict[int, dict[tuple[str, str], float]] = {}
    for row in view.rows:
        one, _, other = row.labels[0].partition(" and ")
        for pair in row.cells[at].own:
            graphs.setdefault(pair.run, {})[one, other] = pair.own.value or 0.0
    for edges in graphs.values():
        said = "; ".join(f"{one} and {other} {value:.2f}" for (one, other), value in edges.items())
        words = "Cohen's kappa of every two annotators, mean over the criteria"
        yield Figure(graph(edges), f"Graph. {words}. {said}.", f"{words}.")


_RATINGS = {name: (name, "mean") for name in ("Factual Correctness", "Completeness", "Simplicity", "Fluency")}
_DELTAS = {f"R@{k}": (f"R@{k} delta",) for k in (1, 5, 10)}
_PROMPTS = {name: ("FKGL", name) for name in ("Expert prompt", "Layman prompt")}
_COMPETENCE = "mean, from 0 to 2"

_FIGURES: dict[tuple[str, str], Callable[[TableView], Iterable[_Panel]]] = {
    ("MedLayBench-V", "Table 1"): _readability,
    ("MedLayBench-V", "Table 3"): lambda view: _recall(view, 1),
    ("MedLayBench-V", "Table 4"): lambda view: [_columns(view, _RATINGS, "Mean rating", "from 1 to 5")],
    ("MedLayBench-V", "Table A1"): _modalities,
    ("MedLayBench-V", "Table A3"): lambda view: [
        _columns(view, _DELTAS, "Lay less expert recall", "percentage points", zero=True)
    ],
    ("MedLayBench-V", "Table A4"): _by_condition,
    ("MedLayBench-V", "Table A5"): lambda view: [
        _columns(view, _PROMPTS, "Reading grade of the captions by prompt", "FKGL, lower is easier")
    ],
    ("MedLayBench-V", "Figure A2"): _concepts,
    ("MedLayBench-V", "Figure A3 (caption)"): _similarity,
    ("MedLayBench-V", "Figure A4i (assets/downstream.png)"): lambda view: _recall(view, 1, 5, 10),
    ("MedLayBench-V", "Figure A4ii (assets/motivation.png)"): lambda view: _recall(view, 1, 5, 10),
    ("3MDBench", "Table 5"): _diagnosis,
    ("3MDBench", "Figure 3 (text Sec 4.2)"): lambda view: _by_group(view, "F1", "F1 by medical domain", "percent"),
    ("3MDBench", "Figure 4 (text Sec 4.4)"): lambda view: _by_group(
        view, "Number of utterances (mean)", "Number of utterances by temperament", "utterances"
    ),
    ("3MDBench", "Figure 5"): lambda view: _by_group(view, "F1", "F1 by temperament", "percent"),
    ("3MDBench", "Figure 9"): lambda view: _by_group(view, "", "Overall clinical competence by domain", _COMPETENCE),
    ("3MDBench", "Figure 10"): lambda view: _by_group(
        view, "", "Overall clinical competence by temperament", _COMPETENCE
    ),
    ("3MDBench", "Figure 11"): lambda view: _by_group(view, "", "Number of utterances by domain", "utterances"),
}


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
