"""Sheets that people fill in: CSV files as spreadsheet programs of any country save them."""

from __future__ import annotations

import csv
import io
import random
import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from loaders.errors import InputError, how_many
from loaders.files.cells import separator_of
from loaders.files.disk import all_or_nothing, write_first
from loaders.files.opening import read_file
from loaders.files.paths import is_there
from loaders.files.texts import decode

Item = TypeVar("Item")

UNFILLED = "Have the rater complete or correct this cell"

# What a spreadsheet takes for a formula, also in full width, and whatever blanks precede it; a tab or a line end may
# begin another cell. And an id that it saves as another number: 0012, 123e45, or one of more digits than it shows.
_FORMULA = re.compile(r"'*(?:[\s\ufeff\u200b]*[=+\-@＝＋－＠]|[\t\r\n]|(?:0\d+|\d+[eE]\d+|\d{12,})$)")
# What a spreadsheet makes of the column 1.2: the number 1,2, or a day as 01.02.2026, "01. Feb" or 1-Feb.
_NUMBERED = re.compile(
    r"0?([1-9])(?:[.,]0?([1-9])(?:\.(?:\d\d|\d{4})?)?|[. -]{1,2}(jan|jän|feb|mar|mär|mrz)[a-zä]*\.?)"
)
# Not 1,000, which is a thousand elsewhere.
_WHOLE = re.compile(r"([0-9]+)[.,]0{1,2}")
_MONTHS = {"jan": "1", "jän": "1", "feb": "2", "mar": "3", "mär": "3", "mrz": "3"}


def read_sheet(path: Path, wanted: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """The filled rows of a sheet, each with its place (the row of a spreadsheet) and its cells by column, stripped.

    Columns are matched by their names in lower case, and a number also by what a spreadsheet makes of it. Raises
    InputError for a file that is missing or not text, lacks a `wanted` column or has it twice, or has no filled row,
    and for a row with more cells than columns.
    """
    text = io.StringIO(decode(read_file(path, expected="a filled-in sheet"), path), newline="")
    before, separator = separator_of(text)
    reader = csv.reader(text, delimiter=separator)
    try:
        # rows as a spreadsheet numbers them: a dialogue in a cell has many lines, and "sep=;" is not shown
        lines = [(number, [_text(cell) for cell in row]) for number, row in enumerate(reader, start=1)]
    except csv.Error as error:
        where, do = f"{path}, line {before + reader.line_num}", "Save the sheet again as CSV"
        raise InputError(where, found=f"not CSV ({error})", expected="a filled-in sheet", do=do) from None
    lines = [(number, row) for number, row in lines if any(row)]
    columns = [_column(name, wanted) for name in lines[0][1]] if lines else []
    if lacking := [name for name in wanted if name not in columns]:
        found = f"no column {', '.join(lacking)}" if lines else "is empty"
        do = "Pass a sheet that Bedside wrote for this command, with its header row unchanged"
        raise InputError(path, found=found, expected=f"the columns {', '.join(wanted)}", do=do)
    if twice := [name for name in wanted if columns.count(name) > 1]:
        found, do = f"column {', '.join(twice)} twice", "Delete or rename one of them"
        raise InputError(path, found=found, expected="each column once", do=do)
    rows = [(f"{path}, row {number}", row) for number, row in lines[1:]]
    if not rows:  # a rater would be left out unnoticed
        do = "Fill it in, or leave it out of the command"
        raise InputError(path, found="no filled row", expected="a filled-in sheet", do=do)
    for where, row in rows:
        if any(row[len(columns) :]):  # of which cell the comma stands unquoted, nobody knows
            expected, do = f"{len(columns)}, one for each column", "Put quotes around a cell that holds the separator"
            raise InputError(where, found=how_many(len(row), "cell"), expected=expected, do=do)
    # Spreadsheet programs leave empty cells at the end.
    blank = [""] * len(columns)
    return [(where, dict(zip(columns, [*row, *blank], strict=False))) for where, row in rows]


def _column(heading: str, wanted: Container[str]) -> str:
    """The name of a column.

    >>> _column("Case ID", ()), _column("02. Feb", {"2.2"}), _column("1,3", {"1.3"})
    ('case_id', '2.2', '1.3')
    """
    name = heading.casefold()
    if day := _NUMBERED.fullmatch(name):
        number = f"{day[1]}.{day[2] or _MONTHS[day[3]]}"
        return number if number in wanted else name
    return name.replace(" ", "_")


def _text(cell: str) -> str:
    cell = cell.strip()
    return cell[1:].strip() if cell.startswith("'") and _FORMULA.match(cell[1:]) else cell


def whole_number(cell: str) -> str:
    """A cell of a column of whole numbers, which a spreadsheet may show with decimals.

    >>> whole_number("4,0"), whole_number("4.00"), whole_number("4,5")
    ('4', '4', '4,5')
    """
    return whole[1] if (whole := _WHOLE.fullmatch(cell)) else cell


def sheet_bytes(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], stand_in: str | None = None) -> bytes:
    """A sheet to be filled in, as the bytes of its file, with the byte-order mark that Excel needs to read UTF-8.

    If its marks are a stand-in, a last column says why in every row.
    """
    if stand_in:
        columns, rows = (*columns, "stand_in"), ({**row, "stand_in": stand_in} for row in rows)
    return b"\xef\xbb\xbf" + table_bytes(columns, rows)


