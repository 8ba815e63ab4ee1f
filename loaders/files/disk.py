"""Writes that are whole or absent, and one clear error when the disk is full."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from loaders.errors import BedsideError, InputError

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the operating system says about a full or forbidden disk into an error that the user can act on.

    Raises: BedsideError when the disk is full; InputError when `path` may not be written or is not a folder.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise BedsideError(
                path,
                found="the disk is full",
                do="Free some space there and run the same command again: finished work is kept",
            ) from error
        if error.errno in _FORBIDDEN:
            raise InputError(path, found="may not be written", expected="a place you can write to") from error
        if error.errno in (errno.ENOTDIR, errno.EEXIST):
            raise InputError(path, found="a file stands where a folder is needed", expected="a folder") from error
        raise


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` to `path` so that a reader, at any moment and after any crash, sees all of it or nothing new."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    with writing(path):
        try:
            with temporary.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)  # noqa: PTH105 - the atomic rename, named as the rule names it
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
