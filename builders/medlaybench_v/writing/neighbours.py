"""What stands beside a term: a name that it shares, a word that its lay phrase would contradict, an operation's date.

>>> shares_head("Intramural gastric and liver abscess", 23), shares_head("Fever and liver abscess", 10)
(True, False)
>>> without_contradiction("lump (small inflamed lump)", "two large ")
'lump (inflamed lump)'
>>> shares_its_name("the femoral head, neck and shaft.", 4, 16), counted_elsewhere("solitary renal cyst", 9)
(True, True)
>>> list(operations("Radiograph on postoperative day 13."))
[(14, 34, 'day 13 after surgery')]
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from builders.medlaybench_v.words.lists import any_of, listed
from builders.medlaybench_v.writing.topics import table

# "gastric and", "frontal, parietal and", "anterior/"; nouns that end as adjectives do are none.
_JOINED_BEFORE = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)(?:,? (?:and|or|and/or|as well as|&) |/)(?:(?:left|right) )?\Z")
_ADJECTIVE = re.compile(
    rf"(?!(?:{any_of('no adjectives')})\Z)"
    r"(?:[a-z-]{2,}(?:al|ic|ar|ary|ous|eal|ian|ior|noid)|(?:upper|lower|middle|gut|ascending|descending))\Z"
)
_FAR = 40
# A phrase may say how large, how many or how sure a thing usually is; here the caption says otherwise.
_OPPOSITES = tuple(
    (
        re.compile(rf"\b(?:{row['said']})(?! (?:upper |lower )?(?:bowel|intestine))\s?", re.IGNORECASE),
        re.compile(rf"\b(?:{row['told']})", re.IGNORECASE),
    )
    for row in table("opposites.csv")
)
BARE_PREFIXES = listed("bare prefixes")
"""Beginnings of words that are sometimes written apart."""
_HALF_BEFORE = re.compile(r"\b[a-z]+- (?:and|or|to|and/or) \Z")
# What a modifier may stand apart from its noun by: no other sentence, clause or preposition.
_CLOSE = re.compile(r"(?:[^\W_][\w.×-]*,? ){0,4}\Z")
_CLAUSE = re.compile(
    r"\b(?:of|in|on|at|with|and|from|by|for|to|is|are|was|were|the|shows?|showing|near|beside)\s", re.IGNORECASE
)

# What counts or judges an organ when the organ is named: "solitary renal cyst" has one cyst, not one kidney.
_COUNTING = re.compile(
    r"\b(?:solitary|single|isolated|lone|sole|unique|accessory|ectopic|supernumerary|duplicated?|double|absent)[ ]\Z"
)
# Parts that share the first word of a name: "the femoral head, neck and shaft".
_PARTS = r"head|neck|shaft|body|tail|apex|base|arch|root|condyles?|trochanter\w*|bulb|antrum|fundus"
_PART_AT_END = re.compile(rf"\b(?:{_PARTS})\Z")
_PART_BEHIND = re.compile(rf"(?:[ ]?[,/&]|[ ](?:and|or|to)\b)[ ]?(?:(?:and|or|the|proximal|distal)[ ])*(?:{_PARTS})\b")

# "12-month" is a word of its own and stays.
_COUNT = r"\d{1,3}(?:\.\d)?[ ]|(?:a|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|eighteen)[ -]"
_POST = r"post-?[ ]?(?:op(?:erative)?|surgical)(?:ly)?"
_OPERATION = re.compile(
    rf"\b(?:{_POST}[ ](?P<unit>day|week|month|year)[ ](?P<n>\d{{1,4}}|one|two|three|four|five|six)(?![\w×-]|\.\d)|"
    rf"(?P<span>(?:{_COUNT})(?:hour|day|week|month|year)s?)[ -]{_POST}(?=[.,;:)]|\Z|[ ](?:in|of|with|and|the|"
    r"without|after|show\w*|demonstrat\w*|reveal\w*)\b))",
    re.IGNORECASE,
)


def shares_head(text: str, start: int) -> bool:
    """Whether an adjective is joined to what starts there: both belong to one noun, and a name of two words that is
    replaced as a whole would take the noun away from the first."""
    before = text[max(0, start - _FAR) : start]
    if not before.endswith(("and ", "or ", "& ", "as ", "/", "left ", "right ")):
        return False  # most leave here
    joined = _JOINED_BEFORE.search(before)
    return joined is not None and _ADJECTIVE.match(joined[1].lower()) is not None


def ends_in_part(surface: str) -> bool:
    """Whether a name ends in a part that others may share its first word with: "femoral head"."""
    return _PART_AT_END.search(surface) is not None


def counted_elsewhere(lower: str, start: int) -> bool:
    """Whether the word before an anatomical adjective would be read as said of the organ itself."""
    return _COUNTING.search(lower, max(0, start - _FAR), start) is not None


def shares_its_name(lower: str, start: int, end: int) -> bool:
    """Whether another part follows that lives on the first word of the name at [start, end)."""
    return _PART_BEHIND.match(lower, end) is not None and _PART_AT_END.search(lower, start, end) is not None


def follows_prefix(lower: str, start: int) -> bool:
    """Whether a prefix that was written apart stands before a word: "intra peritoneal"."""
    if lower[start - 1 : start] != " ":
        return False
    return lower[lower.rfind(" ", 0, start - 1) + 1 : start - 1].strip("(") in BARE_PREFIXES


HALF = "- "
"""What half a word ends with, whose other half belongs to a word behind it."""


def shares_stem(lower: str, start: int) -> bool:
    """Whether half a word hangs on what starts there: "hypo- and hyperechogenic"."""
    return _HALF_BEFORE.search(lower, max(0, start - _FAR), start) is not None


def without_contradiction(lay: str, before: str) -> str:
    """A lay phrase without the word that the modifiers before it contradict."""
    for said, told in deniable(lay):
        if told.search(_modifiers(before)):
            lay = said.sub("", lay).strip() or lay  # "neither benign nor malignant": what is said alone is no addition
    return lay


@lru_cache(maxsize=16384)
def deniable(lay: str) -> tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]:
    """What a phrase says that modifiers may deny; nothing, for most."""
    return tuple(pair for pair in _OPPOSITES if pair[0].search(lay))


def _modifiers(before: str) -> str:
    close = _CLOSE.search(before[-_FAR:])
    words = close[0] if close else ""
    parted = max((found.end() for found in _CLAUSE.finditer(words)), default=0)
    return words[parted:]


def operations(text: str) -> Iterator[tuple[int, int, str]]:
    """Dates counted from an operation, (start, end, in plain words), as one phrase: their number and unit are never
    parted."""
    if "ost" not in text:
        return
    for found in _OPERATION.finditer(text):
        when = f"{found['unit']} {found['n']}" if found["unit"] else _plural_of(found["span"])
        yield found.start(), found.end(), f"{when.lower() if not found.start() else when} after surgery"


def _plural_of(span: str) -> str:
    """ "two-month" as it stands behind: "two months"; "one-year" stays one."""
    count, unit = re.split(r"[ -]", span, maxsplit=1)
    one = count.lower() in ("1", "one", "a")
    return f"{count} {unit.removesuffix('s')}" + ("" if one else "s")
