"""Two findings, body parts or degrees that changed places, each standing by what the other stood by."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from operator import attrgetter

from builders.medlaybench_v.facts.binding import STOP_WORDS, Placed, exchanged
from builders.medlaybench_v.facts.phrases import TISSUES, numbered, phrases
from builders.medlaybench_v.facts.poles import Pole
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import ANATOMY, concepts_of, implied, kind_of, senses
from builders.medlaybench_v.facts.wordings import Sense


def keeps_order(expert: Reading, lay: Reading) -> bool:
    """Whether the phrases of the expert caption come in their order, as far as its own words tell, and they tell most:
    so does nearly every draft, of which nothing more is to be asked."""
    words = expert.bag - STOP_WORDS
    first = dict(zip(reversed(expert.texts), range(len(expert.texts) - 1, -1, -1), strict=True))
    told = [first[word] for word in dict.fromkeys(lay.texts) if word in words]
    if 2 * len(told) < len(words):
        return False
    if told == sorted(told):
        return True
    at = numbered(expert.get(phrases))
    told = [at[i] for i in told]
    return told == sorted(told)


def placed_degrees(reading: Reading, found: list[Pole]) -> list[Placed]:
    """The degrees of severity; an adjective is said of what follows it."""
    placed = []
    for pole in found:
        ahead = reading.gaps[pole.last + 1 : pole.last + 2] == [" "] and not reading.texts[pole.last].endswith("ly")
        placed.append(Placed(pole.value, pole.first, pole.last, 0.4 if ahead else 1.0))
    return placed


_Kind = Callable[[tuple[Sense, ...]], tuple[str, ...]]
SENSES = attrgetter("senses")


def exchanged_things(expert: Reading, lay: Reading, kind: _Kind) -> str:
    """Two findings, or two body parts, that changed places: each stands by what the other stood by."""
    ours = dict.fromkeys(chain.from_iterable(map(kind, map(SENSES, expert.get(senses)))))
    if len(ours) < 2:
        return ""
    theirs = dict.fromkeys(chain.from_iterable(map(kind, map(SENSES, lay.get(senses)))))
    shared = list(filter(theirs.__contains__, ours))
    if len(shared) < 2 or shared == list(filter(ours.__contains__, theirs)):
        return ""
    here, there = (
        [Placed(concept, said.first, said.last) for said in reading.get(senses) for concept in kind(said.senses)]
        for reading in (expert, lay)
    )
    if kind is found_or_done:
        swap = exchanged(expert, here, lay, there)
    else:
        spans, told = _phrases_of(expert, here), _phrases_of(lay, there)

        def apart(one: str, other: str) -> bool:
            """Whether no phrase holds both: of "the bile duct of the liver" either may be told first."""
            same = one in implied(other) or other in implied(one)
            return not same and spans[one].isdisjoint(spans[other]) and told[one].isdisjoint(told[other])

        swap = exchanged(expert, here, lay, there, apart)
    return f"{swap.one} and {swap.other}" if swap and swap.sure else ""


def exchanged_roles(expert: Reading, lay: Reading) -> str:
    """What does something and what it is done to, where they changed places: "a tumor of the bladder grows into the
    womb", "a tumor of the womb grows into the bladder"."""
    ours = expert.get(_roles)
    theirs = lay.get(_roles) if ours else ours
    return " and ".join(ours) if ours == theirs[::-1] and ours != theirs else ""


def _roles(reading: Reading) -> tuple[str, ...]:
    """The body parts that the one deed of a caption starts from and reaches; () if it tells none, or several."""
    if _REACHING.isdisjoint(reading.get(concepts_of)):
        return ()
    acts = [s for s in reading.get(senses) if any(x.concept in _REACHING for x in s.senses)]
    if len(acts) != 1 or reading.texts[acts[0].last + 1 : acts[0].last + 2] == ["by"]:
        return ()
    parts = [(s, part) for s in reading.get(senses) for part in located_parts(s.senses)]
    before = [part for s, part in parts if s.last < acts[0].first]
    after = [part for s, part in parts if s.first > acts[0].last]
    return (before[-1], after[0]) if before and after else ()


_REACHING = frozenset(("spread", "compression"))


@lru_cache(maxsize=4096)
def located_parts(named: tuple[Sense, ...]) -> tuple[str, ...]:
    """The body parts that words name; tissues and regions are named of almost anything."""
    return tuple(sense.concept for sense in named if kind_of(sense.concept) == ANATOMY and sense.concept not in _WIDE)


_WIDE = TISSUES | frozenset("abdomen chest head body pelvis septum".split())


def _phrases_of(reading: Reading, found: list[Placed]) -> dict[str, set[int]]:
    """The phrases that name each thing."""
    spans = reading.get(phrases)
    named: dict[str, set[int]] = {}
    for place in found:
        at = next(n for n, (start, end) in enumerate(spans) if start <= place.first < end)
        named.setdefault(place.value, set()).add(at)
    return named


@lru_cache(maxsize=4096)
def found_or_done(named: tuple[Sense, ...]) -> tuple[str, ...]:
    """What words name as found or done."""
    return tuple(x.concept for x in named if kind_of(x.concept) in _TOLD and x.concept != "pregnancy")


_TOLD = frozenset("finding disease symptom treatment device outcome".split())
