"""Figure markers with their colour, shape and letter, and what each points to.

An arrow in parentheses follows what it marks; a lay caption may put it first ("the white arrows point to …").
"""

from __future__ import annotations

import re
from typing import NamedTuple

from builders.medlaybench_v.facts.binding import STOP_WORDS
from builders.medlaybench_v.facts.reading import OfWords, Reading
from builders.medlaybench_v.facts.sides import sides
from builders.medlaybench_v.facts.words import ALSO_ANATOMY, COLOURS, MARKERS, table


class Marker(NamedTuple):
    """`shape` is the kind of mark ("arrow", "letter A"), `looks` its colours and traits; at the words [first, last]."""

    shape: str
    looks: frozenset[str]
    first: int
    last: int
    inside: bool


SHAPES = MARKERS | table("more marks")
TRAITS = dict.fromkeys(COLOURS, "") | table("looks")
# What stands for a colour where no other one is named: "the pale arrow", and not "the dark red one".
_SHADES = {"pale": "white", "light": "white", "dark": "black"}
_FILLING = frozenset(
    "and or small large big bold the of in a an with double headed shape shaped measuring coloured colored s".split()
)


def markers(reading: Reading) -> list[Marker]:
    """The markers of a caption, in their order, letters and numbers of a key among them."""
    texts, text, starts, ends = reading.texts, reading.text, reading.starts, reading.ends
    found: list[Marker] = []
    for i in reading.where(_MAY_MARK):
        word, start, end = texts[i], starts[i], ends[i]
        if len(word) < 3 and text[start:end] == word and word.isalpha() and text[end : end + 1] not in _BEHIND_LETTERS:
            continue  # nearly all that is short: "in", "of", "a"
        shape = SHAPES.get(word)
        if shape == "arrow" and texts[i + 1 : i + 2] in _HEADS and reading.gaps[i + 1] in (" ", "-"):
            shape = "arrowhead"  # "arrow head"
        if shape and _is_marker(reading, i, shape):
            found.append(Marker(shape, _looks(reading, i), i, i, _in_parentheses(text, start)))
        elif word in COLOURS and text[start - 1 : start] == "(" and text[end : end + 1] == ")":
            found.append(Marker("colour", frozenset((trait(word),)), i, i, _in_parentheses(text, start)))
        elif len(word) < 3 and _is_letter(reading, i):
            name = f"letter {text[start:end].upper()}"
            found.append(Marker(name, frozenset(), i, i, _in_parentheses(text, start)))
    if not found:
        return found
    numbered = [m for m in found if m.shape[7:].isdigit()]
    if numbered:  # "number 1 is the trunk, 2 is its branch": once a key is one of numbers, a bare one belongs to it
        seen = {m.first for m in found}
        found += [
            Marker(f"letter {word}", frozenset(), i, i, False)
            for i, word in enumerate(texts[:-1])
            if i not in seen and len(word) == 1 and word.isdigit() and texts[i + 1] in _TELLS
        ]
        found.sort(key=lambda marker: marker.first)
    return found


_HEADS = (["head"], ["heads"])
_BEHIND_LETTERS = frozenset("),.;:")


def _may_mark(word: str) -> bool:
    return word in SHAPES or word in COLOURS or len(word) < 3


_MAY_MARK = OfWords(_may_mark)
_TELLS = frozenset("is are the marks shows".split())


def trait(word: str) -> str:
    return TRAITS.get(word) or word


def _looks(reading: Reading, i: int) -> frozenset[str]:
    """Colours and traits beside the mark: "black and white arrows", "the arrows in white", "circled in red"."""
    texts = reading.texts
    looks = set()
    for j in range(i - 1, max(-1, i - 5), -1):
        if any(c in ".;:()" for c in reading.gaps[j + 1]):
            break
        if texts[j + 1] in ("the", "a", "an") and "," in reading.gaps[j + 1]:
            break  # "lies on the fat, the dotted line …"
        if texts[j] in TRAITS:
            looks.add(trait(texts[j]))
        elif texts[j] in _SHADES and texts[j + 1] not in COLOURS:
            looks.add(_SHADES[texts[j]])
        elif texts[j] not in _FILLING or "," in reading.gaps[j + 1]:
            break
    if i + 2 < len(texts) and texts[i + 1] == "in" and texts[i + 2] in COLOURS:
        looks.add(trait(texts[i + 2]))
    return frozenset(looks)


