"""A stage of a build: a pure function of a batch of rows, described by data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from builders.pipeline.rows import Row


@dataclass(frozen=True, slots=True)
class Excluded:
    """Why a stage drops a row.

    `reason` is worded the same for the same cause; `detail` is about this row.
    """

    reason: str
    detail: str = ""


BatchFunction = Callable[[Collection[Row]], Iterable[Row | Excluded]]
"""The outcome for each row of a batch, in order: its new columns, or why it is excluded."""


@dataclass(frozen=True)
class Stage:
    """One step of a build.

    `function` is sent to the processes that need it once; what it holds opens heavy resources when they are first used.
    `settings` is JSON and holds everything that can change the output, including digests of files that are read. Raise
    `version` when the meaning of a stage changes. A batch is a list. A `whole` stage gets all rows as one batch in this
    process, streamed from disk as it iterates, each with only its key and the columns that the stage `reads`, so it
    uses only the memory for what it keeps. A stage `by_row` answers each row before it looks at the next, so that an
    error has a row. A stage that asks a model is not `parallel`: its batches overlap, with at most `requests`
    concurrent requests, and its answers are stored in the files `answers`.
    """

    name: str
    schema_in: pa.Schema
    schema_out: pa.Schema
    function: BatchFunction
    settings: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1
    whole: bool = False
    by_row: bool = False
    reads: tuple[str, ...] = ()
    parallel: bool = True
    requests: int = 0
    answers: tuple[Path, ...] = ()
