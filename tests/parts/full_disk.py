"""A disk that is full, or a person who stops the command, after some files."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

import pytest

from loaders.files import disk

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@contextmanager
def stopped_after(files: int, error: BaseException = FULL) -> Iterator[None]:
    """Within this context, the file after so many is not written, but `error` raised."""
    left, real = files, disk._sync

    def sync(file: IO[bytes]) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise error
        real(file)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "_sync", sync)
        yield
    assert left < 0, "fewer files were written"
