"""The poles that a caption names in each dimension of `poles.csv`: larger and smaller, up and down, bright and dark."""

from __future__ import annotations

from typing import NamedTuple

from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import ANATOMY, kind_of, senses
from builders.medlaybench_v.facts.wordings import POLES

PLUS, MINUS, SAME = "+", "-", "="


class Pole(NamedTuple):
    """One pole of a dimension at the words [first, last]."""

    dimension: str
    value: str
    first: int
    last: int


def poles(reading: Reading) -> list[Pole]:
    """The poles that a caption names, in their order; a denied one ("not as thick") is the other."""
    texts = reading.texts
    found: list[Pole] = []
    end = 0
    for i, matches in POLES.matches(reading):
        if i < end:
            continue
        size, named = matches[0]
        if reading.gaps[i + size : i + size + 1] == ["-"] and texts[i + size] == "to":
            continue  # "on the front-to-back view" is not "on the front"
        end = i + size
        word, before, after = texts[i], texts[i - 1], texts[end] if end < len(texts) else ""
        if (word == "longer" and before == "no") or (word == "more" and before == "any"):
            continue  # of time: "no longer visible", "not seen any more"
        if word == "more" and after in _PLACED and "than" not in texts[end : end + 4]:
            continue  # "more caudally" compares places
        if after.startswith("arrow") and reading.gaps[end] == " ":
            named = tuple(pole for pole in named if pole[0] == "brightness")  # how a mark is drawn: "solid arrow"
        if word == "back" and before in _RETURNED:
            continue  # "put back", "is back in place"
        if word == "old" and before in _AGES:
            continue  # an age
        if word == "part" and texts[i:end] == ["part", "of"] and reading.gaps[i] == " " and before not in _SOME:
            continue  # "the lower part of the lung" is a place
        if word == "reduction" and before in _SETTING:
            continue  # of a fracture
        if word in _MARKING or (word == "marked" and after in ("by", "with")):
            continue  # what an arrow does
        if after == "than" and _is_limit(word, "".join(texts[end + 1 : end + 2])):
            continue
        if word in ("above", "below") and not _is_amount(after) and after not in _USUAL:
            named = tuple((dimension, value) for dimension, value in named if dimension != "size")
        if word == "up" and _is_amount(after):
            continue
        if after == "zero" or (word == "as" and _is_amount(after)):
            continue  # below zero; as much as 42 mm
        near = 1 if word in ("above", "below") else 2  # "no uptake below it" denies the uptake, not the place
        denied = not _NOT.isdisjoint(texts[max(0, i - near) : i])
        neither = "neither" in texts[max(0, i - 4) : i] and (
            "nor" in texts[i : i + 4] or "nor" in texts[max(0, i - 2) : i]
        )
        for dimension, value in named:
            if neither:
                value = SAME
            elif dimension == "approach" and not _OPPOSITE_SIDE.isdisjoint(texts[end : end + 3]):
                value = _TURNED[value]  # towards the opposite side is away from this one
            elif i and before == "as" == after and not denied:
                value = SAME  # "just as bright as fat"
            elif denied:
                value = _TURNED[value] if dimension in ("size", "brightness") else SAME
            found.append(Pole(dimension, value, i, end - 1))
    if "lateral" in reading.bag:
        found = sorted((*found, *_outer(reading)), key=lambda pole: pole.first)
    return found


def _outer(reading: Reading) -> list[Pole]:
    """The parts called lateral: "the lateral meniscus", and not "a lateral radiograph"."""
    parts = {s.first for s in reading.get(senses) if any(kind_of(x.concept) == ANATOMY for x in s.senses)}
    return [Pole("depth", MINUS, i, i) for i, text in enumerate(reading.texts) if text == "lateral" and i + 1 in parts]


def _is_limit(comparative: str, following: str) -> bool:
    """ "More than half", "no larger than 8 mm", and not "wider than a year ago"."""
    return _is_amount(following) and (comparative in ("more", "less") or following[0].isdigit())


def _is_amount(following: str) -> bool:
    return following[:1].isdigit() or following in ("half", "a", "one", "two", "twice")


_PLACED = frozenset("caudally cranially proximally distally laterally medially anteriorly posteriorly".split())
_SETTING = frozenset("closed open internal manual anatomic anatomical concentric after post".split())
_SOME = frozenset("a is just only one was which large small big good still".split())
_RETURNED = frozenset("is was are were be been put brought came come comes went grown grew bounced sent".split())
_AGES = frozenset("year years month months week weeks day days".split())
_MARKING = frozenset(("mark", "marks", "marking", "markings"))
_USUAL = frozenset("normal average usual the what expected that".split())
_OPPOSITE_SIDE = frozenset(("opposite", "contralateral"))
_TURNED = {PLUS: MINUS, MINUS: PLUS, SAME: SAME}
_NOT = frozenset(("not", "t", "no", "without", "nor"))
