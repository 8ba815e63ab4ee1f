"""Tables of wordings: which words and phrases name what, matched by the roots of their words.

A cell lists wordings separated by "|": a word or a phrase (in any inflection), a beginning ("nephr*"), an ending
("*itis"). A hyphen counts as a space. All tables are searched in one pass over a caption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from builders.medlaybench_v.facts.reading import OfWords, Reading
from builders.medlaybench_v.facts.words import rows
from loaders.imaging import wordings

Named = TypeVar("Named")
Matches = tuple[tuple[int, tuple[Named, ...]], ...]
"""(number of words, what they name) of all that begins at a word, the longest first."""


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


class Sense(NamedTuple):
    """A concept that a wording names; `sign` is -1 where the wording denies it."""

    concept: str
    sign: int = 1


@dataclass(frozen=True, eq=False)
class Table(Generic[Named]):
    """A table of wordings: `read` gives each with what it names."""

    read: Callable[[], Iterable[tuple[str, Named]]]

    def matches(self, reading: Reading) -> list[tuple[int, Matches[Named]]]:
        """The words of a caption at which wordings of this table begin, each with what begins there."""
        return reading.get(_matches)[self]


def _listed(names: tuple[str, ...], name: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The wordings of a table with what its columns `names` say of them."""
    for row in rows(name):
        for wording in row["wordings"].split("|"):
            yield wording, tuple(row[column] for column in names)


def _senses() -> Iterator[tuple[str, Sense]]:
    for name in ("anatomy.csv", "findings.csv"):
        for wording, (concept,) in _listed(("concept",), name):
            yield wording.removeprefix("-"), Sense(concept, -1 if wording.startswith("-") else 1)


def _poles() -> Iterator[tuple[str, tuple[str, ...]]]:
    for row in rows("poles.csv"):
        for column, value in (("plus", "+"), ("minus", "-"), ("same", "=")):
            for wording in filter(None, row[column].split("|")):
                yield wording, (row["dimension"], value)


def _imaging() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Views, sequences and the like of this folder; methods by their names, expert's and plain."""
    yield from _listed(("says", "value"), "imaging.csv")
    for _, method, wording in wordings("names", "capitals", "plain"):
        yield wording, ("methods", method)


SENSES: Table[Sense] = Table(_senses)
POLES = Table(_poles)
DEGREES = Table(partial(_listed, ("degree",), "certainty.csv"))
TIMES = Table(partial(_listed, ("time", "event"), "order.csv"))
IMAGING = Table(_imaging)
_TABLES: tuple[Table[Any], ...] = (SENSES, POLES, DEGREES, TIMES, IMAGING)


class _Phrase(NamedTuple):
    """A wording of several words, by the roots of its words, or by their beginnings ("lymph node*")."""

    table: Table[Any]
    keys: tuple[str, ...]
    named: tuple[Any, ...]


class _Node(NamedTuple):
    """Where phrases have come to after some words: those that end here, and the nodes behind the next root, or behind
    the next word's beginning ("shadow-cast*")."""

    ends: list[_Phrase]
    behind: dict[str, _Node]
    behind_beginning: dict[str, _Node]


class _Begun(NamedTuple):
    """What begins at a word: what it names alone, and phrases."""

    root: str
    single: tuple[tuple[Table[Any], Matches[Any]], ...]
    phrases: _Node | None


_ROOT = attrgetter("root")


class _Words(NamedTuple):
    """The wordings of one word in one table; of a word what its form or its root is listed for counts, its beginning
    and its ending."""

    forms: dict[str, dict[Any, None]]
    roots: dict[str, dict[Any, None]]
    beginnings: dict[str, list[tuple[str, Any]]]
    endings: list[tuple[str, Any]]

    def named_by(self, word: str) -> tuple[Any, ...]:
        listed = self.forms.get(word) or self.roots.get(root(word)) or ()
        begun = [named for beginning, named in self.beginnings.get(word[:3], ()) if word.startswith(beginning)]
        endings = () if listed else self.endings
        ended = [named for ending, named in endings if word.endswith(ending) and len(word) > len(ending) + 1]
        return tuple(dict.fromkeys((*listed, *begun, *ended)))


class _Index:
    """All tables, compiled once; what begins at a word is looked up once."""

    def __init__(self) -> None:
        self._words: dict[Table[Any], _Words] = {}
        phrases: dict[tuple[tuple[str, ...], Table[Any]], dict[Any, None]] = {}
        for table in _TABLES:
            words = self._words[table] = _Words({}, {}, {}, [])
            for wording, named in table.read():
                parts = wording.lower().replace("-", " ").split()
                if len(parts) > 1:
                    keys = tuple(part if part.endswith("*") else root(part) for part in parts)
                    phrases.setdefault((keys, table), {})[named] = None
                elif parts[0].startswith("*"):
                    words.endings.append((parts[0][1:], named))
                elif parts[0].endswith("*"):
                    words.beginnings.setdefault(parts[0][:3], []).append((parts[0][:-1], named))
                else:
                    words.forms.setdefault(parts[0], {})[named] = None
                    words.roots.setdefault(root(parts[0]), {})[named] = None
        self._phrases = _Node([], {}, {})
        for (keys, table), found in phrases.items():
            node = self._phrases
            for key in keys:
                nodes = node.behind_beginning if key.endswith("*") else node.behind
                node = nodes.setdefault(key.removesuffix("*"), _Node([], {}, {}))
            node.ends.append(_Phrase(table, keys, tuple(found)))
        self.begun = OfWords(self._begun)

    def _begun(self, word: str) -> _Begun:
        single = tuple(
            (table, ((1, named),)) for table, words in self._words.items() if (named := words.named_by(word))
        )
        return _Begun(root(word), single, self._phrases.behind.get(root(word)))


_index = cache(_Index)


def _matches(reading: Reading) -> dict[Table[Any], list[tuple[int, Matches[Any]]]]:
    """Where wordings of each table begin in a caption, in one pass for all tables."""
    texts = reading.texts
    begun = list(map(_index().begun.__getitem__, texts))
    found: dict[Table[Any], list[tuple[int, Matches[Any]]]] = {table: [] for table in _TABLES}
    following = [*map(_ROOT, begun[1:]), ""]
    for i, ((_, single, phrases), after) in enumerate(zip(begun, following, strict=False)):
        several = None
        if phrases and (after in phrases.behind or phrases.behind_beginning):
            several = _standing(phrases, texts, begun, i + 1)
        if several:
            here: dict[Table[Any], list[tuple[int, tuple[Any, ...]]]] = {}
            for table, keys, named in sorted(several, key=_longest_first):
                here.setdefault(table, []).append((len(keys), named))
            for table, alone in single:
                here.setdefault(table, []).extend(alone)
            for table, all_here in here.items():
                found[table].append((i, tuple(all_here)))
        elif single:
            for table, alone in single:
                found[table].append((i, alone))
    return found


def _standing(node: _Node, texts: list[str], begun: list[_Begun], i: int) -> list[_Phrase]:
    """The phrases that have come to a node before word i, and stand in the caption as a whole."""
    found = node.ends
    if i < len(begun):
        if behind := node.behind.get(begun[i].root):
            found = found + _standing(behind, texts, begun, i + 1)
        for beginning, behind in node.behind_beginning.items():
            if texts[i].startswith(beginning):
                found = found + _standing(behind, texts, begun, i + 1)
    return found


def _longest_first(phrase: _Phrase) -> tuple[int, tuple[str, ...]]:
    return -len(phrase.keys), phrase.keys
