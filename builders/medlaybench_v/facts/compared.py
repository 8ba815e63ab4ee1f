"""Comparisons with both sides: what is compared (A), how (a pole), with what (B), and from which end.

"A is larger than B", "A exceeds B", "larger in A than in B", "elevated compared with B". Two captions that compare the
same two things agree if pole and sides are the same, or both are reversed: "B is smaller than A".
"""

from __future__ import annotations

from typing import NamedTuple

from builders.medlaybench_v.facts.binding import anchors, bag_of, likeness, only
from builders.medlaybench_v.facts.clauses import clauses
from builders.medlaybench_v.facts.phrases import sentence
from builders.medlaybench_v.facts.poles import MINUS, PLUS, SAME, Pole, poles
from builders.medlaybench_v.facts.reading import OfWords, Reading
from builders.medlaybench_v.facts.senses import anatomy
from builders.medlaybench_v.facts.sides import sides
from builders.medlaybench_v.facts.words import CARDINALS

_EXCEEDS = frozenset(
    "beats beat beating tops topping outsizes outgrows outdoes "
    "exceeds exceed exceeded exceeding surpasses surpass outweighs outstrips outnumber outnumbers".split()
)
_AGAINST = {
    "compared": ("with", "to"), "comparison": ("with", "to"), "relative": ("to",), "contrast": ("to", "with"),
    "opposed": ("to",),
}  # fmt: skip
_COMPARES = _EXCEEDS | _AGAINST.keys() | {"than", "as", "over"}
_COMPARING_WORD = OfWords(_COMPARES.__contains__)
_DIMENSIONS = frozenset("size brightness severity thickness vertical extent".split())
_AMOUNTS = frozenset("half a an one two three four five six seven eight nine ten twice usual normal expected".split())


_LESS, _MORE = frozenset("not half less third quarter t".split()), frozenset("twice times double triple".split())


class Comparison(NamedTuple):
    """What stands on the one and the other side of a comparison, and its pole (+, -, =); `since` an earlier time."""

    value: str
    one: dict[str, float]
    other: dict[str, float]
    since: bool = False


def comparisons(reading: Reading) -> list[Comparison]:
    """The comparisons of a caption that name both sides."""
    texts = reading.texts
    found: list[Comparison] = []
    for i in reading.where(_COMPARING_WORD):
        word, after = texts[i], reading.word(i + 1)
        start, end = sentence(reading, i)
        if word == "than" and _is_thing(after):
            value, last = _pole(reading, start, i), i
        elif word in _EXCEEDS and _is_thing(after):
            value, last = PLUS, i
        elif after in _AGAINST.get(word, ()):
            value, last = _pole(reading, start, end), i + 1
        elif word == "as" and after in ("much", "many", "large", "big", "wide", "bright", "thick", "high", "long"):
            second = next((j for j in range(i + 2, end) if texts[j] == "as"), 0)
            before = set(texts[max(0, i - 3) : i])
            value = MINUS if before & _LESS else PLUS if before & _MORE else SAME
            i, last = second, second
        elif word == "over" and (best := _favoured(texts, i)):
            start, value, last = best, PLUS, i
        else:
            continue
        start = max([start, *(j for j in range(start, i) if texts[j] == "whereas")])
        one, other = _bag(reading, start, i), _bag(reading, last + 1, _stop(reading, last + 1, end))
        if value and i and other:
            since = not _EARLIER.isdisjoint(texts[last + 1 : _stop(reading, last + 1, end)])
            found.append(Comparison(value, *only(one, other), since=since))
    return found


_ONE_OF = frozenset("whereas but however while other others second both each former latter".split())
_EARLIER = frozenset("prior previous previously earlier before last past initial baseline ago yesterday".split())


def _favoured(texts: list[str], i: int) -> int:
    """The word behind "favours" where "over" follows it: "favours a meningioma over a schwannoma"."""
    return next((j + 1 for j in range(max(0, i - 7), i) if texts[j].startswith(("favor", "favour", "prefer"))), 0)


