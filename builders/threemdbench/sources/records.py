"""Tables as publishers of photos ship them: which file is meant, and cells by column, also when a column is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loaders.errors import InputError, how_many
from loaders.files import tables
from loaders.files.bad_rows import BadRow
from loaders.files.cells import cell_text, licence_text
from loaders.files.image_files import ImageFile, ImageIndex
from loaders.files.paths import files_below, is_folder, is_hidden, is_inside, name_of
from loaders.files.tables import Table, open_table, own_names, plain_name

_TYPED = (".parquet", ".pq", ".json", ".jsonl", ".ndjson", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Record:
    """One row: its place (`file:line`) and its cells by column, as in `cell_text`."""

    where: str
    cells: dict[str, str]

    def __getitem__(self, column: str | None) -> str:
        return cell_text(self.cells[column]) if column else ""

    def licence(self, column: str | None) -> str:
        """The licence in a column (`licence_text`)."""
        return licence_text(self.cells[column]) if column else ""


def read_records(path: Path, used: Sequence[Sequence[str]] = ()) -> tuple[Table, list[Record]]:
    """A table and its readable rows. Of a file whose cells have types (JSON, YAML, Parquet), columns with one of the
    `used` names, and no others; without any, it has to be CSV or TSV.

    Raises: InputError as `open_table` and `tables.read_records`.
    """
    if not used or path.suffix.casefold() not in _TYPED:
        table = open_table(path)
        return table, [Record(f"{name_of(path)}:{line}", cells) for line, cells in table.rows]
    typed = tables.read_records(path)
    own, wanted = own_names(typed, used), {plain_name(name) for names in used for name in names}
    columns = tuple(column for plain, column in own.items() if plain in wanted)
    rows: list[Record] = []
    bad: list[BadRow] = []
    for placed in typed.each(None):
        try:
            if isinstance(placed, BadRow):
                raise placed
            where, record = placed
            rows.append(Record(where, {column: _text(record.get(column), where, column) for column in columns}))
        except BadRow as one:
            bad.append(one)
    return Table(path, typed.columns, (), tuple(bad), typed.digest), rows


def _text(value: Any, where: str, column: str) -> str:
    """A cell as a CSV would have it: "" for null, and for NaN, which pandas writes for an empty cell among numbers."""
    if value is None or value != value:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        found = f"{column} of type {type(value).__name__}"
        raise BadRow(where, reason="a cell of another type", found=found, expected="a text or a number")
    # Of pandas too: whole numbers with a gap among them.
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def table_in(place: Path, pattern: str) -> Path:
    """`place` itself, or the one file below the folder `place` (an unpacked archive) whose name fits the pattern and is
    not hidden.

    Raises: InputError if there is none, or more than one.
    """
    if not is_folder(place):
        return place
    named = {path.relative_to(place).as_posix(): path for path in files_below(place) if path.match(pattern)}
    found = {name: path for name, path in named.items() if is_inside(path, place) and not is_hidden(name)}
    if len(found) == 1:
        return next(iter(found.values()))
    names = ", ".join(list(found)[:5])
    raise InputError(
        place,
        found=f"{how_many(len(found), 'file that matches', 'files that match')} {pattern}"
        + (f": {names}" if found else ""),
        expected="one",
        do="Name the file itself",
    )


def finder(path: Path, place: Path) -> Callable[[str], ImageFile | None]:
    """What finds the images of a table: below its own folder, else below the one that was named, which may hold copies
    in other sizes beside it."""
    near = ImageIndex(path.parent)
    far = ImageIndex(place) if is_folder(place) and place != path.parent else near
    return lambda name: near.find(name) or far.find(name)
