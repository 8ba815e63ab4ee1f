"""The paper's tables as the page shows them: each cell holds the own numbers and the published one with the same key.

A number belongs in the table itself if the paper has a place for it: a column, setting and split that it prints,
though not necessarily the row, which may be another model. All others (other pools, tests, agreement) are listed below.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import groupby

from baselines.dialogue.played import NOT_PLAYED
from baselines.medlaybench_v.retrieval import METHODS, figure_a4
from baselines.results.comparison import Compared, FinishedRun
from baselines.results.conformance import apart, spread
from baselines.results.published import Heading, Published, counterpart, headings, published, short
from baselines.results.run import Result

TROUBLES = (
    NOT_PLAYED, "Empty turns", "Refused turns", "Truncated turns", "Decisions not read", "Findings not read",
    "Empty answers", "Refused answers", "Truncated answers", "Silent patient", "Extraction failed",
    "Assessment failed",
)  # fmt: skip
"""Columns that count what went wrong in a run: all its tables say so, though the papers have no place for them."""
PARTS = ("paper", "table", "row", "setting", "column", "split_or_group")
_Labels = tuple[str, ...]


@dataclass(slots=True)
class Cell:
    """The own numbers with one key, the published one, and the number of the footnote that says why that is wrong."""

    own: list[Compared] = field(default_factory=list)
    paper: Published | None = None
    doubt: int | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its label in parts, one cell per column, and n if all own numbers of the row share it."""

    labels: tuple[str, ...]
    cells: list[Cell]
    n: int | None
    own: bool

    @property
    def label(self) -> str:
        """Its label as one text."""
        return ", ".join(part for part in self.labels if part)


@dataclass(frozen=True)
class TableView:
    """A table of the paper with the own numbers in it.

    `heads` are the labels of the columns, one tuple a column; `others` the own numbers that the paper has no place for,
    by split or group; `doubts` the reasons that footnotes give; `remarks` what the own numbers in it say of themselves,
    and what went wrong in their runs.
    """

    paper: str
    table: str
    title: str
    note: str
    heads: list[tuple[str, ...]]
    rows: list[Row]
    others: dict[str, list[Compared]]
    doubts: list[str]
    remarks: list[str]

    @property
    def name(self) -> str:
        """The table's name without the file that a figure was read from."""
        return short(self.table)

    @property
    def anchor(self) -> str:
        """An id for links."""
        return "-".join((self.paper + " " + self.name).lower().split())

    @cached_property
    def runs(self) -> list[int]:
        """The runs, by number, that its own numbers come from."""
        runs = {pair.run for row in self.rows for cell in row.cells for pair in cell.own}
        return sorted(runs | {pair.run for pairs in self.others.values() for pair in pairs})

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The upper heads with the number of columns each spans; empty where columns have one label."""
        upper = groupby(head[0] for head in self.heads if len(head) > 1)
        return [(name, len(list(columns))) for name, columns in upper]


def tables(runs: Sequence[FinishedRun]) -> list[TableView]:
    """Every table that the runs have numbers for: the papers' first, in their order, then those of no paper."""
    own: dict[tuple[str, str], list[Compared]] = {}
    troubles = [pair for number, run in enumerate(runs, start=1) for pair in _troubles(number, run)]
    for number, run in enumerate(runs, start=1):
        for result in [*run.results, *_bars(run)]:
            pair = Compared(result, counterpart(result), number)
            own.setdefault((result.paper, result.table), []).append(pair)
    order = {name: at for at, name in enumerate(headings()) if published(*name)}
    names = sorted(own, key=lambda name: order.get(name, len(order)))
    return [_view(paper, table, own[paper, table], troubles) for paper, table in names]


def _troubles(number: int, run: FinishedRun) -> Iterator[Compared]:
    """What went wrong in a run, each as a number whose note says how often, if it did at all."""
    for one in run.results:
        if one.column in TROUBLES and one.numerator is not None and one.denominator:
            note = f"{one.column}: {one.numerator:,.0f} of {one.denominator:,.0f}" if one.numerator else ""
            yield Compared(replace(one, column="trouble", note=note), None, number)


def _bars(run: FinishedRun) -> list[Result]:
    """The bars of Figure A4, which repeat cells of Table 3: for SCGR's captions, or for the language model's alone."""
    if run.record.baseline != "retrieval":
        return []
    computed = (result for result in run.results if result.value is not None)
    return figure_a4(computed, method=str(run.record.options.get("method", METHODS[0])))


