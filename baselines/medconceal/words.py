"""Which words of a text carry its content, normalised so that "worried" and "worries" are the same.

For the overlap of a turn with a concern (MC-G14) and for the leak check. The stemmer only cuts inflections of English:
both sides of every comparison go through it, so it need not give dictionary forms.
"""

from __future__ import annotations

import re
from functools import lru_cache

from loaders.english import STOP_WORDS
from loaders.files.bundled import bundled
from loaders.spans import words

SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")
"""The blanks between two sentences."""

LISTS = {row["list"]: row["words"].split() for row in bundled("baselines.medconceal", "words.csv")}
SMALL = STOP_WORDS | frozenset(LISTS["small"])
"""The closed class of English: articles, pronouns, auxiliaries, particles, and short answers."""


_IRREGULAR = {row["word"]: row["root"] for row in bundled("baselines.medconceal", "irregular.csv")}


@lru_cache(maxsize=65_536)
def root(word: str) -> str:
    """The stem of a word, including irregular forms of common ones; for topics, where meaning counts and not spelling.

    >>> root("children"), root("died"), root("costs")
    ('child', 'die', 'cost')
    """
    word = word.removesuffix("'s")
    return stem(_IRREGULAR.get(word, word))


@lru_cache(maxsize=1024)
def content_roots(text: str) -> frozenset[str]:
    """Roots of the words of a text, stop words and single letters left out."""
    return frozenset(root(word) for word in words(text) if word not in STOP_WORDS and len(word) > 1)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The word without English endings of number, tense and manner.

    >>> [stem(word) for word in ("worries", "worried", "worrying", "worry", "costs", "stopped", "scared", "news")]
    ['worry', 'worry', 'worry', 'worry', 'cost', 'stop', 'scar', 'new']
    """
    word = word.removesuffix("'s")
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith("es") and len(word) > 4:
        word = word[:-2] if word[:-2].endswith(("s", "x", "ch", "sh")) else word[:-1]
    elif word.endswith("s") and len(word) > 3 and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            elif word.endswith("i"):
                word = word[:-1] + "y"
            break
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


@lru_cache(maxsize=1024)  # a dialogue asks about what was said, and about the patient, again and again
def content_stems(text: str) -> frozenset[str]:
    """Stems of the words of a text, stop words and single letters left out.

    >>> sorted(content_stems("I am worried about the costs."))
    ['cost', 'worry']
    """
    return frozenset(stem(word) for word in words(text) if word not in STOP_WORDS and len(word) > 1)
