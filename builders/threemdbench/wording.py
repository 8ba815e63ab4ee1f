"""The words of a complaint that say what it is about, normalised to one form."""

from __future__ import annotations

import re

_EMPTY = frozenset(
    "a an the this that these those there here it its they them their you your yours yourself i my me we our "
    "is are was were be been being am has have had having do does did can could may might will would "
    "and or but nor so if when where while as than then of in on at to from by with without into over under near "
    "about around for since ago after before during between up out off down again very quite rather really just only "
    "also some any no not more most less many much few lot bit little all both each every other another such same own "
    "what which who whose how feel felt feels feeling notice noticed notices see saw seen sees look looks looked "
    "seem seems get gets got become becomes became like as well recently still always often sometimes".split()
)
# Words said about nearly everything do not help to tell two complaints apart.
_ENDINGS = (("ies", "y"), *((ending, "") for ending in "ings ing edly ed es s ly y e".split()))


def words(text: str) -> list[str]:
    """The words of a text in lower case.

    >>> words("You don't itch; it's 1.5 cm wide.")
    ['you', "don't", 'itch', "it's", '1.5', 'cm', 'wide']
    """
    return re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*|\d+(?:[.,]\d+)*", text.replace("’", "'").casefold())


def content_words(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning; negation counts.

    >>> sorted(content_words("You have itchy, red spots.")), sorted(content_words("The spot itches and is not red"))
    (['itch', 'red', 'spot'], ['itch', 'not', 'red', 'spot'])
    """
    found = set()
    for word in words(text):
        if word in ("no", "not", "never", "without") or word.endswith("n't"):
            found.add("not")
        elif word not in _EMPTY:
            found.add(_stem(word))
    return frozenset(found)


def _stem(word: str) -> str:
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + instead
    return word
