"""What the cells of a table mean, and what separates them."""

from __future__ import annotations

import ast
import re
from typing import Any, TextIO
from unicodedata import normalize

LONGEST_ROW = 64 << 20
_QUOTED = re.compile('"[^"]*"')
_DECIMAL = re.compile("(?<=[0-9]),(?=[0-9])")
_STATED = re.compile(r'"?sep=([^\w\s"]|\t)"?', re.IGNORECASE)
_ERROR = re.compile(r"#[A-ZÀ-Þ0-9/]+[!?]")
_NOTHING = frozenset("nan -nan none null na n/a <na> #n/a #na nat".split())


def separator_of(text: TextIO, *, tabs: bool = False) -> tuple[int, str]:
    """How many lines precede the table, and what separates its cells; the text is then positioned at the table.

    A first line `sep=;` states it, as in Excel. Otherwise it is what separates the names of the header line: `tabs`;
    commas; if it holds none, semicolons, tabs or vertical bars, whichever are more frequent. The comma of a number
    ("1,5" among names with semicolons) separates nothing.
    """
    line = text.readline(LONGEST_ROW).lstrip("\ufeff")
    if stated := _STATED.fullmatch(line.rstrip("\r\n")):
        return 1, stated[1]
    while line and not line.strip("\r\n"):
        line = text.readline(LONGEST_ROW)
    text.seek(0)
    header = _DECIMAL.sub("", _QUOTED.sub("", line))
    return 0, "\t" if tabs else "," if "," in header else max(",;\t|", key=header.count)


def cell_text(cell: str) -> str:
    """The text of a cell, stripped of white space; "" also for the words by which programs mark a missing value, and
    the errors that spreadsheets show of what they took for a formula.

    >>> cell_text(" left lung "), cell_text("NaN"), cell_text("None"), cell_text("#N/A"), cell_text("#NAME?")
    ('left lung', '', '', '', '')
    """
    text = cell.strip()
    return "" if text.casefold() in _NOTHING or _ERROR.fullmatch(text) else text


def licence_text(cell: str) -> str:
    """As `cell_text`, but a failed formula stays: it was a statement, and nobody else's licence may take its place.

    >>> licence_text(" CC BY "), licence_text("NaN"), licence_text("#NAME?")
    ('CC BY', '', '#NAME?')
    """
    text = cell.strip()
    return text if _ERROR.fullmatch(text) else cell_text(text)


def parse_literal(text: str) -> Any:
    """The value that a text writes as Python does, such as a list in a cell.

    >>> parse_literal(" ['a', 1] ")
    ['a', 1]

    Raises: ValueError for anything else: `[{[]: 1}]`, a name, too deep a nesting.
    """
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        raise ValueError("no Python literal") from None


def plain_label(label: str) -> str:
    """A label normalised for comparison.

    >>> plain_label("Mouth_Ulcer "), plain_label("mouth ulcer")
    ('mouth ulcer', 'mouth ulcer')
    """
    return " ".join(normalize("NFC", label).replace("_", " ").casefold().split())
