"""Tables of wordings: which words and phrases name what, found by the roots of their words.

A cell lists wordings separated by "|": a word or a phrase (in any inflection), a beginning ("nephr*"), an ending
("*itis"). A hyphen counts as a space.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Generic, TypeVar

from builders.medlaybench_v.facts.scan import Reading

Named = TypeVar("Named")
Matches = tuple[tuple[int, tuple[Named, ...]], ...]


@lru_cache(maxsize=65536)
def root(word: str) -> str:
    """A word without the common endings of English, enough to meet its other forms: "ruptured", "ruptures".

    >>> [root(word) for word in ("ruptured", "rupturing", "arteries", "vessels", "swollen")]
    ['ruptur', 'ruptur', 'artery', 'vessel', 'swollen']
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
        if len(word) > 4 and word.endswith(("sse", "xe", "che", "she")):
            word = word[:-1]
    for ending in ("ing", "ed"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            word = word[: -len(ending)]
            if word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            return word
    return word[:-1] if len(word) > 4 and word.endswith("e") else word


def roots(reading: Reading) -> list[str]:
    """The roots of a caption's words."""
    return [root(text) for text in reading.texts]


def rows(name: str) -> list[dict[str, str]]:
    """The rows of a table in this folder."""
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Wordings(Generic[Named]):
    """What words and phrases name; of a word what its form or its root is listed for, its beginning and its ending."""

    def __init__(self, entries: Iterable[tuple[str, Named]]) -> None:
        words: dict[str, dict[Named, None]] = {}
        by_root: dict[str, dict[Named, None]] = {}
        phrases: dict[tuple[str, ...], dict[Named, None]] = {}
        self._beginnings: dict[str, list[tuple[str, Named]]] = {}
        self._endings: list[tuple[str, Named]] = []
        for wording, named in entries:
            parts = wording.lower().replace("-", " ").split()
            if len(parts) > 1:
                keys = tuple(part if part.endswith("*") else root(part) for part in parts)
                phrases.setdefault(keys, {})[named] = None
            elif parts[0].startswith("*"):
                self._endings.append((parts[0][1:], named))
            elif parts[0].endswith("*"):
                self._beginnings.setdefault(parts[0][:3], []).append((parts[0][:-1], named))
            else:
                words.setdefault(parts[0], {})[named] = None
                by_root.setdefault(root(parts[0]), {})[named] = None
        self._words = {word: tuple(named) for word, named in words.items()}
        self._roots = {word: tuple(named) for word, named in by_root.items()}
        self._phrases: dict[str, list[tuple[tuple[str, ...], tuple[Named, ...]]]] = {}
        for keys, found in sorted(phrases.items(), key=lambda item: (-len(item[0]), item[0])):
            self._phrases.setdefault(keys[0], []).append((keys, tuple(found)))
        self._known: dict[str, tuple[tuple[tuple[tuple[str, ...], tuple[Named, ...]], ...], Matches[Named]]] = {}

    def at(self, reading: Reading, i: int) -> Matches[Named]:
        """(number of words, what they name) of all that begins at word i, the longest first."""
        word = reading.texts[i]
        known = self._known.get(word)
        if known is None:
            known = self._known[word] = self._look_up(word)
        phrases, single = known
        if not phrases:
            return single
        found, texts = reading.get(roots), reading.texts
        n = len(texts)
        second = found[i + 1] if i + 1 < n else ""
        begun = [entry for entry in phrases if entry[0][1] == second or entry[0][1][-1] == "*"]
        if not begun:
            return single
        matches = [
            (len(keys), named)
            for keys, named in begun
            if i + len(keys) <= n
            and all(
                texts[i + j].startswith(key[:-1]) if key.endswith("*") else found[i + j] == key
                for j, key in enumerate(keys)
            )
        ]
        return (*matches, *single) if matches else single

    def _look_up(self, word: str) -> tuple[tuple[tuple[tuple[str, ...], tuple[Named, ...]], ...], Matches[Named]]:
        """The phrases that may begin with a word, and what the word itself names."""
        if len(self._known) > 65536:
            self._known.clear()
        listed = self._words.get(word) or self._roots.get(root(word)) or ()
        begun = [named for beginning, named in self._beginnings.get(word[:3], ()) if word.startswith(beginning)]
        ended = [
            named
            for ending, named in (() if listed else self._endings)
            if word.endswith(ending) and len(word) > len(ending) + 1
        ]
        named_by_it = tuple(dict.fromkeys((*listed, *begun, *ended)))
        return tuple(self._phrases.get(root(word), ())), ((1, named_by_it),) if named_by_it else ()
