"""The words for body parts and findings, expert and lay, as concepts: "renal" and "of the kidney" are the same.

`anatomy.csv` and `findings.csv` list each concept with its wordings, separated by "|": a word or a phrase (any
inflection of its words), a beginning ("nephr*"), an ending ("*itis"). A wording after "-" says that the concept is
absent: "patent" is obstruction, denied. `implies` names the concepts that a reader of this one also knows about.
"""

from __future__ import annotations

from functools import cache, lru_cache, partial
from typing import NamedTuple

from builders.medlaybench_v.facts.reading import OfWords, Reading, read
from builders.medlaybench_v.facts.wordings import SENSES, Sense
from builders.medlaybench_v.facts.words import rows

ANATOMY = "anatomy"
SAYS_LITTLE = frozenset(("general", "visible", "state", "person"))
"""Kinds of concepts that are said of almost anything."""


class Said(NamedTuple):
    """Senses named by the words [first, last] of a reading."""

    first: int
    last: int
    senses: tuple[Sense, ...]


_said = partial(tuple.__new__, Said)  # of the three parts at once, without the call of a named tuple


class _Lexicon(NamedTuple):
    kinds: dict[str, str]
    implies: dict[str, frozenset[str]]


@cache
def _lexicon() -> _Lexicon:
    table = [*({**row, "kind": ANATOMY} for row in rows("anatomy.csv")), *rows("findings.csv")]
    names = sorted((row["concept"] for row in table), key=len, reverse=True)
    implies = {row["concept"]: _named(row["implies"], names) for row in table}
    closed = {concept: _closure(concept, implies) for concept in implies}
    return _Lexicon({row["concept"]: row["kind"] for row in table}, closed)


def _named(text: str, names: list[str]) -> set[str]:
    """The concepts listed in a cell, whose names may hold spaces."""
    found = set()
    for name in names:
        if f" {name} " in f" {text} ":
            found.add(name)
            text = f" {text} ".replace(f" {name} ", "  ")
    return found


def _closure(concept: str, implies: dict[str, set[str]]) -> frozenset[str]:
    seen: set[str] = set()
    waiting = [concept]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += implies.get(name, ())
    return frozenset(seen)


kind_of = OfWords(lambda concept: _lexicon().kinds[concept]).__getitem__
"""anatomy, finding, device, treatment, symptom …: the kind of a concept."""
implied = OfWords(lambda concept: _lexicon().implies[concept]).__getitem__
"""The concept and all that it implies."""


@cache
def anatomy() -> frozenset[str]:
    """The concepts of body parts."""
    return frozenset(concept for concept, kind in _lexicon().kinds.items() if kind == ANATOMY)


def senses(reading: Reading) -> list[Said]:
    """What a text speaks of, in its order; of phrases that overlap the longest from the left."""
    said: list[Said] = []
    end = 0
    for i, matches in SENSES.matches(reading):
        if i >= end and not (reading.texts[i] == "hand" and _is_no_hand(reading, i)):
            size, named = matches[0]
            end = i + size
            said.append(_said((i, end - 1, named)))
    return said


def _is_no_hand(reading: Reading, i: int) -> bool:
    """ "The right-hand artery", "on the other hand"."""
    return reading.gaps[i] == "-" or reading.texts[max(0, i - 3) : i] in _ON_THE_OTHER


_ON_THE_OTHER = (["on", "the", "other"], ["on", "the", "one"])


def naming(reading: Reading, concept: str) -> list[Said]:
    """The words that name a concept, or deny it, in their order."""
    return reading.get(_by_concept).get(concept, [])


def _by_concept(reading: Reading) -> dict[str, list[Said]]:
    found: dict[str, list[Said]] = {}
    for said in reading.get(senses):
        for concept in {sense.concept for sense in said.senses}:
            found.setdefault(concept, []).append(said)
    return found


def concepts_of(reading: Reading) -> frozenset[str]:
    """The concepts that a text names, and those that they imply."""
    return implied_by_all(reading.get(senses))


def implied_by_all(found: list[Said]) -> frozenset[str]:
    """The concepts of some senses, and those that they imply."""
    return frozenset().union(*[_implied_by(said.senses) for said in found])


@lru_cache(maxsize=4096)
def _implied_by(named: tuple[Sense, ...]) -> frozenset[str]:
    return frozenset().union(*(implied(sense.concept) for sense in named))


def named_by_phrases(phrases: Reading) -> frozenset[str]:
    """What the vocabulary's phrases for a caption name; the phrases come again in other captions."""
    return frozenset().union(*map(_named_by_phrase, phrases.text.split("; ")))


@lru_cache(maxsize=16384)
def _named_by_phrase(phrase: str) -> frozenset[str]:
    return concepts_of(read(phrase))
