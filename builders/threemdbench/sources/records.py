"""Tables as publishers of photos ship them: which file is meant, and cells by column, also when a column is missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from loaders.errors import InputError, how_many
from loaders.files.cells import cell_text, licence_text
from loaders.files.paths import files_below, is_folder, is_hidden, is_inside, name_of
from loaders.files.tables import Table, open_table


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


def read_records(path: Path) -> tuple[Table, list[Record]]:
    """A table and its readable rows.

    Raises:
        InputError: what `open_table` refuses.
    """
    table = open_table(path)
    return table, [Record(f"{name_of(path)}:{line}", cells) for line, cells in table.rows]


def table_in(place: Path, pattern: str) -> Path:
    """`place` itself, or the one file below the folder `place` (an unpacked archive) whose name fits the pattern and is
    not hidden.

    Raises:
        InputError: there is none, or more than one.
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
