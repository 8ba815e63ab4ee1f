"""Human annotators of consultations: blank sheets, filled ones, how far annotators agree (Appendix B, Figure 8).

    write_sheets(dialogues, Path("study/sheet.csv"), raters=5, count=100)
    annotations = read_sheets([Path("study/sheet-R1.csv"), …])
    graph = agreement(annotations)

A sheet is a CSV file with one row per dialogue: what was said, the gold diagnosis, the photo's name, and empty columns
for the eight items and the diagnosis that the annotator extracts. Each annotator gets the dialogues in another order.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.dialogue.played import PlayedCase, read_played
from baselines.results.comparison import FinishedRun
from baselines.results.run import because, check_baseline
from baselines.results.sheets import UNFILLED, check_complete, rater_sheets, read_sheet, whole_number, write_new
from baselines.statistics.agreement import bootstrap_kappas
from baselines.statistics.arrays import Floats, Ints
from baselines.statistics.resampling import Draws, Interval, percentile_interval
from baselines.threemdbench.consultation.cases import picture_path
from baselines.threemdbench.consultation.prompts import read_prompts as consultation_prompts
from baselines.threemdbench.consultation.prompts import rubric_items
from baselines.threemdbench.consultation.record import HIGHEST, ITEMS, Consultation
from loaders.errors import InputError, how_many
from loaders.models.prompts import read_prompts

COLUMNS = (
    "rater", "dialogue", "run", "case_id", "epoch", "photo", "gold", "conversation", *ITEMS, "diagnosis", "stand_in",
)  # fmt: skip
_WANTED = ("rater", "run", "case_id", "epoch", *ITEMS, "diagnosis")
LEVELS = 3
"""Ratings go from 0 to 2 in one item and from 0 to 1 in the others; kappa is unaffected."""

Key = tuple[str, str, str]
"""Run id, case and epoch of a dialogue."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A dialogue to annotate: its run, its epoch, and the consultation."""

    run_id: str
    epoch: int
    record: Consultation
    stand_in: str | None = None

    @property
    def key(self) -> Key:
        """Its key in sheets."""
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
        """The annotations of the other raters."""
        kept = [at for at, rater in enumerate(self.raters) if rater not in raters]
        names = tuple(self.raters[at] for at in kept)
        return replace(self, raters=names, items=self.items[kept], diagnoses=tuple(self.diagnoses[at] for at in kept))


def dialogues_of(run: FinishedRun) -> list[Dialogue]:
    """The consultations of a run. Raises InputError for a run without any."""
    check_baseline(run.folder, run.record, "consultation")
    dialogues = [
        Dialogue(run.record.run_id, one.epoch, one.record, run.record.stand_in)
        for one in read_played(run.folder, PlayedCase[Consultation])
        if one.record is not None
    ]
    if not dialogues:
        raise InputError(run.folder, found="no consultation", expected="one at least")
    return dialogues


# --- Sheets -----------------------------------------------------------------------------------------------------------


def drawn(dialogues: Sequence[Dialogue], count: int, seed: int) -> list[Dialogue]:
    """`count` dialogues by seed, whatever their order: spread as evenly as possible over runs, temperaments, diagnoses.

    Raises InputError on fewer dialogues than `count`.
    """
    if count < 2 or count > len(dialogues):
        do = f"Ask for fewer (--count {len(dialogues)})" if len(dialogues) > 1 else "Name runs that hold more"
        raise InputError("dialogues", found=f"{len(dialogues)}", expected=f"{max(count, 2)} or more", do=do)
    left = sorted(dialogues, key=lambda dialogue: dialogue.key)
    random.Random(seed).shuffle(left)
    used: Counter[tuple[str, str]] = Counter()
    chosen = []
    for _ in range(count):
        at = min(range(len(left)), key=lambda place: sum(used[trait] for trait in _traits(left[place])))
        chosen.append(left.pop(at))
        used.update(_traits(chosen[-1]))
    return chosen


