"""What every match of a pattern begins with, or holds, read off the pattern: without it, it need not be looked for.

    >>> told = told_by(re.compile(r"(?i)\\b(?:dr|prof)\\.?\\s[a-z]+"))
    >>> sorted(told.begins)
    ['dr ', 'dr. ', 'prof ', 'prof. ']

Texts are compared folded: small letters, a space for any white space, 0 for any digit. What cannot be told is left
open, and the pattern looks everywhere: it finds the same in any case. The form in which Python keeps a pattern is its
own affair (`re._parser`); where that is another one some day, nothing is told of any pattern.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

_MOST, _LONG = 150, 6  # beginnings of one pattern, letters of one
_HELD = 3  # sets of which each match holds one, the rarest
_WIDE = 12  # characters that a set may stand for one by one
_OFTEN = 2.5  # where beginnings stand so often in a hundred characters, it is quicker to look everywhere
# Letters that patterns take for others whatever their case (ı for i, ſ for s), and halves of characters.
_ODD = re.compile("[\u0130\u0131\u017f\ud800-\udfff]")
_DIGIT, _SPACE = re.compile(r"\d"), re.compile(r"\s")
# Of a hundred characters of English, roughly.
_COMMON = {" ": 18, "e": 10, "t": 7, **dict.fromkeys("aoins", 6), **dict.fromkeys("rhl", 5), **dict.fromkeys("dcum", 3)}
_RARE = {**dict.fromkeys("fpgwyb", 1.5), **dict.fromkeys("vk", 0.7), **dict.fromkeys("xjqz", 0.1)}

Head = tuple[str, bool]
"""What a match may begin with, and whether that is all which the pattern says so far."""
Nodes = Sequence[tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class Told:
    """Each match begins with one of `begins`, or with the word in or behind which one of `behind` stands, unless the
    text holds one of `unless`. The text of any match holds one of each of `holds`. What is not told is empty."""

    begins: frozenset[str] = frozenset()
    behind: frozenset[str] = frozenset()
    unless: frozenset[str] = frozenset()
    holds: tuple[frozenset[str], ...] = ()


@lru_cache(maxsize=4)  # rules of several kinds look at a text
def folded(text: str) -> str | None:
    """The text as beginnings are looked for in it, of the same length; None for one in which they might be missed."""
    small = text.lower()
    if len(small) != len(text) or (not text.isascii() and _ODD.search(text)):
        return None
    return _SPACE.sub(" ", _DIGIT.sub("0", small))


def told_by(pattern: re.Pattern[str]) -> Told:
    """What can be told of the matches of a pattern."""
    with suppress(Exception):  # of a Python that keeps patterns in another form
        parse = importlib.import_module("re._parser").parse
        return _Reader().told(list(parse(pattern.pattern, pattern.flags & ~re.UNICODE)))
    return Told()


class _Reader:
    """Reads one pattern; its parts are looked at again and again, so what they begin with is kept."""

    def __init__(self) -> None:
        self._kept: dict[int, set[Head]] = {}

    def told(self, nodes: Nodes) -> Told:
        holds = tuple(_shortest(held) for held in self._held(nodes)[:_HELD] if _often(held) <= _OFTEN)
        begins: set[str] = set()
        behind: set[str] = set()
        unless: set[str] = set()
        for way in _ways(nodes):
            heads = {head for head, _ in self._heads(way)}
            after = {head for head, _ in self._heads(_behind_a_word(way) if str(nodes[0]) == _BOUNDARY else ())}
            if "" not in heads:
                begins |= heads
            elif "" not in after:
                behind |= after
            elif held := self._held(way):
                unless |= held[0]
            else:
                return Told(holds=holds)
        if not begins or _often(begins) > _OFTEN:
            return Told(holds=holds)
        return Told(_shortest(begins), _shortest(behind), _shortest(unless), holds)

    def _heads(self, nodes: Nodes) -> set[Head]:
        heads: set[Head] = {("", True)}
        for kind, given in nodes:
            ended = {head for head in heads if not head[1]}
            grown = {
                (f"{head}{tail}"[:_LONG], whole and len(head) + len(tail) < _LONG)
                for tail, whole in self._of(str(kind), given)
                for head, _ in heads - ended
            }
            if len(grown) + len(ended) > _MOST:
                return {(head, False) for head, _ in heads}
            heads = ended | grown
            if not any(whole for _, whole in heads):
                break
        return heads

    def _of(self, kind: str, given: Any) -> set[Head]:
        """What one part of a pattern may begin with."""
        match kind:
            case "LITERAL":
                return {("", False) if _ODD.match(chr(given)) else (_fold(chr(given)), True)}
            case "AT" | "ASSERT" | "ASSERT_NOT":
                return {("", True)}
        if id(given) not in self._kept:
            self._kept[id(given)] = self._of_group(kind, given)
        return self._kept[id(given)]

    def _of_group(self, kind: str, given: Any) -> set[Head]:
        match kind:
            case "IN":
                return {(one, True) for one in _set(given)} or {("", False)}
            case "BRANCH":
                return set[Head]().union(*map(self._heads, given[1]))
            case "SUBPATTERN":
                return self._heads(given[3])
            case "ATOMIC_GROUP":
                return self._heads(given)
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                least, most, inner = given
                heads = self._heads([*inner] * min(least or 1, _LONG))
                if most > max(least, 1):
                    heads = {(head, False) for head, _ in heads}
                return heads if least else heads | {("", True)}
        return {("", False)}

    def _held(self, nodes: Nodes) -> list[frozenset[str]]:
        """What the parts begin with that every match has, the rarest first."""
        found: list[frozenset[str]] = []
        for at, (kind, given) in enumerate(nodes):
            if at == 0 or str(nodes[at - 1][0]) != "LITERAL":  # of a word, its beginning
                found.append(frozenset(head for head, _ in self._heads(nodes[at:])))
            match str(kind):
                case "SUBPATTERN":
                    found += self._held(given[3])
                case "ATOMIC_GROUP":
                    found += self._held(given)
                case "ASSERT":
                    found += self._held(given[1])
                case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT" if given[0]:
                    found += self._held(given[2])
                case "BRANCH":
                    each = [self._held(one) for one in given[1]]
                    found += [frozenset[str]().union(*(one[0] for one in each))] if all(each) else []
        told = {one for one in found if "" not in one}
        return sorted(told, key=lambda one: (_often(one), sorted(one)))


def _ways(nodes: Nodes) -> Iterator[Nodes]:
    """The pattern as several, one for each alternative that it begins with."""
    for at, (kind, given) in enumerate(nodes):
        match str(kind):
            case "AT" | "ASSERT" | "ASSERT_NOT":
                continue
            case "BRANCH":
                for each in given[1]:
                    yield from _ways([*each, *nodes[at + 1 :]])
                return
            case "SUBPATTERN":
                yield from _ways([*given[3], *nodes[at + 1 :]])
                return
        break
    yield nodes


_BOUNDARY = "(AT, AT_BOUNDARY)"


def _behind_a_word(nodes: Nodes) -> Nodes:
    """What follows letters of any number, with which the pattern begins; nothing where it begins otherwise."""
    if not nodes:
        return ()
    kind, given = nodes[0]
    if str(kind) not in ("MAX_REPEAT", "MIN_REPEAT") or not given[0] or [str(one) for one, _ in given[2]] != ["IN"]:
        return ()
    ranges = [(str(one), limits) for one, limits in given[2][0][1]]
    return nodes[1:] if ranges == [("RANGE", (ord("a"), ord("z")))] else ()


def _set(items: Nodes) -> set[str]:
    """The characters of a set, folded; none where it stands for many."""
    found: set[str] = set()
    for kind, given in items:
        match str(kind), str(given):
            case "LITERAL", _:
                found.add(_fold(chr(given)))
            case "RANGE", _ if given[1] - given[0] < _WIDE:
                found |= {_fold(chr(code)) for code in range(given[0], given[1] + 1)}
            case "CATEGORY", "CATEGORY_DIGIT":
                found.add("0")
            case "CATEGORY", "CATEGORY_SPACE":
                found.add(" ")
            case _:
                return set()
    return found if len(found) <= _WIDE and not any(map(_ODD.match, found)) else set()


@cache
def _fold(letter: str) -> str:
    small = letter.lower() if len(letter.lower()) == 1 else letter
    return "0" if _DIGIT.match(small) else " " if _SPACE.match(small) else small


def _often(heads: set[str] | frozenset[str]) -> float:
    """How often one of these stands in a hundred characters, roughly."""
    total = 0.0
    for head in sorted(heads):
        often = 100.0
        for letter in head:
            often *= (_COMMON.get(letter) or _RARE.get(letter, 0.5)) / 100
        total += often
    return total


def _shortest(heads: set[str] | frozenset[str]) -> frozenset[str]:
    """Without those of which others are the beginning."""
    return frozenset(head for head in heads if not any(head[:size] in heads for size in range(1, len(head))))
