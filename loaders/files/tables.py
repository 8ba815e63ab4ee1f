"""Reads tables that somebody else wrote, row by row, each row with its place in the file.

`open_table` is for CSV and TSV, `read_records` for JSON, JSON lines, YAML and Parquet too. Both have one contract: each
row is yielded, or a `BadRow` says why it cannot be; a file is refused only if it has no header of that format.
`read_table` is for tables that a user wrote for this project, such as decisions: there every row counts, and a bad one
is an error.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, Literal, TextIO, overload

import pyarrow as pa
import pyarrow.parquet as pq

from loaders.errors import CHECK_LINES, CHECK_WHOLE, InputError, how_many
from loaders.files.bad_rows import BadRow
from loaders.files.cells import LONGEST_ROW, separator_of
from loaders.files.disk import NO_ROOM, refuse_disk
from loaders.files.json_values import parse_json, unusual
from loaders.files.kinds import PARQUET, mistaken
from loaders.files.open_quotes import Joined, joined_rows
from loaders.files.opening import MOST_BYTES, blocks_of, digest_of, open_file, read_file
from loaders.files.paths import name_of
from loaders.files.texts import MARK, check_text, decode, is_text, line_text, stream_lines
from loaders.files.yaml_values import parse_yaml

# A caption can be long; a field this long means a quote that was never closed.
FIELD_LIMIT = 1 << 20
_HEAD = 1_000
_JSON = re.compile(rb'(?:\xef\xbb\xbf)*\s*(?:\[\s*)?\{\s*"')
_JSON_LINES = (".jsonl", ".ndjson")
_PARQUET_SUFFIXES = (".parquet", ".pq")
_CONVERTED = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), 'Save the sheet as "CSV UTF-8"'),
    **dict.fromkeys((".gz", ".zst", ".bz2", ".xz", ".zip"), "Unpack it first"),
}
_KNOWN = 20  # rows by which others are known
_QUOTES = 1_000  # after so many rows with broken quotes, the file is not CSV
_BATCH_BYTES = 1 << 30
_CELLS = (pa.ArrowException, ValueError, OverflowError, TypeError)
_PARQUET = (*_CELLS, OSError, MemoryError, LookupError)


@dataclass(frozen=True, slots=True)
class Table:
    """A table in memory: its columns, its rows as (number of the row's first line, cells), the unreadable ones, and its
    SHA-256."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]
    bad: tuple[BadRow, ...]
    digest: str

    @overload
    def column(self, *names: str, needed: Literal[True]) -> str: ...

    @overload
    def column(self, *names: str, needed: bool = False) -> str | None: ...

    def column(self, *names: str, needed: bool = False) -> str | None:
        """The table's own name for the first of `names` that it has, ignoring case. Raises: InputError if a column that
        is `needed` is not there."""
        own = {plain_name(column): column for column in self.columns}
        for name in names:
            if plain_name(name) in own:
                return own[plain_name(name)]
        if needed:
            raise no_column(self.path, [names], self.columns)
        return None


def no_column(path: Path, lacking: Sequence[Sequence[str]], columns: Sequence[str]) -> InputError:
    """The error for a table that lacks columns; each is `lacking` under several names, the usual one first."""
    do = "Rename the columns that hold them, or add them"
    suffix = path.suffix.casefold()
    if len(columns) == 1 and suffix == ".csv" and "," in columns[0]:  # a comma that separates nothing is in quotes
        do = "Each line is in quotes as a whole: take off the quotes around it, and undouble those inside"
    elif len(columns) == 1 and re.search(r"[,;\t|]", columns[0]):
        do = "Its cells seem to be separated otherwise than its name says: .csv is for commas, .tsv for tabs"
    elif len(columns) == 1 and suffix in (".csv", ".tsv"):
        do += "; delete what stands above the line with the names of the columns, such as a title"
    return InputError(
        path,
        found=f"has no column {' and none '.join(repr(names[0]) for names in lacking)}; "
        f"its columns are: {', '.join(columns)}",
        expected="; ".join("one of " + ", ".join(names) for names in lacking),
        do=do,
    )


def plain_name(name: str) -> str:
    """A column's name normalised for comparison: "Expert term" and "expert_term" are the same, also if the white space
    is a line break, as in a wrapped heading of a spreadsheet, does not break, as from a text program, or has no width,
    as from a web page."""
    return "_".join(name.casefold().replace("\u200b", "").split()).replace("-", "_")


def read_table(path: Path) -> Table:
    """A table in which every row counts. Raises: InputError as `open_table`, and for the first unreadable row."""
    table = open_table(path)
    for bad in table.bad:
        raise bad.inside(path)
    return table


def open_table(path: Path) -> Table:
    """Read a table with a header line. Tabs separate the cells of a `.tsv`, commas those of any other file; if the
    header line holds no comma, then whatever it uses: semicolons (as spreadsheets write them in much of the world),
    tabs or vertical bars.

    Unnamed columns at the end of the header are left out with their cells, and so is an unnamed first one (the row
    numbers that pandas and R write). A row without any text is no row.

    Raises: InputError if the file is missing, empty or too long, its header is not UTF-8, a column name is missing or
    duplicated, or it holds no rows.
    """
    data = _filled(path)
    file = io.BytesIO(data)
    columns, rows = _table(file, _text(file), path)
    read = list(rows)
    if not read:
        raise _no_row(path)
    kept = tuple(row for row in read if not isinstance(row, BadRow))
    bad = tuple(row for row in read if isinstance(row, BadRow))
    return Table(path, columns, kept, bad, hashlib.sha256(data).hexdigest())


def _text(file: BinaryIO) -> io.TextIOWrapper:
    """The text of a table; closing it closes the file. Bytes that are not UTF-8 stay recognizable."""
    return io.TextIOWrapper(file, "utf-8", "surrogateescape", newline="")


def _table(
    file: BinaryIO, text: TextIO, path: Path
) -> tuple[tuple[str, ...], Iterator[tuple[int, dict[str, str]] | BadRow]]:
    """The columns that the header names, and the rows, read on demand. Raises: as `open_table`."""
    head = file.read(_HEAD)
    if (parquet := head.startswith(PARQUET)) or _JSON.match(head):
        found, expected = "is a Parquet file" if parquet else "is JSON", "a table: a header line, then one row per line"
        raise InputError(path, found=found, expected=f"{expected} with its cells separated", do="Save it as CSV")
    file.seek(0)
    before, separator = separator_of(text, tabs=path.suffix.casefold() == ".tsv")
    rows = _rows(text, separator, path, before)
    first = next(rows, None)
    if first is None:
        expected = "a header line and at least one row"
        raise InputError(path, found="holds only blank lines", expected=expected, do=CHECK_WHOLE)
    if isinstance(first, BadRow):
        raise first.inside(path)
    names = [name.strip() for name in first[1]]
    if not all(map(is_text, names)):
        file.seek(0)
        decode(file.read(MOST_BYTES), path)
    skipped = int(len(names) > 1 and not names[0])
    columns = tuple(
        names[skipped : len(names) - next((n for n, name in enumerate(reversed(names)) if name), len(names))]
    )
    plain = [plain_name(name) for name in columns]
    again = dict.fromkeys(repr(name) for name, one in zip(columns, plain, strict=True) if plain.count(one) > 1)
    if not columns or "" in columns or again:
        raise InputError(
            f"{path}:{first[0]}",
            found=f"column names {', '.join(map(repr, names))}",
            expected="a header line that names every column once",
            do=f"Rename or delete all but one of {', '.join(again)}"
            if again and "" not in columns
            else "Write the names of the columns into the first line, one over each",
        )
    return columns, _named_rows(rows, columns, skipped, len(names) > skipped + len(columns), path)


def _named_rows(
    rows: Iterator[tuple[int, list[str]] | BadRow], columns: Sequence[str], skipped: int, more: bool, path: Path
) -> Iterator[tuple[int, dict[str, str]] | BadRow]:
    file = name_of(path)
    for row in rows:
        if isinstance(row, BadRow):
            yield row
            continue
        line, cells = row[0], row[1][skipped:]
        if cells and cells[0].strip() == columns[0] and tuple(map(str.strip, cells[: len(columns)])) == columns:
            yield BadRow(
                f"{file}:{line}",
                reason="the header line again",
                expected="a row",
                do="Delete this line, which files that were joined bring along",
            )
            continue
        # Spreadsheets leave rows of separators alone at the end, however many.
        if not any(map(str.strip, cells[: len(columns)] if more else row[1])):
            continue
        try:
            yield line, _named(cells, columns, more, f"{file}:{line}")
        except BadRow as error:
            yield error


def _no_row(path: Path) -> InputError:
    return InputError(path, found="holds only a header line", expected="at least one row", do=CHECK_WHOLE)


def _named(cells: list[str], columns: Sequence[str], more: bool, where: str) -> dict[str, str]:
    """The cells by column. Raises: BadRow if there are too few or too many, or one is not text."""
    if len(cells) < len(columns) or (len(cells) > len(columns) and not more):
        raise BadRow(
            where,
            reason="a different number of cells than the header",
            found=f"a row of {how_many(len(cells), 'cell')}",
            expected=f"{how_many(len(columns), 'cell')}: {', '.join(columns)}",
            do="Fix the row; a short last row means that the file was truncated"
            if len(cells) < len(columns)
            else "Put quotes around a cell that holds the separator",
        )
    if is_text("".join(cells)):
        return dict(zip(columns, cells, strict=False))
    return {name: check_text(cell, where, name) for name, cell in zip(columns, cells, strict=False)}


def _rows(text: TextIO, delimiter: str, path: Path, before: int) -> Iterator[tuple[int, list[str]] | BadRow]:
    """Rows with the number of their first line, without blank lines; `before` lines were read already. After a row that
    is not CSV, the line after its first one begins the next row; so it does after one that has taken in others, of
    which `joined_rows` is certain.

    Raises: InputError if there are too many such rows, and for a line that never ends.
    """
    csv.field_size_limit(FIELD_LIMIT)
    row: list[str] = []  # the lines of the current row
    again: deque[str] = deque()  # lines that are read once more
    width = 0
    known: deque[list[str]] = deque(maxlen=_KNOWN)

    def lines() -> Iterator[str]:
        while line := again.popleft() if again else text.readline(LONGEST_ROW + 1):
            line = line.lstrip(MARK)
            if len(line) > LONGEST_ROW:
                expected = f"at most {LONGEST_ROW:,} characters"
                raise InputError(path, found="a line without end", expected=expected, do=CHECK_LINES)
            row.append(line)
            yield line

    reader, broken = csv.reader(lines(), delimiter=delimiter, strict=True), 0
    while True:
        line = before + reader.line_num + 1
        row.clear()
        own = 1
        try:
            cells = next(reader)
            bad = None
            if width and len(row) > 1 and (joined := joined_rows(cells, width, delimiter, known)):
                own = joined.lines
                bad = _joined(joined, f"{name_of(path)}:{line}")
                if not joined.certain:
                    yield bad
                    continue
        except StopIteration:
            return
        except csv.Error as error:
            bad = _broken(error, len(row), f"{name_of(path)}:{line}")
        if bad is not None:
            broken += 1
            if broken > _QUOTES:
                found = f"{bad.found}, in {broken:,} rows"
                raise InputError(path, found=found, expected=bad.expected, do=bad.do) from None
            yield bad
            again.extendleft(reversed(row[own:]))
            reader, before = csv.reader(lines(), delimiter=delimiter, strict=True), line + own - 1
            continue
        if cells:
            if not width:
                width = len(cells)
            elif len(cells) == width:
                known.append(cells)
            yield line, cells


def _broken(error: csv.Error, lines: int, where: str) -> BadRow:
    """What is wrong with a row of so many lines that is not CSV."""
    if not str(error).startswith("field larger"):
        return BadRow(
            where,
            reason="no CSV",
            found=f"cannot be read as CSV ({error})",
            expected="closed quotes and one separator throughout",
            do="Look for an unclosed quote in this row, or a truncated file",
        )
    do = "Shorten it" if lines == 1 else "Look for an unclosed quote in this row"
    return BadRow(
        where,
        reason="a cell that is too long",
        found=f"a cell of more than {FIELD_LIMIT:,} characters" + f", in {lines:,} lines" * (lines > 1),
        expected=f"at most {FIELD_LIMIT:,}",
        do=do,
    )


def _joined(joined: Joined, where: str) -> BadRow:
    """What is wrong with a row that has taken in others, or seems to have."""
    rows = how_many(joined.rows, "more row")
    if joined.certain:
        return BadRow(
            where,
            reason="no CSV",
            found=f"a quote without its partner, which takes in {rows}",
            expected="closed quotes",
            do="Look for an unclosed quote in this row",
        )
    return BadRow(
        where,
        reason="a cell that looks like several rows",
        found=f"a cell whose lines may be {rows}",
        expected="closed quotes",
        do="Look for an unclosed quote in this row; if it is one text, save the table as JSON lines or Parquet",
    )


def _filled(path: Path) -> bytes:
    data = read_file(path)
    _check_head(data[:_HEAD], path)
    return data


@contextmanager
def _open_filled(path: Path) -> Iterator[BufferedReader]:
    with open_file(path) as file:
        _check_head(file.peek(_HEAD)[:_HEAD], path)
        yield file


def _check_head(head: bytes, path: Path) -> None:
    """Raises: InputError for a file that is empty, or of another kind than its name says."""
    if not head:
        raise InputError(path, found="is empty", expected="at least one row", do=CHECK_WHOLE)
    suffix = path.suffix.casefold()
    other = mistaken(head)
    if other and not (suffix in _PARQUET_SUFFIXES and head.startswith(PARQUET)):
        raise InputError(
            path,
            found=other[0],
            # A file that is what its name says, such as .zip, is no table all the same.
            expected=f"what is called {suffix}" if suffix and suffix not in _CONVERTED else "a table",
            do="Give it a name that ends in .parquet" if head.startswith(PARQUET) else other[1],
        )
    if suffix in _JSON_LINES and head.lstrip().startswith(b"["):
        do = "Give it a name that ends in .json"
        raise InputError(path, found="is one JSON list", expected="one record per line", do=do)


# --- Records of any kind ----------------------------------------------------------------------------------------------

Record = Mapping[str, Any]
Placed = tuple[str, Record]
"""The place of a record, and the record."""


@dataclass(frozen=True)
class Records:
    """The records of a file: its columns, a function to iterate over them as often as needed, and its SHA-256.

    `each(None)` yields (where, record) or a BadRow; `each("id")` may omit the other columns.
    """

    path: Path
    columns: tuple[str, ...]
    each: Callable[[str | None], Iterator[Placed | BadRow]]
    digest: str


def read_records(path: Path) -> Records:
    """Open a file by its suffix: CSV, TSV, JSON, JSON lines, YAML or Parquet.

    Raises: InputError if it is missing, empty, too long, of another type, or without the structure of its type; while
    its rows are read, if the file changes meanwhile.
    """
    suffix = path.suffix.casefold()
    if suffix in (".csv", ".tsv"):
        return _streamed(path, _columns_of_table(path), lambda _: _table_rows(path))
    if suffix in _JSON_LINES:
        return _streamed(path, _names_in(_lines_in(path), path), lambda _: _lines_in(path))
    if suffix in _LISTS:
        data = _filled(path)
        rows = list(_LISTS[suffix](data, path))
        return Records(path, _names_in(rows, path), lambda _: iter(rows), hashlib.sha256(data).hexdigest())
    if suffix in _PARQUET_SUFFIXES:
        with open_parquet(path) as file:
            columns, count = dict.fromkeys(file.schema_arrow.names), file.metadata.num_rows
        if count == 0:
            raise InputError(path, found="holds no rows", expected="at least one row", do=CHECK_WHOLE)
        return _streamed(path, tuple(columns), lambda only: parquet_rows(path, [only] if only else None))
    with open_file(path):
        pass
    found, expected = f"file type {suffix or '(none)'}", ".csv, .tsv, .parquet, .json, .jsonl or .yaml"
    raise InputError(path, found=found, expected=expected, do=_CONVERTED.get(suffix, ""))


def own_names(records: Records, used: Iterable[Sequence[str]]) -> dict[str, str]:
    """Each column's own name by its plain one, for a caller that looks for the `used` names.

    Raises: InputError if two columns have one of these names but for capitals: in JSON and Parquet they may, and
    whichever counted would leave the rows that fill the other empty.
    """
    own: dict[str, str] = {}
    wanted = {name for names in used for name in names}
    for column in records.columns:
        plain = plain_name(column)
        if plain in own and plain in wanted:
            found = f"columns {own[plain]!r} and {column!r}, which have the same name"
            raise InputError(records.path, found=found, expected="each name once", do="Rename or delete one of them")
        own[plain] = column
    return own


def _streamed(path: Path, columns: tuple[str, ...], each: Callable[[str | None], Iterator[Placed | BadRow]]) -> Records:
    """Records that are read from disk each time; an error at the end unless what was read matches the digest."""
    digest = digest_of(path)

    def rows(only: str | None) -> Iterator[Placed | BadRow]:
        yield from each(only)
        if digest_of(path) != digest:
            found, expected = "content that changed while it was read", "a file that does not change while it is read"
            do = "Run the command again once nothing writes to it"
            raise InputError(path, found=found, expected=expected, do=do)

    return Records(path, columns, rows, digest)


def _columns_of_table(path: Path) -> tuple[str, ...]:
    """The columns of a table with at least one row. Raises: as `open_table`."""
    with _open_filled(path) as file, _text(file) as text:
        columns, rows = _table(file, text, path)
        if next(rows, None) is None:
            raise _no_row(path)
    return columns


def _table_rows(path: Path) -> Iterator[Placed | BadRow]:
    name = name_of(path)
    with _open_filled(path) as file, _text(file) as text:
        for row in _table(file, text, path)[1]:
            yield row if isinstance(row, BadRow) else (f"{name}:{row[0]}", row[1])


def _names_in(rows: Iterable[Placed | BadRow], path: Path) -> tuple[str, ...]:
    """The names in any of the records. Raises: InputError if there is no record."""
    columns: dict[str, None] = {}
    bad: BadRow | None = None
    for row in rows:
        if isinstance(row, BadRow):
            bad = bad or row
        else:
            columns.update(dict.fromkeys(row[1]))
    if not columns:
        if bad is not None:
            raise bad.inside(path)
        raise InputError(path, found="holds no record", expected="at least one", do=CHECK_WHOLE)
    return tuple(columns)


def _lines_in(path: Path) -> Iterator[Placed | BadRow]:
    """The records of a JSON lines file, read on demand; blank lines are skipped."""
    name = name_of(path)
    with _open_filled(path) as file:
        for number, line in stream_lines(blocks_of(file), path, LONGEST_ROW, skip=True):
            where = f"{name}:{number}"
            try:
                yield where, json_record(line, where)
            except BadRow as bad:
                yield bad


def json_record(line: bytes, where: str) -> dict[str, Any]:
    """The object in a line. Raises: BadRow if there is none."""
    text = line_text(line, where)
    try:
        value = parse_json(text, where)
    except InputError as error:
        do = "Fix or delete the line; a broken last line means that the file was truncated"
        raise BadRow(where, reason="no JSON", found=error.found, expected="one record per line", do=do) from None
    return _object(value, where)


def _json_list(data: bytes, path: Path) -> Iterator[Placed | BadRow]:
    do = "Download the file again if it was truncated; name a file with one record per line .jsonl"
    as_list = "Put [ ] around the objects, or write one per line to a .jsonl file"
    return _listed(parse_json(data, path, do=do), path, kind="JSON", do=as_list)


def _yaml_list(data: bytes, path: Path) -> Iterator[Placed | BadRow]:
    """What YAML holds beyond JSON (sets, values with a tag) is not accepted as a value here."""
    value = parse_yaml(decode(data, path), path)
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        do = "Write it as text, in quotes"
        raise InputError(path, found="a value that JSON cannot hold", expected="texts, numbers, lists", do=do) from None
    return _listed(value, path, kind="YAML", do='Begin each object with "- ", and indent its other lines by two spaces')


_LISTS: Mapping[str, Callable[[bytes, Path], Iterator[Placed | BadRow]]] = {
    ".json": _json_list,
    ".yaml": _yaml_list,
    ".yml": _yaml_list,
}


def _listed(value: Any, path: Path, *, kind: str, do: str) -> Iterator[Placed | BadRow]:
    if value is None and kind == "YAML":
        raise InputError(path, found="holds no record", expected="at least one", do=CHECK_WHOLE)
    if not isinstance(value, list):
        lists = [name for name, part in value.items() if isinstance(part, list)] if isinstance(value, dict) else []
        what = f"one object of {kind}" if isinstance(value, dict) else f"{kind} that is no list"
        do = f"Leave only the list that stands under {lists[0]!r}" if len(lists) == 1 else do
        raise InputError(path, found=what, expected="a list of objects", do=do)
    for at, item in enumerate(value):
        where = f"{name_of(path)}[{at}]"
        try:
            yield where, _object(item, where)
        except BadRow as bad:
            yield bad


def _object(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BadRow(where, reason="no object", found=f"a JSON {type(value).__name__}", expected="an object")
    return value


# --- Parquet ----------------------------------------------------------------------------------------------------------


@contextmanager
def open_parquet(path: Path, data: bytes | None = None) -> Iterator[pq.ParquetFile]:
    """A Parquet file, or the bytes of one that was read already.

    Raises: InputError if it is not one, was cut off, names a column twice, or needs too much memory, at once or while
    it is read.
    """
    try:
        # Not pq.read_table: its thread may release the bytes only as the interpreter exits, which aborts the process.
        with _parquet_source(path, data) as source, pq.ParquetFile(source) as file:
            names = file.schema_arrow.names
            if len(set(names)) < len(names):
                raise InputError(path, found=f"columns {', '.join(names)}", expected="each name once", do="Rename one")
            yield file
    except _PARQUET as error:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            raise  # of what is done with the rows: reading takes no room
        refuse_disk(error, path)
        first = (str(error) or type(error).__name__).splitlines()[0]
        found = f"is not a complete Parquet file ({first})"
        raise InputError(path, found=found, expected="Parquet", do="Download the file again") from None


@contextmanager
def _parquet_source(path: Path, data: bytes | None) -> Iterator[Any]:
    """What pyarrow reads from: the path itself, which is fastest, unless it contains bytes that are not UTF-8."""
    if data is not None:
        yield pa.BufferReader(data)
    elif is_text(str(path)):
        with _open_filled(path):
            pass
        yield path
    else:
        with _open_filled(path) as file:
            yield pa.PythonFile(file, mode="r")


def parquet_rows(path: Path, columns: Sequence[str] | None = None) -> Iterator[Placed | BadRow]:
    """The rows of a Parquet file, with all columns unless some are named, in little memory.

    Raises: InputError as `open_parquet`.
    """
    with open_parquet(path) as file:
        number = 0
        for batch in file.iter_batches(batch_size=_batch_rows(file), columns=columns):
            for row in _batch(batch):
                number += 1
                where = f"{name_of(path)}, row {number}"
                wrong = unusual(row) if row is not None else "a cell of the wrong type, or not UTF-8"
                if wrong or row is None:
                    yield BadRow(where, reason="a cell that cannot be read", found=wrong, expected="text in UTF-8")
                else:
                    yield where, row


def _batch_rows(file: pq.ParquetFile) -> int:
    """Few rows at a time: a row may hold an image, and a few encoded bytes may be repeated in every row."""
    facts = file.metadata
    groups = map(facts.row_group, range(facts.num_row_groups))
    sizes = (group.column(at).total_uncompressed_size for group in groups for at in range(facts.num_columns))
    return max(1, min(64, _BATCH_BYTES // int(max([1, *sizes]))))


def _batch(batch: pa.RecordBatch) -> Iterator[dict[str, Any] | None]:
    """The rows; None for a row with an unreadable cell."""
    try:
        yield from batch.to_pylist()
        return
    except _CELLS:
        pass  # one by one
    for at in range(batch.num_rows):
        try:
            yield batch.slice(at, 1).to_pylist()[0]
        except _CELLS:
            yield None
