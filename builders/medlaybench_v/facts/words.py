"""The words that state a fact, by kind, for `facts` to look up. Lower case; singular and plural if both occur."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path


def rows(name: str, folder: Path = Path(__file__).parent) -> list[dict[str, str]]:
    """The rows of a table in a folder of the code."""
    with (folder / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@cache
def _tables() -> dict[str, dict[str, str]]:
    """By the name of a table in `words.csv`, each of its words with what it stands for."""
    found: dict[str, dict[str, str]] = {}
    for row in rows("words.csv"):
        found.setdefault(row["table"], {}).update(dict.fromkeys(row["words"].split("|"), row["value"]))
    return found


def table(name: str) -> dict[str, str]:
    """Each word of a table with what it stands for."""
    return _tables()[name]


def by_value(name: str) -> dict[str, frozenset[str]]:
    """The words of a table that stand for the same."""
    return {value: frozenset(w for w, v in table(name).items() if v == value) for value in table(name).values()}


CARDINALS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "eleven": 11,
    "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
ORDINALS = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12,
}  # fmt: skip
ROMAN = {
    "i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "x": 10, "xi": 11, "xii": 12,
}  # fmt: skip
GRADED = frozenset(
    "type stage grade class segment zone level nerve case patient group phase category degree factor sector".split()
)
MONTHS_IN_ORDER = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
MONTHS = frozenset(MONTHS_IN_ORDER)

SIDES = table("sides")
# Sides in lay words, each before "side" or "sides".
LAY_SIDES = {
    "one": "one", "same": "same", "opposite": "opposite", "other": "opposite", "either": "both", "each": "both",
}  # fmt: skip
LEFT_BEHIND = frozenset("in untreated open behind as alone unrepaired intact inside to the with over".split())
BE = frozenset("was were been be has had have is are".split())

NEGATIONS = frozenset(
    "no not without absent absence never neither nor none cannot negative denies denied lack lacks lacking devoid "
    "missing nonvisualized nonvisualised non".split()
)

COLOURS = frozenset("white black red blue green yellow orange purple pink gray grey violet cyan magenta brown".split())
MARKERS = table("marks")
# Shapes that also belong to names of structures: the circle of Willis, the triangle of Calot.
ALSO_ANATOMY = frozenset(("circle", "triangle"))

MODALITY_WORDS = table("modalities")
# Words that name a modality only when written in capitals: "us", "cat", "pet", "tee", "mr" are English words or titles.
CAPITALS_ONLY = frozenset("us pet tee mr cat".split())
ALSO_ANGIOGRAPHY = frozenset("cta ctpa mra mrv".split())
# The first letters of modality words, by length of the stem, longest first.
MODALITY_STEMS = tuple(table("modalities by stem").items())

# Inside a longer word these mean angiography: "lymphangiography", "portovenogram".
ANGIOGRAPHY_PARTS = ("angiogra", "venogra", "arteriogra")
BEFORE_TOMOGRAPHY = frozenset("computed computerized computerised computer axial resolution".split())
# "Spin echo" is a way of taking an MRI; "echo" alone is an ultrasound of the heart.
MRI_BEFORE_ECHO = frozenset("spin gradient field echoplanar planar".split())

BETWEEN_COLOUR_AND_MARKER = frozenset(
    "and or small large thick thin solid dashed dotted open closed long short curved straight big bold double".split()
)

PICTURE = frozenset(
    "scan scans imaging image images picture pictures study studies examination exam view views series x".split()
)

NOT_NEGATED = frozenset(("nonetheless", "nonsense", "nonagenarian", "nonagenarians"))
