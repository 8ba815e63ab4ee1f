"""The facts of a caption that a rewrite must keep: numbers, dates, sides, negations, modalities, figure markers.

One left-to-right scan over the words, with a look-up a word instead of a regular expression a kind: the gates run on every
row of an 80,000-row corpus, twice. The same facts are the *protected spans* that a draft may not touch and the material
of the fact gates (MedLayBench-V, Algorithm 1, CheckFactuality; the paper names the function without defining it).

    >>> from builders.medlaybench_v.facts.reading import read
    >>> [(f.kind, f.value) for f in facts_of(read("No mass in the left lung; 2.5 cm (white arrow) on CT."))]
    [('negation', 'no'), ('side', 'left'), ('number', '2.5'), ('marker', 'colour white'), ('marker', 'arrow'), ('modality', 'CT')]
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

from builders.medlaybench_v.facts import words as known
from builders.medlaybench_v.facts.numerals import in_figures, with_point
from builders.medlaybench_v.facts.reading import OfWords, Reading
from builders.medlaybench_v.facts.units import SHOWN


class Fact(NamedTuple):
    """One fact: `value` is canonical ("2.5", "left", "CT"), `unit` only for numbers, [start, end) in the text."""

    kind: str
    value: str
    start: int
    end: int
    unit: str = ""


def facts_of(reading: Reading) -> list[Fact]:
    """The facts of a caption, in order of appearance."""
    scan = _Scan(reading)
    for i, handler in enumerate(map(_HANDLERS.__getitem__, reading.texts)):
        if handler is not None and i >= scan.done:
            handler(scan, i)
    scan.facts.sort(key=lambda fact: fact.start)
    return scan.facts


class _Scan:
    """The caption being read; `done` is the index of the first word that no fact has taken yet."""

    __slots__ = ("done", "facts", "raw", "reading", "word")

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.word, self.raw = reading.word, reading.raw
        self.facts: list[Fact] = []
        self.done = 0

    def around(self, i: int) -> tuple[str, str]:
        """The characters before and behind word i."""
        text, start, end = self.reading.text, self.reading.starts[i], self.reading.ends[i]
        return text[start - 1 : start], text[end : end + 1]

    def gap(self, i: int) -> str:
        """What stands between word i and the one before it."""
        return self.reading.gaps[i]

    def add(self, kind: str, value: str, first: int, last: int | None = None, unit: str = "") -> None:
        """A fact from word `first` to word `last`."""
        end = self.reading.ends[first if last is None else last]
        self.facts.append(Fact(kind, value, self.reading.starts[first], end, unit))


_Handler = Callable[[_Scan, int], None]


def _number(scan: _Scan, i: int) -> None:
    word = scan.word(i)
    if word[-1].isalpha():
        scan.add("number", _canonical(word[:-2]), i, unit="ordinal")
        return
    following = scan.word(i + 1)
    if following and following not in SHOWN and len(following) <= 2 and not scan.gap(i + 1) and following[0].isalpha():
        # 18F, 3D, 2b: the letters belong to the number.
        scan.add("number", (scan.raw(i) + scan.raw(i + 1)).upper(), i, i + 1, unit="code")
        scan.done = i + 2
        return
    scan.add("number", _canonical(word), i, unit=_unit(scan, i + 1))


def _canonical(text: str) -> str:
    text = with_point(text) if "," in text else text
    try:
        number = Decimal(text)
    except InvalidOperation:  # 12.03.2014, 1.2.3
        return text
    return format(number.normalize(), "f") if number else "0"


def _unit(scan: _Scan, j: int) -> str:
    """The unit of the number that ends just before token j; looks across "x 3 cm" and "to 5 mm" of a range."""
    for _ in range(6):
        word = scan.word(j)
        if not word or len(scan.gap(j)) > 3:
            return ""
        if word in SHOWN:
            # A single letter is a unit only next to its number.
            return SHOWN[word] if len(word) > 1 or scan.gap(j) in ("", " ") else ""
        if not (word in ("x", "by", "to") or in_figures(word)):
            return ""
        j += 1
    return ""


def _cardinal(scan: _Scan, i: int) -> None:
    value, last = known.CARDINALS[scan.word(i)], i
    ones = known.CARDINALS.get(scan.word(i + 1), 10)
    if value >= 20 and ones < 10 and scan.gap(i + 1) in ("-", " "):
        value, last = value + ones, i + 1
        scan.done = i + 2
    scan.add("number", str(value), i, last, _unit(scan, last + 1))


def _ordinal(scan: _Scan, i: int) -> None:
    if scan.word(i - 1) not in ("per", "at"):  # 30 frames per second; at first
        scan.add("number", str(known.ORDINALS[scan.word(i)]), i, unit="ordinal")


def _roman(scan: _Scan, i: int) -> None:
    """The numeral of "stage X" or "type IIb", and not the beginning of "patient. X-ray"."""
    numeral = _ROMAN.match(scan.word(i))
    if (
        numeral
        and scan.raw(i)[0].isupper()
        and scan.word(i - 1) in known.GRADED
        and scan.gap(i) == " "
        and not scan.reading.lower.startswith(("-ray", " ray"), scan.reading.ends[i])
    ):
        scan.add("number", f"{known.ROMAN[numeral[1]]}{numeral[2].upper()}", i, unit="grade")


_ROMAN = re.compile(rf"({'|'.join(sorted(known.ROMAN, key=len, reverse=True))})([abc]?)\Z")


def _code(scan: _Scan, i: int) -> None:
    scan.add("number", scan.raw(i).upper(), i, unit="code")


def _month(scan: _Scan, i: int) -> None:
    if scan.raw(i)[0].isupper() and scan.word(i + 1)[:1].isdigit():
        scan.add("date", scan.word(i), i)


def _side(scan: _Scan, i: int) -> None:
    word = scan.word(i)
    if word == "left" and scan.word(i - 1) in known.BE and scan.word(i + 1) in known.LEFT_BEHIND:
        return  # the drain was left in place
    scan.add("side", known.SIDES[word], i)


def _both(scan: _Scan, i: int) -> None:
    """B/L is short for bilateral."""
    if scan.word(i + 1) == "l" and scan.gap(i + 1) == "/":
        scan.add("side", "both", i, i + 1)


def _lay_side(scan: _Scan, i: int) -> None:
    if scan.word(i + 1) in ("side", "sides") and scan.around(i + 1)[1] != "-":
        scan.add("side", known.LAY_SIDES[scan.word(i)], i, i + 1)


def _negation(scan: _Scan, i: int) -> None:
    word = scan.word(i)
    if word == "no" and scan.word(i + 1)[:1].isdigit() and scan.gap(i + 1).startswith("."):
        return  # case No. 75
    scan.add("negation", word, i)


def _free_of(scan: _Scan, i: int) -> None:
    if scan.word(i + 1) == "of":
        scan.add("negation", "free of", i, i + 1)


def _non(scan: _Scan, i: int) -> None:
    scan.add("negation", "non", i)


def _marker(scan: _Scan, i: int) -> None:
    word = scan.word(i)
    if word in known.ALSO_ANATOMY and scan.word(i + 1) == "of":
        return
    for j in range(i - 1, max(-1, i - 5), -1):  # its colours: "small black and white arrows"
        before = scan.word(j)
        if before in known.COLOURS:
            scan.add("marker", _colour_value(before), j)
        elif before not in known.BETWEEN_COLOUR_AND_MARKER:
            break
    scan.add("marker", known.MARKERS[word], i)


def _colour(scan: _Scan, i: int) -> None:
    """A colour alone in parentheses, "(red)", is a marker too; next to an arrow it is found from the arrow."""
    if scan.around(i) == ("(", ")"):
        scan.add("marker", _colour_value(scan.word(i)), i)


def _colour_value(colour: str) -> str:
    return f"colour {'gray' if colour == 'grey' else colour}"


def _modality(scan: _Scan, i: int) -> None:
    word = scan.word(i)
    if word in known.CAPITALS_ONLY and not scan.raw(i).isupper() and not (word == "cat" and scan.word(i + 1) == "scan"):
        return
    scan.add("modality", known.MODALITY_WORDS[word], i)
    if word in known.ALSO_ANGIOGRAPHY:
        scan.add("modality", "angiography", i)


def _modality_stem(scan: _Scan, i: int) -> None:
    scan.add("modality", _named_by_stem(scan.word(i)), i)


@lru_cache(maxsize=4096)
def _named_by_stem(word: str) -> str:
    for beginning, modality in known.MODALITY_STEMS:
        if word.startswith(beginning):
            return modality
    if any(part in word for part in known.ANGIOGRAPHY_PARTS) and "cholangio" not in word:
        return "angiography"
    return ""


def _modality_phrase(scan: _Scan, i: int) -> None:
    """Modalities of two or three words: "computed tomography", "X-ray", "blood vessel scan"."""
    word, following = scan.word(i), scan.word(i + 1)
    if value := _PHRASES.get(f"{word} {following}"):
        scan.add("modality", value, i, i + 1)
    elif word in known.BEFORE_TOMOGRAPHY and following.startswith("tomogra"):
        scan.add("modality", "CT", i, i + 1)
    elif word == "positron":
        scan.add("modality", "PET", i)
    elif word == "echo" and following != "time" and scan.word(i - 1) not in known.MRI_BEFORE_ECHO:
        scan.add("modality", "ultrasound", i)
    elif word == "blood" and following in ("vessel", "vessels") and scan.word(i + 2) in known.PICTURE:
        scan.add("modality", "angiography", i, i + 2)
    elif word == "x":
        _roman(scan, i)


_PHRASES = {
    **dict.fromkeys(("x ray", "x rays", "roentgen ray", "roentgen rays", "plain film", "plain films"), "X-ray"),
    **dict.fromkeys(("bone scan", "bone scintigraphy"), "nuclear"),
    "magnetic resonance": "MRI",
}
_EXACT: dict[str, _Handler] = {
    **dict.fromkeys(known.BEFORE_TOMOGRAPHY, _modality_phrase),
    **dict.fromkeys(("x", "roentgen", "magnetic", "positron", "echo", "plain", "blood", "bone"), _modality_phrase),
    **dict.fromkeys(known.MONTHS, _month),
    **dict.fromkeys(known.MODALITY_WORDS, _modality),
    **dict.fromkeys(known.COLOURS, _colour),
    **dict.fromkeys(known.MARKERS, _marker),
    **dict.fromkeys(known.ORDINALS, _ordinal),
    **dict.fromkeys(known.CARDINALS, _cardinal),
    **dict.fromkeys(known.NEGATIONS, _negation),
    **dict.fromkeys(known.LAY_SIDES, _lay_side),
    **dict.fromkeys(known.SIDES, _side),
    "b": _both,
    "free": _free_of,
}


def _handler(word: str) -> _Handler | None:
    """What reads a word's fact; None for the words that state none, which are nearly all."""
    if word in _EXACT:
        return _EXACT[word]
    if in_figures(word):
        return _number
    if any(c.isdigit() for c in word):
        return _code
    if word.startswith("non") and len(word) > 5 and word not in known.NOT_NEGATED:
        return _non
    if _named_by_stem(word):
        return _modality_stem
    return _roman if _ROMAN.match(word) else None


_HANDLERS = OfWords(_handler)
