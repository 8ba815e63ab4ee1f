"""Are the complaints of 3MDBench relevant? Blank sheets for physicians, and the analysis of what they send back.

    bedside sheet runs/3mdbench -o study/sheet.csv
    bedside ratings study/sheet-R*.csv

Appendix C of the paper: for each diagnosis, is the basic complaint typical of it; for one case of each diagnosis, does
each additional complaint fit the diagnosis and the photo. A mark is 1 (relevant) or 0. The paper counts what at
least one physician found relevant, which grows with the number of physicians and is no agreement between them. So the
shares that each of them, most, and all found relevant are given too, and kappa.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.medlaybench_v.ratings import krippendorff_alpha
from baselines.results.run import DataUsed, Result, RunRecord, because
from baselines.results.sheets import UNFILLED, check_complete, read_sheet, sheet_bytes, whole_number, write_new
from baselines.statistics.agreement import cohen_kappa
from baselines.statistics.resampling import bootstrap_means
from baselines.statistics.significance import wilson_interval
from loaders.errors import InputError
from loaders.manifest import ContentDigest

PAPER, TABLE, ROW = "3MDBench", "Text App C", "Generated complaints"
BASIC, ADDITIONAL = "basic", "additional"
TASKS = {BASIC: "Basic complaints", ADDITIONAL: "Additional complaints"}
PUBLISHED = {
    BASIC: "Diagnoses with the basic complaint marked relevant by at least one physician",
    ADDITIONAL: "Additional complaints relevant (at least one physician)",
}
MARK = "relevant"
_SHOWN = ("task", "diagnosis", "photo", "general_complaint", "complaint")
COLUMNS = ("rater", "item", *_SHOWN, MARK)


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one task: `given` (raters, items), 0 or 1; `cases` names the diagnosis of each item."""

    raters: tuple[str, ...]
    items: tuple[str, ...]
    cases: tuple[str, ...]
    given: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Relevance:
    """Marks by task; `digest` is that of the complaints, `stand_in` why the numbers are no reproduction, or None."""

    marks: Mapping[str, Marks]
    digest: str
    stand_in: str | None


def write_relevance_sheets(
    rows: Collection[Mapping[str, Any]],
    path: Path,
    *,
    raters: int = 2,
    seed: int = 0,
    stand_in: str | None = None,
) -> list[Path]:
    """Write a blank sheet per rater, the photos they refer to, and instructions; returns the files.

    `rows` are those of the test split, images as stored (`{"bytes": …, "path": …}`). One case of each diagnosis is
    drawn by seed, whatever the order of the rows; each rater gets the diagnoses in a different order.

    Raises InputError on no row, a row without photo or complaints, or an existing file.
    """
    drawn = drawn_cases(rows, seed)
    folder = path.with_name(f"{path.stem}-photos")
    contents: dict[Path, bytes] = {}
    items: dict[str, list[dict[str, str]]] = {}
    for name, row in drawn.items():
        photo = folder / f"{name}{PurePosixPath(row['image']['path'] or 'photo.jpg').suffix}"
        contents[photo] = row["image"]["bytes"]
        items[name] = asked_of(name, row, f"{folder.name}/{photo.name}")
    for rater in (f"R{number}" for number in range(1, raters + 1)):
        contents[path.with_stem(f"{path.stem}-{rater}")] = _sheet(rater, items, seed, stand_in)
    instructions = (files("baselines.threemdbench") / "relevance_instructions.md").read_text(encoding="utf-8")
    contents[path.with_suffix(".md")] = instructions.replace("{diagnoses}", str(len(drawn))).encode()
    return write_new(contents)


def drawn_cases(rows: Collection[Mapping[str, Any]], seed: int) -> dict[str, Mapping[str, Any]]:
    """D01 and so on -> the row of one case of each diagnosis, drawn by seed whatever the order of the rows, of which no
    others are kept: they hold photos.

    Raises InputError on no row, or a row without photo or complaints.
    """
    by_diagnosis: dict[str, list[str]] = {}
    for row in rows:
        if not row["general_complaint"] or not row["complaints"] or not row["image"]:
            raise InputError(row["image_id"], found="no photo or no complaints", expected="rows of the test split")
        by_diagnosis.setdefault(row["diagnosis"], []).append(row["image_id"])
    if not by_diagnosis:
        raise InputError("sheet", found="no row", expected="a release with a test split")
    drawn = {name: random.Random(f"{seed} {name}").choice(sorted(there)) for name, there in by_diagnosis.items()}
    kept = {row["diagnosis"]: row for row in rows if row["image_id"] == drawn[row["diagnosis"]]}
    return {f"D{number:02}": kept[name] for number, name in enumerate(sorted(kept), start=1)}


