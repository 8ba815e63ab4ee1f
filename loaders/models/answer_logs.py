"""Logs of the answers that one writer received: a line per answer, in a file that nobody else writes to.

    <folder>/<unit of work>/<host>-<random>.jsonl

Appending to a file of one's own works on every shared disk, where SQLite does not. A line is on disk before its answer
is used; a killed writer leaves at most half a line. Units and logs are read in the order of their names.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from loaders.errors import InputError
from loaders.files.disk import HOST, private_folder, writing
from loaders.files.json_values import parse_json
from loaders.files.opening import blocks_of, open_file
from loaders.files.paths import entries, is_folder
from loaders.files.texts import stream_lines

Row = tuple[str, str, str, str, int | None, int | None]
"""An answer as it is stored: digest and model of the request, the request, the answer, tokens of both."""
_SHAPE = (str, str, str, str, int | None, int | None)
_MOST_LINE = 64 << 20


class LogWriter:
    """A new log of a unit. Raises: BedsideError if the disk is full; InputError if it may not be written."""

    def __init__(self, unit: Path) -> None:
        self.path = private_folder(unit) / f"{HOST}-{secrets.token_hex(6)}.jsonl"
        with writing(self.path):
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
            self._file = os.open(self.path, flags, 0o600)
            with suppress(OSError):  # a file system without locks
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def write(self, rows: Sequence[Row]) -> None:
        """Append answers and wait until they are on disk."""
        data = "".join(f"{json.dumps(row)}\n" for row in rows).encode("ascii")
        with writing(self.path):
            before = os.fstat(self._file).st_size
            try:
                while data:
                    data = data[os.write(self._file, data) :]
                os.fsync(self._file)
            except OSError:
                os.ftruncate(self._file, before)  # behind half a line, the next one could not be read
                raise

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def rows_of(unit: Path) -> Iterator[Row]:
    """The answers in the logs of a unit, in order. Raises: InputError for an invalid line that is not the last."""
    for path in units_of(unit):
        with open_file(path) as file:
            torn: InputError | None = None
            for number, line in stream_lines(blocks_of(file), path, _MOST_LINE):
                if torn is not None:
                    raise torn
                try:
                    yield row_of(line, f"{path}:{number}")
                except InputError as error:
                    torn = error


def row_of(line: bytes, where: str) -> Row:
    """An answer from its line. Raises: InputError for an invalid one."""
    row = parse_json(line, where)
    if not isinstance(row, list) or len(row) != len(_SHAPE) or not all(map(isinstance, row, _SHAPE)):
        raise InputError(where, found="no stored answer", expected="a line as a build wrote it", do="Delete the line")
    digest, model, request, answer, read, wrote = row
    return digest, model, request, answer, read, wrote


def units_of(folder: Path) -> list[Path]:
    """What is in a folder, if it is there: those of units in the one of all, logs in that of a unit. In order."""
    return entries(folder) if is_folder(folder) else []


def ended(unit: Path) -> list[Path]:
    """The logs of a unit to which nobody writes any more; a log that has ended is never continued."""
    return [path for path in entries(unit) if not _written(path)]


def _written(path: Path) -> bool:
    """Whether its writer is still alive; true if that cannot be known."""
    try:
        number = os.open(path, os.O_RDWR)
    except OSError:
        return True
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(number)
    return False


def forget(logs: Sequence[Path], unit: Path) -> None:
    """Remove logs of a unit. They must have ended before they were read, or what was written since would be lost."""
    for path in logs:
        with suppress(OSError):
            path.unlink()
    with suppress(OSError):
        unit.rmdir()
