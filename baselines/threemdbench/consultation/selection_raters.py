"""Human annotators of consultations: blank sheets, filled ones, how far annotators agree (Appendix B, Figure 8).

    write_sheets(dialogues, Path("study/sheet.csv"), raters=5, count=100)
    annotations = read_sheets([Path("study/sheet-R1.csv"), …])
    graph = agreement(annotations)

A sheet is a CSV file with a row a dialogue: what was said, the gold diagnosis, the photo's name, and empty columns for
the eight items and the diagnosis that the annotator reads out. Each annotator gets the dialogues in another order.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from baselines.results.sheets import read_sheet, sheet_bytes, write_new
from baselines.results.statistics import Floats, Interval, Ints, bootstrap_kappas
from baselines.threemdbench.consultation.diagnosis import is_none
from baselines.threemdbench.consultation.pictures import picture_path
from baselines.threemdbench.consultation.prompts import read_prompts as consultation_prompts
from baselines.threemdbench.consultation.prompts import rubric_items
from baselines.threemdbench.consultation.record import HIGHEST, ITEMS, Consultation
from loaders.errors import InputError
from loaders.models.prompts import read_prompts

_GIVEN = ("rater", "dialogue", "run", "case_id", "epoch", "photo", "gold", "conversation")
_COLUMNS = (*_GIVEN, *ITEMS, "diagnosis", "stand_in")
_WANTED = ("rater", "run", "case_id", "epoch", *ITEMS, "diagnosis")
LEVELS = 3
"""Ratings go from 0 to 2 in one item and from 0 to 1 in the others; kappa is the same for all."""

Key = tuple[str, str, str]
"""Run id, case and epoch of a dialogue."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue to annotate: the run that it is of, the epoch, and the consultation."""

    run_id: str
    epoch: int
    record: Consultation
    stand_in: str | None = None

    @property
    def key(self) -> Key:
        """What it is known by in sheets."""
        return self.run_id, self.record.case_id, str(self.epoch)


@dataclass(frozen=True, slots=True)
class Annotations:
    """Complete annotations: `items` (raters, dialogues, 8), `diagnoses` by rater as they were written."""

    raters: tuple[str, ...]
    dialogues: tuple[Key, ...]
    items: Ints
    diagnoses: tuple[tuple[str, ...], ...]
    stand_in: str | None

    def without(self, raters: Sequence[str]) -> Annotations:
        """The annotations of the others."""
        kept = [at for at, rater in enumerate(self.raters) if rater not in raters]
        return Annotations(
            tuple(self.raters[at] for at in kept),
            self.dialogues,
            self.items[kept],
            tuple(self.diagnoses[at] for at in kept),
            self.stand_in,
        )


# --- Sheets -----------------------------------------------------------------------------------------------------------


def drawn(dialogues: Sequence[Dialogue], count: int, seed: int) -> list[Dialogue]:
    """`count` dialogues by seed, whatever their order: as even as can be over runs, temperaments and diagnoses.

    Raises InputError on fewer dialogues than `count`.
    """
    if count < 2 or count > len(dialogues):
        raise InputError(
            "dialogues", found=f"{len(dialogues)}", expected=f"{max(count, 2)} or more", do="Ask for fewer"
        )
    left = sorted(dialogues, key=lambda one: one.key)
    random.Random(seed).shuffle(left)
    used: Counter[tuple[str, str]] = Counter()
    chosen = []
    for _ in range(count):
        at = min(range(len(left)), key=lambda place: sum(used[trait] for trait in _traits(left[place])))
        one = left.pop(at)
        used.update(_traits(one))
        chosen.append(one)
    return chosen


def _traits(one: Dialogue) -> list[tuple[str, str]]:
    return [("run", one.run_id), ("temperament", one.record.temperament), ("diagnosis", one.record.gold)]


