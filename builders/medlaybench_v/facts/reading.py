"""A caption as words with their places, and what parsers make of it, each found out once.

Every kind of fact has a parser, a function of a `Reading`; `Reading.get` runs it when its outcome is asked for first.

    >>> reading = read("No mass; 2.5 cm.")
    >>> reading.texts, reading.gaps, reading.between(2, 3)
    (['no', 'mass', '2.5', 'cm'], ['', ' ', '; ', ' '], '2.5 cm')
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import accumulate, compress
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

Value = TypeVar("Value")


_TOKEN = re.compile(
    r"([a-z]++(?![^\W_])"  # nearly all
    r"|\d+(?:[.,]\d+)*(?:st|nd|rd|th)\b"  # 33rd
    r"|(?:(?<![^\s(\[<>≤≥=~×/–−-])\.)?\d+(?:[.,]\d+)*"  # 1.5  1,200  .5
    r"|[a-z]{1,4}\d+[a-z]*(?![a-z0-9])"  # T2 L5 T1WI
    r"|[^\W\d_]+"  # words of any script
    r"|[%°*†#+<>≥≤])"
)


class Told(Protocol):
    """What is told by the words [first, last] of a text."""

    @property
    def first(self) -> int: ...

    @property
    def last(self) -> int: ...


class OfWords(dict[str, Value]):
    """What is to be known of a word by itself, found out once; a new start is made after too many words."""

    def __init__(self, find_out: Callable[[str], Value]) -> None:
        super().__init__()
        self._find_out = find_out

    __eq__, __hash__ = object.__eq__, object.__hash__  # type: ignore[assignment]  # a text is itself

    def __missing__(self, word: str) -> Value:
        if len(self) > 65536:
            self.clear()
        found = self[word] = self._find_out(word)
        return found


class _Once(Generic[Value]):
    """A property found out once; that of functools takes a lock in Python 3.11, as long as what is found out here."""

    def __init__(self, find_out: Callable[[Any], Value]) -> None:
        self._find_out = find_out

    def __get__(self, reading: Reading, owner: type[Reading]) -> Value:
        found = reading.__dict__[self._find_out.__name__] = self._find_out(reading)
        return found


class Reading(dict[Callable[["Reading"], Any], Any]):
    """A text, and by parsers what they make of it, made when it is asked for first."""

    def __init__(self, text: str) -> None:
        self.text = text

    __eq__, __hash__ = object.__eq__, object.__hash__  # type: ignore[assignment]  # a text is itself

    def __missing__(self, parse: Callable[[Reading], Value]) -> Value:
        made = self[parse] = parse(self)
        return made

    if TYPE_CHECKING:

        def get(self, parse: Callable[[Reading], Value]) -> Value:  # type: ignore[override]
            """What a parser makes of this text, made once."""

    else:
        get = dict.__getitem__  # gates ask some sixty times a pair

    def said(self, told: Told) -> str:
        """The words by which something is told."""
        return self.between(told.first, told.last)

    def between(self, first: int, last: int) -> str:
        """The text from word `first` to word `last`."""
        return self.text[self.starts[first] : self.ends[last]]

    @_Once
    def lower(self) -> str:
        """The text in lower case, letter for letter, each hyphen as the common one."""
        lower = self.text.lower()
        if len(lower) != len(self.text):
            # A few letters, such as İ, grow in lower case; offsets have to stay true.
            lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in self.text)
        return lower if lower.isascii() else lower.replace("\u2010", "-").replace("\u2011", "-")

    @_Once
    def _parts(self) -> list[str]:
        """The words in lower case, with what stands before and behind each."""
        return _TOKEN.split(self.lower)

    @_Once
    def texts(self) -> list[str]:
        """The words in lower case, without their places."""
        return self._parts[1::2]

    @_Once
    def bag(self) -> frozenset[str]:
        """The words, each once: what tells a gate that it has nothing to read."""
        return frozenset(self.texts)

    def where(self, holds: OfWords[bool]) -> Iterator[int]:
        """The words of which something holds."""
        return compress(range(len(self.texts)), map(holds.__getitem__, self.texts))

    @_Once
    def _places(self) -> list[int]:
        """Where the words begin and end, in turn."""
        return list(accumulate(map(len, self._parts)))

    @_Once
    def starts(self) -> list[int]:
        """Where each word begins in the text."""
        return self._places[:-1:2]

    @_Once
    def ends(self) -> list[int]:
        """Where each word ends in the text."""
        return self._places[1::2]

    @_Once
    def gaps(self) -> list[str]:
        """What stands before each word, since the word before it."""
        return self._parts[:-1:2]

    def word(self, i: int) -> str:
        """Word i in lower case; "" before the first and behind the last."""
        return self.texts[i] if 0 <= i < len(self.texts) else ""

    def raw(self, i: int) -> str:
        """Word i as it is written."""
        return self.between(i, i)

    def behind(self, i: int) -> str:
        """The character behind word i; "" at the end."""
        return self.text[self.ends[i] : self.ends[i] + 1]


def read(text: str) -> Reading:
    """A caption to be read. Spans are character offsets into `text`."""
    return Reading(text)
