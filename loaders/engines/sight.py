"""Checks that a worker machine sees the same files as the driver. One that does not would produce wrong results (a
photo that it cannot find would count as missing), so it produces nothing and says why."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path

from loaders.errors import InputError
from loaders.files.paths import is_folder

SHARED = "Put it on a disk that all nodes share"


def node() -> str:
    """The name of this machine, for an error message."""
    return f"node {platform.node()}"


def check_seen(folder: Path) -> None:
    """Raises: InputError if a folder in which the driver works does not exist here."""
    if not is_folder(folder):
        raise InputError(node(), found=f"does not see {folder}", expected="the folder as the driver sees it", do=SHARED)


def check_same(place: Path, data: bytes | None, content: str) -> None:
    """Check that a file here is the one the driver read, whose SHA-256 is `content`; `data` is None if it is missing.

    Raises: InputError if it is not.
    """
    if data is None or hashlib.sha256(data).hexdigest() != content:
        found = f"does not see {place}" if data is None else f"{place} is another file"
        do = (
            f"{SHARED}. If it was changed or removed meanwhile, run the same command again; if it was moved, "
            "first delete the workspace (keep its answers.*)"
        )
        raise InputError(node(), found=found, expected=f"the file as the driver read it, SHA-256 {content}", do=do)
