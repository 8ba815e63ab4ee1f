"""Ranges of amounts: one text may give two ends, and the other a single amount between them, or a limit.

"11 to 13" may become "about a dozen", "50–69 %" "at least half but less than 70 percent", 38 % "between a third and a
half". An amount within a range does not contradict it, nor does a limit that the range satisfies.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from builders.medlaybench_v.facts.bounds import ABOVE, BELOW
from builders.medlaybench_v.facts.quantities import Quantity, quantities
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.rounding import NAMES_ONE

_JOINTS = frozenset(("-", "–", "—", "to", "or", "through", "up to", "and up to"))
_SPREADS = frozenset("ranging ranges ranged range vary varies varying measuring measure measured".split())
_HEDGED = frozenset(("~", ABOVE, BELOW))
_WIDEST = 2.5  # "between a third and a half" tells 38 %, "between 1 and 100" nothing
_SLACK = 0.12  # of the nearest end: "nearly a month" for three to four weeks


class Range(NamedTuple):
    """From `low` to `high` in the base unit of `kind`; `ends` are what tells them. `sizes`: "11 x 8 mm"."""

    kind: str
    low: float
    high: float
    ends: tuple[Quantity, Quantity]
    sizes: bool = False


def ranges(reading: Reading) -> list[Range]:
    """The ranges that a caption tells, in their order."""
    found = []
    for one, other in pairwise(reading.get(quantities)):
        kind = other.kind
        if kind in NAMES_ONE or kind.startswith("level"):
            continue
        if not (_join(reading, one, other) or _is_size(reading, one, other)):
            continue
        low = one.value
        if one.kind == "count" and kind != "count" and other.raw:
            low = one.raw * other.value / other.raw  # "40 to 50 %"
        elif one.kind != kind:
            continue
        if _is_size(reading, one, other):
            found.append(Range(kind, min(low, other.value), max(low, other.value), (one, other), sizes=True))
        elif low < other.value:
            found.append(Range(kind, low, other.value, (one, other)))
    return found


def _is_size(reading: Reading, one: Quantity, other: Quantity) -> bool:
    between = reading.lower[reading.ends[one.last] : reading.starts[other.first]].strip()
    return one.kind == other.kind == "length" and between in ("x", "×", "by", "*")


def _join(reading: Reading, one: Quantity, other: Quantity) -> bool:
    texts = reading.texts
    between = reading.lower[reading.ends[one.last] : reading.starts[other.first]].strip()
    before = texts[max(0, one.first - 2) : one.first]
    if one.bound == ">" and other.bound == "<":  # at least half but less than 70 %
        return other.first - one.last <= 6 and not {".", ";"} & set(between)
    if "between" in before:
        return between == "and" or between.startswith("and ")
    if before[-1:] == ["from"] and _SPREADS.isdisjoint(before):
        return False  # "fell from 8 to 3 mm"
    return between in _JOINTS


def told_by_range(
    expert: Reading, lost: list[Quantity], lay: Reading, new: list[Quantity]
) -> tuple[set[Quantity], set[Quantity], list[str]]:
    """Of the quantities that only one text gives: which are told by a range of the other, or by an amount within it.

    Returns the expert's, the lay ones, and what contradicts a range: a limit that shuts it out.
    """
    told: set[Quantity] = set()
    met: set[Quantity] = set()
    broken: list[str] = []
    for span in expert.get(ranges):
        if told.issuperset(span.ends) or not set(span.ends) & set(lost):
            continue
        for quantity in lay.get(quantities):
            if quantity.kind != span.kind:
                continue
            if not span.sizes and (shut := _shuts_out(span, quantity)):
                broken.append(f"{shut} became {quantity.bound}{quantity.text}")
                met.add(quantity)
            elif _lies_in(span, quantity) and (quantity.bound in _HEDGED or quantity.step == 0.0):  # no exact amount
                told |= set(span.ends)
                met.add(quantity)
    ends = {quantity for span in expert.get(ranges) for quantity in span.ends}
    for span in lay.get(ranges):
        for quantity in (q for q in lost if q not in ends):
            close = not span.sizes and span.low > 0 and span.high <= _WIDEST * span.low
            if quantity.kind == span.kind and close and span.low <= quantity.value <= span.high:
                told.add(quantity)
                met |= set(span.ends)
    return told, met, broken


def _lies_in(span: Range, quantity: Quantity) -> bool:
    return span.low * (1 - _SLACK) <= quantity.value <= span.high * (1 + _SLACK)


def _shuts_out(span: Range, quantity: Quantity) -> str:
    """The range, where a limit leaves nothing of it: "less than half" of 50–69 %."""
    below = quantity.bound == "<" and quantity.value <= span.low
    above = quantity.bound == ">" and quantity.value >= span.high
    return f"{span.ends[0].text}–{span.ends[1].text}" if below or above else ""
