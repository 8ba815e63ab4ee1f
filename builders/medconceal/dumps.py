"""Records of a Reddit dump, streamed in constant memory: Zstandard or plain JSON lines, Parquet, or other tables.

Files are untrusted. A file that unpacks to hundreds of times its size, one that needs a larger window than any
compressor uses, and one that was cut off each end in one error that says so. A line that is not a record, or is longer
than any post, is a BadRow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from loaders.errors import CHECK_LINES, InputError, MissingExtra
from loaders.files.bad_rows import BadRow
from loaders.files.opening import blocks_of, open_file
from loaders.files.paths import name_of
from loaders.files.tables import Placed, json_record, parquet_rows, read_records
from loaders.files.texts import stream_lines

_LINED = (".zst", ".jsonl", ".ndjson")
ENDINGS = (*_LINED, ".parquet", ".csv", ".json")
LINES = "lines"
_BLOCK = 1 << 20  # bytes read at a time
# Limits on a dump. A post has at most 40,000 characters; real dumps unpack to 5-20 times their size.
LINE_BYTES = 4 << 20
WINDOW_LOG = 31  # 2 GiB, the most that `zstd --long=31` produces, and what the archives use
RATIO = 250
PATIENCE = 64 << 20  # bytes that any file may unpack to


def records(
    path: Path, wanted: Callable[[bytes], bool], columns: Sequence[str], lines: Counter[str] | None = None
) -> Iterator[Placed | BadRow]:
    """Records with their place: those whose line is `wanted`, or all of a table, such as a CSV or a JSON list.

    `wanted` looks at a line before it is parsed, and may only err by letting too much through. From Parquet only
    `columns` are read. A line that does not begin and end like a record is bad, wanted or not. `lines` counts all that
    were read, under LINES.

    Raises: InputError if the file is missing, cut off, damaged, dangerous or of another kind; MissingExtra for a
    Zstandard file if nothing that reads one is installed.
    """
    read = Counter[str]() if lines is None else lines
    if path.suffix not in _LINED:
        table = read_records(path)
        present = [name for name in table.columns if name in columns]
        for row in parquet_rows(path, present) if path.suffix == ".parquet" else table.each(None):
            read[LINES] += 1
            yield row
        return
    with open_file(path, expected="a dump of submissions or comments") as file:
        blocks = blocks_of(file) if path.suffix != ".zst" else _unpacked(file, path)
        for number, line in stream_lines(blocks, path, LINE_BYTES, skip=True):
            read[LINES] += 1
            if wanted(line) or not (line[:1] == b"{" and line[-1:] == b"}"):
                yield _record(line, f"{name_of(path)}:{number}")


def _record(line: bytes, where: str) -> Placed | BadRow:
    if not line:
        expected = f"at most {LINE_BYTES:,} bytes a line"
        return BadRow(where, reason="a line without end", expected=expected, do=CHECK_LINES)
    try:
        return where, json_record(line, where)
    except BadRow as bad:
        return bad


def _unpacked(packed: BufferedReader, path: Path) -> Iterator[bytes]:
    """The content of a Zstandard file, part by part, as long as it is no more than a dump can hold."""
    zstd = _zstd()
    size = path.stat().st_size
    most, read = max(PATIENCE, RATIO * size), 0
    with zstd.ZstdFile(packed, options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG}) as file:
        while block := _read(file, path):
            read += len(block)
            if read > most:
                found = f"unpacks to more than {RATIO} times its {size:,} bytes"
                do = "Do not use this file: real dumps do not do that"
                raise InputError(path, found=found, expected="a dump that unpacks to 5 to 20 times its size", do=do)
            yield block


def _read(file: IO[bytes], path: Path) -> bytes:
    try:
        return file.read(_BLOCK)
    except Exception as error:
        if type(error).__name__ not in ("EOFError", "ZstdError"):
            raise
        found, expected = f"cannot be unpacked ({error})", "a complete Zstandard file"
        do = "Download the file again or, for want of memory, unpack it elsewhere and name the unpacked file"
        raise InputError(path, found=found, expected=expected, do=do) from None


def _zstd() -> Any:
    """The standard library's module, which exists from Python 3.14 on, or its backport."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise MissingExtra.named("backports.zstd", extra="threads", purpose="reading .zst dumps")
