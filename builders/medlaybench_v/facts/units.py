"""The units of captions, by the table `units.csv`: its kind, and the factor to the base unit of that kind.

A library of units would only provide the conversions, which are the few lines of that table, and find no unit behind
"3 x 4 cm" or "on the Fahrenheit scale".

    >>> from builders.medlaybench_v.facts.reading import read
    >>> unit_after(read("3 to 5 cm"), 1)
    (3, ('length', 10.0))
"""

from __future__ import annotations

from fractions import Fraction

from builders.medlaybench_v.facts.numerals import in_figures
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.words import CARDINALS, rows

UNITS: dict[str, tuple[str, float]] = {}
"""Of each word in the singular the kind, and the factor to mm, mL, g, days or the like."""
SHOWN: dict[str, str] = {}
"""How a fact shows a unit; `others` belong to amounts alone."""
for _row in rows("units.csv"):
    for _word in filter(None, f"{_row['words']}|{_row['others']}".split("|")):
        UNITS[_word] = _row["kind"], float(Fraction(_row["factor"]))
    SHOWN |= dict.fromkeys(filter(None, _row["words"].split("|")), _row["shown"])
SHOWN |= {f"{word}s": shown for word, shown in SHOWN.items() if len(word) > 2 and word.isalpha()}

SHORT = frozenset("m l g t h s y f fr ma min".split())
"""Units only right behind their number."""
_BEFORE = frozenset("bare whole full square cubic more further good gestational completed long".split())
_BETWEEN = frozenset("x by to and or versus vs × through down up + −".split())


def unit_after(reading: Reading, j: int) -> tuple[int, tuple[str, float]] | None:
    """The unit that follows a number, and its word: at word j, or across "x 3 cm" and "to 5 mm"; None without one."""
    for step in range(9):
        word = reading.word(j).rstrip("²³")
        gap = reading.gaps[j] if word else ""
        if not word or len(gap) > 3 or any(char in ".;:?" for char in gap.strip()):
            return None
        name = word if word in UNITS else word[:-1] if word.endswith("s") and len(word) > 2 else word
        if name in UNITS and (word not in SHORT or (gap in ("", " ", "-") and step == 0) or step > 1):
            ordinal = name == "second" and step == 0 and "-" not in gap and not word.endswith("s")
            once = name == "time" and not word.endswith("s")
            of_another = name == "french" and step > 0
            return None if ordinal or once or of_another else (j, UNITS[name])
        if word == "per" and reading.word(j + 1) == "cent":
            return j + 1, UNITS["%"]
        if step > 0 or word not in _BEFORE:
            if not (word in _BETWEEN or _is_number(word)):
                return None
            if step == 0 and _is_number(word) and not gap.strip():  # "the later one five days on"
                return None
            if word in ("and", "or", "to", "versus", "vs") and not _is_number(reading.word(j + 1)):
                return None
        j += 1
    return None


def denominator_after(reading: Reading, j: int) -> tuple[int, tuple[str, float]] | None:
    """The unit by which another one, at word j, is divided, and its word: "mL/s", "20 mg every day"."""
    word, gap = reading.word(j + 1), reading.behind(j)
    if gap == "/":
        j += 1
    elif gap != " ":
        return None
    elif word in ("daily", "hourly", "weekly", "monthly", "yearly"):
        return j + 1, UNITS["day" if word == "daily" else word[:-2]]
    elif word not in _PER or reading.word(j + 3) in _LATER:
        return None
    else:
        j += 3 if word == "for" and reading.word(j + 2) in ("each", "every") else 2
        word = reading.word(j)
    name = word if word in UNITS else word.removesuffix("s")
    return (j, UNITS[name]) if name in UNITS and UNITS[name][0] in ("time", "volume", "mass", "area") else None


_PER = frozenset("per a an each every for".split())
_LATER = frozenset("ago later earlier before after previously old".split())


def _is_number(word: str) -> bool:
    return in_figures(word) or word in CARDINALS


def thermometer(reading: Reading, j: int) -> str:
    """ "c" or "f" where Celsius or Fahrenheit follows: "°C", "degrees on the Fahrenheit scale"."""
    if reading.word(j) in ("c", "f") and reading.gaps[j] in ("", " "):
        return reading.word(j)
    while reading.word(j) in ("on", "in", "the", "of"):
        j += 1
    return {"celsius": "c", "centigrade": "c", "fahrenheit": "f"}.get(reading.word(j), "")