def _view(paper: str, table: str, own: list[Compared], troubles: list[Compared]) -> TableView:
    layout = headings().get((paper, table), Heading())
    printed = [number for number in published(paper, table) if number.column not in layout.left_out]
    placed, rest, beside = _placed(layout, own, printed)
    cells: defaultdict[tuple[_Labels, _Labels], Cell] = defaultdict(Cell)

    def cell_of(number: Published | Result) -> Cell:
        return cells[_labels(number, layout.rows), _labels(number, layout.columns)]

    for pair in placed:
        cell_of(pair.paper or pair.own).own.append(pair)
    for number in printed if beside else []:
        cell_of(number).paper = number
    doubts: dict[str, int] = {}
    for cell in cells.values():
        if cell.paper and cell.paper.wrong:
            cell.doubt = doubts.setdefault(cell.paper.wrong, len(doubts) + 1)
    used = dict.fromkeys(head for _, head in cells)
    theirs = [_labels(number, layout.columns) for number in printed]
    # If columns may be the run's own, they are in its order: strict scores next to the paper's.
    heads = list(used if "column" in layout.free else dict.fromkeys(head for head in (*theirs, *used) if head in used))
    shown = {pair.run for pair in placed}
    return TableView(
        paper=paper,
        table=table,
        title=layout.title,
        note=layout.note,
        heads=heads,
        rows=_rows(cells, heads, [_labels(number, layout.rows) for number in printed]),
        others=_by_group(rest),
        doubts=list(doubts),
        remarks=[*_remarks(placed, shown), *_remarks([pair for pair in troubles if pair.run in shown], shown)],
    )


def _remarks(own: list[Compared], shown: Set[int]) -> list[str]:
    """What numbers say of themselves, or why they have no value, each once, with the runs (of those `shown`), rows,
    settings, columns and groups that say so if not all do."""
    told: dict[str, list[Compared]] = {}
    for pair in own:
        note = pair.own.note
        if pair.own.value is None:
            note = f"not computed: {note.removeprefix('not computed: ')}"
        told.setdefault(note, []).append(pair)
    made, different = [], spread([pair.own.key for pair in own])
    for note, some in told.items():
        runs = sorted({pair.run for pair in some})
        by = f"run {', '.join(map(str, runs))}" if len(runs) < len(shown) else ""
        of = "; ".join(filter(None, (by, apart([pair.own.key for pair in some], different))))
        made += [f"{of}: {note}" if of else note] if note else []
    return made


def _placed(
    layout: Heading, own: list[Compared], printed: list[Published]
) -> tuple[list[Compared], list[Compared], bool]:
    """Own numbers that the paper has a place for, the others, and whether the published numbers are shown beside them.

    A run over one other split fits everything but the split, whose name a group begins with: it fills the table alone.
    In a table of no paper all numbers have a place.
    """
    if not printed:
        return own, [], False
    fixed = [part for part in PARTS[2:] if part not in layout.free]
    for beside in (True, False):
        folded = partial(_folded, fixed, beside)
        known = set(map(folded, printed))
        placed = [pair for pair in own if folded(pair.own) in known]
        rest = [pair for pair in own if folded(pair.own) not in known]
        if placed and (beside or len({pair.own.split_or_group for pair in placed}) == 1):
            return placed, rest, beside
    return [], own, False


def _folded(parts: Sequence[str], whole: bool, number: Published | Result) -> tuple[str, ...]:
    """What has to agree: these parts, of a group that is not `whole` only what stands behind the name of its split."""
    folded = {part: getattr(number, part).casefold() for part in parts}
    if not whole and "split_or_group" in folded:
        folded["split_or_group"] = folded["split_or_group"].partition("; ")[2]
    return tuple(folded.values())


def _rows(cells: Mapping[tuple[_Labels, _Labels], Cell], heads: list[_Labels], printed: list[_Labels]) -> list[Row]:
    """Rows with own numbers first (those that no paper has, then in the paper's order), then those that only it has."""
    labels = dict.fromkeys(label for label, _ in cells)
    place = {label: at for at, label in enumerate(dict.fromkeys(printed))}
    made = []
    for label in labels:
        line = [cells.get((label, head), Cell()) for head in heads]
        counts = {pair.own.n for cell in line for pair in cell.own}
        made.append(Row(label, line, counts.pop() if len(counts) == 1 else None, any(cell.own for cell in line)))
    return sorted(made, key=lambda row: (not row.own, place.get(row.labels, -1)))


def _labels(number: Published | Result, parts: tuple[str, ...]) -> tuple[str, ...]:
    """The parts of a key as labels; (column, statistic) are the halves of a column such as "Fluency (SD)"."""
    if parts == ("column", "statistic"):
        name, _, statistic = number.column.removesuffix(")").rpartition(" (")
        return name, statistic
    return tuple(short(str(getattr(number, part))) for part in parts)


def _by_group(own: list[Compared]) -> dict[str, list[Compared]]:
    groups: dict[str, list[Compared]] = {}
    for pair in own:
        groups.setdefault(short(pair.own.split_or_group), []).append(pair)
    return groups
