"""A build's workspace: the finished batches, each a file that is whole or absent.

    <folder>/lock                     held by the build that is running
    <folder>/batches/<sha256>.parquet rows, named by the digest of the file itself
    <folder>/results/<name>.json      what a stage made of a batch: batches kept, rows excluded; written last

Equal batches are stored once, so a stage that changes nothing costs no space. The folder is a cache: deleting it only
costs the time to compute it again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import filelock
import pyarrow as pa
import pyarrow.parquet as pq

from builders.pipeline.rows import Row
from loaders.engines.sight import check_seen
from loaders.errors import BedsideError, InputError
from loaders.files.disk import make_folder, sweep, write_first, write_whole, writing
from loaders.files.records import from_json
from loaders.files.untrusted import is_there, read_file


@dataclass(frozen=True, slots=True)
class Batch:
    """A stored batch of rows: the digest that names its file, and how many rows it holds."""

    digest: str
    rows: int


@dataclass(frozen=True, slots=True)
class ExcludedRow:
    """A row that a stage excluded, with what the exclusions file of a release tells about it."""

    key: str
    split: str | None
    reason: str
    detail: str
    licence: str | None


@dataclass(frozen=True, slots=True)
class Result:
    """What became of the rows that went into a stage as one batch."""

    rows_in: int
    kept: tuple[Batch, ...]
    excluded: tuple[ExcludedRow, ...] = ()


class Workspace:
    """The files of a build. Holds nothing but a path, so that workers can be handed one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._batches = folder / "batches"
        self._results = folder / "results"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the workspace this process's own and clear what a killed build left half-written.

        Raises: BedsideError when another build is using it.
        """
        with writing(self.folder):
            make_folder(self._batches)
            self._results.mkdir(exist_ok=True)
            try:
                lock = filelock.FileLock(self.folder / "lock", timeout=0).acquire()
            except filelock.Timeout:
                raise BedsideError(
                    self.folder,
                    found="another build is using this workspace",
                    do="Wait for it to end, or choose another workspace",
                ) from None
        with lock:
            sweep(self.folder)
            yield

    def write(self, table: pa.Table) -> Batch:
        """Store a table; the same rows always give the same file.

        Raises: BedsideError when the disk is full.
        """
        sink = pa.BufferOutputStream()
        pq.write_table(table, sink, compression="zstd", row_group_size=max(1, table.num_rows))
        data = sink.getvalue().to_pybytes()
        digest = hashlib.sha256(data).hexdigest()
        path = self._batches / f"{digest}.parquet"
        if not is_there(path):
            write_whole(path, data)
        return Batch(digest, table.num_rows)

    def read(self, batch: Batch, columns: Sequence[str] | None = None) -> pa.Table:
        """The table of a stored batch, or only these columns of it.

        Raises: BedsideError when the file is missing or was damaged since it was written; InputError on a machine that
        does not see the workspace.
        """
        path = self._batches / f"{batch.digest}.parquet"
        data = read_file(path) if is_there(path) else b""
        if hashlib.sha256(data).hexdigest() != batch.digest:
            check_seen(self.folder)
            raise BedsideError(
                path,
                found="the file is missing" if not data else "the file is damaged",
                expected="the batch that an earlier stage wrote",
                do="Delete this file if it is there and run the same command again: it will be computed anew",
            )
        # Not pq.read_table: its thread may let go of the bytes only as the interpreter ends, which aborts the process.
        with pq.ParquetFile(pa.BufferReader(data)) as file:
            return file.read(columns=None if columns is None else list(columns), use_threads=False)

    def rows(self, batches: Sequence[Batch], columns: Sequence[str] | None = None) -> StoredRows:
        """The rows of stored batches, or only these columns of them."""
        return StoredRows(self, tuple(batches), columns)

    def save(self, name: str, result: Result) -> Result:
        """Record a result, and the one that stands: of several writers, the first has made it.

        Its batches must have been written before, for its presence means that all is there.

        Raises: BedsideError when the disk is full.
        """
        path, data = self._results / f"{name}.json", json.dumps(asdict(result)).encode()
        if not write_first(path, data):
            if (winner := self.load(name)) is not None:
                return winner
            write_whole(path, data)  # damaged, or a batch of it is gone
        return result

    def load(self, name: str) -> Result | None:
        """The recorded result, or None when there is none or when one of its batches is gone."""
        try:
            path = self._results / f"{name}.json"
            result = from_json(Result, read_file(path), path)
        except InputError:
            return None  # a file that a failing disk truncated is as good as none
        return result if self._all_there(result.kept) else None

    def _all_there(self, batches: Sequence[Batch]) -> bool:
        return all(is_there(self._batches / f"{batch.digest}.parquet") for batch in batches)


@dataclass(frozen=True)
class StoredRows(Collection[Row]):
    """Rows that lie in a workspace: read batch by batch, each time that they are gone through, and never held."""

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
