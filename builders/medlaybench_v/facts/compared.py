"""What is compared with what, and from which end."""

from __future__ import annotations

from builders.medlaybench_v.facts.binding import anchors, likeness
from builders.medlaybench_v.facts.poles import SAME, Pole, poles
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.sides import sides
from builders.medlaybench_v.facts.than import other_end

_COMPARING = frozenset(
    "larger smaller increase increased increasing decrease decreased decreasing unchanged stable enlarged grown shrunk "
    "wider narrower thicker thinner higher lower progression regression reduced reduction equal exceeds exceed greater "
    "less more fallen risen improved worse worsened shorter longer bigger fewer doubled elevated widened shortened "
    "milder creeping climbed climbing".split()
)
_ALSO_NAMES = frozenset(
    "lower higher longer shorter less more greater reduction reduced larger smaller fallen elevated".split()
)
_THAN = frozenset("than that relative pair exceeds exceed exceeding".split())


def by_dimension(reading: Reading) -> dict[str, list[Pole]]:
    found: dict[str, list[Pole]] = {}
    for pole in reading.get(poles):
        found.setdefault(pole.dimension, []).append(pole)
    return found


def is_name(reading: Reading, pole: Pole) -> bool:
    """Whether "lower" or "higher" tells a place, not a comparison."""
    return reading.texts[pole.first] in ("lower", "higher") and "than" not in reading.texts[pole.last : pole.last + 7]


def is_compared(reading: Reading, pole: Pole) -> bool:
    """Whether a word compares, and is no name: "increased", "larger than", but not "the lower pole"."""
    word = reading.texts[pole.first]
    if word in _ALSO_NAMES:
        return "than" in reading.texts[pole.last : pole.last + 7] and reading.texts[pole.first - 1 : pole.first] != [
            "no"
        ]
    return word in _COMPARING or "than" in reading.texts[pole.last + 1 : pole.last + 4]


def turned(expert: Reading, lay: Reading) -> bool:
    """Whether the texts compare the same two things from opposite ends: "A is larger than B", "B is smaller than A"."""
    here, there = expert.get(by_dimension), lay.get(by_dimension)
    for dimension in ("size", "brightness"):
        ours, theirs = ({p.value for p in found.get(dimension, ())} - {SAME} for found in (here, there))
        if ours and theirs and ours.isdisjoint(theirs):
            return True
    return False


def other_way(expert: Reading, ours: list[Pole], lay: Reading, theirs: list[Pole]) -> bool:
    """A is larger than B, B is smaller than A."""
    sides_turned = subject_side(expert, ours[0]), subject_side(lay, theirs[0])
    if all(sides_turned):
        return sides_turned[0] != sides_turned[1]
    if not (compares(expert, ours[0]) and compares(lay, theirs[0])):
        return other_end(expert, lay, theirs[0]) is True
    (before, after), (lay_before, lay_after) = _both_ends(expert, ours[0]), _both_ends(lay, theirs[0])
    straight = likeness(before, lay_before) + likeness(after, lay_after)
    return likeness(before, lay_after) + likeness(after, lay_before) > straight


def _both_ends(reading: Reading, pole: Pole) -> list[dict[str, float]]:
    """What stands nearer to the words before a comparison, and what to those behind it."""
    before, after = anchors(reading, pole.first, pole.last, 1.0, 0.0), anchors(reading, pole.first, pole.last, 0.0, 1.0)
    return [
        {key: weight - other.get(key, 0.0) for key, weight in bag.items() if weight > other.get(key, 0.0) * 1.2}
        for bag, other in ((before, after), (after, before))
    ]


def compares(reading: Reading, pole: Pole) -> bool:
    return (
        bool(_THAN & set(reading.texts[pole.first : pole.last + 4]))
        or "than" in reading.texts[pole.last : pole.last + 12]
    )


def subject_side(reading: Reading, pole: Pole) -> str:
    """Which of left and right a comparison is said of: the nearest before it, else the nearest behind it."""
    found = [s for s in reading.get(sides) if s.value in ("left", "right") and s.named]
    before = [s for s in found if s.last < pole.first]
    behind = [s for s in found if s.first > pole.last]
    after = [s for s in behind if "than" not in reading.texts[pole.last : s.first]]
    if before and behind and behind != after and before[-1].value == behind[0].value:
        return ""  # "the left atrium is larger than the left ventricle"
    return before[-1].value if before else after[0].value if after else ""