def _is_marker(reading: Reading, i: int, shape: str) -> bool:
    texts, text = reading.texts, reading.text
    word = texts[i]
    before, after = reading.word(i - 1), reading.word(i + 1)
    inside = _in_parentheses(text, reading.starts[i])
    if after == "shaped" and word not in ("star", "stars"):
        return False  # "the ring-shaped cartilage"
    if (word in ALSO_ANATOMY and after == "of") or (
        word == "egg" and after in ("tube", "tubes", "cell", "cells", "sac")
    ):
        return False
    if shape == "asterisk" and before in ("t1", "t2"):
        return False  # "T2*-weighted", "T2-star"
    if shape in _ALSO_THINGS or word in _ALSO_WORDS:
        looks = _looks(reading, i)
        if word in ("+", "#", "*"):
            return not after[:1].isdigit()
        if inside and (looks or shape != "line"):
            return len(_parenthesis(text, reading.starts[i]).split()) <= 6
        if word == "ring" and (looks & _DRAWN or after == "drawn"):
            return True
        if word in ("ring", "egg"):
            return False
        if shape == "line":
            return bool(looks - _OF_ANY_LINE)
        if word in ("circled", "boxed", "asterisk"):
            return True
        if word in ("star", "stars") and after == "shaped":
            return texts[i + 2 : i + 3] in (["sign"], ["mark"], ["symbol"])
        if word in ("plus", "hash"):
            return after == "sign"
        if shape == "box" and word == "square" and after in ("millimetres", "millimeters", "centimetres", "mm", "cm"):
            return False
        by_means = before in ("with", "by") and texts[i - 2] in _MARKED
        return bool(looks) or after in _MARKING or by_means or (before in ("the", "a", "red") and word != "frame")
    return True


# Marks that have other meanings, by their shape or their word, and looks of a line of the body.
_ALSO_THINGS = frozenset("line circle oval triangle box inset".split())
_ALSO_WORDS = frozenset("star stars plus + crosses cursor ring #".split())
_OF_ANY_LINE = frozenset("thick thin long short dark black white".split())
# Looks by which a ring is drawn on a picture: one of the body may be white, black or thin.
_DRAWN = frozenset("red blue green yellow orange purple pink dashed dotted".split())
_MARKING = frozenset(
    "marks shows outlines indicates points lies encloses surrounds sits sign mark show outline indicate point lie "
    "enclose surround sit stand stands".split()
)
_MARKED = frozenset("marked labelled labeled shown indicated denoted highlighted flagged picked".split())


def _in_parentheses(text: str, at: int) -> bool:
    return text.rfind("(", 0, at) > text.rfind(")", 0, at)


def _parenthesis(text: str, at: int) -> str:
    start = text.rfind("(", 0, at) + 1
    end = text.find(")", at)
    return text[start : end if end >= 0 else len(text)]


_KEY_WORDS = frozenset(
    "panel panels image images picture pictures letter letters labelled labeled marked figure label in and "
    "marks".split()
)
_NO_KEYS = frozenset("HU HZ KV MM CM ML CT MR US AP PA IV ED ER GE OR TB II IV VI MS".split())