def table_bytes(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Any CSV that a person may open: columns that a row lacks are blank, and no cell is a formula."""
    lines = []
    for cells in (columns, *([_cell(row.get(name, "")) for name in columns] for row in rows)):
        line = io.StringIO(newline="")
        # quotes cells with either character of its line end; ours ends with "\n" alone
        csv.writer(line).writerow(cells)
        lines.append(line.getvalue().removesuffix("\r\n") + "\n")
    return "".join(lines).encode()


def rater_sheets(
    path: Path,
    raters: int,
    columns: Sequence[str],
    items: Sequence[Item],
    row: Callable[[Item], Mapping[str, Any]],
    *,
    seed: int,
    stand_in: str | None = None,
) -> dict[Path, bytes]:
    """One blank sheet per rater, R1, R2 and so on ("-R1" after the name of `path`): a row per item, in an order of its
    own, so that no item is always met by tired raters."""
    sheets = {}
    for rater in (f"R{number}" for number in range(1, raters + 1)):
        order = list(items)
        random.Random(f"{seed} {rater}").shuffle(order)
        rows = ({"rater": rater, **row(item)} for item in order)
        sheets[path.with_stem(f"{path.stem}-{rater}")] = sheet_bytes(columns, rows, stand_in)
    return sheets


def check_complete(
    given: Mapping[str, Container[Item]],
    items: Collection[Item],
    mark: str,
    kind: str,
    *,
    task: str = "",
    name: Callable[[Item], str] = str,
) -> None:
    """Raises InputError for a rater, of those in `given`, whose sheets lack the `mark` of an item that others have.

    `kind` is what the items are, in the plural.
    """
    for rater, own in given.items():
        if missing := [item for item in items if item not in own]:
            where = f"rater {rater}, task {task}" if task else f"rater {rater}"
            found = f"no {mark} of {len(missing):,} of {len(items):,} {kind}, the first {name(missing[0])}"
            do = "Name the sheets of all raters, complete"
            raise InputError(where, found=found, expected=f"all {len(items):,} {kind}", do=do)


def _cell(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def write_new(contents: Mapping[Path, bytes], do: str = "Choose another -o") -> list[Path]:
    """Write all files or none, and return them. Raises InputError for an existing file: a sheet may hold hours of
    work."""
    for place in contents:
        if is_there(place):
            raise _occupied(place, do)
    with all_or_nothing():
        for place, content in contents.items():
            if not write_first(place, content):  # somebody else has just written it
                raise _occupied(place, do)
    return list(contents)


def _occupied(place: Path, do: str) -> InputError:
    return InputError(place, found="an existing file", expected="a new name", do=do)