def asked_of(name: str, row: Mapping[str, Any], photo: str) -> list[dict[str, str]]:
    """The questions about a diagnosis: its basic complaint, then the additional ones of its case."""
    shown = {"diagnosis": row["diagnosis"], "general_complaint": row["general_complaint"]}
    basic = {"item": name, "task": BASIC, **shown, "complaint": row["general_complaint"]}
    further = [
        {"item": f"{name}.{number}", "task": ADDITIONAL, **shown, "photo": photo, "complaint": complaint}
        for number, complaint in enumerate(row["complaints"], start=1)
    ]
    return [basic, *further]


def _sheet(rater: str, items: Mapping[str, Sequence[dict[str, str]]], seed: int, stand_in: str | None) -> bytes:
    """One task after the other, in an order of its own, so that no diagnosis is always met by tired raters."""
    order = list(items)
    random.Random(f"{seed} {rater}").shuffle(order)
    rows = (
        {"rater": rater, **item} for task in TASKS for name in order for item in items[name] if item["task"] == task
    )
    return sheet_bytes(COLUMNS, rows, stand_in)


def read_relevance_sheets(paths: Sequence[Path]) -> Relevance:
    """The marks of all sheets, which may hold one rater each or several; a rater may have left a whole task out.

    Raises InputError, with file and line, on a sheet that lacks a column or is no text, a row without rater, item or
    task, a mark that is neither 0 nor 1, an item marked twice by a rater, other complaints under the same item; and
    where a rater has marked nothing, or only part of a task, or has not marked an item that another has.
    """
    given: dict[str, dict[str, dict[str, int]]] = {task: {} for task in TASKS}
    shown: dict[str, tuple[str, ...]] = {}
    blank: dict[tuple[str, str], str] = {}
    reasons: set[str] = set()
    for path in paths:
        for where, row in read_sheet(path, ("rater", "item", "task", "diagnosis", "complaint", MARK)):
            rater, item, task = row.get("rater", ""), row.get("item", ""), row.get("task", "")
            if not rater or not item or task not in TASKS:
                found = f"rater {rater!r}, item {item!r}, task {task!r}"
                raise InputError(where, found=found, expected=f"all three, the task one of {', '.join(TASKS)}")
            content = (task, *(row.get(name, "") for name in ("diagnosis", "complaint")))
            if shown.setdefault(item, content) != content:
                raise InputError(where, found=f"item {item} with another complaint", expected="that of the others")
            reasons.add(row.get("stand_in", ""))
            mark = whole_number(row.get(MARK, ""))
            if not mark:
                blank.setdefault((rater, task), where)
            elif mark not in ("0", "1"):
                raise InputError(
                    f"{where}, {MARK}", found=repr(row[MARK]), expected="1 (relevant) or 0 (not relevant)", do=UNFILLED
                )
            elif item in given[task].setdefault(rater, {}):
                raise InputError(where, found=f"item {item} of rater {rater} again", expected="each item once a rater")
            else:
                given[task][rater][item] = int(mark)
    for (rater, task), where in blank.items():
        nothing = not any(rater in marks for marks in given.values())  # the rater would be left out unnoticed
        if rater in given[task] or (nothing and any(given.values())):
            expected = "marks in one task at least" if nothing else f"1 or 0 in every row of task {task}"
            found = f"no mark by rater {rater}" if nothing else "no mark"
            raise InputError(f"{where}, {MARK}", found=found, expected=expected, do=UNFILLED)
    complete = {task: _complete(task, by_rater, shown) for task, by_rater in given.items() if by_rater}
    if not complete:
        raise InputError(", ".join(map(str, paths)) or "sheets", found="no mark", expected="filled sheets")
    digest = ContentDigest()
    for item in sorted(shown):
        digest.update({"item": item, "content": shown[item]})
    return Relevance(complete, digest.hexdigest(), because(*sorted(reasons)))


