"""The one way to the bytes of a file that somebody else wrote.

    data = read_file(path)                     # whole, of a regular file, within a size

Only regular files are opened, so that nothing waits for a pipe or reads a device forever. The allowed length is decided
before a file is read.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from loaders.errors import CHECK_PATH, NAME_FILE, InputError
from loaders.files.kinds import OF_POINTER, POINTER
from loaders.files.paths import is_file, is_no_name, unreadable

MOST_BYTES = 256 << 20
"""Size limit of a file that is held in memory as a whole."""
_BLOCK = 1 << 20


class TooLong(InputError):
    """A file with more bytes than anybody should need."""


@contextmanager
def open_file(path: Path, *, expected: str = "a file", do: str = "") -> Iterator[BufferedReader]:
    """A regular file, opened for reading.

    Raises: InputError when it does not exist, is a folder, a pipe, a device or a socket, a pointer of Git LFS in place
    of a file, or cannot be read, then or while it is read.
    """
    try:
        _check_regular(os.stat(path).st_mode, path, expected)  # noqa: PTH116 - opening a device may do something
        # A pipe that takes the file's place now is not waited for.
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            _check_regular(os.fstat(number).st_mode, path, expected)
            if os.pread(number, len(POINTER), 0) == POINTER:
                raise InputError(path, found=OF_POINTER, expected=expected, do=do)
            yield file
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(path, found="does not exist", expected=expected, do=do or CHECK_PATH) from None
    except OSError as error:
        raise unreadable(path, error, expected, do) from None
    except ValueError as error:
        if not is_no_name(error):
            raise
        raise InputError(str(path), found="is not a path", expected=expected, do=do) from None


@contextmanager
def open_by_number(path: Path, *, expected: str = "a file", do: str = "") -> Iterator[str]:
    """As `open_file`, but yields a name by which libraries that only take UTF-8 names can open that very file.

    Raises: as `open_file`.
    """
    with open_file(path, expected=expected, do=do) as file:
        yield f"/dev/fd/{file.fileno()}"


def _check_regular(mode: int, path: Path, expected: str) -> None:
    if stat.S_ISDIR(mode):
        raise InputError(path, found="is a folder", expected=expected, do=NAME_FILE)
    if not stat.S_ISREG(mode):
        do = "Save what it gives as a file, and name that"
        raise InputError(path, found="is not a regular file", expected=expected, do=do)


def read_file(path: Path, *, most: int = MOST_BYTES, expected: str = "a file", do: str = "") -> bytes:
    """The bytes of a regular file.

    Raises: InputError as `open_file`; TooLong for one of more than `most` bytes, without reading on.
    """
    with open_file(path, expected=expected, do=do) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(most + 1) if size <= most else b""
    if size > most or len(data) > most:
        found = f"is too long a file, of {max(size, len(data)):,} bytes"
        raise TooLong(path, found=found, expected=f"at most {most:,} bytes", do=do)
    return data


def blocks_of(file: BufferedReader) -> Iterator[bytes]:
    """The bytes of a file, block by block."""
    while block := file.read(_BLOCK):
        yield block


def digest_of(path: Path) -> str:
    """SHA-256 of a regular file of any size. Raises: InputError as `open_file`."""
    with open_file(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def refuse_other(
    path: Path, begins: Sequence[bytes], *, what: str, is_one: Callable[[BinaryIO], bool] = lambda _: True
) -> None:
    """Check before writing that an existing file is an earlier `what`, which begins in one of these ways (ignoring
    case) and `is_one`, or empty: a mistyped `-o` would destroy anything else.

    Raises: InputError for such a file, and as `open_file`.
    """
    if not is_file(path):
        return
    with open_file(path) as file:
        head = file.read(max(map(len, begins)) + 64).lstrip().lower()
        other = head and not (head.startswith(tuple(first.lower() for first in begins)) and is_one(file))
    if other:
        found, do = "exists and holds something else", "Choose another name, or delete that file yourself"
        raise InputError(path, found=found, expected=f"a new file, or an earlier {what}", do=do)
