"""Tables for a terminal of any width: no layout breaks a word or a number.

A table is laid out side by side if that fits; otherwise what all rows have in common is printed once; otherwise it is
transposed, so that a row is a column; otherwise each row becomes a block of its own. Empty columns are left out. A pipe
has no width: there a row is a line.

    shown = Table("Rows", ("split", "rows"), right=("rows",))
    shown.add_row("test", 32)
    shown.lines(60)
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rich.cells import cell_len

from loaders.errors import printable

GAP = 2
TALL = 8  # maximum lines of a row side by side; a taller one is easier to read as a block
TURNED = 6  # maximum rows of a table that may become columns


_WORD = re.compile(r"\s*\S+")


class Number(NamedTuple):
    """A number and its printed form."""

    value: float | None
    text: str


Cell = str | int | Number | None
"""The content of a cell: an int is printed with thousands separators, None as nothing."""


class Line(NamedTuple):
    """A printed line, and its style."""

    text: str
    style: str | None = None


@dataclass(frozen=True)
class Row:
    """A row of a table: its cells as given and as printed; a `section` is a heading over the rows that follow."""

    cells: tuple[Cell, ...]
    texts: tuple[str, ...]
    style: str | None = None
    section: bool = False


@dataclass
class Table:
    """Columns by their headers, of which those in `right` hold numbers; rows are added one by one."""

    title: str
    columns: tuple[str, ...]
    right: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)

    def add_row(self, *cells: Cell, style: str | None = None) -> None:
        """Adds a row; missing cells at its end are empty."""
        filled = (*cells, *[""] * (len(self.columns) - len(cells)))
        self.rows.append(Row(filled, tuple(map(_text, filled)), style))

    def add_section(self, title: str) -> None:
        """Adds a heading over the rows that follow."""
        self.rows.append(Row((title,), (_text(title),), "bold", section=True))

    def as_json(self) -> dict[str, Any]:
        """Title and rows, each an object by column; a row below a section names it."""
        heads = [" ".join(head.split()) or f"column {at}" for at, head in enumerate(self.columns, start=1)]
        rows: list[dict[str, Any]] = []
        section: dict[str, str] = {}
        for row in self.rows:
            if row.section:
                section = {"section": row.texts[0]}
                continue
            values = [cell.value if isinstance(cell, Number) else cell for cell in row.cells]
            rows.append(section | dict(zip(heads, values, strict=True)))
        return {"title": self.title.strip(), "rows": rows}

    def lines(self, room: int | None = None) -> list[Line]:
        """The table in lines of at most `room` cells; of any length if that is None.

        A line is longer only if a single word is; then it holds just that word.
        """
        before = [Line("")] * (len(self.title) - len(self.title.lstrip("\n")))
        title = [Line(text, "bold") for text in wrapped(self.title.strip("\n"), room)] if self.title else []
        return [*before, *title, *_laid_out(self, room)]


def wrapped(text: str, room: int | None, indent: str = "") -> list[str]:
    """The text in lines of at most `room` cells, broken only between words. Continuation lines are indented, unless the
    indent would force a terminal to break a word such as an address."""
    if room is None:
        return text.split("\n")
    lines = []
    for given in text.split("\n"):
        if cell_len(given) <= room:
            lines.append(given)
            continue
        line = ""
        for word in _WORD.findall(given.rstrip()):  # with the space before it, which may align something
            if line.strip() and cell_len(line) + cell_len(word) > room:
                lines.append(line)
                line, word = "", indent + word.lstrip()
            if not line.strip() and cell_len(line) + cell_len(word) > room:
                line, word = "", word.lstrip()
            line += word
        lines.append(line)
    return lines


def short_digests(text: str) -> str:
    """The text, with each digest in it shortened to its first digits.

    >>> short_digests("lock 993f121d9899617fab834ebafc35406f85aeb7d7fcb9ad439f175c5a89f193f7")
    'lock 993f121d9899617f…'
    """
    return re.sub(r"\b([0-9a-f]{16})[0-9a-f]{24,48}\b", r"\1…", text)


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, Number):
        return cell.text
    return f"{cell:,}" if isinstance(cell, int) else printable(cell).expandtabs(4)


@dataclass(frozen=True)
class _Column:
    """A column to be laid out. `least` is the smallest width that breaks no word, and no cell of numbers."""

    head: str
    texts: Sequence[str]
    right: bool

    @property
    def natural(self) -> int:
        return max(_width(text) for text in (self.head, *self.texts))

    @property
    def least(self) -> int:
        if self.right:
            return max(_longest(self.head), *map(_width, self.texts), 0)
        return max(_longest(text) for text in (self.head, *self.texts))


def _width(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def _longest(text: str) -> int:
    return max(map(cell_len, text.split()), default=0) + len(_indent(text))


def _indent(text: str) -> str:
    """The space before a text, repeated before each of its lines."""
    return text[: len(text) - len(text.lstrip(" "))]


def _laid_out(table: Table, room: int | None) -> list[Line]:
    full = [row for row in table.rows if not row.section]
    columns = [
        _Column(head, [row.texts[at] for row in full], head in table.right) for at, head in enumerate(table.columns)
    ]
    # A table without rows shows its headers; otherwise a column without content is useless.
    columns = [column for column in columns if not full or any(column.texts)]
    found = _beside(columns, table.rows, room)
    if found is not None or not columns:
        return found or []
    said, rest = _said_once(columns)
    once = [Line(line) for column in said for line in _fact(column.head, column.texts[0], room, "")]
    if said and (found := _beside(rest, table.rows, room)) is not None:
        return [*once, *found]
    if len(full) == len(table.rows) and len(full) <= TURNED and len(rest) > len(full):
        turned = _turned(rest)
        as_rows = [Row((), (), None) for _ in turned[0].texts]
        if (found := _beside(turned, as_rows, room)) is not None:
            return [*once, *found]
    return [*once, *_stacked(rest, table.rows, room)]


def _said_once(columns: Sequence[_Column]) -> tuple[list[_Column], list[_Column]]:
    """The columns of names and counts that are the same in every row, except the first; and all others."""
    alike = [
        len(column.texts) > 2
        and len(set(column.texts)) == 1
        and (not column.right or column.texts[0].replace(",", "").isdecimal())
        for column in columns
    ]
    said = [column for at, column in enumerate(columns) if at and alike[at] and column.head.strip()]
    return said, [column for column in columns if column not in said]


def _beside(columns: Sequence[_Column], rows: Sequence[Row], room: int | None) -> list[Line] | None:
    """The columns side by side, or None if they do not fit, or only in rows that are too tall."""
    widths = _widths(columns, room)
    if widths is None:
        return None
    heads = [(column.head, column.right) for column in columns]
    lines = [Line(text, "bold") for text in _row(heads, widths)] if any(head.strip() for head, _ in heads) else []
    at = 0
    for row in rows:
        if row.section:
            lines += [Line(text, row.style) for text in wrapped(row.texts[0], room)]
            continue
        texts = _row([(column.texts[at], column.right) for column in columns], widths)
        if len(texts) > TALL and room is not None:
            return None
        lines += [Line(text, row.style) for text in texts]
        at += 1
    return lines


def _widths(columns: Sequence[_Column], room: int | None) -> list[int] | None:
    """A width for each column: its own if all fit; otherwise the widest are narrowed to one common width that fits."""
    natural = [column.natural for column in columns]
    gaps = GAP * (len(columns) - 1)
    if room is None or sum(natural) + gaps <= room:
        return natural
    least = [column.least for column in columns]
    if sum(least) + gaps > room:
        return None

    def capped(cap: int) -> list[int]:
        return [max(few, min(most, cap)) for few, most in zip(least, natural, strict=True)]

    caps = range(1, max(natural) + 1)
    return capped(bisect_right(caps, room - gaps, key=lambda cap: sum(capped(cap))))


def _row(cells: Sequence[tuple[str, bool]], widths: Sequence[int]) -> list[str]:
    """The lines of a row: cells of (text, whether numbers) in columns of these widths."""
    parts = [wrapped(text, width, _indent(text)) for (text, _), width in zip(cells, widths, strict=True)]
    lines = []
    for number in range(max(map(len, parts), default=0)):
        line = []
        for (_, right), part, width in zip(cells, parts, widths, strict=True):
            text = part[number] if number < len(part) else ""
            space = " " * (width - cell_len(text))
            line.append(space + text if right else text + space)
        lines.append((" " * GAP).join(line).rstrip())
    return lines


def _turned(columns: Sequence[_Column]) -> list[_Column]:
    """Rows as columns: the first column becomes the headers."""
    first, *others = columns
    turned = [_Column(first.head, [column.head for column in others], right=False)]
    numbers = all(column.right for column in others)
    for at, head in enumerate(first.texts):
        turned.append(_Column(head, [column.texts[at] for column in others], right=numbers))
    return turned


def _stacked(columns: Sequence[_Column], rows: Sequence[Row], room: int | None) -> Iterator[Line]:
    """Each row as a block: its first cell, then a line for every other that holds something."""
    at = 0
    for row in rows:
        if row.section:
            yield from (Line(text, row.style) for text in wrapped(row.texts[0], room))
            continue
        first, *others = columns
        for text in wrapped(first.texts[at], room):
            yield Line(text, row.style or "bold")
        for column in others:
            if column.texts[at].strip():
                yield from (Line(text, row.style) for text in _fact(column.head, column.texts[at], room, "  "))
        at += 1


def _fact(head: str, text: str, room: int | None, indent: str) -> list[str]:
    """A header and its content: on one line if that fits, otherwise the content indented on the next."""
    head = " ".join(head.split())
    whole = f"{indent}{head}{' ' * GAP if head else ''}{text}"
    if "\n" not in text and (room is None or cell_len(whole) <= room):
        return [whole]
    deeper = indent + "  "
    lines = wrapped(f"{indent}{head}", room, indent) if head else []
    for line in text.split("\n"):
        lines += wrapped(deeper + line.strip(), room, deeper)
    return lines
