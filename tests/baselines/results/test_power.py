"""How many cases a paired comparison needs: statsmodels' numbers."""

from __future__ import annotations

import numpy as np
import pytest

from baselines.results.power import cases_needed, power, smallest_difference

statsmodels = pytest.importorskip("statsmodels.stats.power", reason="the reference is not installed here")


@pytest.mark.parametrize("cases", [2, 3, 12, 40, 202, 3000])
@pytest.mark.parametrize("spread", [0.25, 0.5, 7.0])
def test_the_smallest_difference_is_statsmodels(cases: int, spread: float) -> None:
    found = smallest_difference(cases, spread)
    assert power(cases, found, spread) == pytest.approx(0.8, abs=1e-6)
    if cases == 2:  # where statsmodels finds no solution
        return
    effect = statsmodels.TTestPower().solve_power(effect_size=None, nobs=cases, alpha=0.05, power=0.8)
    assert found == pytest.approx(float(effect) * spread, rel=1e-4)


@pytest.mark.parametrize(("difference", "spread"), [(0.05, 0.5), (0.05, 0.3), (0.2, 0.5), (2.0, 0.5), (0.01, 0.4)])
def test_the_cases_needed_are_the_fewest(difference: float, spread: float) -> None:
    found = cases_needed(difference, spread)
    assert power(found, difference, spread) >= 0.8 and (found == 2 or power(found - 1, difference, spread) < 0.8)
    if found > 4:
        nobs = statsmodels.TTestPower().solve_power(effect_size=difference / spread, alpha=0.05, power=0.8)
        assert found == pytest.approx(float(nobs), abs=1.001)


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
