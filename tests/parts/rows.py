"""Rows as a test wants them that is about sound ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from loaders.files.bad_rows import BadRow

Row = TypeVar("Row")


def strictly(rows: Iterable[Row | BadRow]) -> list[Row]:
    """The rows; raises the first one that cannot be read."""
    read: list[Row] = []
    for row in rows:
        if isinstance(row, BadRow):
            raise row
        read.append(row)
    return read
