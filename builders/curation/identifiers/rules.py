"""A rule finds one kind of identifier and says what replaces it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from loaders.files.tables import read_table

Mark = str | Callable[[re.Match[str]], str]

# Upper-case Latin letters with their accents, Greek and Cyrillic, for patterns.
UPPER = "".join(chr(code) for block in (range(0x250), range(0x370, 0x530)) for code in block if chr(code).isupper())
CAPITAL = rf"[{UPPER}][^\W\d_]*+(?>(?:['’\-][^\W\d_]++){{0,4}})(?![\d_])"
"""A word that begins with a capital; hyphens, apostrophes and what follows them belong to it."""


@cache
def _parts() -> dict[str, list[str]]:
    parts: dict[str, list[str]] = {}
    for _, row in read_table(Path(__file__).with_name("parts.csv")).rows:
        parts.setdefault(row["part"], []).append(row["patterns"])
    return parts


def part(name: str) -> str:
    """The pattern of any of the words that `parts.csv` lists under this name."""
    return f"(?:{'|'.join(_parts()[name])})"


@dataclass(frozen=True, slots=True)
class Rule:
    """What `pattern` finds is of this `kind` and replaced by `mark`; if that returns the text unchanged, it does not
    count."""

    kind: str
    pattern: re.Pattern[str]
    mark: Mark = ""

    def masked(self, text: str, counts: Counter[str]) -> str:
        """The text without what the rule finds; finds are counted."""

        def replaced(match: re.Match[str]) -> str:
            by = self.mark(match) if callable(self.mark) else match.expand(self.mark or f"[{self.kind}]")
            counts[self.kind] += by != match[0]
            return by

        return self.pattern.sub(replaced, text)


def rule(kind: str, pattern: str, mark: Mark = "", *, cased: bool = False) -> Rule:
    """A rule whose pattern is verbose: spaces in it mean nothing, and letters match in either case."""
    return Rule(kind, re.compile(pattern, re.VERBOSE | (0 if cased else re.IGNORECASE)), mark)


def masked(text: str, rules: Iterable[Rule], counts: Counter[str]) -> str:
    """The text without what the rules find, applied one after another."""
    for one in rules:
        text = one.masked(text, counts)
    return text


def without_spans(text: str, spans: Iterable[tuple[int, int, str]], counts: Counter[str]) -> str:
    """The text with a mark for each span (start, end, kind), given in order; spans that overlap share one."""
    parts, at = [], 0
    for start, end, kind in spans:
        if start >= at:
            counts[kind] += 1
            parts += [text[at:start], f"[{kind}]"]
        at = max(at, end)
    return "".join([*parts, text[at:]])
