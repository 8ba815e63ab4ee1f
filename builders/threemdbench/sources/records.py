"""Tables as the publishers of photos ship them, with cells looked up by column, or by no column where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from loaders.files.tables import Table, open_table
from loaders.files.untrusted import cell_text, name_of


@dataclass(frozen=True, slots=True)
class Record:
    """One row: where it stands (`file:line`) and its cells by column, as `cell_text` has them."""

    where: str
    cells: dict[str, str]

    def __getitem__(self, column: str | None) -> str:
        return cell_text(self.cells[column]) if column else ""


def read_records(path: Path) -> tuple[Table, list[Record]]:
    """A table and those of its rows that can be read.

    Raises:
        InputError: what `open_table` refuses.
    """
    table = open_table(path)
    return table, [Record(f"{name_of(path)}:{line}", cells) for line, cells in table.rows]