def _complete(task: str, by_rater: Mapping[str, Mapping[str, int]], shown: Mapping[str, tuple[str, ...]]) -> Marks:
    items = tuple(sorted(item for item, content in shown.items() if content[0] == task))
    check_complete(by_rater, items, "mark", "items", task=task)
    given = np.array([[marks[item] for item in items] for marks in by_rater.values()], dtype=np.int64)
    return Marks(tuple(by_rater), items, tuple(shown[item][1] for item in items), given)


def evaluate_relevance(relevance: Relevance, *, resamples: int = 1000, seed: int = 0) -> list[Result]:
    """Appendix C's two numbers, the shares for each rater, for most and for all of them, and how far they agree.

    ci95: Wilson's for basic complaints, one a diagnosis; the bootstrap over cases for additional ones, as the
    complaints of a case are not independent.
    """
    counted = ", ".join(f"{len(marks.items)} {TASKS[task].lower()}" for task, marks in relevance.marks.items())
    record = RunRecord(
        baseline="relevance",
        data=DataUsed("3mdbench", counted, None, relevance.digest),
        options={
            "raters": {task: list(marks.raters) for task, marks in relevance.marks.items()},
            "resamples": resamples,
        },
        seeds={"bootstrap": seed},
        versions={"numpy": np.__version__},
        stand_in=relevance.stand_in,
    )

    def result(row: str, column: str, value: float | None, unit: str, n: int, **more: Any) -> Result:
        return Result(
            paper=PAPER, table=TABLE, row=row, setting="", column=column, split_or_group="", value=value, unit=unit,
            direction="up", n=n, record=record, **more,
        )  # fmt: skip

    cells = []
    for task, marks in relevance.marks.items():
        title, n = TASKS[task], len(marks.items)
        for (row, column), relevant in _columns(marks).items():
            ci95 = _interval(task, relevant, marks.cases, resamples, seed)
            named = PUBLISHED[task] if column == "at least one" else f"{title} relevant ({column})"
            total = int(relevant.sum())
            share = 100 * total / n
            cells.append(result(row, named, share, "percent", n, numerator=total, denominator=n, ci95=ci95))
        for (first, own), (second, others) in combinations(zip(marks.raters, marks.given.tolist(), strict=True), 2):
            agreement = cohen_kappa(own, others, (0, 1), resamples=resamples, seed=seed, clusters=marks.cases)
            note = f"{agreement.observed:.0%} of the marks are equal"
            note += "" if agreement.kappa is not None else "; undefined, as both gave one mark throughout"
            row, column = f"{first} and {second}", f"{title} (kappa)"
            cells.append(result(row, column, agreement.kappa, "kappa", n, ci95=agreement.ci95, note=note))
        if len(marks.raters) > 1:
            alpha = krippendorff_alpha(marks.given.astype(np.float64))
            note = "" if alpha is not None else "undefined, as all marks are equal"
            cells.append(result("All raters", f"{title} (Krippendorff alpha)", alpha, "alpha", n, note=note))
    return cells


def _columns(marks: Marks) -> dict[tuple[str, str], NDArray[np.bool_]]:
    """Which items are relevant, to each rater and to at least one, most and all of them, by (row, column)."""
    votes, raters = marks.given.sum(axis=0), len(marks.raters)
    own = {(rater, "own marks"): marks.given[number] == 1 for number, rater in enumerate(marks.raters)}
    return own | {
        (ROW, "at least one"): votes >= 1,
        (ROW, "more than half of the physicians"): votes * 2 > raters,
        (ROW, "all physicians"): votes == raters,
    }


def _interval(
    task: str, relevant: NDArray[np.bool_], cases: Sequence[str], resamples: int, seed: int
) -> tuple[float, float]:
    if task == BASIC:
        low, high = wilson_interval(int(relevant.sum()), len(relevant))
        return 100 * low, 100 * high
    shares = relevant.astype(np.float64)
    spread = bootstrap_means(shares, resamples=resamples, seed=seed, clusters=cases, within=(0, 1))
    return spread.estimate(scale=100)[1]
