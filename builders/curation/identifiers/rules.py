"""A rule finds one kind of identifier and says what stands in its place."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from ahocorasick_rs import AhoCorasick

from builders.curation.identifiers.beginnings import Told, folded, told_by
from loaders.files.tables import read_table

Mark = str | Callable[[re.Match[str]], str]

# Upper-case letters of Latin with its accents, Greek and Cyrillic, for patterns.
UPPER = "".join(chr(code) for block in (range(0x250), range(0x370, 0x530)) for code in block if chr(code).isupper())
CAPITAL = rf"[{UPPER}][^\W\d_]*+(?:['’\-][^\W\d_]++){{0,4}}+(?![\d_])"
"""A word that begins with a capital; hyphens, apostrophes and what follows them belong to it."""


@cache
def _parts() -> dict[str, list[str]]:
    parts: dict[str, list[str]] = {}
    for _, row in read_table(Path(__file__).with_name("parts.csv")).rows:
        parts.setdefault(row["part"], []).append(row["patterns"])
    return parts


def part(name: str) -> str:
    """The pattern of any of the words that `parts.csv` holds under this name."""
    return f"(?:{'|'.join(_parts()[name])})"


@dataclass(frozen=True, slots=True)
class Rule:
    """What `pattern` finds is of this `kind`, and `mark` takes its place; one that gives it back unchanged is none."""

    kind: str
    pattern: re.Pattern[str]
    mark: Mark = ""

    def masked(self, text: str, counts: Counter[str], starts: Iterable[int] | None = None) -> str:
        """The text without what the rule finds, which is counted; looked for at these places alone, where they are told
        (upwards)."""

        def replaced(match: re.Match[str]) -> str:
            by = self.mark(match) if callable(self.mark) else match.expand(self.mark or f"[{self.kind}]")
            counts[self.kind] += by != match[0]
            return by

        if starts is None:
            return self.pattern.sub(replaced, text)
        parts, at = [], 0
        for start in starts:
            if start >= at and (match := self.pattern.match(text, start)):
                parts += [text[at:start], replaced(match)]
                at = match.end()
        return "".join([*parts, text[at:]]) if parts else text


def rule(kind: str, pattern: str, mark: Mark = "", *, cased: bool = False) -> Rule:
    """A rule whose pattern is verbose: spaces in it mean nothing, and letters match whatever their case."""
    return Rule(kind, re.compile(pattern, re.VERBOSE | (0 if cased else re.IGNORECASE)), mark)


class Rules:
    """Rules that are asked one after the other, each only where one of its matches can be (`beginnings.py`): a text
    holds what few of them begin with, and to look through it for each of them takes several times as long."""

    def __init__(self, *rules: Rule) -> None:
        self._rules = rules

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def masked(self, text: str, counts: Counter[str]) -> str:
        """The text without what the rules find."""
        places = self._places.of(text)
        for number, one in enumerate(self._rules):
            if number in places:
                left = one.masked(text, counts, places[number])
                if left != text:
                    text, places = left, self._places.of(left)
        return text

    @cached_property
    def _places(self) -> _Places:
        return _Places([told_by(rule.pattern) for rule in self._rules])


class _Places:
    """Where matches of several patterns can begin."""

    def __init__(self, told: Sequence[Told]) -> None:
        self._told = told
        self._anywhere = dict.fromkeys(number for number, one in enumerate(told) if one == Told())
        self._begins: defaultdict[str, list[int]] = defaultdict(list)
        self._behind: defaultdict[str, list[int]] = defaultdict(list)
        # Of what only has to be there: the pattern, and which of its sets.
        self._there: defaultdict[str, set[tuple[int, int]]] = defaultdict(set)
        for number, one in enumerate(told):
            for word in one.begins:
                self._begins[word].append(number)
            for word in one.behind:
                self._behind[word].append(number)
            for at, words in enumerate((one.unless, *one.holds)):
                for word in words:
                    self._there[word].add((number, at))
        self._words = sorted({*self._begins, *self._behind, *self._there})
        self._finder = AhoCorasick(self._words, store_patterns=False)

    def of(self, text: str) -> Mapping[int, Iterable[int] | None]:
        """By number of a pattern the places, upwards; None where it may match anywhere. Others match nowhere."""
        small = folded(text)
        if small is None:
            return dict.fromkeys(range(len(self._told)))
        met = [
            (self._words[at], start) for at, start, _ in self._finder.find_matches_as_indexes(small, overlapping=True)
        ]
        there = set[tuple[int, int]]().union(*(self._there[word] for word in {word for word, _ in met}))
        begins: defaultdict[int, set[int]] = defaultdict(set)
        for word, start in met:
            for number in self._begins[word]:
                begins[number].add(start)
            for number in self._behind[word]:
                begins[number].add(_word_start(small, start))
        found: dict[int, Iterable[int] | None] = dict(self._anywhere)
        for number in {number for number, _ in there} | begins.keys():
            one = self._told[number]
            if all((number, at) in there for at in range(1, 1 + len(one.holds))):
                if (number, 0) in there or not (one.begins or one.behind):
                    found[number] = None
                elif number in begins:
                    found[number] = sorted(begins[number])
        return found


def _word_start(text: str, at: int) -> int:
    while at and (text[at - 1].isalnum() or text[at - 1] == "_"):
        at -= 1
    return at


def without_spans(text: str, spans: Iterable[tuple[int, int, str]], counts: Counter[str]) -> str:
    """The text with a mark for each span (start, end, kind), given in order; one that overlaps an earlier one stays."""
    parts, at = [], 0
    for start, end, kind in spans:
        if start >= at:
            counts[kind] += 1
            parts += [text[at:start], f"[{kind}]"]
            at = end
    return "".join([*parts, text[at:]])
