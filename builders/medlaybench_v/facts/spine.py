"""Levels of the spine: "T2" beside a vertebra, and the ends of its parts in words: "the lowest lumbar bone"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

VERTEBRAL = frozenset(
    "vertebra vertebrae vertebral level spinous rib ribs lumbar thoracic cervical sacral bone disc root nerve pedicle "
    "body neck chest screw spine foramen neural segment".split()
)
_BEHIND_A_LEVEL = frozenset(
    "vertebra vertebrae vertebral level rib ribs nerve spine bone spinous body pedicle root".split()
)
ENDS_OF_SPINE = frozenset("lowest last bottom lowermost top uppermost topmost highest first".split())
_LAST_OF = {
    "lumbar": ("L", 5), "neck": ("C", 7), "cervical": ("C", 7), "thoracic": ("T", 12), "chest": ("T", 12),
    "sacrum": ("S", 5), "sacral": ("S", 5),
}  # fmt: skip
_BONES_ONLY = frozenset("bone bones vertebra vertebrae segment segments block blocks".split())
_BONES = _BONES_ONLY | frozenset("of the".split())
_LOWEST = frozenset("lowest last bottom lowermost".split())
OF_A_SEQUENCE = frozenset(
    "weighted mri weighting type kind value values map maps mapping signal relaxation image images picture pictures "
    "scan scans sequence sequences".split()
)
_LEVEL = re.compile(r"[cltd]\d{1,2}")


class Level(NamedTuple):
    """A vertebra by its letter and number, told by the words up to `last`."""

    letter: str
    number: int
    last: int


def end_of_spine(texts: Sequence[str], i: int) -> Level | None:
    """The lowest lumbar bone is L5, the top one of the sacrum S1; None where no part of the spine follows word i."""
    region = next((j for j in range(i + 1, min(i + 6, len(texts))) if texts[j] in _LAST_OF), 0)
    if not region:
        return None
    between, behind = set(texts[i + 1 : region]), set(texts[region + 1 : region + 2])
    if not between <= _BONES or not (between | behind) & _BONES_ONLY:
        return None
    letter, last = _LAST_OF[texts[region]]
    return Level(letter, last if texts[i] in _LOWEST else 1, region + bool(behind & _BONES_ONLY))


def by_vertebra(texts: Sequence[str], gaps: Sequence[str], i: int) -> bool:
    """Whether "T1" or "T2" at word i is a vertebra, and no sequence of an MRI."""
    before, behind = (texts[i - 1] if i else ""), (texts[i + 1] if i + 1 < len(texts) else "")
    if behind in OF_A_SEQUENCE:
        return False
    if behind in _BEHIND_A_LEVEL or (_LEVEL.fullmatch(behind) and behind[0] == "t" and behind not in ("t1", "t2")):
        return True
    if _LEVEL.fullmatch(before):
        return gaps[i].strip() in ("-", "–", "/")  # C3–T2
    if before in ("to", "through", "and") and i > 1 and _LEVEL.fullmatch(texts[i - 2]):
        return texts[i - 2] not in ("t1", "t2")  # "from C3 to T1"
    return False
