"""A build's workspace: the finished batches, each a file that is whole or absent, in a folder or a bucket.

    batches/<sha256>.parquet rows, named by the digest of the file itself
    results/<name>.json      what a stage made of a batch: batches kept, rows excluded; written last

Equal batches are stored once, so a stage that changes nothing costs no space. All of it is a cache: deleting it only
costs the time to compute it again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from builders.pipeline.rows import Row
from loaders.engines.sight import check_seen
from loaders.errors import BedsideError, InputError
from loaders.files.records import from_json
from loaders.files.stores import Folder, Store

BATCHES, RESULTS = "batches", "results"
_MANY = 256
"""How many results are requested ahead, in parallel, before the first of them is used."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A stored batch of rows: the digest that names its file, and how many rows it holds."""

    digest: str
    rows: int


@dataclass(frozen=True, slots=True)
class ExcludedRow:
    """A row that a stage excluded, with what the exclusions file of a release says about it."""

    key: str
    split: str | None
    reason: str
    detail: str
    licence: str | None


@dataclass(frozen=True, slots=True)
class Result:
    """What a stage made of the rows that it got as one batch; `heard` of the models that it asked, if any."""

    rows_in: int
    kept: tuple[Batch, ...]
    excluded: tuple[ExcludedRow, ...] = ()
    heard: tuple[Heard, ...] = ()


Heard = tuple[str, str | None, str | None]
"""A model, the one that its server says it asked (`Answer.served`), and what it refused (`Answer.refused`)."""


class Workspace:
    """The files of a build. Holds only their location, so that it can be passed to workers."""

    def __init__(self, place: Path | Store) -> None:
        self.store: Store = Folder(place) if isinstance(place, Path) else place

    def __str__(self) -> str:
        return str(self.store)

    def write(self, table: pa.Table) -> Batch:
        """Store a table; the same rows always give the same file. Raises: as `Store`."""
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd", row_group_size=max(1, table.num_rows))
        data = sink.getvalue().to_pybytes()
        batch = Batch(hashlib.sha256(data).hexdigest(), table.num_rows)
        self.store.create(_file(batch), data)
        return batch

    def read(self, batch: Batch, columns: Sequence[str] | None = None) -> pa.Table:
        """The table of a stored batch, or only these columns of it. Raises: BedsideError when the file is missing or
        damaged; InputError on a machine that does not see the workspace."""
        data = self.store.read(_file(batch)) or b""
        if hashlib.sha256(data).hexdigest() != batch.digest:
            if isinstance(self.store, Folder):
                check_seen(self.store.folder)
            raise BedsideError(
                f"{self}/{_file(batch)}",
                found="the file is missing" if not data else "the file is damaged",
                expected="the batch written by an earlier stage",
                do="Delete this file if it exists and run the same command again: it will be recomputed",
            )
        # Not pq.read_table: its thread may release the bytes only as the interpreter exits, which aborts the process.
        with pq.ParquetFile(pa.BufferReader(data)) as file:
            return file.read(columns=None if columns is None else list(columns), use_threads=False)

    def rows(self, batches: Sequence[Batch], columns: Sequence[str] | None = None) -> StoredRows:
        """The rows of stored batches, or only these columns of them."""
        return StoredRows(self, tuple(batches), columns)

    def save(self, name: str, result: Result) -> Result:
        """Record a result, whose batches are written, and return the one that counts: of several writers, the first.
        Raises: as `Store`."""
        data = json.dumps(asdict(result)).encode()
        if not self.store.create(_record(name), data):
            if (winner := self.load(name)) is not None:
                return winner
            self.store.put(_record(name), data)  # the recorded one is damaged, or one of its batches is gone
        return result

    def load(self, name: str, listed: Collection[str] | None = None) -> Result | None:
        """The recorded result, or None if there is none or one of its batches is gone; if what exists is known
        (`listed`), nothing is looked up. Raises: as `Store`."""
        if listed is not None and _record(name) not in listed:
            return None
        try:
            data = self.store.read(_record(name))
            result = None if data is None else from_json(Result, data, f"{self}/{_record(name)}")
        except InputError:
            return None  # a file that a failing disk truncated counts as absent
        return result if result is not None and all(self._there(batch, listed) for batch in result.kept) else None

    def loaded(self, names: Sequence[str]) -> Iterator[Result | None]:
        """Like `load` for many, in order, of what exists at this moment: a few requests instead of one or two each."""
        load = partial(self.load, listed={name for folder in (BATCHES, RESULTS) for name in self.store.list(folder)})
        if self.store.at_once == 1:
            yield from map(load, names)
            return
        with ThreadPoolExecutor(self.store.at_once) as pool:
            for start in range(0, len(names), _MANY):
                yield from pool.map(load, names[start : start + _MANY])

    def _there(self, batch: Batch, listed: Collection[str] | None) -> bool:
        return self.store.size(_file(batch)) is not None if listed is None else _file(batch) in listed


def _file(batch: Batch) -> str:
    return f"{BATCHES}/{batch.digest}.parquet"


def _record(name: str) -> str:
    return f"{RESULTS}/{name}.json"


@dataclass(frozen=True)
class StoredRows(Collection[Row]):
    """Rows stored in a workspace: read batch by batch on every iteration, and never held in memory."""

    store: Workspace
    batches: tuple[Batch, ...]
    columns: Sequence[str] | None = None

    def __iter__(self) -> Iterator[Row]:
        for batch in self.batches:
            yield from self.store.read(batch, self.columns).to_pylist()

    def __len__(self) -> int:
        return sum(batch.rows for batch in self.batches)

    def __contains__(self, row: object) -> bool:
        return any(row == one for one in self)