def _traits(dialogue: Dialogue) -> list[tuple[str, str]]:
    record = dialogue.record
    return [("run", dialogue.run_id), ("temperament", record.temperament), ("diagnosis", record.gold)]


def write_sheets(
    dialogues: Sequence[Dialogue], path: Path, *, raters: int = 5, count: int = 100, seed: int = 0
) -> list[Path]:
    """Write a blank sheet per rater ("-R1" and so on after the name of `path`) and instructions; returns the files.

    Raises InputError on too few dialogues, or an existing file, since a sheet may hold hours of work.
    """
    chosen = drawn(dialogues, count, seed)
    numbers = {dialogue.key: number for number, dialogue in numbered(chosen).items()}

    def row(dialogue: Dialogue) -> dict[str, Any]:
        return {"dialogue": numbers[dialogue.key], **sheet_row(dialogue)}

    contents = rater_sheets(path, raters, COLUMNS, chosen, row, seed=seed)
    questions = rubric_items(consultation_prompts())
    texts = read_prompts(Path(__file__).parent / "prompts", {"selection_annotators": frozenset({"count", "items"})})
    items = "\n".join(f"- {item} {question}" for item, question in questions.items())
    told = texts.fill("selection_annotators", {"count": str(count), "items": items})
    contents[path.with_suffix(".md")] = (told + "\n").encode()
    return write_new(contents)


def numbered(chosen: Sequence[Dialogue]) -> dict[str, Dialogue]:
    """The dialogues by the names that raters see: D001 and so on."""
    return {f"D{number:0{len(str(len(chosen)))}d}": dialogue for number, dialogue in enumerate(chosen, start=1)}


def sheet_row(dialogue: Dialogue) -> dict[str, Any]:
    """What a sheet shows of a dialogue."""
    record = dialogue.record
    return {
        "run": dialogue.run_id,
        "case_id": record.case_id,
        "epoch": dialogue.epoch,
        "photo": picture_path(Path(), record.case_id).name,
        "gold": record.gold,
        "conversation": "\n\n".join(f"{turn.role.upper()}: {turn.text}" for turn in record.turns),
        "stand_in": dialogue.stand_in or "",
    }


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
            rater, epoch = row.get("rater", ""), whole_number(row.get("epoch", ""))
            key = row.get("run", ""), row.get("case_id", ""), epoch
            if not rater or not all(key):
                raise InputError(where, found="no rater, run, case_id or epoch", expected="all four in every row")
            scores = [_score(row.get(item, ""), item, where) for item in ITEMS]
            diagnosis = row.get("diagnosis", "")
            if not diagnosis:
                raise InputError(f"{where}, diagnosis", found="nothing", expected="a diagnosis, or none", do=UNFILLED)
            if key in given.setdefault(rater, {}):
                raise InputError(where, found=f"case {key[1]} of rater {rater} again", expected="each dialogue once")
            given[rater][key] = scores, diagnosis
            reasons.add(row.get("stand_in", ""))
    dialogues = tuple(sorted({key for rated in given.values() for key in rated}))
    if len(dialogues) < 2:
        raise InputError(
            ", ".join(map(str, paths)) or "sheets", found=how_many(len(dialogues), "dialogue"), expected="2 or more"
        )
    check_complete(given, dialogues, "annotation", "dialogues", name=lambda key: f"of case {key[1]}")
    return Annotations(
        tuple(given),
        dialogues,
        np.array([[rated[key][0] for key in dialogues] for rated in given.values()], dtype=np.int64),
        tuple(tuple(rated[key][1] for key in dialogues) for rated in given.values()),
        because(*sorted(reasons)),
    )


def _score(text: str, item: str, where: str) -> int:
    if (number := whole_number(text)) not in {str(score) for score in range(HIGHEST[item] + 1)}:
        found = repr(text) if text else "no score"
        raise InputError(f"{where}, {item}", found=found, expected=f"an integer from 0 to {HIGHEST[item]}", do=UNFILLED)
    return int(number)


# --- Agreement --------------------------------------------------------------------------------------------------------


