"""Whether one amount states another: equal after conversion, or rounded as its digits or words say."""

from __future__ import annotations

from builders.medlaybench_v.facts.bounds import ABOVE, BELOW, DECADE
from builders.medlaybench_v.facts.quantities import Quantity
from builders.medlaybench_v.facts.units import UNITS


def same(expert: Quantity, lay: Quantity) -> bool:
    """Whether a lay quantity states an expert one: equal after conversion, or rounded as its digits or words say."""
    if not kinds_meet(expert, lay):
        return False
    if {expert.bound, lay.bound} == {">", "<"}:
        return False
    if "stage" in (expert.kind, lay.kind) and (expert.kind, expert.letter) != (lay.kind, lay.letter):
        return False
    if expert.letter and lay.letter and expert.letter[:1] != lay.letter[:1]:
        return False
    if (expert.kind, lay.kind) == ("count", "share") and 0 < expert.value < 1:
        return abs(expert.value * 100 - lay.value) < 0.5
    if (expert.kind, lay.kind) == ("mass", "volume"):  # an ounce is a weight, too
        return abs(expert.value - lay.raw * 28.35) <= 0.13 * expert.value
    if {expert.kind, lay.kind} == {"French", "length"}:
        return same(in_millimetres(expert), in_millimetres(lay))
    if expert.kind != lay.kind:
        if "per" in f"{expert.kind} {lay.kind}".split() and expert.raw in (lay.raw / 1000, lay.raw * 1000):
            return True  # "in each millilitre 742 micrograms" of 0.742 mg/mL
        if expert.kind[:5] == lay.kind[:5] == "level":
            return False
        return expert.raw == lay.raw or expert.raw == -lay.raw < 0  # "fifteen points below zero"
    value, other = expert.value, lay.value
    if (value < 0) != (other < 0):
        return False
    if value == other:
        return True
    if expert.kind in NAMES_ONE or expert.kind.startswith("level"):
        return False
    if lay.bound == DECADE:  # "in her sixties"
        years = expert.raw % 10
        part = _PARTS_OF_DECADE.get(lay.letter, (0, 9))
        in_decade = int(expert.raw // 10) == int(lay.raw // 10) and part[0] <= years <= part[1]
        return in_decade and abs(expert.value / expert.raw - 365.25) < 0.01
    gap = abs(value - other)
    if lay.bound in (ABOVE, BELOW) and not expert.bound:  # "a little over an inch"
        most = 0.25 if lay.loose else 0.2
        return 0 <= (value - other if lay.bound == ABOVE else other - value) <= most * abs(value)
    if gap <= 1e-6 * max(abs(value), 1.0):
        return True
    if expert.step and expert.bound != lay.bound and lay.bound in ("<", ">"):  # "less than 100" of 99
        beyond = other - value if lay.bound == "<" else value - other
        if 0 < beyond <= expert.step * 1.01:
            return True
    if expert.kind == "time":  # eight weeks are two months; nine months, told so, are no ten
        return gap <= (0.035 if same_unit(expert, lay) else 0.15 if lay.bound == "~" else 0.09) * abs(value)
    if expert.kind == "temperature" and gap <= lay.step / 2 * 1.02:  # 102 °F for 39 °C
        return True
    size = max(abs(value), 1e-9)
    if lay.step and lay.step > expert.step and gap <= lay.step / 2 * 1.02:
        return gap <= 0.12 * size
    if lay.bound == "~" and lay.loose:  # "close to a centimetre"
        return gap <= 0.25 * size
    if lay.bound:
        rounder = lay.raw % 5 == 0 and lay.raw >= 10 and expert.raw % 5 != 0  # 30 for 29, and not 31
        return gap <= 0.13 * size and (lay.step != expert.step or rounder)
    if not lay.step:  # told in words: "half an inch"
        return gap <= 0.06 * size
    imperial = abs(lay.value / lay.raw - 25.4) < 0.01 if lay.raw else False
    return imperial and gap <= 0.07 * size


def in_millimetres(quantity: Quantity) -> Quantity:
    """A length, or the width of a catheter in French as one, of which no digit says how it was rounded."""
    if quantity.kind != "French":
        return quantity
    return quantity._replace(kind="length", value=quantity.value / 3.0, step=0.0)


_PARTS_OF_DECADE = {"early": (0, 4), "mid": (3, 7), "middle": (3, 7), "late": (6, 9)}


def same_unit(one: Quantity, other: Quantity) -> bool:
    return abs(one.value * other.raw - other.value * one.raw) < 1e-6 * abs(one.value * other.raw)


NAMES_ONE = frozenset(("date", "stage", "grade", "ordinal", "trimester"))  # no amounts: a number near it is another one
_COUNTS = frozenset(("count", "grade", "ordinal", "fold", "date", "rate"))


def kinds_meet(expert: Quantity, lay: Quantity) -> bool:
    if expert.kind == lay.kind:
        return True
    if {expert.kind, lay.kind} == {"French", "length"}:
        return True
    # "20 mg/day", of which a lay caption may tell the dose alone
    if (" per " in expert.kind) != (" per " in lay.kind) and _undivided(expert) == _undivided(lay):
        return True
    if (expert.kind, lay.kind) == ("mass", "volume"):
        return abs(lay.value - lay.raw * UNITS["ounce"][1]) < 1e-6
    if expert.kind.startswith("level"):
        return lay.kind.startswith("level") or (lay.kind in ("ordinal", "count", "grade") and not lay.letter)
    if lay.kind.startswith("level"):
        return expert.kind in ("ordinal", "count")
    if "stage" in (expert.kind, lay.kind):
        return False
    if {expert.kind, lay.kind} == {"angle", "temperature"}:
        return True
    if expert.kind in _COUNTS:
        return lay.kind in _COUNTS or (
            expert.kind in ("ordinal", "grade", "count") and lay.kind in ("time", "share", "French", "rate")
        )
    return lay.kind in ("count", "date") and expert.kind != "trimester"


def _undivided(quantity: Quantity) -> str:
    """The kind of what is told of each day, millilitre or the like."""
    return quantity.kind.partition(" per ")[0]


def roughly(quantity: Quantity, other: Quantity) -> bool:
    """Whether an amount is told as no exact one, and not far from it: only a reader can tell how roughly one may."""
    if quantity.kind != other.kind or quantity.kind in NAMES_ONE or quantity.kind[:5] == "level" or not quantity.value:
        return False
    if {quantity.bound, other.bound} == {"<", ">"}:
        return False
    gap = abs(other.value - quantity.value) / abs(quantity.value)
    if other.bound in (ABOVE, BELOW):  # "just over a third" of 28 % is none
        beyond = quantity.value - other.value if other.bound == ABOVE else other.value - quantity.value
        return beyond >= 0 and gap <= 0.35
    if quantity.kind == "share":
        return other.bound == "~" and abs(other.value - quantity.value) <= 6.0
    return gap <= (0.3 if other.bound == "~" else 0.12 if not same_unit(quantity, other) else 0.0)


def nearly_one_time(quantity: Quantity, other: Quantity) -> bool:
    """Whether two times in different units may be one, roundly told: "eight weeks", "two months"."""
    if not quantity.kind == other.kind == "time" or same_unit(quantity, other):
        return False
    return 0.7 <= other.value / quantity.value <= 1.4 if quantity.value else False
