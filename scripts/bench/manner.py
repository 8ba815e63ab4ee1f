"""Fits the weights by which the rules hear a listener, and says how well they order turns of a writer left out.

    python -m scripts.bench.manner            # leave one writer out, on the turns in tests/turns
    python -m scripts.bench.manner --write    # and the weights of all of them into manner.csv

Ridge regression of the ratings on `manner.signs`. Acts of the table of phrases that was written while somebody read the
turns of a writer flatter themselves there, so they count for a part (`SEEN`). Small words stay when so many voices use
them (`VOICES`).
"""

from __future__ import annotations

import argparse
import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.medconceal.acts import acts
from baselines.medconceal.manner import FILE, INTERCEPT, signs
from baselines.medconceal.policy import BEDSIDE
from baselines.medconceal.rules import turn_quality
from scripts.bench.validity import agreement, read_turns

Turn = dict[str, Any]
VOICES = 4
SEEN = 0.3
RIDGE = 60.0
WRITTEN_WHILE_READING = frozenset(
    """
    hardship normal safe permission room partner teach summary commit exact why mend judge brush push script turnaway
    cite net quote
    """.split()
)


def rated_turns() -> list[Turn]:
    """The turns in `tests/turns`, each with its writer."""
    return [one | {"writer": one["id"].partition("-")[0]} for one in read_turns(None)]


def fitted(turns: Sequence[Turn]) -> dict[str, float]:
    """The weight of each sign, and the intercept, from rated turns."""
    rows = [signs(one["turn"], acts(one["turn"], one["patient_before"] or "")) for one in turns]
    voices: defaultdict[str, set[str]] = defaultdict(set)
    for one, row in zip(turns, rows, strict=True):
        for name in row:
            voices[name].add(one["clinician"])
    names = sorted(name for name, who in voices.items() if not name.startswith("word:") or len(who) >= VOICES)
    found = np.array([[row.get(name, 0.0) for name in names] for row in rows])
    # A small word that nearly everybody or nearly nobody says tells less than its spread would have it.
    spread = np.array([
        np.sqrt(column.std() + 1e-3) if name.startswith("word:") else column.std() + 1e-6
        for name, column in zip(names, found.T, strict=True)
    ])  # fmt: skip
    scale = np.array([SEEN if name in WRITTEN_WHILE_READING else 1.0 for name in names]) / spread
    quality = np.array([float(one["quality"]) for one in turns])
    weights = _ridge((found - found.mean(0)) * scale, quality - quality.mean()) * scale
    intercept = float(quality.mean() - found.mean(0) @ weights)
    return {INTERCEPT: intercept} | dict(zip(names, map(float, weights), strict=True))


def _ridge(inputs: NDArray[np.float64], output: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(
        np.linalg.solve(inputs.T @ inputs + RIDGE * np.eye(inputs.shape[1]), inputs.T @ output), np.float64
    )


def left_out(turns: Sequence[Turn]) -> dict[str, tuple[float, float]]:
    """By writer: the agreement with its ratings of rules whose manner was fitted to all other writers."""
    found = {}
    for writer in sorted({one["writer"] for one in turns}):
        weights = fitted([one for one in turns if one["writer"] != writer])
        own = [one for one in turns if one["writer"] == writer]
        found[writer] = agreement([_quality(one, weights) for one in own], [one["quality"] for one in own])
    return found


def _quality(one: Turn, weights: Mapping[str, float]) -> float:
    return turn_quality(
        BEDSIDE, one["turn"], one["patient_before"] or "", one["task"], earlier=one["earlier"], manners=weights
    )


def main() -> int:
    """Prints the agreement by writer, and writes the table where it is asked to."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--write", action="store_true", help="the weights of all writers into manner.csv")
    given = options.parse_args()
    turns = rated_turns()
    for writer, (order, above) in left_out(turns).items():
        print(f"{writer:<12} left out: rank correlation {order:.2f}, good turns above bad ones {above:.2f}")
    if given.write:
        with FILE.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(("sign", "weight"))
            table.writerows((name, f"{weight:.3f}") for name, weight in sorted(fitted(turns).items()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