def _is_letter(reading: Reading, i: int) -> bool:
    """A letter or number that is the name of a panel or of a structure in a key."""
    text, start, end = reading.text, reading.starts[i], reading.ends[i]
    raw = text[start:end]
    if raw.islower() and (len(raw) > 1 or text[end : end + 1] != ")"):
        return len(raw) == 1 and raw in _PANELS and _ends_phrase(reading, i)
    if not (raw.isalpha() and (raw[0].isupper() or len(raw) == 1)) and not (raw.isdigit() and len(raw) == 1):
        return False
    around = text[max(0, start - 1) : start], text[end : end + 1]
    if around == ("(", ")"):
        return raw not in _NO_KEYS
    if len(raw) > 1:
        after = reading.word(i + 1)
        key = around[1] in ("=", ":") or (around[1] == "," and text[end + 1 : end + 3].strip()[:1].islower())
        told = after in ("marks", "is", "stands", "shows", "indicates", "the")
        if raw in _NO_KEYS or not (key or told):
            return False
        return key or reading.texts[i] not in STOP_WORDS or (raw.isupper() and not reading.get(_in_capitals))
    if raw.isdigit():
        before = reading.word(i - 1)
        if before in ("fig", "figure"):
            return False
        return (
            (around[1] == "," and text[max(0, start - 2) : start].strip() in (":", ";", "", "."))
            or before == "number"
            or before == "marked"
        )
    if _is_unit_or_side(reading, i, raw) or _ENDS_IN_APOSTROPHE.search(text, max(0, start - 2), start):
        return False
    before = reading.word(i - 1)
    named = (raw.isupper() and (raw not in "IAT" or before in _CALLED)) or (raw == "A" and not _article(reading, i))
    if (named or (raw == "T" and around[1] in ",)=:")) and around[1] in tuple(",=: .;"):
        return around[0] != "-" and before not in _BEFORE_A_CLASS
    return False


def _ends_phrase(reading: Reading, i: int) -> bool:
    """Whether a small letter is the name of a panel that ends a phrase: "an X-ray in a, an ultrasound in b"."""
    after = reading.behind(i)
    return i > 0 and reading.texts[i - 1] in _IN_PANELS and after in _BEHIND_LETTERS


_PANELS = frozenset("abcdefgh")
_IN_PANELS = frozenset("in panel image picture part".split())
_CALLED = frozenset(("labelled", "labeled", "marked", "letter"))
_BEFORE_A_CLASS = frozenset("vitamin hepatitis type stanford child weber factor class".split())


def _is_unit_or_side(reading: Reading, i: int, raw: str) -> bool:
    """1.2 L, 60 °C, 3D, grade V, the R hip."""
    before = reading.word(i - 1)
    if reading.text[reading.starts[i] - 1 : reading.starts[i]] == "/":
        return True  # B/L
    if before in ("°", "grade", "stage", "type", "class", "segment") or (before[:1].isdigit() and raw in "LCFTGD"):
        return True
    return raw in "RL" and any(s.value in ("left", "right") and s.first == i for s in reading.get(sides))


def _article(reading: Reading, i: int) -> bool:
    """Whether "A" is the article: at the start of a sentence, or anywhere in a report in capitals."""
    before, after, gap = reading.word(i - 1), reading.word(i + 1), reading.gaps[i]
    capitals = reading.get(_in_capitals)
    if before in (_KEY_WORDS - _JOINING if capitals else _KEY_WORDS) or after in _BEHIND_A_LETTER:
        return False
    follows = reading.behind(i) == " "
    return follows and (capitals or i == 0 or any(c in ".:;?!" for c in gap))


def _in_capitals(reading: Reading) -> bool:
    """Whether most words are written in capitals, as some write a whole report."""
    written = [reading.raw(i) for i, word in enumerate(reading.texts) if len(word) > 3 and word.isalpha()]
    return 2 * sum(map(str.isupper, written)) > len(written)


_ENDS_IN_APOSTROPHE = re.compile(r"[^\W\d_]['’]\Z")  # BAKER'S
_BEHIND_A_LETTER = frozenset("and is shows was came to marks has".split())
_JOINING = frozenset(("in", "and"))


POINTS = frozenset(
    "was has holds gives depicts represents mark marks show shows indicate indicates point points denote denotes is "
    "are lies lie sits sit stands stand on at to the encloses outlines surrounds follows follow".split()
)


def name(marker: Marker) -> str:
    """A mark with its looks: "black arrow"."""
    return " ".join((*sorted(marker.looks), marker.shape))
