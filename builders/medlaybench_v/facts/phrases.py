"""The phrase that a value is in: between punctuation, joints and other values, or the nearest one with content.

A single mark, interval or side that moved from one thing to another cannot be recognised by exchange, as there is no
second value. Its phrase shows it: nothing in it is the same, and what each phrase names is elsewhere in the other text.
"""

from __future__ import annotations

from collections.abc import Sequence

from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import ANATOMY, SAYS_LITTLE, implied, kind_of, senses

_PARTS = frozenset(",;:.()?!—–")
_JOINTS = frozenset("and but while whereas with which that who whose where or nor although though without".split())


def phrases(reading: Reading) -> list[tuple[int, int]]:
    """The phrases [start, end) of a caption, between punctuation and joints."""
    return _cut(reading, _PARTS)


def with_brackets(reading: Reading) -> list[tuple[int, int]]:
    """The phrases [start, end) of a caption, each with what it says in parentheses: "a cyst (arrow)"."""
    return _cut(reading, _PARTS - frozenset("()"))


def _cut(reading: Reading, parts: frozenset[str]) -> list[tuple[int, int]]:
    found, start = [], 0
    for i, (word, gap) in enumerate(zip(reading.texts, reading.gaps, strict=True)):
        if i and (word in _JOINTS or (gap != " " and not parts.isdisjoint(gap))):
            found.append((start, i))
            start = i
    return [*found, (start, len(reading.texts))]


def numbered(spans: Sequence[tuple[int, int]]) -> list[int]:
    """The number of the part that each word is in."""
    return [n for n, (start, end) in enumerate(spans) for _ in range(start, end)]


def sentences(reading: Reading) -> list[tuple[int, int]]:
    """The sentences [start, end) of a caption."""
    starts = [0, *(i for i, gap in enumerate(reading.gaps) if i and not _ENDINGS.isdisjoint(gap))]
    return list(zip(starts, [*starts[1:], len(reading.texts)], strict=True))


def sentence(reading: Reading, i: int) -> tuple[int, int]:
    """The words [start, end) of the sentence that holds word i."""
    return next(span for span in reading.get(sentences) if i < span[1])


_ENDINGS = frozenset(".;?!")


def named(reading: Reading, start: int, end: int) -> frozenset[str]:
    """The things that the words [start, end) name: concepts that are no general ones."""
    return frozenset(
        x.concept
        for s in reading.get(senses)
        if start <= s.first and s.last < end
        for x in s.senses
        if kind_of(x.concept) not in SAYS_LITTLE
    )


def phrase_of(reading: Reading, first: int, last: int, *, ahead: bool = False) -> frozenset[str]:
    """What the phrase of the words [first, last] names; of an empty one the phrase before it (`ahead`: behind it)."""
    spans = reading.get(phrases)
    at = next(i for i, (start, end) in enumerate(spans) if start <= first < end)
    order = [at, at + 1] if ahead else [at, at - 1]
    for i in order:
        if 0 <= i < len(spans):
            found = named(reading, *spans[i])
            if found:
                return found
    return frozenset()


def moved(expert: Reading, ours: frozenset[str], lay: Reading, theirs: frozenset[str]) -> bool:
    """Whether a value went from what `ours` names to what `theirs` names; both texts speak of both."""
    closed_here, closed_there = _closed(ours), _closed(theirs)
    if closed_here & theirs or closed_there & ours:
        return False
    all_here = named(expert, 0, len(expert.texts)) - ours
    all_there = named(lay, 0, len(lay.texts)) - theirs
    return bool(theirs & all_here) and bool(ours & all_there)


def replaced(expert: Reading, ours: frozenset[str], lay: Reading, theirs: frozenset[str]) -> bool:
    """Whether a value went from a body part that only the expert caption names to one that only the lay one does."""
    ours, theirs = _parts_of_body(ours), _parts_of_body(theirs)
    if not ours or not theirs:
        return False
    everywhere_here = _closed(named(expert, 0, len(expert.texts)))
    everywhere_there = _closed(named(lay, 0, len(lay.texts)))
    return not (_closed(ours) & theirs or ours & everywhere_there or theirs & everywhere_here)


def _parts_of_body(concepts: frozenset[str]) -> frozenset[str]:
    return frozenset(c for c in concepts if kind_of(c) == ANATOMY and c not in TISSUES)


TISSUES = frozenset("wall cavity fat bone body muscle joint vessel gland duct nerve skin lobe".split())


def _closed(concepts: frozenset[str]) -> frozenset[str]:
    return frozenset().union(*map(implied, concepts))
