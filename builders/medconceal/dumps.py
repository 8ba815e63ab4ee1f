"""Records of a Reddit dump, streamed in constant memory: Zstandard or plain JSON lines, or Parquet.

Files are untrusted. A line longer than any post, a file that unpacks to hundreds of times its size, one that needs a
huge window to unpack, and one that was cut off each end in one error that says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

from loaders.errors import InputError, MissingExtra

Record = dict[str, Any]
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
) -> Iterator[tuple[int, Record]]:
    """Records with their line or row number from 1: those whose line is `wanted`, or all rows of a Parquet file.

    `wanted` looks at a line before it is parsed and may be wrong in one way only, by letting too much through. Of
    Parquet only `columns` are read; a column that is missing is None.

    Raises:
        InputError: the file is missing, cut off, damaged, dangerous or of another kind, or a wanted line is no object.
        MissingExtra: a Zstandard file, and nothing that reads one is installed.
    """
    if not path.is_file():
        raise InputError(path, found="no such file", expected="a dump of submissions or comments")
    if path.suffix not in ENDINGS:
        raise InputError(path, found=f"a {path.suffix or 'nameless'} file", expected=" or ".join(ENDINGS))
    if path.suffix == ".parquet":
        yield from _parquet(path, columns)
        return
    for number, line in _lines(path, limits or Limits()):
        if wanted(line):
            yield number, _parse(line, f"{path}:{number}")


def _parse(line: bytes, where: str) -> Record:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        do = "Mend or delete the line; a broken last line means that the file was cut off"
        raise InputError(where, found="a line that is no JSON object", expected="one record a line", do=do)
    return found


def _lines(path: Path, limits: Limits) -> Iterator[tuple[int, bytes]]:
    """Non-empty lines with their numbers."""
    size = path.stat().st_size
    most = max(limits.patience, limits.ratio * size)
    read, number, rest = 0, 0, b""
    with _opened(path, limits) as file:
        while block := _read(file, path, limits):
            read += len(block)
            if path.suffix == ".zst" and read > most:
                found = f"unpacks to more than {limits.ratio} times its {size:,} bytes"
                do = "Real dumps do not: do not use this file"
                raise InputError(path, found=found, expected="a dump that unpacks to 5 to 20 times its size", do=do)
            lines = (rest + block).split(b"\n")
            rest = lines.pop()
            if len(rest) > limits.line_bytes:
                expected = f"at most {limits.line_bytes:,} bytes a line"
                raise InputError(f"{path}:{number + len(lines) + 1}", found="a line without end", expected=expected)
            for line in lines:
                number += 1
                if line:
                    yield number, line
        if rest.strip():
            yield number + 1, rest


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


@contextmanager
def _opened(path: Path, limits: Limits) -> Iterator[IO[bytes]]:
    if path.suffix != ".zst":
        with path.open("rb") as plain:
            yield plain
        return
    zstd = _zstd()
    with zstd.ZstdFile(path, options={zstd.DecompressionParameter.window_log_max: limits.window_log}) as packed:
        yield cast(IO[bytes], packed)


def _zstd() -> Any:
    """The standard library's module, which Python has from 3.14 on, or its backport."""
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return import_module(name)
        except ImportError:
            continue
    raise MissingExtra.named("backports.zstd", extra="threads", purpose="reading .zst dumps")


def _parquet(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, Record]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
        present = [name for name in columns if name in file.schema_arrow.names]
        number = 0
        for batch in file.iter_batches(batch_size=4096, columns=present):
            for row in batch.to_pylist():
                number += 1
                yield number, {name: row.get(name) for name in columns}
    except (pa.ArrowException, OSError) as error:
        first = (str(error) or type(error).__name__).splitlines()[0]
        raise InputError(path, found=f"cannot be read ({first})", expected="a Parquet file") from None
