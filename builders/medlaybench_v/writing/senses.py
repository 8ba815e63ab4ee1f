"""Words that mean something else beside certain others: an acute angle is not sudden, a bone that consolidates heals.

>>> another_sense("acute", "acute angle of the graft", 0, 5), another_sense("acute", "acute cholecystitis", 0, 5)
(True, False)

`senses.csv` has a row for each word, or for words that share their senses ("|" between them). A cell is a pattern in
lower case, in which "@heart@" stands for the words of a topic (`topics.csv`). The word has another meaning than the
vocabulary's

    only    if the caption mentions nothing of the kind: its context decides which sense it has
    about   if the caption mentions it, and nothing that `unless` names
    before  if that comes right before it
    behind  if that comes right after it
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import NamedTuple

from builders.medlaybench_v.words.abbreviations import without_key
from builders.medlaybench_v.writing.topics import pattern, table


class Sense(NamedTuple):
    """Where a word has another sense than in the vocabulary; a row of `senses.csv`."""

    only: re.Pattern[str] | None
    about: re.Pattern[str] | None
    unless: re.Pattern[str] | None
    before: re.Pattern[str] | None
    behind: re.Pattern[str] | None


# Salt water, bubbles and air are no dye; neither is what makes a picture rich in contrast.
_NO_DYE = re.compile(
    r"\b(?:saline|agitated|bubble|air|negative|image|tissue|high|low|good|poor|strong|spontaneous|echo|phase|"
    r"double)[ -](?:with[ ])?\Z"
)
_SIDED = re.compile(r"\A(?:left|right|bilateral) ")
_NEARBY = 40  # characters before a word that are looked at


@cache
def read_senses() -> dict[str, Sense]:
    """The rows of `senses.csv` by word."""
    senses = {}
    for row in table("senses.csv"):
        sense = Sense(*(pattern(row[column]) if row[column] else None for column in Sense._fields))
        senses.update(dict.fromkeys(row["words"].split("|"), sense))
    return senses


def another_sense(surface: str, lower: str, start: int, end: int) -> bool:
    """Whether the word at [start, end) does not mean here what the vocabulary says of it; `lower` is the caption in
    lower case."""
    sense = read_senses().get(surface)
    if sense is None:
        return False
    only, about, unless, before, behind = sense
    if behind is not None and behind.match(lower, end):
        return True
    if before is not None and before.search(lower, max(0, start - _NEARBY), start):
        return True
    if only is not None and not only.search(lower):
        return True
    if about is None or not about.search(lower):
        return False
    return unless is None or not unless.search(lower)


def has_other_sense(surface: str) -> bool:
    """Whether a word has another sense anywhere."""
    return surface in read_senses()


@lru_cache(maxsize=16384)
def composed_of(surface: str) -> str:
    """The adjective of place that a composed name begins with, behind its side."""
    return _SIDED.sub("", surface).partition(" ")[0]


def no_dye(lower: str, start: int) -> bool:
    """Whether the contrast that is spoken of at `start` is no dye: "saline contrast", "double contrast"."""
    return _NO_DYE.search(lower, max(0, start - _NEARBY), start) is not None


def defined_otherwise(short: str, text: str, expected: str) -> bool:
    """Whether a caption tells itself what some capitals stand for, beginning with none of the words `expected`."""
    told = _set_apart(short).search(text) and _told_otherwise(short, expected).search(text)
    return told is not None or any(
        defined == short and re.match(expected, text[slice(*long)], re.IGNORECASE) is None
        for defined, long in _key_of(text)
    )


@lru_cache(maxsize=1)
def _key_of(text: str) -> list[tuple[str, tuple[int, int]]]:
    """What the key at the end of a caption defines; one entry may be a finding: "A mass. CT: cystic mass"."""
    key = without_key(text)[1]
    return key if len(key) > 1 else []


_JOINED = r"(?:\s?[(\[]|\.?\s*[:=]|\s*(?:[–—]|-\s)|,\s|\s+(?:indicates|denotes)\s)\s*"


@lru_cache(maxsize=1024)
def _set_apart(short: str) -> re.Pattern[str]:
    """Some capitals in brackets, or before a mark that may join them to words: they seldom stand so."""
    short = re.escape(short)
    return re.compile(rf"{short}(?:(?<=[(\[]{short})\b|(?<=\b{short}){_JOINED})")


@lru_cache(maxsize=1024)
def _told_otherwise(short: str, expected: str) -> re.Pattern[str]:
    """Some capitals beside words with these initials, or a word of such parts: "mitral regurgitation (MR)", "CT,
    connective tissue", "CT: cricothyroid muscle"."""
    letters = [letter for letter in short if letter.isalpha()]
    apart = r"[\s/–-]+"

    def words(between: str) -> str:
        """The words, of which `between` parts each from the next one."""
        initials, parts = between.join(rf"{letter}\w+" for letter in letters), r"\w{2,}o".join(letters)
        return rf"(?i:\b(?!{expected})(?:{initials}|{parts}\w{{6,}}))"

    one_more = rf"{apart}(?:\w+{apart})?" if len(letters) > 2 else apart
    short = re.escape(short)
    return re.compile(rf"{words(one_more)}(?:\s\w+)?\s?[(\[]{short}\b|\b{short}{_JOINED}{words(apart)}")
