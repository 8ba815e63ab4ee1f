"""Printed means and standard deviations against every sheet that can be filled in."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from baselines.statistics.printed import grimmer, possible_sds, possible_totals


def test_possible_totals_by_hand() -> None:
    # Of 33 answers: 18/33 = .5454.., 1/33 = .0303..; .54 and .5 are no k/33.
    assert [possible_totals(mean, 33) for mean in (0.55, 0.03, 0.54, 0.5)] == [[18], [1], [], []]
    assert possible_totals(4.95, 100) == [495] and possible_totals(3.33, 3) == [10]
    assert possible_totals(1.12, 8) == possible_totals(1.13, 8) == [9]  # 1.125 rounds to either


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
    assert grimmer(3.0, 1.63, 3, low=1, high=5) and grimmer(3.0, 2.0, 3, low=1, high=5)
    assert not grimmer(3.0, 2.5, 10, low=1, high=5)  # wider than all ones and fives
    assert grimmer(3.0, 0.0, 1, low=1, high=5)
