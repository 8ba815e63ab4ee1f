"""A build as a chain of stages over batches of rows, resumable after any interruption.

    rows of a source -> stage -> stage -> … -> rows of a release
           |              |        |
           +--------------+--------+--> excluded rows, each with its key, stage and reason

What a source cannot read is a `BadRow` in the row's place: it is excluded by the stage `read`, with its place as its
key.

A `Stage` is data: a name, a version, the settings that can change its output, the schemas it reads and writes, and a
picklable pure function from a batch to an outcome for each of its rows. `run` checks that in = out + excluded for every
batch, key by key, and stores each finished batch under a name derived from everything that it depends on, including the
code that its stage can reach (`loaders.reached`). So after `kill -9` the same command computes only what is missing,
and ends with the same bytes as an undisturbed run, whatever the engine and the number of workers. Memory does not grow
with the number of rows, except for `whole` stages. To keep it so, let rows carry the path of an image, and read its
bytes when the release is written.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
from rich.progress import Progress

from builders.pipeline.overlap import asked_by
from builders.pipeline.progress import Meter
from builders.pipeline.rows import BuildError, Row, batched, to_table
from builders.pipeline.stage import Stage
from builders.pipeline.work import Work, schema_text
from builders.pipeline.workspace import Batch, ExcludedRow, Heard, Result, Workspace
from loaders.engines.engine import Engine, Unsendable
from loaders.engines.local import Local
from loaders.errors import BedsideError
from loaders.files.bad_rows import MAX_BAD, BadRow, check_bad
from loaders.files.disk import write_whole
from loaders.files.kinds import AS_UTF8
from loaders.files.stores import Store
from loaders.files.texts import NOT_UTF8
from loaders.manifest import StageCount
from loaders.reached import code_digest

READ = "read"
UNREAD = "unread.jsonl"
EXCLUSIONS = pa.schema([(name, pa.string()) for name in ("key", "split", "stage", "reason", "detail", "licence")])
"""What the exclusions file of a release says about each row; split and licence are null if a row had none yet."""


@dataclass(frozen=True)
class Run:
    """A finished build: its rows and its exclusions, in order, read from the workspace on demand."""

    schema: pa.Schema
    stages: tuple[StageCount, ...]
    batches: tuple[Batch, ...]
    workspace: Workspace
    results: tuple[tuple[str, str], ...]  # (stage, name of a result), in order

    def rows(self) -> Iterator[Row]:
        """The rows that every stage kept."""
        return iter(self.workspace.rows(self.batches, self.schema.names))

    def rows_to(self, stage: str) -> Iterator[Row]:
        """The rows that came to a stage, which is not the first: those that the one before it kept."""
        before = next(one.name for one, after in pairwise(self.stages) if after.name == stage)
        names = [name for one, name in self.results if one == before]
        kept = [batch for result in _all_recorded(self.workspace, names) for batch in result.kept]
        return iter(self.workspace.rows(kept))

    def exclusions(self) -> Iterator[Row]:
        """The excluded rows, stage by stage, as rows of `EXCLUSIONS`."""
        names = [name for _, name in self.results]
        for (stage, _), result in zip(self.results, _all_recorded(self.workspace, names), strict=True):
            for row in result.excluded:
                yield {"stage": stage, **asdict(row)}

    def heard(self) -> set[Heard]:
        """What the servers of models said of themselves in the answers from which the rows were made."""
        names = [name for _, name in self.results]
        return {said for result in _all_recorded(self.workspace, names) for said in result.heard}


def run(
    source: Iterable[Row | BadRow],
    stages: Sequence[Stage],
    *,
    key: str,
    workspace: Path,
    store: Store | None = None,
    source_identity: str,
    max_bad: float = MAX_BAD,
    records: int | None = None,
    batch_rows: int = 512,
    engine: Engine | None = None,
    packages: Sequence[str] = (),
    progress: Progress | None = None,
) -> Run:
    """Send the rows of `source` through `stages` and account for every one of them.

    `key` is the column that names a row. `source` is read only if the workspace does not yet hold the rows of
    `source_identity`, which also covers the code that reads them. The `engine` (default: this process) works on the
    batches of a stage in parallel; all its processes must have the same versions of `packages`. At most `max_bad`
    percent may be bad rows, counted against `records` if several records of the source make one row. Batches are stored
    in the folder `workspace`, or in another `store`; the folder then holds what belongs to this machine.

    Raises: InputError for more bad rows, which it lists; BedsideError for a full disk, a workspace in use or a worker
    that died; BuildError when a stage breaks its declared schema, or loses, invents, duplicates or renames a key;
    KeyboardInterrupt with a message to show.
    """
    _check_chain(stages, key)
    kept, engine = Workspace(store or workspace), engine or Local()
    with kept.store.held(workspace) as check:
        try:
            read, result = _spool(source, stages[0].schema_in, kept, key, batch_rows, source_identity, progress)
            _check_bad(result, records or result.rows_in, max_bad, workspace)
            batches: Sequence[Batch] = result.kept
            # a source without unreadable rows has nothing to account for
            counts, results = ([_counted(READ, 1, [result])[0]], [(READ, read)]) if result.excluded else ([], [])
            del result  # it holds every row that could not be read
            for stage in stages:
                check()
                work = Work(stage, key, kept, batch_rows, packages)
                names, count, batches = _run_stage(work, batches, engine, progress)
                counts.append(count)
                results.extend((stage.name, name) for name in names)
        except KeyboardInterrupt:
            message = f"Stopped. Finished batches are kept in {kept}; run the same command again to resume"
            raise KeyboardInterrupt(message) from None
    return Run(stages[-1].schema_out, tuple(counts), tuple(batches), kept, tuple(results))


def _counted(name: str, version: int, results: Iterable[Result]) -> tuple[StageCount, list[Batch]]:
    """What a stage made of its rows, and the batches that remain."""
    came, kept, reasons = 0, list[Batch](), Counter[str]()
    for result in results:
        came += result.rows_in
        kept += result.kept
        reasons.update(row.reason for row in result.excluded)
    left, excluded = sum(batch.rows for batch in kept), dict(sorted(reasons.items()))
    return StageCount(name=name, version=version, rows_in=came, rows_out=left, excluded=excluded), kept


def _check_bad(result: Result, records: int, max_bad: float, workspace: Path) -> None:
    """Write the list of bad rows to the workspace, and raise if there are too many."""
    bad, listed = result.excluded, workspace / UNREAD
    if not bad:
        listed.unlink(missing_ok=True)
        return
    lines = [json.dumps({"row": row.key, "reason": row.reason, "detail": row.detail}) + "\n" for row in bad]
    write_whole(listed, "".join(lines).encode())
    do = f"Fix them ({listed} lists all), or allow more to be left out with --max-bad"
    if any(row.reason == NOT_UTF8 for row in bad):  # a spreadsheet's encoding: one remedy for all of these rows
        do = f"{AS_UTF8}. Else: {do[0].lower()}{do[1:]}"
    told = [row.reason + (" " if row.detail.startswith("(") else ", " * bool(row.detail)) + row.detail for row in bad]
    shown = [f"{row.key}: {words}" for row, words in zip(bad, told, strict=True)]
    check_bad(shown, records, "source", most=max_bad, do=do)


def _check_chain(stages: Sequence[Stage], key: str) -> None:
    if not stages:
        raise BuildError("a build needs at least one stage")
    repeated = [name for name, n in Counter(stage.name for stage in stages).items() if n > 1]
    if repeated:
        raise BuildError(f"two stages are named {repeated[0]!r}: exclusions are counted by stage name")
    for before, after in pairwise(stages):
        if not before.schema_out.equals(after.schema_in):
            given, expected = schema_text(before.schema_out), schema_text(after.schema_in)
            raise BuildError(f"stage {after.name}: found {given} from {before.name}, expected {expected}")
    for stage in stages:
        for schema in (stage.schema_in, stage.schema_out):
            if key not in schema.names or not pa.types.is_string(schema.field(key).type):
                found = f"the key column {key!r} must be a string in {schema_text(schema)}"
                raise BuildError(f"stage {stage.name}: {found}")


def _spool(
    source: Iterable[Row | BadRow],
    schema: pa.Schema,
    store: Workspace,
    key: str,
    batch_rows: int,
    identity: str,
    progress: Progress | None,
) -> tuple[str, Result]:
    """Store the rows of the source as batches, with those that could not be read: the result, and its name."""
    name = _name("source", code_digest(_spool), identity, schema_text(schema), key, batch_rows)
    result = store.load(name)
    meter = Meter(progress, "source", rows=result.rows_in if result else None, batches=1)
    if result is not None:
        meter.advance(result.rows_in, resumed=True)
    else:
        bad: list[ExcludedRow] = []
        batches: list[Batch] = []
        for part in batched(_good(source, bad), batch_rows):
            table = to_table(part, schema, where="source", key=key)
            for number, row in enumerate(part, start=1 + sum(batch.rows for batch in batches)):
                if not row[key]:
                    raise BuildError(f"source: row {number} has no {key}: a reader gives each row one, or says why not")
            batches.append(store.write(table))
            meter.advance(len(part))
        meter.advance(len(bad))
        result = Result(sum(batch.rows for batch in batches) + len(bad), tuple(batches), tuple(bad))
        result = store.save(name, result)
    meter.finish(len(result.excluded))
    return name, result


def _good(source: Iterable[Row | BadRow], bad: list[ExcludedRow]) -> Iterator[Row]:
    """The rows that could be read; the others are appended to `bad`."""
    for number, row in enumerate(source, start=1):
        if isinstance(row, BadRow):
            bad.append(ExcludedRow(row.where, None, row.reason, row.detail, None))
        elif isinstance(row, dict):
            yield row
        else:
            found = f"found a {type(row).__name__}, expected a dict of columns, or BadRow"
            raise BuildError(f"source: row {number}: {found}")


def _run_stage(
    work: Work, batches: Sequence[Batch], engine: Engine, progress: Progress | None
) -> tuple[list[str], StageCount, list[Batch]]:
    """Run a stage on every batch (or, for a `whole` stage, on all of them as one): the names of the results, in order,
    their totals, and the batches that remain."""
    stage = work.stage
    units = [(batch,) for batch in batches] if not stage.whole else [tuple(batches)] if batches else []
    code = code_digest(work)
    names = [_name(code, *work.identity(), *(batch.digest for batch in unit)) for unit in units]
    meter = Meter(progress, stage.name, rows=sum(batch.rows for batch in batches), batches=len(units))
    missing: dict[str, tuple[Batch, ...]] = {}
    for name, unit, result in zip(names, units, work.store.loaded(names), strict=True):
        if result is None:
            missing[name] = unit
        else:
            meter.advance(sum(batch.rows for batch in unit), resumed=True)
    todo = list(missing.items())
    work.resumed = len(todo) < len(units)
    if len(todo) > 1 and not stage.parallel:
        asked_by(engine, work, todo, meter.advance)
    elif len(todo) > 1:
        try:
            with closing(engine.each(work, todo, where=f"stage {stage.name}")) as finished:
                # an interrupt ends the workers now, not when the exception is garbage-collected
                for _, rows in finished:
                    meter.advance(rows)
        except Unsendable as error:
            raise BuildError(str(error)) from error
    else:
        for name, unit in todo:  # a single one is not worth a process: this process runs the same code as the workers
            meter.advance(work(name, unit))
    count, left = _counted(stage.name, stage.version, _all_recorded(work.store, names))
    meter.finish(sum(count.excluded.values()))
    return names, count, left


def _all_recorded(store: Workspace, names: Sequence[str]) -> Iterator[Result]:
    for result in store.loaded(names):
        if result is None:
            found = "a finished result disappeared while the build was using it"
            raise BedsideError(store, found=found, do="Run the same command again")
        yield result


def _name(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
