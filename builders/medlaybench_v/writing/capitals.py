"""Names that keep their capital where the start of a sentence becomes its middle, and reports in capitals."""

from __future__ import annotations

import re
from collections.abc import Set

from builders.medlaybench_v.words.reads_well import plain_words
from builders.medlaybench_v.writing.senses import another_sense
from builders.medlaybench_v.writing.topics import table

# People, places, products, months and germs keep their capital (`names.csv`).
_NAMES = frozenset(name for row in table("names.csv") for name in row["names"].split())


def small(text: str) -> str:
    """Without the capital of a sentence's start; names such as "CT", "X-ray" and "Charcot" keep theirs."""
    word = text.split(" ", 1)[0]
    keeps = any(letter.isupper() or letter.isdigit() for letter in word[1:]) or word[1:2] == "-" or len(word) == 1
    keeps = (keeps and word != "A") or word.endswith(("'s", "’s", "s'", "s’")) or is_name(text)
    return text if keeps else text[:1].lower() + text[1:]


def is_name(text: str) -> bool:
    """Whether a sentence begins with a person's, a place's or a germ's name that is known."""
    return text.split(" ", 1)[0].lower() in _NAMES


_SMALL, _CAPITALS = re.compile(r"[a-z]{3}"), re.compile(r"[A-Z]{4}")
_LETTERS = re.compile(
    r"(?<!\w)(?P<word>[A-Z]{2,})(?P<ending>['’][ST]\b)?(?![\w&])|"
    r"\bA(?=[ ](?!(?:AND|OR|TO|IS|WAS|SHOWS|WITH|WITHOUT|VIRUS)\b)\w)"
)
# What a letter behind it numbers: "TYPE A", "HEPATITIS A".
_NUMBERED = re.compile(
    r"\b(?:TYPE|GRADE|CLASS|GROUP|STAGE|PANEL|PART|POINT|FIG\.?|FIGURE|IMAGE|HEPATITIS|VITAMIN)[ ]\Z"
)
_METHODS = frozenset(("CT", "MRI", "PET", "US"))  # which are plain words, too
_SHORT_FORMS = frozenset("AIDS HIV ICE PAD PEG TIPS TOE".split())  # which are, too, but where they mean something else
_START = re.compile(r"(?:\A|[.!?]\s)\W*[a-z]")


def is_in_capitals(text: str) -> bool:
    """Whether a caption is written in capitals, but for a unit: as reports of some hospitals are."""
    return _CAPITALS.search(text) is not None and _SMALL.search(text) is None


def in_small_letters(text: str, abbreviations: Set[str]) -> str:
    """A caption in capitals as others are written, letter for letter.

    >>> in_small_letters("MRI SHOWS A 3 CM BAKER CYST. NO X-RAY AT L4.", {"MRI"})
    'MRI shows a 3 cm Baker cyst. No X-ray at L4.'
    """
    lower = text.lower()

    def usual(found: re.Match[str]) -> str:
        word, ending = found["word"], (found["ending"] or "").lower()
        if word is None:
            return "A" if _NUMBERED.search(text, max(0, found.start() - 12), found.start()) else "a"
        small = word.lower()
        said = word in abbreviations or len(word) < 4 or set("AEIOUY").isdisjoint(word) or set("IVX").issuperset(word)
        kept = word in _METHODS or (said and small not in plain_words())
        kept |= word in _SHORT_FORMS and not another_sense(small, lower, found.start(), found.end())
        if kept and not ending.endswith("t"):
            return word + ending
        return (word.capitalize() if small in _NAMES else small) + ending

    return _START.sub(lambda start: start[0].upper(), _LETTERS.sub(usual, text))