def _is_thing(word: str) -> bool:
    return word[:1].isalpha() and word not in _AMOUNTS and word not in CARDINALS


def turned_round(expert: Reading, lay: Reading) -> bool:
    """Whether a comparison was turned."""
    here, there = expert.get(comparisons), lay.get(comparisons)
    times = [[c for c in found if c.since] for found in (here, there)]
    if len(times[0]) == len(times[1]) == 1 and not _ONE_OF.intersection(expert.bag | lay.bag):
        return times[0][0].value != times[1][0].value
    for ours in here:
        for theirs in () if ours in there else _partners(ours, there):
            # What is compared stands among all else that the sentence tells; what it is compared with stands alone.
            straight = likeness(ours.other, theirs.other)
            crossed = likeness(ours.one, theirs.other) + likeness(ours.other, theirs.one)
            if abs(straight - crossed) < 0.25 * max(straight, crossed) + 0.3:
                continue
            same = ours.value == theirs.value
            if not same if SAME in (ours.value, theirs.value) else (straight > crossed) != same:
                return True
    return False


def other_end(expert: Reading, lay: Reading, pole: Pole) -> bool:
    """Whether a pole is said of the second thing of a comparison, as far as one can tell: "A is brighter than B" told
    as "B is the darker one"."""
    start, end = next(span for span in lay.get(clauses) if span[0] <= pole.first < span[1])
    if not _COMPARES.isdisjoint(lay.texts[start:end]):
        return False
    subject = _places(_bag(lay, start, pole.first))
    for ours in expert.get(comparisons):
        if ours.since or ours.value == SAME:
            continue
        one, other = likeness(subject, _places(ours.one)), likeness(subject, _places(ours.other))
        if abs(one - other) > 0.5 and not (one and other):
            return other > one
    return False


def _places(bag: dict[str, float]) -> dict[str, float]:
    return {k: w for k, w in bag.items() if k.startswith("side ") or (k in anatomy() and w == 1.0)}


def _partners(ours: Comparison, found: list[Comparison]) -> list[Comparison]:
    """Of several comparisons those that speak most of the same."""

    def alike(theirs: Comparison) -> float:
        here, there = {**ours.one, **ours.other}, {**theirs.one, **theirs.other}
        return likeness(here, there) / (sum(here.values()) + sum(there.values()) + 1e-9)

    most = max(map(alike, found), default=0.0)
    return [theirs for theirs in found if alike(theirs) >= most - 1e-6]


def _pole(reading: Reading, start: int, end: int) -> str:
    """The last pole between two words, that of an amount before others."""
    here = [p for p in reading.get(poles) if start <= p.first < end and p.dimension in _DIMENSIONS]
    others = {p.first for p in here if p.dimension != "size"}
    sizes = [p for p in here if p.dimension == "size" and not (p.first == p.last and p.last + 1 in others)]
    return (sizes or here)[-1].value if here else ""


def _stop(reading: Reading, start: int, end: int) -> int:
    """Where the second side of a comparison ends."""
    words = zip(range(start + 1, end), reading.gaps[start + 1 :], reading.texts[start + 1 :], strict=False)
    return next((j for j, gap, word in words if not _PARTED.isdisjoint(gap) or word in _PARTING), end)


_PARTED, _PARTING = frozenset(",:"), frozenset("which while but whereas".split())


def _bag(reading: Reading, start: int, end: int) -> dict[str, float]:
    return bag_of(reading, start, end, ("size ", "severity ", "depth "))


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
        return "than" in reading.texts[pole.last : pole.last + 7] and reading.word(pole.first - 1) != "no"
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
        return other_end(expert, lay, theirs[0])
    here, there = expert.get(comparisons), lay.get(comparisons)
    if len(here) == len(there) == 1 and not (here[0].since or there[0].since):
        (before, after), (lay_before, lay_after) = ((c.one, c.other) for c in (*here, *there))
    else:
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
