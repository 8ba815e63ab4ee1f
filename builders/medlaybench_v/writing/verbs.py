"""Whether a sentence may hold a verb of its own."""

from __future__ import annotations

import re
from functools import lru_cache

from builders.medlaybench_v.words.lists import any_of

_WORD = re.compile(r"[a-z]+")
BRACKETS = re.compile(r" ?\([^()]*\)")
_VERB = re.compile(any_of("verbs"), re.IGNORECASE)
# Any other verb, told by its object: "characterized a mass".
_WITH_OBJECT = re.compile(
    r"\b(?!need)\w{3,}ed (?:an?|the|no|multiple|several|many) |"
    r"\b\w{3,}[^\W_sui]s (?:an?|the) (?!day|week|month|year|same|time)",
    re.IGNORECASE,
)
_BEFORE_OBJECT = ("ed ", "s the ", "s a")


def has_verb(sentence: str) -> bool:
    """Whether a sentence may hold a verb of its own; an explanation in brackets may hold one, too."""
    outside = BRACKETS.sub("", sentence)
    lower = outside.lower()
    with_object = any(end in lower for end in _BEFORE_OBJECT) and _WITH_OBJECT.search(outside) is not None
    return with_object or any(map(_may_be_verb, _WORD.findall(lower)))


@lru_cache(maxsize=16384)
def _may_be_verb(word: str) -> bool:
    return _VERB.fullmatch(word) is not None
