"""Tables of runs for a paper: LaTeX (booktabs), Markdown and CSV, own rows with the published ones beside them.

A number keeps its interval, and gets a mark if it is not a reproduction: † own, with the conditions that differ or are
not known; ‡ a stand-in; other reasons in one table are †², †³. Published numbers in doubt have a letter. Below the
table come the marks' explanations and n: one for all, or one per column; else a row has its own, and so does a cell
that differs from its row.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from baselines.report.tables import TableView
from baselines.results.comparison import Compared
from baselines.results.published import named, short
from baselines.results.sheets import table_bytes

OWN, STAND_IN = "†", "‡"
_RAISE = "\0"  # marks the start and end of superscript text
_COLUMNS = "paper table row column source run value ci95_low ci95_high n unit provenance mark note run_id".split()


@dataclass(frozen=True)
class Printed:
    """A table as printed: its lines, and the notes for its marks."""

    view: TableView
    lines: list[tuple[str, list[str]]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def caption(self) -> str:
        """What it shows."""
        return f"{self.view.title or self.view.name} ({self.view.paper}, {self.view.name})"


def printed(view: TableView, *, paper: bool) -> Printed:
    """The lines of a table: those of every run and, with `paper`, the published ones."""
    made = Printed(view)
    marks: dict[str, str] = {}
    below = _n_below(view)
    for row in view.rows:
        for run in sorted({pair.run for cell in row.cells for pair in cell.own}):
            pairs = [next((pair for pair in cell.own if pair.run == run), None) for cell in row.cells]
            usual = None if below else _usual_n(pairs)
            of = [f"run {run}" if len(view.runs) > 1 else "", "" if usual is None else f"n = {usual:,}"]
            told = ", ".join(filter(None, of))
            name = f"{row.label} ({told})" if told else row.label
            made.lines.append((name, [_own(pair, marks, usual) if pair else "" for pair in pairs]))
        if paper and any(cell.paper for cell in row.cells):
            cells = [
                cell.paper.shown + (_raised(cell.doubt) if cell.doubt else "") if cell.paper else ""
                for cell in row.cells
            ]
            made.lines.append((f"{row.label} (published)" if row.own else row.label, cells))
    ids = {pair.run: pair.own.run_id for row in view.rows for cell in row.cells for pair in cell.own}
    if len(view.runs) > 1:
        made.notes.append("; ".join(f"run {number}: {ids[number]}" for number in sorted(ids)))
    if below:
        made.notes.append(f"own numbers: {below}" if paper else below)
    made.notes.extend(f"{mark} {text}" for text, mark in marks.items())
    made.notes.extend(view.remarks)
    names = {part: named(part) for head in view.heads for part in head}
    if numbered := [name for part, name in names.items() if name != part]:
        made.notes.append("; ".join(numbered))
    if paper:
        made.notes.extend(f"{_raised(number)} {doubt}" for number, doubt in enumerate(view.doubts, start=1))
    return made


def _usual_n(pairs: Sequence[Compared | None]) -> int | None:
    """The n of most numbers of a line, the largest if there is a tie; None if no number has one."""
    counts = Counter(n for pair in pairs if (n := _n(pair)) is not None)
    return max(counts, key=lambda n: (counts[n], n), default=None)


def _n_below(view: TableView) -> str:
    """The table's n, stated in one place; "" if two numbers of a column have different n."""
    columns = {
        head: {n for row in view.rows for pair in row.cells[at].own if (n := _n(pair)) is not None}
        for at, head in enumerate(view.heads)
    }
    if any(len(counts) > 1 for counts in columns.values()):
        return ""
    parts: dict[int, list[str]] = {}
    for head, counts in columns.items():
        for n in counts:
            parts.setdefault(n, []).append(head[0] if len(head) > 1 else ", ".join(head))
    if len(parts) == 1:
        return f"n = {next(iter(parts)):,}"
    return "; ".join(f"n = {n:,}: {', '.join(dict.fromkeys(heads))}" for n, heads in parts.items())


def _n(pair: Compared | None) -> int | None:
    return pair.own.n if pair is not None and pair.own.value is not None else None


