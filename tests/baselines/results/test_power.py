"""How many cases a paired comparison needs: statsmodels' numbers."""

from __future__ import annotations

import numpy as np
import pytest

from baselines.results.power import cases_needed, power, smallest_difference

# What TTestPower of statsmodels 0.15 solves for; for two cases it finds nothing.
EFFECTS = {3: 3.264044, 12: 0.8886543, 40: 0.4542571, 202: 0.1980667, 3000: 0.05116603}
CASES = {(0.05, 0.5): 786.8, (0.05, 0.3): 284.5, (0.2, 0.5): 51.0, (0.01, 0.4): 12560.1}


@pytest.mark.parametrize("cases", [2, *EFFECTS])
@pytest.mark.parametrize("spread", [0.25, 0.5, 7.0])
def test_the_smallest_difference_is_statsmodels(cases: int, spread: float) -> None:
    found = smallest_difference(cases, spread)
    assert power(cases, found, spread) == pytest.approx(0.8, abs=1e-6)
    if cases in EFFECTS:
        assert found == pytest.approx(EFFECTS[cases] * spread, rel=1e-4)


@pytest.mark.parametrize(("difference", "spread"), [(2.0, 0.5), *CASES])
def test_the_cases_needed_are_the_fewest(difference: float, spread: float) -> None:
    found = cases_needed(difference, spread)
    assert power(found, difference, spread) >= 0.8 and (found == 2 or power(found - 1, difference, spread) < 0.8)
    assert found == pytest.approx(CASES.get((difference, spread), found), abs=1.001)


def test_what_has_no_answer_is_refused() -> None:
    for made in (lambda: cases_needed(0, 0.5), lambda: power(1, 0.1, 0.5), lambda: power(9, 0.1, 0)):
        with pytest.raises(ValueError):
            made()


def test_the_power_of_two_cases_is_what_a_simulation_finds() -> None:
    drawn = np.random.default_rng(7).normal(3.0, 1.0, (200_000, 2))
    means, spreads = drawn.mean(axis=1), drawn.std(axis=1, ddof=1)
    found = np.mean(np.abs(means / (spreads / np.sqrt(2))) > 12.7062)
    assert power(2, 3.0, 1.0) == pytest.approx(found, abs=0.005)
    assert power(2, 40.0, 1.0) > 0.99  # SciPy's noncentral t is not a number there
