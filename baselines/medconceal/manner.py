"""How much a turn sounds like somebody who listens: a line through what turns have in common that readers rated high.

    manner("So she is at home on her own. What is that like for you?", "My wife can't be left.")  # in [0, 1]

The speech acts of `acts` and the small words that hold sentences together (`words.SMALL`), each there or not, weighed
by `manner.csv`. No word of medicine, of a patient or of a script is among them. The weights are fitted to the rated
turns of several writers (`tests/turns`) by ridge regression: `python -m scripts.bench.manner` fits them anew, and says
how well those of all writers but one order the turns of the one that was left out.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from baselines.medconceal.words import SMALL

FILE = Path(__file__).parent / "manner.csv"
INTERCEPT = ""
LOW, HIGH = 1.0, 5.0  # the scale on which the turns were rated
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|[?!,.;:]")
# How much of an act is as much as there can be; of those that are absent here, one.
_FULL: Mapping[str, float] = {
    "echo": 3, "subjects": 2, "sentences": 4, "asked": 3, "words": 30, "told": 25, "jargon": 3, "figures": 3,
    "names": 2, "partner": 2, "does": 2, "orders": 2, "fact": 2, "bid": 2, "hedge": 2, "choice": 2, "blame": 2,
    "compare": 2, "threat": 2, "cheer": 2, "calm": 2, "inner": 2, "absolute": 2, "onward": 2, "scene": 2, "heart": 2,
    "tagged": 2,
}  # fmt: skip


def signs(turn: str, found: Mapping[str, float]) -> dict[str, float]:
    """What is weighed, each in [0, 1]: the acts `found` in a turn by name, its small words as `word:you`."""
    text = turn.replace("’", "'").casefold()
    said = {token for token in _TOKEN.findall(text) if token in SMALL or not token[0].isalpha()}
    acted = {name: min(1.0, count / _FULL.get(name, 1.0)) for name, count in found.items()}
    return acted | {f"word:{token}": 1.0 for token in said}


@cache
def _weights() -> Mapping[str, float]:
    with FILE.open(encoding="utf-8", newline="") as file:
        return {row["sign"]: float(row["weight"]) for row in csv.DictReader(file)}


def manner(turn: str, found: Mapping[str, float], weights: Mapping[str, float] | None = None) -> float:
    """How much a turn with these acts sounds like somebody who listens, in [0, 1]; .5 is a middling turn."""
    table = _weights() if weights is None else weights
    rating = table[INTERCEPT] + sum(table.get(name, 0.0) * much for name, much in sorted(signs(turn, found).items()))
    return min(1.0, max(0.0, (rating - LOW) / (HIGH - LOW)))
