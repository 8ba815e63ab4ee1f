"""Rows of a table that a quote without its partner has joined into one cell.

A quote that stands open is closed by whichever comes next. If a separator happens to follow that one, the file is
well-formed CSV, in which the rows between the two are lines of a cell. But a cell may have lines of its own, and a line
of text holds commas. So `joined_rows` asks whether the lines of a cell have as many parts as a row, and then whether
they begin or end as the rows of this table do.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_BREAK = re.compile(r"\r\n|\r|\n")
_DIGITS = re.compile(r"\d+")
_DECIMAL = re.compile(r"(?<=\d),(?=\d)")
_NUMBER = re.compile(r"\d{1,18}")
_CODE = re.compile(r"(?=\S*\d)(?=\S*[^\W\d])\S+")  # a word with letters and digits
_CODED, _WORD = re.compile(r"(?=\D*\d)\S+"), re.compile(r"\S+")
_MANY = 10
_FEW = 3  # rows that must have the same cell in a column before another is known by it
_MOST = 0.9  # the share of the lines that must be rows, and of these that must be like others
_SAME = 3  # characters with which names that belong together begin
_LONG = 5  # what numbers an item of a text is shorter


@dataclass(frozen=True, slots=True)
class Joined:
    """Rows in a cell: the first `lines` of the file are the row's own, and `rows` more stand in the cell. If that is
    not `certain`, they may be a text all the same."""

    lines: int
    rows: int
    certain: bool


def joined_rows(cells: list[str], width: int, sep: str, before: Sequence[list[str]]) -> Joined | None:
    """The rows that a cell of this row seems to have taken in; the table has `width` columns, and some rows `before`
    this one are known."""
    own = 1
    for at, cell in enumerate(cells):
        head, *lines = _BREAK.split(cell)
        if lines and width > 1 and at + 1 + head.count(sep) == width:
            # The last line goes on behind the cell. Of many rows, one may be wrong in itself.
            told = [*filter(None, lines[:-1]), lines[-1]]
            ends = [*([[]] * (len(told) - 1)), cells[at + 1 :]]
            rows = [line.split(sep) + end for line, end in zip(told, ends, strict=True) if _is_split(line, sep)]
            rows = [row for row in rows if len(row) == width]
            if rows and len(rows) >= _MOST * len(told):
                first = cells[0] if at else head.partition(sep)[0]
                if _alike(rows, first, before):
                    return Joined(own, len(told), certain=True)
                return Joined(own, len(told), certain=False) if _likely(rows, first) else None
        own += len(lines)
    return None


def _is_split(line: str, sep: str) -> bool:
    """Whether a separator in the line, if it has any, is none of a sentence or a number ("axial, 1,5 mm")."""
    plain = line.replace(f"{sep} ", " ")
    return sep not in line or sep in (_DECIMAL.sub("", plain) if sep == "," else plain)


def _alike(rows: Sequence[list[str]], first: str, before: Sequence[list[str]]) -> bool:
    """Whether the rows begin as `first`, with which the row above them begins, or as those before it; or have in some
    column what all of those have."""
    names = [row[0] for row in rows]
    long = len(first) >= _LONG and all(len(name) == len(first) for name in names)
    if all(map(_NUMBER.fullmatch, (first, *names))):
        # A text may number its lines, but hardly goes on where the number of its row ends.
        begin = long or all(one < other for one, other in pairwise(map(int, (first, *names))))
    else:
        forms = {_form(first), *(_form(row[0]) for row in before)}
        begin = _mostly(name != "" and _form(name) in forms for name in names)
        same = all(name[:_SAME] == first[:_SAME] for name in names)
        if not begin and (long or same):  # digests; names that vary in the end
            begin = _mostly(_CODE.fullmatch(name) is not None for name in (first, *names))
    # The last row's end is that of the row which took it in.
    return begin or any(map(_known, zip(*rows[:-1], strict=True), zip(*before, strict=True)))


def _likely(rows: Sequence[list[str]], first: str) -> bool:
    """Whether what looks like rows is hardly a text. A line of several parts is soon written, and lines of two parts
    may be a list of values; but not many of these have names that may be those of rows."""
    names = [row[0] for row in rows]
    if len(rows[0]) > 2:
        return len(rows) > 1
    like = _CODED if any(map(str.isdecimal, first)) else _WORD
    return len(rows) >= _MANY and len({*names}) == len(names) and all(map(like.fullmatch, (first, *names)))


def _mostly(answers: Iterable[bool]) -> bool:
    given = [*answers]
    return sum(given) >= _MOST * len(given)


def _known(cells: Sequence[str], before: Sequence[str]) -> bool:
    """Whether the cells of a column are the one that all rows before them have, or codes of the same form."""
    if len(before) >= _FEW and before[0] and {before[0]} == {*before, *cells}:
        return True
    return {*map(_form, before)} >= {*map(_form, cells)} and all(map(_CODE.fullmatch, cells))


def _form(cell: str) -> str:
    return _DIGITS.sub("0", cell)
