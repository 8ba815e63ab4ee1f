"""Sides with what they are said of: left, right, both; abbreviations (RUQ, R hip, LAD) and shifts towards a side.

Words that only look like sides do not count: a right angle, what was left, right at the start.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from builders.medlaybench_v.facts.reading import OfWords, Reading
from builders.medlaybench_v.facts.senses import ANATOMY, kind_of, senses
from builders.medlaybench_v.facts.wordings import Sense
from builders.medlaybench_v.facts.words import table

LEFT, RIGHT, BOTH = "left", "right", "both"


class Side(NamedTuple):
    """A side at the words [first, last]; `towards` for a shift; not `named` where a term holds it."""

    value: str
    first: int
    last: int
    towards: bool = False
    named: bool = True


_WORDS = {
    "left": LEFT, "right": RIGHT, "leftward": LEFT, "leftwards": LEFT, "rightward": RIGHT, "rightwards": RIGHT,
    "leftsided": LEFT, "rightsided": RIGHT, "lt": LEFT, "rt": RIGHT, "bilateral": BOTH, "bilaterally": BOTH,
    "both": BOTH,
    "either": BOTH, "each": BOTH, "neither": BOTH,
}  # fmt: skip
_IN_TERMS = tuple(table("sides in terms").items())
_TERMS = tuple(start for start, _ in _IN_TERMS)
_ABBREVIATED = table("sides in abbreviations")
# Of these the side is a part of what a plain sentence must say.
_REQUIRED = frozenset("lul lll luq llq rul rml rll ruq rlq lica rica lcca rcca rif lif".split())
_AFTER_VERB = frozenset("behind over untreated open alone unrepaired inside intact unchanged unclear hospital".split())
_LEFT_OVER = _AFTER_VERB | frozenset("of in to on from as with along at within around beside near between".split())
_BE = frozenset("was were been be being has had have what is are that nothing only little remnant anything".split())
_RIGHT_HERE = frozenset(
    "at through where from behind below above after away up down before into across next beside beneath under "
    "round around by in on angle angles angled".split()
)
_UNIT_WORDS = frozenset(
    "millimetre millimetres millimeter millimeters mm cm centimetre centimetres week weeks day days year years".split()
)
_ARTICLES = frozenset("the to on on's her his patient's s their its of and or mother's from a an her".split())
_PROJECTIONS = frozenset(("mlo", "cc"))
_SHIFT = frozenset("to toward towards into over onto".split())


def sides(reading: Reading) -> list[Side]:
    """The sides of a caption, in their order."""
    texts = reading.texts
    found: list[Side] = []
    for i in reading.where(_MAY_BE_SIDE):
        word = texts[i]
        before, after = reading.word(i - 1), reading.word(i + 1)
        raw = reading.raw(i)
        if word in _WORDS and not _no_side(reading, word, before, after, i):
            towards = word.endswith(("ward", "wards")) or (
                word in (LEFT, RIGHT)
                and (
                    before in _SHIFT
                    or (before in ("the", "patient's", "his", "her", "its") and i > 1 and texts[i - 2] in _SHIFT)
                )
                and after not in ("of",)
                and _ends(reading, i)
            )
            found.append(Side(_WORDS[word], i, i, towards))
        elif (
            raw in ("R", "L")
            and after
            and reading.gaps[i + 1] in (" ", "-")
            and not before[:1].isdigit()
            and (after in _PROJECTIONS or any(_is_structure(reading, j) for j in (i + 1, i + 2)))
        ):
            found.append(Side(RIGHT if raw == "R" else LEFT, i, i))
        elif word == "b" and after == "l" and reading.gaps[i + 1] == "/":
            found.append(Side(BOTH, i, i + 1))
        elif word in _ABBREVIATED and raw[:2].isupper():
            found.append(Side(_ABBREVIATED[word], i, i, named=word in _REQUIRED))
        else:
            found += [Side(side, i, i, named=False) for start, side in _IN_TERMS if word.startswith(start)]
    return found


def _may_be_side(word: str) -> bool:
    return word in _WORDS or word in _ABBREVIATED or word in ("r", "l", "b") or word.startswith(_TERMS)


_MAY_BE_SIDE = OfWords(_may_be_side)


def _ends(reading: Reading, i: int) -> bool:
    """Whether the side stands alone: "to the left", and not "to the left lung"."""
    if i + 1 >= len(reading.texts):
        return True
    gap = reading.gaps[i + 1]
    return not _ENDINGS.isdisjoint(gap) or not (
        _is_structure(reading, i + 1)
        or (
            _is_structure(reading, i + 2)
            and gap == " "
            and reading.texts[i + 1] not in ("by", "in", "and", "of", "on", "with", "from")
        )
    )


_ENDINGS = frozenset(".,;:()")


def _is_structure(reading: Reading, i: int) -> bool:
    return i in reading.get(_structures)


def _structures(reading: Reading) -> frozenset[int]:
    """The words that name body parts."""
    parts = (s for s in reading.get(senses) if _is_part(s.senses))
    return frozenset(i for s in parts for i in range(s.first, s.last + 1))


@lru_cache(maxsize=4096)
def _is_part(named: tuple[Sense, ...]) -> bool:
    return any(kind_of(sense.concept) == ANATOMY for sense in named)


def _no_side(reading: Reading, word: str, before: str, after: str, i: int) -> bool:
    texts = reading.texts
    if word in (LEFT, RIGHT) and {before, after} & {"from"} and {LEFT, RIGHT} <= set(texts[max(0, i - 2) : i + 3]):
        return True  # what parts left from right is on neither
    if word == "left":
        return _remains(reading, i, before, after)
    if word == "right":
        if after in ("angle", "angles", "angled", "away", "after", "now", "through", "across"):
            return True
        if before in ("it", "them", "things", "matters") and texts[max(0, i - 2) : i - 1] in _SET:
            return True  # "put it right"
        if LEFT in texts and before.endswith(("ic", "al", "ed", "ous")):
            return False  # "a dominant left artery with a hypoplastic right"
        return after in _RIGHT_HERE and before not in _ARTICLES and before not in ("upper", "lower", "far")
    if word == "both":  # "both A and B"
        return "and" in texts[i + 2 : i + 4] and {LEFT, RIGHT}.isdisjoint(texts[i : i + 6])
    if word == "neither":
        return after in ("confirm", "yes", "of") or "nor" in texts[i : i + 4]
    return (
        word in ("either", "each") and after not in _IN_PAIRS
    )  # "on each side", but "nodules, each smaller than 1 cm"


_SET = (["put"], ["set"], ["puts"], ["sets"], ["putting"], ["setting"])
_IN_PAIRS = frozenset(
    "of side lung kidney breast hip eye leg knee ankle arm hand foot ear half groin armpit wrist elbow shoulder thigh "
    "calf cheek heel thumb testicle ovary orbit".split()
)
# What stands before "left" where it is a side, and what follows it where something was left.
_SIDE_BEFORE = frozenset(
    "the on to in of from at by and or with into onto toward towards upper lower far his her its their my this that "
    "patient's s mid extreme distal proximal anterior posterior lateral medial inferior superior dominant entire "
    "whole only opposite both right via through".split()
)
_REMAINDER = frozenset(
    "what anything everything nothing something little none much more any is was were are been".split()
)
_OBJECTS = frozenset("a an it them him her me us this these no some nothing only doctors surgeons experts".split())


def _remains(reading: Reading, i: int, before: str, after: str) -> bool:
    """Whether "left" is what remains or the verb: "none of the tumour left in", "the doctors left a tube"."""
    texts = reading.texts
    if i + 1 < len(texts) and (after in ("sided", "side", "hand", "half", "lung") or _is_structure(reading, i + 1)):
        return False
    if before in ("have", "had", "has", "been") or after == "over" or (after == "out" and before in _BE):
        return True
    if before in ("", "the") or reading.text[reading.starts[i] - 1 : reading.starts[i]] in "(-/[":
        return False
    gap = reading.gaps[i + 1] if after else ""
    if after in _OBJECTS and not gap.strip() and before not in _SHIFT | {"the", "and", "or", "of"}:
        return True
    if after == "from" and before not in _SIDE_BEFORE | _SHIFT:
        return True  # "clips, left from the operation"
    if before in _REMAINDER:
        return not after or after in _LEFT_OVER | {"the", "over"}
    if before in _SIDE_BEFORE:
        return after in ("behind", "over")
    if after in _AFTER_VERB or after in ("the", "over"):
        return True
    ends = not after or any(c in ".;:,()" for c in reading.gaps[i + 1])
    if ends or after in _LEFT_OVER:  # "no tumour left in the corner", "the 2 mm left"
        remnants = _REMNANTS if after in _LEFT_OVER else _SOME  # "none of the tumour left in", "some bands left."
        told = before in _UNIT_WORDS or _LEAVES.search(reading.lower, 0, reading.starts[i])
        return bool(told) or not remnants.isdisjoint(texts[max(0, i - 6) : i])
    return False


_SOME = frozenset("some any few little".split())
# "The scar that the operation left", "the day the patient left".
_LEAVES = re.compile(r"\b(?:that|which|day)[ ](?:an?|the|his|her)(?:[ ][\w-]+){1,3}[ ]\Z")
_REMNANTS = frozenset("none no any nothing anything little some more remnant what amount much scar".split())
