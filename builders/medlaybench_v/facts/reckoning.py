"""Amounts told from others: a share by two counts, a difference, a sum, a ratio, what is left of a whole."""

from __future__ import annotations

import re
from itertools import pairwise

from builders.medlaybench_v.facts.quantities import Quantity, quantities
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.rounding import NAMES_ONE, same


def left_over(expert: Reading, here: list[Quantity], lay: Reading, there: list[Quantity]) -> list[str]:
    """Shares by which something shrank that became what is left of it: "a 90% stenosis", "narrowed to 90 percent"."""
    found = []
    for other in (q for q in there if q.kind == "share" and _is_left(lay, q)):
        for quantity in (q for q in here if q.kind == "share" and same(q, other) and not _is_left(expert, q)):
            loss = next(filter(_LOSSES.__contains__, expert.texts[quantity.last + 1 : quantity.last + 4]), "")
            if loss and abs(other.value - 50.0) > 3.0:
                found.append(f"{quantity.text} {loss} became {other.text} left")
    for other in (q for q in there if q.kind == "share" and "to" in lay.texts[max(0, q.first - 3) : q.first]):
        shrinks = not _SHRINKS.isdisjoint(lay.texts[max(0, other.first - 7) : other.first])
        shrinks = shrinks and abs(other.value - 50.0) > 3.0
        for quantity in (q for q in here if shrinks and q.kind == "share" and same(q, other)):
            if "to" not in expert.texts[max(0, quantity.first - 3) : quantity.first]:
                found.append(f"{quantity.text} became to {other.text}")
    return found


_SHRINKS = frozenset(
    "narrowed narrows narrow reduced reduces shrunk shrank shrinks fallen fell dropped decreased cut down".split()
)


def _is_left(reading: Reading, share: Quantity) -> bool:
    """Whether a share is followed by what says that it is there: "70% of it is open"."""
    return not _REST.isdisjoint(reading.texts[share.last + 1 : share.last + 8])


_LOSSES = frozenset("stenosis stenoses loss lost narrowing obstruction reduction compression".split())


def told_as_part(lost: list[Quantity], lay: Reading, there: list[Quantity]) -> tuple[set[Quantity], set[Quantity]]:
    """Shares told by two counts, with these counts: "four in five", "95 out of 100"."""
    told: set[Quantity] = set()
    met: set[Quantity] = set()
    shares = [q for q in lost if q.kind == "share"]
    for part, whole in pairwise(there) if shares else ():
        between = tuple(lay.texts[part.last + 1 : whole.first])
        if between in _OUT_OF and whole.kind == "count" and 0 < part.value <= whole.value:
            share = 100.0 * part.value / whole.value
            for quantity in shares:
                if abs(quantity.value - share) <= (0.12 if part.bound else 0.04) * share:
                    told.add(quantity)
                    met |= {part, whole}
    return told, met


_OUT_OF = frozenset((("in",), ("out", "of"), ("of", "every"), ("in", "every"), ("out", "of", "every")))


def is_complement(expert: Reading, one: Quantity, lay: Reading, other: Quantity) -> bool:
    """Whether one share is what the other one leaves: of a narrowing by 70% three tenths stay open."""
    if not one.kind == other.kind == "share" or abs(one.value + other.value - 100.0) > 3.0:
        return False
    rests = [not _REST.isdisjoint(r.texts[max(0, q.first - 8) : q.last + 9]) for r, q in ((expert, one), (lay, other))]
    return rests[0] != rests[1]


_REST = frozenset(
    "open remain remains remaining remained free spared preserved kept keeps retained patent normal usual "
    "original".split()
)
MEASURED = frozenset(("grade", "length", "volume", "mass", "HU", "French", "gauge", "pressure", "temperature", "dose"))


def told_by_another(quantity: Quantity, there: list[Quantity], lay: Reading) -> bool:
    """A quantity told by others: "half as wide", "a third of that", "7 mm slimmer", "six weeks later and six more"."""
    if quantity.value == 0 and {"start", "beginning", "first", "once", "immediately"} & set(lay.texts):
        return True
    alike = [q for q in there if q.kind == quantity.kind and not (q.loose and q.kind == "count")]
    if quantity.kind == "length" and re.search(r"\bhalf (?:as|the|that|of that|its)\b", lay.lower):
        return any(abs(q.value - 2 * quantity.value) < 0.05 * q.value for q in alike)
    shares = [q.value / 100.0 for q in there if q.kind == "share"] if quantity.kind in MEASURED else []
    if any(abs(q.value * share - quantity.value) <= 0.03 * quantity.value for q in alike for share in shares):
        return True
    further = _FURTHER if quantity.kind == "count" else _FURTHER | _APART
    if quantity.kind not in ("time", "length", "count") or further.isdisjoint(lay.bag):
        return False
    return any(
        abs(a.value + b.value - quantity.value) < 1e-6 or abs(abs(a.value - b.value) - quantity.value) < 1e-6
        for i, a in enumerate(alike)
        for b in alike[:i]
    )