def _own(pair: Compared, marks: dict[str, str], usual: int | None) -> str:
    """A number with its interval and mark, and its n if that differs from `usual`, the n of its line."""
    result = pair.own
    if result.value is None:
        return "not computed"
    text = pair.printed + (f" [{', '.join(pair.interval)}]" if pair.interval else "")
    mark, why = _mark(pair)
    if mark and why not in marks:
        alike = sum(one.startswith(mark) for one in marks.values())
        marks[why] = mark + (f"{_RAISE}{alike + 1}{_RAISE}" if alike else "")
    return text + marks.get(why, "") + (f" (n = {result.n:,})" if usual and result.n not in (None, usual) else "")


def _mark(pair: Compared) -> tuple[str, str]:
    """The mark of a number, and what it means."""
    result = pair.own
    if result.kind == "stand-in":
        reason = result.record.stand_in if result.record else ""
        return STAND_IN, f"stand-in, no reproduction: {reason}"
    if result.kind == "reproduced":
        return "", ""
    barred = re.sub(r"^\w+ ?\(?|\)$", "", result.provenance)
    return OWN, f"not reproduced: {barred or 'conditions unknown'}"


def _raised(doubt: int) -> str:
    """The letter of a doubt (a, b, …), as a superscript in either language."""
    return f"{_RAISE}{string.ascii_lowercase[doubt - 1]}{_RAISE}"


# --- Markdown ---------------------------------------------------------------------------------------------------------


def markdown(tables: Sequence[Printed]) -> str:
    """The tables one below the other."""
    return "\n".join(line for table in tables for line in (*_markdown(table), ""))


def _markdown(table: Printed) -> Iterator[str]:
    yield f"**{_plain(table.caption)}**\n"
    yield _bar(["", *(", ".join(part for part in head if part) for head in table.view.heads)])
    yield "|---|" + "---:|" * len(table.view.heads)
    for name, cells in table.lines:
        yield _bar([name, *cells])
    if table.notes:
        yield ""
        yield "  \n".join(map(_plain, table.notes))


def _bar(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_plain, cells)) + " |"


def _plain(text: str) -> str:
    """A text that Markdown does not interpret."""
    escaped = re.sub(r"([\\`*_|<>\[\]~])", r"\\\1", " ".join(text.split()))
    return re.sub(f"{_RAISE}(.*?){_RAISE}", r"<sup>\1</sup>", escaped)


# --- LaTeX ------------------------------------------------------------------------------------------------------------

# pdfLaTeX knows no Greek letter outside of formulas, and no name for those that look like Latin ones.
_GREEK = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho varsigma sigma tau upsilon "
    "varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
).split()
TEX = {
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "−": "$-$", "±": r"$\pm$", "≥": r"$\geq$",
    "≤": r"$\leq$", "×": r"$\times$", "→": r"$\rightarrow$", "…": r"\dots{}", "–": "--", OWN: r"$^\dagger$",
    STAND_IN: r"$^\ddagger$",
    **{letter: rf"$\{name}$" for letter, name in zip("αβγδεζηθικλμνξπρςστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", _GREEK, strict=True)},
    **dict(zip("οΑΒΕΖΗΙΚΜΝΟΡΤΧ", "oABEZHIKMNOPTX", strict=True)),
}  # fmt: skip
"""Sign -> how LaTeX prints it; tables copied from the page use it too."""
_SIGNED = re.compile(r"(?<![\w.])-(?=\d)")
_INTERVAL = re.compile(r" (\[.*?\])")


def latex(tables: Sequence[Printed]) -> str:
    """The tables as floats; they need \\usepackage{booktabs,graphicx}."""
    return "% \\usepackage{booktabs,graphicx}\n" + "\n".join(line for table in tables for line in (*_latex(table), ""))


