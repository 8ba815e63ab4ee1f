"""Records of a Reddit dump, streamed in constant memory: Zstandard or plain JSON lines, or Parquet.

Files are untrusted. A line longer than any post, a file that unpacks to hundreds of times its size, one that needs a
huge window to unpack, and one that was cut off each end in one error that says so. A line that is no record is
a BadRow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from loaders.errors import InputError, MissingExtra
from loaders.files.tables import Placed, json_record, open_parquet, parquet_rows
from loaders.files.untrusted import BadRow, blocks_of, name_of, open_file, stream_lines

ENDINGS = (".zst", ".jsonl", ".ndjson", ".parquet")
_BLOCK = 1 << 20  # bytes read at a time


@dataclass(frozen=True, slots=True)
class Limits:
    """What a dump may ask for. A post has at most 40,000 characters; real dumps unpack to 5-20 times their size."""

    line_bytes: int = 4 << 20
    window_log: int = 27  # 128 MiB, what `zstd` itself accepts without --long
    ratio: int = 250
    patience: int = 64 << 20  # bytes that any file may unpack to


def records(
    path: Path,
    wanted: Callable[[bytes], bool],
    columns: Sequence[str],
    limits: Limits | None = None,
) -> Iterator[Placed | BadRow]:
    """Records with their place: those whose line is `wanted`, or all rows of a Parquet file.

    `wanted` looks at a line before it is parsed and may be wrong in one way only, by letting too much through. Of
    Parquet only `columns` are read.

    Raises:
        InputError: the file is missing, cut off, damaged, dangerous or of another kind.
        MissingExtra: a Zstandard file, and nothing that reads one is installed.
    """
    if path.suffix not in ENDINGS:
        raise InputError(path, found=f"a {path.suffix or 'nameless'} file", expected=" or ".join(ENDINGS))
    if path.suffix == ".parquet":
        with open_parquet(path) as file:
            present = [name for name in columns if name in file.schema_arrow.names]
        yield from parquet_rows(path, present)
        return
    with open_file(path, expected="a dump of submissions or comments") as file:
        limits = limits or Limits()
        blocks = blocks_of(file) if path.suffix != ".zst" else _unpacked(file, path, limits)
        for number, line in stream_lines(blocks, path, limits.line_bytes):
            if wanted(line):
                where = f"{name_of(path)}:{number}"
                try:
                    yield where, json_record(line, where)
                except BadRow as bad:
                    yield bad


def _unpacked(packed: BufferedReader, path: Path, limits: Limits) -> Iterator[bytes]:
    """What a Zstandard file holds, a part at a time, while it is no more than a dump can hold."""
    zstd = _zstd()
    size = path.stat().st_size
    most, read = max(limits.patience, limits.ratio * size), 0
    with zstd.ZstdFile(packed, options={zstd.DecompressionParameter.window_log_max: limits.window_log}) as file:
        while block := _read(file, path, limits):
            read += len(block)
            if read > most:
                found = f"unpacks to more than {limits.ratio} times its {size:,} bytes"
                do = "Real dumps do not: do not use this file"
                raise InputError(path, found=found, expected="a dump that unpacks to 5 to 20 times its size", do=do)
            yield block


def _read(file: IO[bytes], path: Path, limits: Limits) -> bytes:
    try:
        return file.read(_BLOCK)
    except EOFError:
        raise InputError(
            path, found="ends in the middle", expected="a whole Zstandard file", do="Fetch the file again"
        ) from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        if "too much memory" in str(error):
            size = 1 << (limits.window_log - 20)
            raise InputError(
                path,
                found="needs a larger window to unpack",
                expected=f"at most {size} MiB",
                do="Pack it again: zstd -dc --long=31 FILE | zstd -o NEW.zst, or name the unpacked file",
            ) from None
        raise InputError(
            path, found=f"cannot be unpacked ({error})", expected="a Zstandard file", do="Fetch the file again"
        ) from None


def _zstd() -> Any:
    """The standard library's module, which Python has from 3.14 on, or its backport."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise MissingExtra.named("backports.zstd", extra="threads", purpose="reading .zst dumps")
