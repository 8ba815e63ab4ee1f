"""Printed means and standard deviations against every sheet that can be filled in."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from baselines.statistics.printed import grimmer, possible_sds, possible_totals
from loaders.errors import InputError


def test_possible_totals_by_hand() -> None:
    # Of 33 answers: 18/33 = .5454.., 1/33 = .0303..; .54 and .5 are no k/33.
    assert [possible_totals(mean, 33) for mean in (0.55, 0.03, 0.54, 0.5)] == [[18], [1], [], []]
    assert possible_totals(0.348, 300, decimals=3) == [] and possible_totals(0.347, 300, decimals=3) == [104]
    assert possible_totals(4.95, 100) == [495]
    assert possible_totals(3.33, 3) == [10] and possible_totals(3.33, 3, items=2) == [20]
    assert possible_totals(2.5, 2, decimals=0) == [4, 5, 6]  # 5/2 rounds to 2 or to 3, and 2.5 is read as it stands
    for bad in ({"mean": float("nan"), "n": 3}, {"mean": 1.0, "n": 0}, {"mean": 1.0, "n": 2, "items": 0}):
        with pytest.raises(InputError):
            possible_totals(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("ddof", [0, 1])
def test_possible_sds_hold_every_sheet_that_can_be_filled_in(ddof: int) -> None:
    for n in (2, 3, 5):
        sheets: dict[int, set[float]] = {}
        for sheet in itertools.combinations_with_replacement(range(1, 6), n):
            sheets.setdefault(sum(sheet), set()).add(round(float(np.std(sheet, ddof=ddof)), 9))
        for total in range(n, 5 * n + 1):
            listed = {round(float(sd), 9) for sd in possible_sds(total, n, low=1, high=5, ddof=ddof)}
            assert sheets[total] <= listed
            assert {min(listed), max(listed)} == {min(sheets[total]), max(sheets[total])}
    assert possible_sds(4, 5, low=1, high=5, ddof=ddof).size == 0
    assert possible_sds(10, 10, low=1, high=5, ddof=ddof).tolist() == [0.0]
    # Three ratings with a total of 9 have an odd sum of squares: 27, 29, … 35.
    assert len(possible_sds(9, 3, low=1, high=5, ddof=ddof)) == 5


def test_grimmer_finds_the_impossible_cell_of_the_human_evaluation() -> None:
    assert not grimmer(4.95, 0.17, 100, low=1, high=5)
    assert grimmer(4.97, 0.17, 100, low=1, high=5)
    assert possible_sds(495, 100, low=1, high=5, ddof=0)[0] == pytest.approx(0.218, abs=5e-4)
    # 1, 3, 5: population SD 1.63, sample SD 2.00.
    assert grimmer(3.0, 1.63, 3, low=1, high=5, ddof=0) and not grimmer(3.0, 1.63, 3, low=1, high=5, ddof=1)
    assert grimmer(3.0, 2.0, 3, low=1, high=5, ddof=1) and grimmer(3.0, 2.0, 3, low=1, high=5)
    assert not grimmer(3.0, 2.5, 10, low=1, high=5)  # wider than all ones and fives
    assert grimmer(3.0, 0.0, 1, low=1, high=5)
    with pytest.raises(InputError, match="SD"):
        grimmer(3.0, -1, 10, low=1, high=5)
