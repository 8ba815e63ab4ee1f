"""The work of a stage on one batch, and on several batches side by side.

Workers are spawned, so nothing leaks into them from this process. Each holds the reading end of a pipe whose
writing end only this process has: when it is closed, or when this process is killed, the workers end at once.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

import pyarrow as pa

from builders.pipeline.rows import BuildError, Row, batched, to_table
from builders.pipeline.stage import BatchFunction, Excluded, Stage
from builders.pipeline.workspace import Batch, ExcludedRow, Result, Workspace
from loaders.errors import BedsideError
from loaders.files.disk import scratch, writing


class Work:
    """What a process does for a stage: read a batch, call the function, check the account, store the result."""

    def __init__(self, stage: Stage, key: str, store: Workspace, batch_rows: int) -> None:
        self.stage = stage
        self.key = key
        self.store = store
        self.batch_rows = batch_rows
        self._function: BatchFunction | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_function": None}  # each process opens its own

    def identity(self) -> list[Any]:
        """All that the result of a batch depends on, besides the batch and the project's code."""
        stage = self.stage
        try:
            settings = json.dumps(dict(stage.settings), sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise BuildError(f"stage {stage.name}: its settings are not JSON: {error}") from error
        schemas = [schema_text(stage.schema_in), schema_text(stage.schema_out)]
        return [stage.name, stage.version, settings, *schemas, self.key, self.batch_rows if stage.whole else 0]

    def open(self) -> BatchFunction:
        """The stage's function, opened once in each process."""
        if self._function is None:
            self._function = self.stage.open()
        return self._function

    def __call__(self, name: str, unit: Sequence[Batch]) -> int:
        """Work on one batch and record the result under `name`; the number of rows that came in."""
        stage = self.stage
        stored = self.store.rows(unit)
        if stage.whole:
            rows: Collection[Row] = stored
            answers = self._call(self.store.rows(unit, (self.key, *stage.reads)), "all rows")
        else:
            rows = held = list(stored)
            which = f"rows {held[0][self.key]} to {held[-1][self.key]}"
            answers = self._call([dict(row) for row in held], which)  # its own: a key that it changes in place is seen
        excluded: list[ExcludedRow] = []
        parts = batched(self._left(rows, answers, excluded), self.batch_rows)
        where = f"stage {stage.name}"
        tables = (to_table(part, stage.schema_out, where=where, key=self.key) for part in parts)
        kept = tuple(self.store.write(table) for table in tables)
        self.store.save(name, Result(len(answers), kept, tuple(excluded)))
        return len(answers)

    def _call(self, rows: Collection[Row], which: str) -> list[Row | Excluded]:
        try:
            answers = list(self.open()(rows))
        except (BedsideError, BuildError):
            raise
        except Exception as error:
            raise BuildError(f"stage {self.stage.name}, {which}: {type(error).__name__}") from error
        if len(answers) != len(rows):
            raise BuildError(f"stage {self.stage.name}: {len(rows)} rows came in, {len(answers)} are accounted for")
        return answers

    def _left(
        self, rows: Iterable[Row], answers: Iterable[Row | Excluded], excluded: list[ExcludedRow]
    ) -> Iterator[Row]:
        """The rows as they leave, each under its key; `excluded` takes in the others."""
        where = f"stage {self.stage.name}"
        passed = [name for name in self.stage.schema_in.names if name in self.stage.schema_out.names]
        for row, answer in zip(rows, answers, strict=True):
            key = row[self.key]
            if not isinstance(answer, Excluded):
                if answer.get(self.key, key) != key:
                    raise BuildError(f"{where}: row {key!r} left as {answer[self.key]!r}")
                yield {**{name: row[name] for name in passed}, **answer}
            elif not (isinstance(answer.reason, str) and answer.reason and isinstance(answer.detail, str)):
                raise BuildError(f"{where}: excludes {key!r} without a reason, or with one that is not text")
            else:
                told = (_told(row, "split"), answer.reason, answer.detail, _told(row, "licence"))
                excluded.append(ExcludedRow(key, *told))


def _told(row: Row, column: str) -> str | None:
    value = row.get(column)
    return value if isinstance(value, str) else None


class Workers:
    """So many worker processes, started as batches need them and kept from one stage of a build to the next.

    A context manager; when it ends, so do they.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self._pool: ProcessPoolExecutor | None = None
        self._lifeline: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._pool is None or self._lifeline is None:
            return
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self._lifeline.close()  # they end now, not when their batches are done
        self._pool.shutdown(cancel_futures=True)
        self._lifeline.close()

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._reader, self._lifeline = context.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(
                self.number, mp_context=context, initializer=_start, initargs=(self._reader,)
            )
        return self._pool

    def each(self, work: Work, units: Sequence[tuple[str, Sequence[Batch]]], *, where: str) -> Generator[int]:
        """Do the units side by side, yielding the rows of each as it is finished, in any order.

        Raises: BedsideError when a worker died (killed, out of memory); BuildError when the work cannot be pickled; and
        whatever the work itself raised.
        """
        try:
            pickled = pickle.dumps(work)
        except Exception as error:
            raise BuildError(f"{where}: cannot be sent to a worker: {error}; its factory must be picklable") from error
        try:
            with scratch(work.store.folder) as folder:
                # By a file, never by a pipe: what is longer than a pipe holds waits for its reader, and for ever where
                # the worker was killed before it read (its reading end is open here too).
                stage = folder / "stage.pickle"
                with writing(stage):
                    stage.write_bytes(pickled)
                with _interrupts_held():  # a batch that finds no worker free starts one
                    pool = self._started()
                    futures = [pool.submit(_do, stage, name, unit) for name, unit in units]
                for future in as_completed(futures):
                    yield future.result()
        except BrokenProcessPool:
            raise BedsideError(
                where,
                found="a worker process ended before its batch was done (killed, or out of memory)",
                do="Run the same command again, with fewer workers if it repeats: finished batches are kept",
            ) from None


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Start processes with Ctrl-C and SIGHUP blocked, which they inherit: a terminal sends these to all, but ending is
    our part. Not so SIGTERM, by which the pool ends those that are left when one has died."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(lifeline: Connection) -> None:
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    lifeline.poll(None)  # nothing is ever sent: it returns when the other end is gone
    os._exit(1)


_opened: dict[Path, Work] = {}  # in a worker process only: the stage that it works on


def _do(stage: Path, name: str, unit: Sequence[Batch]) -> int:
    if stage not in _opened:
        _opened.clear()
        _opened[stage] = pickle.loads(stage.read_bytes())
    return _opened[stage](name, unit)


def schema_text(schema: pa.Schema) -> str:
    """The columns and types of a schema, without its metadata."""
    return ", ".join(f"{field.name}: {field.type}{'' if field.nullable else ' not null'}" for field in schema)