Estimated = tuple[float, Interval]


@dataclass(frozen=True, slots=True)
class Graph:
    """The agreement of every two annotators, the mean over the items of Cohen's kappa (Figure 8), with intervals.

    `by_rater` is each one's mean with the others, `mean` that of all.

    `careless` are those that agree with the others clearly less than these do among themselves, the worst first, and
    `kept` the mean over the pairs of the others. `undefined` is in how many items two gave one score throughout.
    """

    edges: dict[tuple[str, str], Estimated]
    by_rater: dict[str, Estimated]
    mean: Estimated
    careless: tuple[str, ...]
    kept: Estimated
    undefined: dict[tuple[str, str], int]


CARELESS = 0.1
"""How far below the others' agreement a rater must be, whatever its interval; in the paper it was 0.15."""


def agreement(annotations: Annotations, *, resamples: int = 1000, seed: int = 0) -> Graph:
    """Pairwise kappas with bootstrap intervals over dialogues, and annotators who did not do as they were asked.

    A rater is careless if the others agree among themselves better than with it, by at least `CARELESS` and with the
    whole interval of the difference above 0. The worst such rater is removed and the others are checked again, as
    long as three are left.
    """
    pairs = list(combinations(annotations.raters, 2))
    items = dict(zip(annotations.raters, annotations.items, strict=True))
    left, right = ([items[pair[side]] for pair in pairs] for side in (0, 1))
    by_item, drawn, undefined = kappas(left, right, {"resamples": resamples, "seed": seed})
    estimates, replicates = by_item.mean(axis=1), drawn.mean(axis=2)

    def mean(some: Sequence[tuple[str, str]]) -> tuple[float, Floats]:
        at = [pairs.index(pair) for pair in some]
        return float(estimates[at].mean()), replicates[:, at].mean(axis=1)

    def of(some: Sequence[tuple[str, str]]) -> Estimated:
        estimate, spread = mean(some)
        return estimate, percentile_interval(spread)

    def gap(rater: str, kept: Sequence[str]) -> Estimated:
        """How far the pairs with a rater are below the others."""
        among = list(combinations(kept, 2))
        theirs, theirs_drawn = mean([pair for pair in among if rater not in pair])
        own, own_drawn = mean([pair for pair in among if rater in pair])
        return theirs - own, percentile_interval(theirs_drawn - own_drawn)

    by_rater = {rater: of([pair for pair in pairs if rater in pair]) for rater in annotations.raters}
    kept, careless = list(annotations.raters), []
    while len(kept) > 2:
        gaps = {rater: gap(rater, kept) for rater in kept}
        worst = max(kept, key=lambda rater: gaps[rater][0])
        below, (low, _) = gaps[worst]
        if below < CARELESS or low <= 0:
            break
        kept.remove(worst)
        careless.append(worst)
    return Graph(
        {pair: of([pair]) for pair in pairs}, by_rater, of(pairs), tuple(careless), of(list(combinations(kept, 2))),
        dict(zip(pairs, undefined.sum(axis=1).tolist(), strict=True)),
    )  # fmt: skip


def taken_for_zero(count: int, of: int) -> str:
    """A note on kappas that are undefined; empty if there are none."""
    return f"{count} of {how_many(of, 'kappa')} taken for 0, as both gave one score throughout" if count else ""


def kappas(left: Sequence[Ints], right: Sequence[Ints], draws: Draws) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Cohen's kappa of each item between `left` and `right`, pairs of annotations (dialogues, 8): (pairs, 8) and
    (resamples, pairs, 8), 0 where it is undefined; and where that is, (pairs, 8)."""
    spread = bootstrap_kappas(np.hstack(left), np.hstack(right), LEVELS, **draws)
    shape = (len(left), len(ITEMS))
    estimates, replicates = np.nan_to_num(spread.estimates), np.nan_to_num(spread.replicates)
    return estimates.reshape(shape), replicates.reshape(-1, *shape), np.isnan(spread.estimates).reshape(shape)
