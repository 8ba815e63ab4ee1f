"""How much a turn sounds like a good listener: a linear model of what turns that readers rated highly have in common.

    manner("So she is at home on her own. What is that like for you?", "My wife can't be left.")  # in [0, 1]

The speech acts of `acts`, the small words that hold sentences together (`words.SMALL`) and pairs of adjacent small
words ("do you", "tell me"), each present or not, weighted by `manner.csv`. No word of medicine, of a patient or of
a script is among them. The weights are fitted to the rated turns and the ranked clinicians of several writers
(`tests/turns`) by ridge regression: `python -m scripts.bench.manner` fits them again, and says how well weights fitted
on all writers but one rank the turns of that writer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path

from baselines.medconceal.words import SMALL
from loaders.files.bundled import bundled

FILE = Path(__file__).parent / "manner.csv"
INTERCEPT = ""
LOW, HIGH = 1.0, 5.0  # the scale on which the turns were rated
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|[?!,.;:]")
# The count of each act that saturates it; for acts missing here, one.
_FULL = {row["act"]: float(row["count"]) for row in bundled("baselines.medconceal", "manner_full.csv")}


def signs(turn: str, found: Mapping[str, float]) -> dict[str, float]:
    """What is weighted, each in [0, 1]: the acts `found` in a turn by name, its small words as `word:you`, and pairs.

    A pair is `pair:do you`; `^` stands for the beginning of the turn.
    """
    acted = {name: min(1.0, count / _FULL.get(name, 1.0)) for name, count in found.items()}
    return acted | dict.fromkeys(_small(turn), 1.0)


@lru_cache(maxsize=4096)
def _small(turn: str) -> frozenset[str]:
    tokens = _TOKEN.findall(turn.replace("’", "'").casefold())
    small = [token if token in SMALL or not token[0].isalpha() else "" for token in tokens]
    pairs = {f"pair:{one} {two}" for one, two in zip(["^", *small], small, strict=False) if one and two}
    return frozenset({f"word:{token}" for token in small if token} | pairs)


@cache
def _weights() -> Mapping[str, float]:
    return {row["sign"]: float(row["weight"]) for row in bundled("baselines.medconceal", FILE.name)}


def manner(turn: str, found: Mapping[str, float], weights: Mapping[str, float] | None = None) -> float:
    """How much a turn with these acts sounds like a good listener, in [0, 1]; .5 is average."""
    table = _weights() if weights is None else weights
    rating = table[INTERCEPT] + sum(table.get(name, 0.0) * much for name, much in sorted(signs(turn, found).items()))
    return min(1.0, max(0.0, (rating - LOW) / (HIGH - LOW)))
