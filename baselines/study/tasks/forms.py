"""The cases of a study, answers read from forms, attention checks, and the files that answers become: shared by several
tasks."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any, TypeVar

from baselines.results.sheets import sheet_bytes, table_bytes, write_new
from baselines.study.design import FILE, Design, TaskName
from baselines.study.schedule import CHECKS
from baselines.study.tasks.task import Form, FormError, Item, Response, Source
from loaders.errors import InputError

MOST_LINE = 300  # characters of a line of text
Case = TypeVar("Case")


def wanted(design: Design, there: int, most: int) -> int:
    """How many of the cases there a study uses, `most` if its design does not say. Raises InputError for too many."""
    if design.cases is not None and design.cases > there:
        do = "Correct the field, or leave it out"
        raise InputError(f"{FILE}, cases", found=f"{design.cases}, of {there}", expected="at most as many", do=do)
    return design.cases or min(most, there)


def drawn(design: Design, cases: Sequence[Case]) -> list[Case]:
    """As many of the cases as the design says, drawn by its seed; all if it does not say. Raises as `wanted`."""
    count = wanted(design, len(cases), len(cases))
    return list(cases) if design.cases is None else random.Random(f"{design.seed} cases").sample(cases, count)


def rows_of(source: Source, corpus: str, task: TaskName) -> Any:
    """The test split of the corpus that a task is served from. Raises InputError for any other source."""
    opened = source.opened
    if opened is None or opened.corpus != corpus:
        found = "a run" if opened is None else f"a release of {opened.corpus}"
        raise InputError("study", found=found, expected=f"a release of {corpus} for the task {task}")
    return opened.splits["test"]


def one_of(form: Form, field: str, options: Collection[str], ask: str) -> str:
    """The chosen option. Raises FormError, which tells the person to do what `ask` says."""
    given = form.get(field, ())
    if len(given) != 1 or given[0] not in options:
        raise FormError(field, ask)
    return given[0]


def line(form: Form, field: str, ask: str) -> str:
    """A line of text, with single spaces. Raises FormError if it is empty or too long."""
    text = " ".join(" ".join(form.get(field, ())).split())
    if not text:
        raise FormError(field, ask)
    if len(text) > MOST_LINE:
        raise FormError(field, f"Please use at most {MOST_LINE} characters; there are {len(text)}.")
    return text


def checks(design: Design, count: int, made: Callable[[str], Item]) -> tuple[Item, ...]:
    """Items that say what to answer, as many as the design wants among `count`; `made` makes one from its id.

    The expected answer is in their `key`, as `expected`, in the form of an answer.
    """
    return tuple(made(f"{CHECKS}/{number}") for number in range(1, ceil(count * design.attention) + 1))


def write_answers(
    task: str,
    responses: Sequence[Response],
    folder: Path,
    columns: Sequence[str],
    cells: Callable[[Response], Sequence[Mapping[str, Any]]],
    *,
    of: Sequence[str],
    part: str = "",
    stand_in: str | None = None,
) -> list[Path]:
    """Writes the answers of one task (or of one condition of it), a sheet for each rater; returns the files.

    `cells` are the lines of a response without its rater, `of` names all items of the task; `stand_in` is for sheets
    whose `columns` have none. Readers of sheets need raters who have done all items: those who have not are named in
    `…-left-out.csv`, and their sheets as well. Second answers to an item go into `…-repeats.csv`, the results of checks
    into `…-checks.csv`.

    Raises InputError for an existing file.
    """
    name = f"{task}-{part}" if part else task
    first = [one for one in responses if not one.repeat and not one.item.check]
    by_rater: dict[str, list[Response]] = {}
    for one in sorted(first, key=lambda one: (one.participant, one.position, one.item.id)):
        by_rater.setdefault(one.participant, []).append(one)
    count = sum(item.startswith(f"{part}/" if part else "") and not item.startswith(f"{CHECKS}/") for item in of)
    contents: dict[Path, bytes] = {}
    left_out = []
    for rater, own in by_rater.items():
        whole = len(own) == count
        if not whole:
            left_out.append({"rater": rater, "items": len(own), "of": count, "why": "not all items were done"})
        rows = [{"rater": rater, **row} for one in own for row in cells(one)]
        contents[folder / f"{name}-{'' if whole else 'left-out-'}{rater}.csv"] = sheet_bytes(columns, rows, stand_in)
    beside = {
        "left-out": (("rater", "items", "of", "why"), left_out),
        "repeats": (("rater", "item", "question", "first", "again"), repeats(responses)),
        "checks": (("rater", "item", "question", "expected", "given"), list(_checks(responses))),
    }
    for kind, (names, lines) in beside.items():
        if lines:
            contents[folder / f"{name}-{kind}.csv"] = table_bytes(names, lines)
    return write_new(contents)


def repeats(responses: Sequence[Response]) -> list[dict[str, Any]]:
    """The questions of items that came twice, each with the `first` answer and the one given `again`."""
    before = {(one.participant, one.item.id): one for one in responses if not one.repeat}
    return [
        {"rater": one.participant, "item": one.item.id, "question": name, "first": value, "again": one.given.get(name)}
        for one in responses
        if one.repeat and (one.participant, one.item.id) in before
        for name, value in before[one.participant, one.item.id].given.items()
    ]


def _checks(responses: Sequence[Response]) -> Iterator[dict[str, Any]]:
    for one in (one for one in responses if one.item.check):
        for name, value in one.item.key["expected"].items():
            answer = {"expected": value, "given": one.given.get(name)}
            yield {"rater": one.participant, "item": one.item.id, "question": name, **answer}
