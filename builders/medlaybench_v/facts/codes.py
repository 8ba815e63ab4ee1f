"""Codes of letters and figures: levels of the spine (L4, C5-6), stages (T2N1M0), grades in Roman numerals, others.

>>> from builders.medlaybench_v.facts.reading import read
>>> codes, behind = codes_at(read("disc C5-6"), 1)
>>> [(code.kind, code.value) for code in codes], behind
([('level C', 5.0), ('level C', 6.0)], 3)
"""

from __future__ import annotations

import re
from typing import NamedTuple

from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.spine import by_vertebra
from builders.medlaybench_v.facts.words import ROMAN

ISOTOPE = re.compile(r"(?:18f|f18|99m|99mtc|99|tc99m|68ga|ga68|131|131i|123i|i123|i131|fdg18|11c|2d|3d|4d|3|2|4)\Z")
NUMERAL = re.compile(rf"({'|'.join(sorted(ROMAN, key=len, reverse=True))})([abcf]?)\Z")
SCALES = frozenset(
    "bosniak rads birads pirads lirads tirads fielding harris garden score stanford fontaine rutherford hinchey iia "
    "lawrence grade type stage class category group zone segment level degree fisher hess modic schatzker weber "
    "gustilo pfirrmann kellgren aspects nihss gcs asia graf crowe salter debakey crawford forrest child pugh couinaud "
    "number no tooth position part case patient phase nerve factor sector panel figure fig day week".split()
)
"""Words before the figure of a grade or a name."""
# T3N1M0, pT3 N1 M0, "T3, N1 and M0"
_TNM = re.compile(r"(?:y?[cpr])?t(\d)[a-d]?(?:[\s,;/]|and)*n(\d)[a-c]?(?:(?:[\s,;/]|and)*m(\d)[a-c]?)?")
_NO_CODES = frozenset("covid19 t1wi t2wi t1w t2w".split())
_LEVEL = re.compile(r"([cltdsv])(\d{1,2})([a-z]?)")
_NO_NUMERALS = frozenset("IVF IVC XI IVA VIA".split())
# Behind "IV", which is no four there.
_INTRAVENOUS = frozenset(
    "contrast line access drug drugs dye gadolinium injection bolus antibiotics fluid fluids cannula catheter".split()
)


class Code(NamedTuple):
    """`value` is the figure of the code, [first, last] its words."""

    kind: str
    value: float
    first: int
    last: int
    letter: str = ""


Codes = tuple[list[Code], int]  # and the index of the first word behind them


def codes_at(reading: Reading, i: int) -> Codes:
    """What a word of letters and figures tells: a level of the spine, a stage, a code; nothing of a sequence."""
    if stage := stage_at(reading, i):
        return stage
    word = reading.texts[i]
    if ISOTOPE.match(word) or word in _NO_CODES:
        return [], i + 1
    level = _LEVEL.fullmatch(word)
    if level is None:
        digits = re.search(r"\d+", word)
        return [Code("count", float(digits[0]) if digits else 0.0, i, i, re.sub(r"\d", "", word))], i + 1
    letter, number = level[1].upper(), float(level[2])
    if letter == "T" and number <= 2 and not by_vertebra(reading.texts, reading.gaps, i):
        return [], i + 1
    if letter == "V":
        return [Code("count", number, i, i, "v")], i + 1
    kind = f"level {'T' if letter == 'D' else letter}"
    following = reading.word(i + 1)
    if re.fullmatch(r"\d{1,2}", following) and reading.gaps[i + 1].strip() in ("-", "/", "–"):
        return [Code(kind, number, i, i), Code(kind, float(following), i + 1, i + 1)], i + 2
    return [Code(kind, number, i, i)], i + 1


def stage_at(reading: Reading, i: int) -> Codes | None:
    """T2N1M0 from word i: three grades, each with its letter; None for other words."""
    stage = _TNM.match(reading.lower, reading.starts[i])
    if stage is None:
        return None
    end = i
    while end + 1 < len(reading.texts) and reading.ends[end + 1] <= stage.end():
        end += 1
    figures = zip("tnm", stage.groups(), strict=True)
    return [Code("stage", float(number), i, end, letter) for letter, number in figures if number is not None], end + 1


def grade_at(reading: Reading, i: int) -> Code | None:
    """The grade that a Roman numeral tells: "stage II", "IIb"; None of one letter alone, "IV contrast", "X-ray"."""
    numeral, raw = NUMERAL.match(reading.texts[i]), reading.raw(i)
    if numeral is None or not raw[0].isupper() or raw in _NO_NUMERALS:
        return None
    alone = len(numeral[1]) > 1 and raw[: len(numeral[1])].isupper() and reading.word(i + 1) not in _INTRAVENOUS
    graded = reading.word(i - 1) in SCALES
    if not (graded or alone) or reading.lower.startswith(("-ray", " ray"), reading.ends[i]):
        return None
    return Code("grade", float(ROMAN[numeral[1]]), i, i, numeral[2])
