"""Swap two folders in one step, where the operating system can."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def exchange(new: Path, old: Path) -> None:
    """Give `new` the name of `old` and the other way round.

    Linux does this in one step. Elsewhere, and on file systems that cannot, it takes two renames by way of
    `.<old>.previous`; whoever is killed between them finds the old folder there.
    """
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError, TypeError):
        renameat2 = None
    if renameat2 is not None:
        failed = renameat2(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(old), _RENAME_EXCHANGE)
        if not failed:
            return
    previous = old.with_name(f".{old.name}.previous")
    old.rename(previous)
    new.rename(old)
    previous.rename(new)
