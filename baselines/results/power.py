"""How many cases a comparison needs: the power of the paired t test over cases.

Two systems get the same cases, and the difference of their scores, case by case, has the standard deviation `spread`.
A score of 0 or 1 on which the two disagree in a share d of cases, equally often either way, has a spread of
sqrt(d): 0.5 if they disagree in a quarter. Source: the noncentral t distribution; statsmodels' `TTestPower`.
"""

from __future__ import annotations

from math import ceil, isnan, sqrt

POWER, ALPHA = 0.8, 0.05


def power(cases: int, difference: float, spread: float) -> float:
    """The chance (0 to 1) that a difference of this size is found, two-sided. Raises ValueError below two cases."""
    from scipy.integrate import quad
    from scipy.stats import chi2, nct, norm, t

    if cases < 2 or spread <= 0:
        raise ValueError("two cases or more, and a spread above 0")
    centre, free = difference / spread * sqrt(cases), cases - 1
    edge = t.ppf(1 - ALPHA / 2, free)
    exact = float(nct.sf(edge, free, centre) + nct.cdf(-edge, free, centre))
    if not isnan(exact):
        return exact

    # SciPy's distribution has gaps for very few cases; the function whose mean it is has none.
    def given(share: float) -> float:
        scale = sqrt(chi2.ppf(share, free) / free)
        return float(norm.cdf(centre - edge * scale) + norm.cdf(-centre - edge * scale))

    return float(quad(given, 0, 1, limit=200)[0])


def independent(encounters: int, people: int, cases: int, *, by_person: float, by_case: float) -> float:
    """How many independent differences these encounters are worth when people and cases are crossed.

    `by_person` and `by_case` are the shares of the variance of a difference that the differences of one person, and of
    one case, have in common. Source: the variance of a mean with two crossed random effects in a balanced design.
    """
    if min(encounters, people, cases) < 1 or not 0 <= by_person + by_case <= 1:
        raise ValueError("one of each or more, and shares that add up to 1 at most")
    own, others = max(1.0, encounters / people), max(1.0, encounters / cases)
    return encounters / (1 + (own - 1) * by_person + (others - 1) * by_case)


def smallest_difference(cases: int, spread: float) -> float:
    """The smallest difference that so many cases find with a power of POWER; in the unit of the spread."""
    from scipy.optimize import brentq

    most = spread
    while power(cases, most, spread) < POWER:
        most *= 2
    return float(brentq(lambda size: power(cases, size, spread) - POWER, 0.0, most))


def cases_needed(difference: float, spread: float) -> int:
    """The fewest cases that find such a difference. Raises ValueError for a difference that is not above 0."""
    if difference <= 0 or spread <= 0:
        raise ValueError("a difference and a spread above 0")
    low, high = 1, max(2, ceil((spread / difference) ** 2))
    while power(high, difference, spread) < POWER:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle, difference, spread) >= POWER else (middle, high)
    return high
