"""Rows of numbers that arrive in any order, stored on disk by the slice that each belongs to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from builders.curation.neighbours import Places
from loaders.files.disk import writing
from loaders.files.paths import is_file

_HELD = 1 << 18  # rows in memory, of 16 bytes, before they are written

Rows = NDArray[np.uint32]


class Blocks:
    """Pairs of numbers below 2^32, in one file per slice in a folder; a slice ends before a given first number."""

    def __init__(self, folder: Path, ends: Places) -> None:
        self._folder, self._ends = folder, ends
        self._held: list[Places] = []
        self._rows = 0

    def add(self, rows: Places) -> None:
        """Rows (n x 2) of any slices."""
        self._held.append(rows)
        self._rows += len(rows)
        if self._rows > _HELD:
            self._write()

    def of(self, number: int) -> Rows:
        """All rows of a slice, in arbitrary order."""
        self._write()
        path = self._file(number)
        return (np.fromfile(path, np.uint32) if is_file(path) else np.empty(0, np.uint32)).reshape(-1, 2)

    def _file(self, number: int) -> Path:
        return self._folder / f"{number}.rows"

    def _write(self) -> None:
        if not self._held:
            return
        rows = np.concatenate(self._held)
        self._held, self._rows = [], 0
        belongs = np.searchsorted(self._ends, rows[:, 0], side="right")
        if len(self._ends) < 1 << 16:
            belongs = belongs.astype(np.uint16)  # which numpy sorts by counting
        order = np.argsort(belongs, kind="stable")
        rows, counts = rows[order].astype(np.uint32), np.bincount(belongs)
        stops = np.cumsum(counts)
        for number in np.flatnonzero(counts).tolist():
            path = self._file(number)
            with writing(path), path.open("ab") as file:
                file.write(rows[stops[number] - counts[number] : stops[number]].tobytes())
