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
    """What a stage says of a row that it does not keep.

    `reason` is the same words for the same cause; `detail` is about this row.
    """

    reason: str
    detail: str = ""


BatchFunction = Callable[[Collection[Row]], Iterable[Row | Excluded]]
"""What becomes of each row of a batch, in their order: the columns that it is given anew, or why it does not go on."""


@dataclass(frozen=True)
class Stage:
    """One step of a build.

    `open` makes the batch function and is called once in each process that needs it, so open heavy resources there.
    `settings` is JSON and holds all that can change the output, digests of files that are read included. Raise
    `version` when the meaning of a stage changes. A batch comes as a list; a `whole` stage is given all rows as one
    batch, in this process, read from the disk as it goes through them, and of each no more than the key and the columns
    that it `reads`, so that what it holds is what it keeps of them. A stage that asks a model is not `parallel`: its
    batches overlap, with so many `requests` under way at a time, and its answers are kept in the files `answers`.
    """

    name: str
    schema_in: pa.Schema
    schema_out: pa.Schema
    open: Callable[[], BatchFunction]
    settings: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1
    whole: bool = False
    reads: tuple[str, ...] = ()
    parallel: bool = True
    requests: int = 0
    answers: tuple[Path, ...] = ()