def write_sheets(
    dialogues: Sequence[Dialogue], path: Path, *, raters: int = 5, count: int = 100, seed: int = 0
) -> list[Path]:
    """Write a blank sheet a rater ("-R1" and so on behind the name of `path`) and instructions; the files written.

    Raises InputError on too few dialogues, or a file that is there already: a sheet may hold hours of work.
    """
    if raters < 1:
        raise InputError("raters", found=str(raters), expected="1 or more")
    chosen = drawn(dialogues, count, seed)
    numbers = {one.key: f"D{number:0{len(str(count))}d}" for number, one in enumerate(chosen, start=1)}
    contents = {
        path.with_stem(f"{path.stem}-R{number}"): _sheet(f"R{number}", chosen, numbers, seed)
        for number in range(1, raters + 1)
    }
    questions = rubric_items(consultation_prompts())
    texts = read_prompts(Path(__file__).parent / "prompts", {"selection_annotators": frozenset({"count", "items"})})
    items = "\n".join(f"- {item} {question}" for item, question in questions.items())
    told = texts.fill("selection_annotators", {"count": str(count), "items": items})
    contents[path.with_suffix(".md")] = (told + "\n").encode()
    return write_new(contents)


def _sheet(rater: str, chosen: Sequence[Dialogue], numbers: dict[Key, str], seed: int) -> bytes:
    order = list(chosen)
    random.Random(f"{seed} {rater}").shuffle(order)  # so that no dialogue is always met tired
    rows = (
        {
            "rater": rater,
            "dialogue": numbers[one.key],
            "run": one.run_id,
            "case_id": one.record.case_id,
            "epoch": one.epoch,
            "photo": picture_path(Path(), one.record.case_id).name,
            "gold": one.record.gold,
            "conversation": "\n\n".join(f"{turn.role.upper()}: {turn.text}" for turn in one.record.turns),
            "stand_in": one.stand_in or "",
        }
        for one in order
    )
    return sheet_bytes(_COLUMNS, rows)


def read_sheets(paths: Sequence[Path]) -> Annotations:
    """The annotations of all sheets, which may hold one rater each or several.

    Raises InputError, with file and line, on a sheet that lacks a column or is no text, a row without rater or case,
    an item without a valid score, no diagnosis (write "none"), a dialogue annotated twice by a rater; and where a rater
    left out a dialogue that another annotated.
    """
    given: dict[str, dict[Key, tuple[list[int], str]]] = {}
    reasons: set[str] = set()
    for path in paths:
        for where, row in read_sheet(path, _WANTED):
            rater, key = row.get("rater", ""), (row.get("run", ""), row.get("case_id", ""), row.get("epoch", ""))
            if not rater or not all(key):
                raise InputError(where, found="no rater, run, case_id or epoch", expected="all four in every row")
            scores = [_score(row.get(item, ""), item, where) for item in ITEMS]
            diagnosis = row.get("diagnosis", "")
            if not diagnosis:
                raise InputError(f"{where}, diagnosis", found="nothing", expected="a diagnosis, or none")
            if key in given.setdefault(rater, {}):
                raise InputError(where, found=f"case {key[1]} of rater {rater} again", expected="each dialogue once")
            given[rater][key] = scores, "none" if is_none(diagnosis) else diagnosis
            reasons.add(row.get("stand_in", ""))
    dialogues = tuple(sorted({key for rated in given.values() for key in rated}))
    if len(dialogues) < 2:
        raise InputError(
            ", ".join(map(str, paths)) or "sheets", found=f"{len(dialogues)} dialogues", expected="2 or more"
        )
    for rater, rated in given.items():
        if missing := [key for key in dialogues if key not in rated]:
            raise InputError(
                f"rater {rater}",
                found=f"no annotation of {len(missing)} dialogues, the first of case {missing[0][1]}",
                expected=f"all {len(dialogues)} that were annotated",
                do="Name the sheets of all raters, complete",
            )
    return Annotations(
        tuple(given),
        dialogues,
        np.array([[rated[key][0] for key in dialogues] for rated in given.values()], dtype=np.int64),
        tuple(tuple(rated[key][1] for key in dialogues) for rated in given.values()),
        "; ".join(sorted(reasons - {""})) or None,
    )


def _score(text: str, item: str, where: str) -> int:
    if text not in {str(score) for score in range(HIGHEST[item] + 1)}:
        found = repr(text) if text else "no score"
        raise InputError(f"{where}, {item}", found=found, expected=f"an integer from 0 to {HIGHEST[item]}")
    return int(text)


