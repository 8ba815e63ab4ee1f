"""Names that share a word, as in "the femoral head, neck and shaft"; and words that would count the organ beside them.

>>> shares_its_name("the femoral head, neck and shaft.", 4, 16), counted_elsewhere("solitary renal cyst", 9)
(True, True)

Captions are examined in lower case, as in `senses`.
"""

from __future__ import annotations

import re

# What counts or judges an organ when the organ is named: "solitary renal cyst" has one cyst, not one kidney.
_COUNTING = re.compile(
    r"\b(?:solitary|single|isolated|lone|sole|unique|accessory|ectopic|supernumerary|duplicated?|double|absent)[ ]\Z"
)
# Parts that share the first word of a name: "the femoral head, neck and shaft".
_PARTS = r"head|neck|shaft|body|tail|apex|base|arch|root|condyles?|trochanter\w*|bulb|antrum|fundus"
_PART_AT_END = re.compile(rf"\b(?:{_PARTS})\Z")
_PART_BEHIND = re.compile(rf"(?:[ ]?[,/&]|[ ](?:and|or|to)\b)[ ]?(?:(?:and|or|the|proximal|distal)[ ])*(?:{_PARTS})\b")
_NEARBY = 40  # characters before a word that are looked at


def ends_in_part(surface: str) -> bool:
    """Whether a name ends in a part that others may share its first word with: "femoral head"."""
    return _PART_AT_END.search(surface) is not None


def counted_elsewhere(lower: str, start: int) -> bool:
    """Whether the word before an anatomical adjective would be read as said of the organ itself."""
    return _COUNTING.search(lower, max(0, start - _NEARBY), start) is not None


def shares_its_name(lower: str, start: int, end: int) -> bool:
    """Whether another part follows that lives on the first word of the name at [start, end)."""
    return _PART_BEHIND.match(lower, end) is not None and _PART_AT_END.search(lower, start, end) is not None
