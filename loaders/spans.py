"""Runs of words that two texts share: how one text is caught repeating another, whatever its case and punctuation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

# Letters and digits of any script; an apostrophe inside a word belongs to it ("don't"), other marks end the word.
_WORD = re.compile(r"\w+(?:['’]\w+)*")


def words(text: str) -> list[str]:
    """The words of a text normalised for comparison: compatibility forms folded, lower case, underscores removed.

    >>> words("Don’t stop — it's 2 mg/day!")
    ["don't", 'stop', "it's", '2', 'mg', 'day']
    """
    plain = unicodedata.normalize("NFKC", text).casefold().replace("’", "'").replace("_", " ")
    return _WORD.findall(plain)


def spans(text: str, length: int) -> set[tuple[str, ...]]:
    """Every run of `length` words of a text."""
    found = words(text)
    return {tuple(found[at : at + length]) for at in range(len(found) - length + 1)}


def shares_span(text: str, others: Iterable[str], length: int) -> bool:
    """Whether a run of `length` words of `text` also occurs in one of the other texts.

    >>> shares_span("I was so scared of it", ["She says: I was SO scared, always."], 4)
    True
    >>> shares_span("I was so scared of it", ["I was never scared of it"], 4)
    False
    """
    own = spans(text, length)
    return bool(own) and any(not own.isdisjoint(spans(other, length)) for other in others)
