"""The units of captions, by the table `units.csv`: its kind, and the factor to the base unit of that kind."""

from __future__ import annotations

import csv
from fractions import Fraction
from pathlib import Path

UNITS: dict[str, tuple[str, float]] = {}
"""Of each word in the singular the kind, and the factor to mm, mL, g, days or the like."""
SHOWN: dict[str, str] = {}
"""How a fact shows a unit; `others` belong to amounts alone."""
with Path(__file__).with_name("units.csv").open(encoding="utf-8", newline="") as _file:
    for _row in csv.DictReader(_file):
        for _word in filter(None, f"{_row['words']}|{_row['others']}".split("|")):
            UNITS[_word] = _row["kind"], float(Fraction(_row["factor"]))
        SHOWN |= dict.fromkeys(filter(None, _row["words"].split("|")), _row["shown"])
SHOWN |= {f"{word}s": shown for word, shown in SHOWN.items() if len(word) > 2 and word.isalpha()}
