"""Which words of a text carry its content, normalised so that "worried" and "worries" are the same.

For the overlap of a turn with a concern (MC-G14) and for the leak check. The stemmer only cuts inflections of English:
both sides of every comparison go through it, so it need not give dictionary forms.
"""

from __future__ import annotations

import re
from functools import lru_cache

from loaders.english import STOP_WORDS
from loaders.spans import words

SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")
"""The blanks between two sentences."""

SMALL = STOP_WORDS | frozenset(
    """
    always aren't between didn't doesn't hasn't haven't he'd he's how's i'll instead isn't it'd let let's let us might
    maybe may must myself need never nobody none nothing oh okay ought perhaps please rather right shall she'd she's
    shouldn't somebody someone sorry still thank thanks that'd there's they're wasn't we'll we've well weren't what's
    who's won't wouldn't yes yet you'd you'll you're you've yourself
    """.split()
)
"""The closed class of English: articles, pronouns, auxiliaries, particles, and short answers."""


# One form for words with irregular inflections.
_IRREGULAR = {
    "children": "child", "kids": "kid", "died": "die", "dying": "die", "feet": "foot", "heard": "hear", "held": "hold",
    "knew": "know", "known": "know", "left": "leave", "lost": "lose", "paid": "pay", "slept": "sleep", "spoke": "speak",
    "taken": "take", "taught": "teach", "thought": "think", "told": "tell", "took": "take", "wives": "wife",
    "women": "woman", "men": "man", "driven": "drive", "drove": "drive", "fell": "fall", "felt": "feel",
}  # fmt: skip


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