def _latex(table: Printed) -> Iterator[str]:
    yield r"\begin{table}"
    yield r"\centering"
    yield rf"\caption{{{_tex(table.caption)}}}"
    yield rf"\label{{tab:{re.sub('[^a-z0-9]+', '-', table.view.anchor)}}}"
    # as large as its place at most, which has room for caption and notes: paper does not scroll
    yield r"\resizebox*{!}{\ifdim\totalheight>.8\textheight .8\textheight\else\totalheight\fi}{%"
    yield r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
    yield rf"\begin{{tabular}}{{l{'r' * len(table.view.heads)}}}"
    yield r"\toprule"
    yield from _heads(table)
    yield r"\midrule"
    for name, cells in table.lines:
        yield " & ".join(map(_tex, (name, *(_INTERVAL.sub("", cell) for cell in cells)))) + r" \\"
        intervals = [found[1] if (found := _INTERVAL.search(cell)) else "" for cell in cells]
        if any(intervals):  # below the numbers, which keeps the columns narrow
            yield " & ".join(("", *(rf"\scriptsize {_tex(text)}" if text else "" for text in intervals))) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}}}"
    if table.notes:
        yield r"\par\medskip\footnotesize\raggedright"
        yield " \\\\\n".join(map(_tex, table.notes))
    yield r"\end{table}"


def _heads(table: Printed) -> Iterator[str]:
    """The column headers; if they have two parts, the upper one spans its columns."""
    if table.view.groups:
        spans, rules, at = [], [], 2
        for name, count in table.view.groups:
            spans.append(rf"\multicolumn{{{count}}}{{c}}{{{_tex(name)}}}")
            rules.append(rf"\cmidrule(lr){{{at}-{at + count - 1}}}")
            at += count
        yield " & ".join(("", *spans)) + r" \\"
        yield "".join(rules)
    yield " & ".join(("", *(_tex(head[-1]) for head in table.view.heads))) + r" \\"


def _tex(text: str) -> str:
    """A text as LaTeX prints it, whatever special characters it holds."""
    signed = _SIGNED.sub("−", " ".join(text.split()))
    escaped = "".join(TEX.get(letter, letter) for letter in signed)
    if escaped.startswith(("[", "*")):  # behind the end of a line or a rule, this would be an argument of theirs
        escaped = f"{{}}{escaped}"
    return re.sub(f"{_RAISE}(.*?){_RAISE}", r"\\textsuperscript{\1}", escaped)


# --- CSV --------------------------------------------------------------------------------------------------------------


def csv(views: Sequence[TableView], *, paper: bool) -> str:
    """One line per number: those with a place in a table of the paper, and all others of the runs."""
    lines = [line for view in views for line in _numbers(view, paper)]
    return table_bytes(_COLUMNS, lines).decode()


def _numbers(view: TableView, paper: bool) -> Iterator[dict[str, Any]]:
    for row in view.rows:
        for head, cell in zip(view.heads, row.cells, strict=True):
            for pair in cell.own:
                yield _number(view, row.label, ", ".join(head), pair)
            if paper and cell.paper:
                yield {
                    **{"paper": view.paper, "table": view.name, "row": row.label, "column": ", ".join(head)},
                    **{"source": "published", "value": cell.paper.printed, "unit": cell.paper.unit},
                    **{"provenance": "published", "note": cell.paper.wrong},
                }
    usual = _unnamed_group(view)
    for group, pairs in view.others.items():
        for pair in pairs:
            own = pair.own
            # A column that the paper lacks belongs to the same row as its neighbours that the paper has.
            label = ", ".join(part for part in (own.row, own.setting, "" if group == usual else group) if part)
            yield _number(view, label, own.column, pair)


def _unnamed_group(view: TableView) -> str | None:
    """The split or group of all numbers with a place in the table, if its rows and columns do not name it."""
    groups = {short(pair.own.split_or_group) for row in view.rows for cell in row.cells for pair in cell.own}
    named_parts = {part for row in view.rows for part in row.labels} | {part for head in view.heads for part in head}
    return groups.pop() if len(groups) == 1 and not groups & named_parts else None


def _number(view: TableView, row: str, column: str, pair: Compared) -> dict[str, Any]:
    own = pair.own
    low, high = own.ci95 or (None, None)
    mark, why = _mark(pair)
    return {
        **{"paper": view.paper, "table": view.name, "row": row, "column": column, "source": "own", "run": pair.run},
        **{"value": own.value, "ci95_low": low, "ci95_high": high, "n": own.n, "unit": own.unit},
        **{"provenance": own.provenance, "mark": mark, "note": own.note or why, "run_id": own.run_id},
    }
