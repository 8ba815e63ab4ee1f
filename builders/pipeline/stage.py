"""What a stage of a build is: a pure function of a batch of rows, described by data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from builders.pipeline.rows import Row

Verdict = Literal[True] | tuple[Literal[False], str, str]
"""True to keep a row, or (False, reason, detail): the reason is counted, the detail says what this row held."""


@dataclass(frozen=True, slots=True)
class Excluded:
    """A row that a stage does not keep. `reason` is the same words for the same cause; `detail` is about this row."""

    key: str
    stage: str
    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a batch: each row that came in is either kept, under the same key, or excluded."""

    kept: list[Row]
    excluded: list[Excluded] = field(default_factory=list)


BatchFunction = Callable[[list[Row]], Outcome]


@dataclass(frozen=True)
class Stage:
    """One step of a build.

    `open` makes the batch function and is called once in each process that needs it, so open heavy resources there.
    `settings` is JSON and holds all that can change the output, digests of files that are read included. Raise
    `version` when the meaning of a stage changes. A `whole` stage is given all rows as one batch, in this process.
    """

    name: str
    schema_in: pa.Schema
    schema_out: pa.Schema
    open: Callable[[], BatchFunction]
    settings: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1
    whole: bool = False
    parallel: bool = True


def sift(rows: Iterable[Row], verdict: Callable[[Row], Verdict], *, key: str, stage: str) -> Outcome:
    """Keep or exclude row by row."""
    outcome = Outcome([])
    for row in rows:
        answer = verdict(row)
        if answer is True:
            outcome.kept.append(row)
        else:
            _, reason, detail = answer
            outcome.excluded.append(Excluded(row[key], stage, reason, detail))
    return outcome


def unique(key: str, schema: pa.Schema, *, name: str = "unique") -> Stage:
    """A stage that keeps the first row of each key and excludes later ones with the reason "duplicate id".

    The detail counts rows from 1 in the order in which they reach the stage.
    """
    return Stage(name, schema, schema, _Unique(key, name), whole=True)


@dataclass(frozen=True)
class _Unique:
    key: str
    stage: str

    def __call__(self) -> BatchFunction:
        return self.keep_first

    def keep_first(self, rows: list[Row]) -> Outcome:
        outcome = Outcome([])
        first: dict[str, int] = {}
        for number, row in enumerate(rows, start=1):
            earlier = first.setdefault(row[self.key], number)
            if earlier == number:
                outcome.kept.append(row)
            else:
                detail = f"row {number} repeats the id of row {earlier}"
                outcome.excluded.append(Excluded(row[self.key], self.stage, "duplicate id", detail))
        return outcome
