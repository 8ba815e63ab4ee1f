"""Rows by slices, whether they fit the memory or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from builders.curation.candidates import Blocks


@pytest.mark.parametrize("held", [0, 7, 1 << 18])
def test_a_slice_has_its_rows_however_many_are_held(tmp_path: Path, held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.curation.candidates._HELD", held)
    rows = np.random.default_rng(0).integers(0, 30, (200, 2))
    rows[:, 1] += 2**32 - 30  # the largest that fit
    blocks = Blocks(tmp_path, np.array([4, 20, 25, 30]))
    for start in range(0, 200, 11):
        blocks.add(rows[(rows[:, 0] < 20) | (rows[:, 0] >= 25)][start : start + 11])
    for number, (first, last) in enumerate(((0, 4), (4, 20), (25, 25), (25, 30))):
        expected = rows[(rows[:, 0] >= first) & (rows[:, 0] < last)]
        assert sorted(blocks.of(number).tolist()) == sorted(expected.tolist())