# --- Agreement --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Edge:
    """Agreement of two annotators: the mean over the items of Cohen's kappa."""

    first: str
    second: str
    kappa: float
    ci95: Interval


@dataclass(frozen=True, slots=True)
class Graph:
    """The annotators with the agreement of every two (Figure 8); `by_rater` is each one's mean with the others.

    `careless` are those that agree with the others clearly less than these do among themselves, the worst first, and
    `kept` the mean over the pairs of the others.
    """

    raters: tuple[str, ...]
    edges: tuple[Edge, ...]
    by_rater: dict[str, tuple[float, Interval]]
    mean: tuple[float, Interval]
    careless: tuple[str, ...]
    kept: tuple[float, Interval]


CARELESS = 0.1
"""How far below the others' agreement a rater has to lie, whatever its interval; in the paper it was 0.15."""


def agreement(annotations: Annotations, *, resamples: int = 1000, seed: int = 0) -> Graph:
    """Pairwise kappas with bootstrap intervals over dialogues, and annotators who did not do as they were asked.

    A rater is careless when the others agree among themselves better than with it, by at least `CARELESS` and with the
    whole interval of the difference above 0. The worst such rater is taken out and the others are looked at again, as
    long as three are left. Raises InputError on fewer than two raters.
    """
    if len(annotations.raters) < 2:
        raise InputError("raters", found=f"{len(annotations.raters)}", expected="2 or more")
    kappas = _Kappas(annotations, resamples, seed)
    everyone = annotations.raters
    edges = tuple(Edge(one, other, *kappas.of([(one, other)])) for one, other in combinations(everyone, 2))
    by_rater = {rater: kappas.of([pair for pair in combinations(everyone, 2) if rater in pair]) for rater in everyone}
    kept, careless = list(everyone), []
    while len(kept) > 2:
        gaps = {}
        for rater in kept:
            pairs = list(combinations(kept, 2))
            gaps[rater] = kappas.gap(
                [pair for pair in pairs if rater not in pair], [pair for pair in pairs if rater in pair]
            )
        worst = max(kept, key=lambda rater: gaps[rater][0])
        gap, (low, _) = gaps[worst]
        if gap < CARELESS or low <= 0:
            break
        kept.remove(worst)
        careless.append(worst)
    return Graph(
        everyone, edges, by_rater, kappas.of(list(combinations(everyone, 2))), tuple(careless),
        kappas.of(list(combinations(kept, 2))),
    )  # fmt: skip


class _Kappas:
    """Mean kappas over items and pairs, of all dialogues and of resamples that all pairs share."""

    def __init__(self, annotations: Annotations, resamples: int, seed: int) -> None:
        self._pairs = {pair: at for at, pair in enumerate(combinations(annotations.raters, 2))}
        place = {rater: at for at, rater in enumerate(annotations.raters)}
        items = annotations.items
        first = np.hstack([items[place[one]] for one, _ in self._pairs])
        second = np.hstack([items[place[other]] for _, other in self._pairs])
        found = bootstrap_kappas(first, second, LEVELS, resamples=resamples, seed=seed)
        shape = (len(self._pairs), len(ITEMS))
        self._estimates: Floats = found.estimates.reshape(shape).mean(axis=1)
        self._replicates: Floats = found.replicates.reshape(-1, *shape).mean(axis=2)

    def of(self, pairs: Sequence[tuple[str, str]]) -> tuple[float, Interval]:
        at = [self._pairs[pair] for pair in pairs]
        return float(self._estimates[at].mean()), _interval(self._replicates[:, at].mean(axis=1))

    def gap(self, some: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]]) -> tuple[float, Interval]:
        one, two = ([self._pairs[pair] for pair in pairs] for pairs in (some, others))
        spread = self._replicates[:, one].mean(axis=1) - self._replicates[:, two].mean(axis=1)
        return float(self._estimates[one].mean() - self._estimates[two].mean()), _interval(spread)


def _interval(replicates: Floats) -> Interval:
    low, high = np.quantile(replicates, [0.025, 0.975]).tolist()
    return low, high
