"""Tables as the publishers of photos ship them: as `builders.tables` reads them, but without unnamed columns.

One of the ISIC ground truths ends in nine such columns, with stray numbers in them, and in a row of commas.
"""

from __future__ import annotations

import csv
import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

from builders.tables import FIELD_LIMIT, Table, decode, read_bytes, read_table
from loaders.errors import InputError


@dataclass(frozen=True, slots=True)
class Record:
    """One row: where it stands (`file:line`) and its cells by column, stripped."""

    where: str
    cells: dict[str, str]

    def __getitem__(self, column: str | None) -> str:
        return self.cells[column].strip() if column else ""


def read_records(path: Path) -> tuple[Table, list[Record]]:
    """A table and its rows; columns at the end of the header that have no name are left out.

    Raises:
        InputError: what `read_table` refuses.
    """
    header = decode(read_bytes(path), path).splitlines()[:1]
    table = _named_columns(path) if header and header[0].rstrip().endswith(",") else read_table(path)
    return table, [Record(f"{path.name}:{line}", cells) for line, cells in table.rows]


def _named_columns(path: Path) -> Table:
    data = read_bytes(path)
    csv.field_size_limit(FIELD_LIMIT)
    lines = list(csv.reader(io.StringIO(decode(data, path), newline="")))
    columns = [name.strip() for name in lines[0]]
    while columns and not columns[-1]:
        columns.pop()
    rows = []
    for number, cells in enumerate(lines[1:], start=2):
        if not any(cell.strip() for cell in cells[: len(columns)]):
            continue
        if len(cells) < len(columns):
            raise InputError(
                f"{path}:{number}",
                found=f"a row of {len(cells)} cells",
                expected=f"{len(columns)} cells: {', '.join(columns)}",
                do="Mend the row; a short last row means that the file was cut off",
            )
        rows.append((number, dict(zip(columns, cells, strict=False))))
    if not rows or "" in columns or len(set(columns)) < len(columns):
        raise InputError(path, found=f"columns {', '.join(columns)}", expected="named columns and at least one row")
    return Table(path, tuple(columns), tuple(rows), hashlib.sha256(data).hexdigest())
