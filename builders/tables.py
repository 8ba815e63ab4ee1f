"""Read what somebody else wrote, without trusting it: one row at a time, each with the place where it stands.

`read_table` is for CSV and TSV, `read_records` for JSON, JSON lines and Parquet too.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from loaders.errors import InputError

# A caption can be long; a field this long is a quote that was never closed.
FIELD_LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class Table:
    """A table in memory: its columns, its rows as (number of the row's first line, cells) and its SHA-256."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[tuple[int, dict[str, str]], ...]
    digest: str

    def column(self, *names: str, needed: bool = False) -> str | None:
        """The table's own name for the first of `names` that it has, whatever its case.

        Raises:
            InputError: none is there and the column is `needed`.
        """
        own = {plain_name(column): column for column in self.columns}
        for name in names:
            if plain_name(name) in own:
                return own[plain_name(name)]
        if needed:
            raise InputError(
                self.path,
                found=f"has no column {names[0]!r}; its columns are: {', '.join(self.columns)}",
                expected="one of " + ", ".join(names),
            )
        return None


def plain_name(name: str) -> str:
    """A column's name as it is compared: "Expert term" and "expert_term" are one."""
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def read_bytes(path: Path) -> bytes:
    """The bytes of a file that must exist and hold something.

    Raises:
        InputError: the file is missing, a folder, unreadable or empty.
    """
    if path.is_dir():
        raise InputError(path, found="is a folder", expected="a file")
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(path, found="does not exist", expected="a file", do="Check the path") from None
    except OSError as error:
        raise InputError(path, found=f"cannot be read ({error.strerror})", expected="a readable file") from error
    if not data:
        raise InputError(path, found="is empty", expected="at least one row")
    return data


def decode(data: bytes, path: Path) -> str:
    """UTF-8 text of a file, without its byte-order mark.

    Raises:
        InputError: with the line and byte offset of the first byte that is not UTF-8, or of a NUL byte.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # With a byte-order mark the offset counts from behind it.
        offset = error.start + (3 if data.startswith(b"\xef\xbb\xbf") else 0)
        raise _not_text(data, offset, path) from None
    if "\x00" in text:
        raise _not_text(data, data.index(b"\x00"), path)
    return text


def _not_text(data: bytes, offset: int, path: Path) -> InputError:
    line = data.count(b"\n", 0, offset) + 1
    return InputError(
        f"{path}:{line}",
        found=f"byte 0x{data[offset]:02x} at offset {offset} is not UTF-8 text",
        expected="a file encoded as UTF-8",
        do="Save it again as UTF-8",
    )


def read_table(path: Path) -> Table:
    """Read a table with a header line; tabs separate the cells of a `.tsv`, commas those of any other file.

    Raises:
        InputError: the file is missing, empty or not UTF-8; a column name is missing or doubled; a row has more or
            fewer cells than the header; a quote is never closed (a truncated file).
    """
    data = read_bytes(path)
    text = decode(data, path)
    delimiter = "\t" if path.suffix.casefold() == ".tsv" else ","
    csv.field_size_limit(FIELD_LIMIT)
    rows = _rows(text, delimiter, path)
    first = next(rows, None)
    if first is None:
        raise InputError(path, found="holds only blank lines", expected="a header line and at least one row")
    columns = tuple(name.strip() for name in first[1])
    if "" in columns or len({plain_name(name) for name in columns}) < len(columns):
        raise InputError(
            f"{path}:{first[0]}",
            found=f"column names {', '.join(map(repr, columns))}",
            expected="a header line that names every column once",
        )
    kept: list[tuple[int, dict[str, str]]] = []
    for line, cells in rows:
        if len(cells) != len(columns):
            raise InputError(
                f"{path}:{line}",
                found=f"a row of {len(cells)} cells",
                expected=f"{len(columns)} cells: {', '.join(columns)}",
                do="Mend the row; a short last row means that the file was cut off"
                if len(cells) < len(columns)
                else "Put quotes around a cell that holds the separator",
            )
        kept.append((line, dict(zip(columns, cells, strict=True))))
    if not kept:
        raise InputError(path, found="holds a header line and nothing else", expected="at least one row")
    return Table(path, columns, tuple(kept), hashlib.sha256(data).hexdigest())


def _rows(text: str, delimiter: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Rows with the number of their first line, blank lines left out."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(
                f"{path}:{line}",
                found=f"cannot be read as CSV ({error})",
                expected="quotes that are closed and cells separated alike",
                do="Look for an open quote in this row, or a file that was cut off",
            ) from None
        if cells:
            yield line, cells


@dataclass(frozen=True)
class Records:
    """The records of a file: its columns, a way to go through them as often as needed, and its SHA-256.

    `each(None)` yields (where, record); `each("id")` may leave the other columns out.
    """

    path: Path
    columns: tuple[str, ...]
    each: Callable[[str | None], Iterator[tuple[str, Mapping[str, Any]]]]
    digest: str


def read_records(path: Path) -> Records:
    """Open a file by its suffix: CSV, TSV, JSON, JSON lines or Parquet.

    Raises:
        InputError: missing, empty, cut off, not UTF-8, of another type, or without the structure of its type.
    """
    suffix = path.suffix.casefold()
    if suffix in (".csv", ".tsv"):
        table = read_table(path)
        return Records(
            path, table.columns, lambda _: ((f"{path.name}:{n}", row) for n, row in table.rows), table.digest
        )
    if suffix in (".json", ".jsonl", ".ndjson"):
        return _json_records(path, lines=suffix != ".json")
    if suffix in (".parquet", ".pq"):
        return _parquet_records(path)
    if not path.exists():
        read_bytes(path)
    raise InputError(path, found=f"file type {suffix or '(none)'}", expected=".csv, .tsv, .parquet, .json or .jsonl")


def _json_records(path: Path, *, lines: bool) -> Records:
    data = read_bytes(path)
    text = decode(data, path)
    rows: list[tuple[str, Mapping[str, Any]]] = []
    if lines:
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                rows.append((f"{path.name}:{number}", _object(_parse(line, path, number), f"{path}:{number}")))
    else:
        value = _parse(text, path, 1)
        if not isinstance(value, list):
            raise InputError(path, found=f"a JSON {type(value).__name__}", expected="a list of objects")
        rows = [(f"{path.name}[{i}]", _object(item, f"{path}[{i}]")) for i, item in enumerate(value)]
    if not rows:
        raise InputError(path, found="holds no record", expected="at least one")
    columns = tuple(dict.fromkeys(name for _, row in rows for name in row))
    return Records(path, columns, lambda _: iter(rows), hashlib.sha256(data).hexdigest())


def _parse(text: str, path: Path, line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}:{line + error.lineno - 1}",
            found=f"is not whole JSON ({error.msg})",
            expected="JSON",
            do="Fetch the file again if it was cut off",
        ) from None
    except RecursionError:
        raise InputError(path, found="JSON nested too deep", expected="a list of flat objects") from None


def _object(value: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InputError(where, found=f"a JSON {type(value).__name__}", expected="an object")
    return value


def _parquet_records(path: Path) -> Records:
    if not path.is_file() or path.stat().st_size == 0:
        read_bytes(path)
    try:
        file = pq.ParquetFile(path)
        columns, count = tuple(file.schema_arrow.names), file.metadata.num_rows
    except (pa.ArrowException, OSError) as error:
        raise _broken_parquet(path, error) from None
    if count == 0:
        raise InputError(path, found="holds no row", expected="at least one row")

    def each(only: str | None) -> Iterator[tuple[str, Mapping[str, Any]]]:
        number = 0
        try:
            # Small batches: a row may carry an image.
            for batch in pq.ParquetFile(path).iter_batches(batch_size=64, columns=[only] if only else None):
                for row in batch.to_pylist():
                    number += 1
                    yield f"{path.name}, row {number}", row
        except (pa.ArrowException, OSError) as error:
            raise _broken_parquet(path, error) from None

    with path.open("rb") as raw:
        digest = hashlib.file_digest(raw, "sha256").hexdigest()
    return Records(path, columns, each, digest)


def _broken_parquet(path: Path, error: Exception) -> InputError:
    first = str(error).splitlines()[0]
    return InputError(path, found=f"is no whole Parquet file ({first})", expected="Parquet", do="Fetch the file again")
