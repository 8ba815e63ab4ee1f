"""Fits the weights by which the rules recognise a good listener, and says how well they rank turns of a held-out
writer.

    python -m scripts.bench.manner            # leave one writer out, on the turns and clinicians in tests/turns
    python -m scripts.bench.manner --write    # and the weights of all of them into manner.csv

Ridge regression of the ratings on `manner.signs`. A turn of a ranked clinician counts half of a rated one; its rating
is its author's rank, from 5 for the best to 1 for the last, and signs that need the patient's words have the mean of
the rated turns. Acts of the table of phrases that was written while somebody read a writer's turns are biased on those
turns, so they count only in part (`SEEN`). Small words are kept if this many writers use them (`VOICES`), and pairs
of them if half as many more do.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr  # type: ignore[import-untyped, unused-ignore]

from baselines.medconceal.acts import acts
from baselines.medconceal.manner import FILE, HIGH, INTERCEPT, LOW, signs
from baselines.medconceal.policy import BEDSIDE
from loaders.medconceal import TASKS
from scripts.bench.validity import TURNS, agreement, quality_of, read_turns

Turn = dict[str, Any]
VOICES = 4
SEEN = 0.3
RIDGE = 240.0
RANKED = 0.5
_SLOT = re.compile(r"\{\w+\}")
OF_THE_PATIENT = frozenset("echo echo_asked echo_first quote shared subjects cue missed".split())
WRITTEN_WHILE_READING = frozenset(
    """
    hardship normal safe permission room partner teach summary commit exact why mend judge brush push script turnaway
    cite net quote scorn checks
    """.split()
)


def rated_turns() -> list[Turn]:
    """The turns in `tests/turns`, each with its writer."""
    return [one | {"writer": one["id"].partition("-")[0]} for one in read_turns(None)]


def ranked_turns() -> list[Turn]:
    """The turns of the ranked clinicians in `tests/turns`, once each; `quality` by their author's rank, in [1, 5]."""
    return [
        {
            "turn": _SLOT.sub("that", turn),
            "clinician": f"{path.stem}: {one['name']}",
            "writer": path.stem,
            "task": task,
            "patient_before": None,
            "earlier": [],
            "quality": HIGH - (HIGH - LOW) * (one["rank"] - 1) / (len(clinicians) - 1),
        }
        for path in sorted(TURNS.glob("*.json"))
        for task, clinicians in json.loads(path.read_text(encoding="utf-8")).items()
        for one in clinicians
        for turn in dict.fromkeys(one["turns"])
    ]


def fitted(turns: Sequence[Turn], ranked: Sequence[Turn] = ()) -> dict[str, float]:
    """The weight of each sign, and the intercept, from rated turns and those of ranked clinicians."""
    both = [*turns, *ranked]
    rows = [_signs(one["turn"], one["patient_before"] or "") for one in both]
    names = _used(both, rows)
    place, found = {name: at for at, name in enumerate(names)}, np.zeros((len(rows), len(names)))
    for own, row in zip(found, rows, strict=True):
        for name in row.keys() & place.keys():
            own[place[name]] = row[name]
    for at, name in enumerate(names):
        if name in OF_THE_PATIENT:
            found[len(turns) :, at] = found[: len(turns), at].mean()
    share = np.array([1.0] * len(turns) + [RANKED] * len(ranked))
    quality = np.array([float(one["quality"]) for one in both])
    middle, level = np.average(found, axis=0, weights=share), float(np.average(quality, weights=share))
    deviation = np.sqrt(np.average((found - middle) ** 2, axis=0, weights=share))
    # A small word that nearly everybody or nearly nobody says tells less than its spread would have it.
    spread = [
        np.sqrt(much + 1e-3) if name.startswith(("word:", "pair:")) else much + 1e-6
        for name, much in zip(names, deviation, strict=True)
    ]
    scale = np.array([SEEN if name in WRITTEN_WHILE_READING else 1.0 for name in names]) / spread
    part = np.sqrt(share)
    weights = _ridge((found - middle) * scale * part[:, None], (quality - level) * part) * scale
    return {INTERCEPT: level - float(middle @ weights)} | dict(zip(names, map(float, weights), strict=True))


@cache
def _signs(turn: str, heard: str) -> Mapping[str, float]:
    """The signs of a turn, which stands in the fits for all writers but one."""
    return signs(turn, acts(turn, heard))


def _used(turns: Sequence[Turn], rows: Sequence[Mapping[str, float]]) -> list[str]:
    """The signs of so many voices that they are nobody's own."""
    voices: defaultdict[str, set[str]] = defaultdict(set)
    for one, row in zip(turns, rows, strict=True):
        for name in filter(row.get, row):
            voices[name].add(one["clinician"])
    least = {"word": VOICES, "pair": VOICES * 3 // 2}
    return sorted(name for name, who in voices.items() if len(who) >= least.get(name.partition(":")[0], 1))


def _ridge(inputs: NDArray[np.float64], output: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(
        np.linalg.solve(inputs.T @ inputs + RIDGE * np.eye(inputs.shape[1]), inputs.T @ output), np.float64
    )


def left_out(turns: Sequence[Turn], ranked: Sequence[Turn] = ()) -> dict[str, tuple[float, float]]:
    """By writer: the agreement with its ratings of rules whose manner was fitted to all other writers."""
    found = {}
    for writer in sorted({one["writer"] for one in turns}):
        weights = _without(writer, turns, ranked)
        own = [one for one in turns if one["writer"] == writer]
        found[writer] = agreement([quality_of(one, BEDSIDE, weights) for one in own], [one["quality"] for one in own])
    return found


def ranked_left_out(turns: Sequence[Turn], ranked: Sequence[Turn]) -> dict[tuple[str, str], float]:
    """By author and task: the rank correlation of its order with the mean quality of each clinician's turns.

    Of turns as they are written, to no patient, by rules whose manner was fitted to all other writers.
    """
    found: dict[tuple[str, str], float] = {}
    for writer in sorted({one["writer"] for one in ranked}):
        weights = _without(writer, turns, ranked)
        for task in TASKS:
            own: defaultdict[tuple[str, float], list[float]] = defaultdict(list)
            for one in ranked:
                if (one["writer"], one["task"]) == (writer, task):
                    own[one["clinician"], one["quality"]].append(quality_of(one, BEDSIDE, weights))
            found[writer, task] = float(spearmanr([rank for _, rank in own], list(map(fmean, own.values())))[0])
    return found


def _without(writer: str, turns: Sequence[Turn], ranked: Sequence[Turn]) -> dict[str, float]:
    return fitted(*([one for one in of if one["writer"] != writer] for of in (turns, ranked)))


def main() -> int:
    """Prints the agreement by writer, and writes the table where it is asked to."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--write", action="store_true", help="the weights of all writers into manner.csv")
    given = options.parse_args()
    turns, ranked = rated_turns(), ranked_turns()
    for writer, (order, above) in left_out(turns, ranked).items():
        print(f"{writer:<12} left out: rank correlation {order:.2f}, good turns above bad ones {above:.2f}")
    for (writer, task), order in ranked_left_out(turns, ranked).items():
        print(f"{writer:<12} left out: rank correlation {order:.2f} with the order of its clinicians, {task}")
    if given.write:
        with FILE.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(("sign", "weight"))
            table.writerows((name, f"{weight:.3f}") for name, weight in sorted(fitted(turns, ranked).items()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