def is_reckoned(quantity: Quantity, here: list[Quantity], unmet: list[Quantity], lay: Reading) -> bool:
    """A quantity told from another one of the expert caption: "four weeks afterwards" of week 9 and week 13, "half of
    them" of 1,200, "cut in half" of 6.0 and 3.0."""
    others = [q for q in here if q is not quantity and q.kind == quantity.kind and q.kind not in NAMES_ONE and q.value]
    factors = [_FACTORS[word] for word in _FACTORS.keys() & lay.bag]
    factors += [q.value / 100.0 for q in unmet if q.kind == "share"] if quantity.kind == "count" else []
    factors += [q.value for q in unmet if q.kind == "fold"]  # "three times as much" of 75% and 25%
    steps = [q.value for q in unmet if q.kind == quantity.kind and (q.kind == "time" or _is_a_step(q, lay))]
    close = 0.01 * abs(quantity.value)
    return any(
        any(abs(other.value * factor - quantity.value) <= close for factor in factors)
        or any(abs(abs(other.value - quantity.value) - step) <= close for step in steps)
        for other in others
    )


def _is_a_step(quantity: Quantity, lay: Reading) -> bool:
    """Whether an amount with a unit is told as a difference: "put on 4 mm", "fell by 20 mmHg", "7 mm more"."""
    if is_of_a_size(quantity, lay):
        return False
    near = {*lay.texts[max(0, quantity.first - 3) : quantity.first], *lay.texts[quantity.last + 1 : quantity.last + 3]}
    return quantity.kind in MEASURED and not (_FURTHER | _APART | _GAINS).isdisjoint(near)


_GAINS = frozenset("by gained gains put lost added adding shed difference growth drop rise".split())
_FACTORS = {"half": 0.5, "halved": 0.5, "doubled": 2.0, "twice": 2.0, "tripled": 3.0}


def is_of_a_ratio(expert: Reading, quantity: Quantity, there: list[Quantity]) -> bool:
    """Whether a number stands in a ratio that the lay caption tells otherwise: 2:1 as "twice as wide"."""
    if quantity.kind != "count" or ":" not in expert.text:
        return False
    at = expert.starts[quantity.first]
    ratio = next((match for match in _RATIO.finditer(expert.text) if match.start() <= at < match.end()), None)
    if ratio is None or not float(ratio[1]) or not float(ratio[2]):
        return False
    values = float(ratio[1]) / float(ratio[2]), float(ratio[2]) / float(ratio[1])
    told = [q.value / (100.0 if q.kind == "share" else 1.0) for q in there if q.kind in ("fold", "share")]
    return any(abs(value - other) <= 0.03 * value for value in values for other in told)


def ratios(reading: Reading) -> frozenset[tuple[str, str]]:
    """The ratios that a caption gives in figures: "2:1"."""
    return frozenset(_RATIO.findall(reading.text)) if ":" in reading.text else frozenset()


_RATIO = re.compile(r"(?<![\w:.])(\d+(?:\.\d+)?) ?: ?(\d+(?:\.\d+)?)(?![\w:]|\.\d)")
_APART = frozenset(
    "wider slimmer narrower thicker thinner longer shorter taller larger smaller bigger over above under below between "
    "passed apart".split()
)
_FURTHER = frozenset("more further another additional fewer less later earlier extra".split())


def is_added(quantity: Quantity, here: list[Quantity], there: list[Quantity]) -> bool:
    """ "Three days past the 28-week mark" of 28 weeks and 3 days, "7 mm slimmer" than 38 mm."""
    if quantity.kind not in ("time", "length"):
        return False
    wanted = {round(q.value - quantity.value, 6) for q in here if q.kind == quantity.kind}
    return any(round(q.value, 6) in wanted for q in there if q is not quantity and q.kind == quantity.kind)


def is_of_a_size(quantity: Quantity, reading: Reading) -> bool:
    """Whether a length is a side of something: "5 by 4 by 2 cm"."""
    sides = [q for q in reading.get(quantities) if q.kind == quantity.kind == "length"]
    pairs = ((one, other) for one, other in pairwise(sides) if quantity in (one, other))
    return any(reading.texts[one.last + 1 : other.first] in _BY for one, other in pairs)


_BY = (["by"], ["x"])


def derived(quantity: Quantity, known_here: list[Quantity]) -> bool:
    """The difference or the sum of two known ones: "four weeks earlier"."""
    values = [q.value for q in known_here if q.kind == quantity.kind]
    years = [q.value for q in known_here if q.kind == "date" and q.value > 1900]
    if quantity.kind == "time" and any(abs(a - b) * 365.25 == quantity.value for a in years for b in years):
        return True  # "three years on" of 2015 and 2018
    return quantity.kind in ("time", "length") and any(
        abs(abs(a - b) - quantity.value) < 1e-6 * max(a, 1.0) for i, a in enumerate(values) for b in values[:i]
    )


def is_ratio(quantity: Quantity, here: list[Quantity]) -> bool:
    """What one of two known numbers is of the other, or by how much they differ: 12.4 and 3.1, "a quarter"."""
    if quantity.kind not in ("share", "fold"):
        return False
    share = quantity.value * (1.0 if quantity.kind == "share" else 100.0)
    amounts = [q for q in here if q.kind not in NAMES_ONE and q.kind[:5] != "level" and q.value > 0]
    pairs = ((a.value, b.value) for a in amounts for b in amounts if a.kind == b.kind and a.value != b.value)
    return any(abs(told - share) <= 0.03 * share for a, b in pairs for told in (100.0 * a / b, 100.0 * abs(a - b) / b))
