"""Without the rights of root, which permission bits do not bind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_NOBODY = 65534


@contextmanager
def unprivileged() -> Iterator[None]:
    """Within it, this process runs as another user if it is root."""
    if os.geteuid():
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
