"""The work of a stage on one batch: the task that an engine (`loaders.engines`) runs in parallel."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa

from builders.pipeline.rows import BuildError, Row, batched, to_table
from builders.pipeline.stage import Excluded, Stage
from builders.pipeline.workspace import Batch, ExcludedRow, Heard, Result, Workspace
from loaders.errors import BedsideError
from loaders.raised import raised_below

BY_ROW = "builders.steps"
"""The module whose code calls a step for each row."""

_resumed: ContextVar[bool] = ContextVar("resumed", default=False)


def resumed() -> bool:
    """Within a batch: whether an earlier build had finished other batches of the same stage."""
    return _resumed.get()


_heard: ContextVar[set[Heard]] = ContextVar("heard")


def heard() -> set[Heard]:
    """Within a batch: what servers said of themselves, which is kept with its rows."""
    return _heard.get(set())


@dataclass
class Work:
    """What a process does for a stage: read a batch, call the function, check that no row is lost, store the result."""

    stage: Stage
    key: str
    store: Workspace
    batch_rows: int
    packages: Sequence[str] = ()
    floats: bool = False  # stages store texts, whole numbers, and images by integer codecs
    resumed: bool = False

    @property
    def anywhere(self) -> bool:
        """See `Task`: a path in a row is looked up where the work runs, and reported by name if it is missing."""
        return self.store.store.anywhere

    def identity(self) -> list[Any]:
        """Everything that the result of a batch depends on, besides the batch and the project's code."""
        stage = self.stage
        try:
            settings = json.dumps(dict(stage.settings), sort_keys=True, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise BuildError(f"stage {stage.name}: its settings are not JSON: {error}") from error
        schemas = [schema_text(stage.schema_in), schema_text(stage.schema_out)]
        return [stage.name, stage.version, settings, *schemas, self.key, self.batch_rows if stage.whole else 0]

    def __call__(self, name: str, unit: Sequence[Batch]) -> int:
        """Work on one batch and record the result under `name`, unless a process that was thought lost did so first;
        returns the number of rows that came in."""
        _resumed.set(self.resumed)
        said: set[Heard] = set()
        _heard.set(said)
        excluded: list[ExcludedRow] = []
        if self.stage.whole:
            answers = self._call(self.store.rows(unit, (self.key, *self.stage.reads)), "all rows")
            kept = tuple(self._sifted(unit, answers, excluded))
        else:
            rows = list(self.store.rows(unit, self.stage.schema_in.names))
            which = _between(rows[0][self.key], rows[-1][self.key])
            # copies, so that a key changed in place is noticed
            answers = self._call([dict(row) for row in rows], which)
            kept = tuple(self._written(self._left(rows, answers, excluded)))
        told = tuple(sorted(said, key=repr))
        return self.store.save(name, Result(len(answers), kept, tuple(excluded), told)).rows_in

    def _sifted(
        self, unit: Sequence[Batch], answers: Sequence[Row | Excluded], excluded: list[ExcludedRow]
    ) -> Iterator[Batch]:
        """What remains of the batches of a `whole` stage. A batch in which no row changes or goes is reused, even if
        the stage drops columns: whoever reads a batch names the columns, and this process would write every row."""
        before, start = self.stage.schema_in, 0
        adds = not set(self.stage.schema_out) <= set(before)
        for batch in unit:
            part = answers[start : start + batch.rows]
            start += batch.rows
            if not adds and all(answer == {} for answer in part):
                yield batch
            else:
                yield from self._written(self._left(self.store.rows([batch], before.names), part, excluded))

    def _written(self, rows: Iterable[Row]) -> Iterator[Batch]:
        where = f"stage {self.stage.name}"
        for part in batched(rows, self.batch_rows):
            yield self.store.write(to_table(part, self.stage.schema_out, where=where, key=self.key))

    def told(self, unit: Sequence[Batch]) -> str:
        """The rows of a unit, for an error message."""
        keys = [row[self.key] for row in self.store.rows(unit, (self.key,))]
        return _between(keys[0], keys[-1])

    def _call(self, rows: Collection[Row], which: str) -> list[Row | Excluded]:
        """What the stage's function says of each row. Raises: BuildError that names the row, or the batch, and the
        place in the code, for whatever the function raises; values are not told (see `to_table`)."""
        answers: list[Row | Excluded] = []
        where = f"stage {self.stage.name}"
        try:
            said = self.stage.function(rows)
            if not isinstance(said, Iterable):
                raise BuildError(f"{where}: found a {type(said).__name__}, expected a list with a result for each row")
            for answer in said:
                answers.append(answer)  # noqa: PERF402 - how many there are says which row has failed
        except (BedsideError, BuildError):
            raise
        except (Exception, SystemExit) as error:  # anybody's code
            if self.stage.by_row:
                row = next(islice(rows, len(answers), None))
                which = f"row {row[self.key]!r}" if self.key in row else which  # it may have emptied the row
            place = raised_below(error, __name__, BY_ROW)
            told = f" ({place})" if place else ""
            raise BuildError(f"{where}, {which}: {type(error).__name__}{told}") from error
        if len(answers) != len(rows):
            raise BuildError(f"stage {self.stage.name}: {len(rows)} rows came in, {len(answers)} are accounted for")
        return answers

    def _left(
        self, rows: Iterable[Row], answers: Iterable[Row | Excluded], excluded: list[ExcludedRow]
    ) -> Iterator[Row]:
        """The rows that remain, each under its key; the others are added to `excluded`."""
        where = f"stage {self.stage.name}"
        passed = [name for name in self.stage.schema_in.names if name in self.stage.schema_out.names]
        for row, answer in zip(rows, answers, strict=True):
            key = row[self.key]
            if isinstance(answer, dict):
                if answer.get(self.key, key) != key:
                    raise BuildError(f"{where}: row {key!r} left as {answer[self.key]!r}")
                yield {**{name: row[name] for name in passed}, **answer}
            elif not isinstance(answer, Excluded):
                found = f"the class {answer.__name__}" if isinstance(answer, type) else f"a {type(answer).__name__}"
                expected = "a dict of the columns that it adds, which may be empty, or Excluded(reason)"
                raise BuildError(f"{where}: row {key!r}: found {found}, expected {expected}")
            elif not (isinstance(answer.reason, str) and answer.reason and isinstance(answer.detail, str)):
                raise BuildError(f"{where}: excludes {key!r} without a reason, or with one that is not text")
            else:
                told = (_text_or_none(row, "split"), answer.reason, answer.detail, _text_or_none(row, "licence"))
                excluded.append(ExcludedRow(key, *told))


def _between(first: str, last: str) -> str:
    return f"rows {first} to {last}"


def _text_or_none(row: Row, column: str) -> str | None:
    value = row.get(column)
    return value if isinstance(value, str) else None


def schema_text(schema: Iterable[pa.Field]) -> str:
    """The columns and types of a schema, without its metadata."""
    return ", ".join(f"{field.name}: {field.type}{'' if field.nullable else ' not null'}" for field in schema)
