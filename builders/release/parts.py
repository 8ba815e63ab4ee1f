"""Cuts a release into shards, each written by a task where its rows lie.

    parts (batches of a workspace) -> outline of each: splits and sizes of its rows, digests of keys    a task a part
    outlines                       -> which rows of which parts are a shard                             by numbers alone
    rows of a shard                -> <split>-00000.parquet, its content, what is counted of it         a task a shard

The cut depends on the rows and the parts that they lie in, never on who does the work.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from builders.pipeline.image_store import FRAMES, ImageStore, digest_of_image
from builders.pipeline.keys import Keys
from builders.pipeline.rows import BuildError, Row
from builders.pipeline.workspace import Batch, Workspace
from builders.release.counted import Tally
from builders.release.shards import GROUP_BYTES, SHARD_BYTES, SPLIT_NAME, Shape, write_shard
from builders.unanswered import UNANSWERED
from loaders.engines.choice import opened
from loaders.engines.engine import Engine
from loaders.engines.local import Local
from loaders.engines.sight import check_seen
from loaders.errors import ReleaseError
from loaders.files.disk import scratch, writing
from loaders.manifest import FileFacts, content_line, file_digest

LINES = ".lines"
"""The extension of a file that holds the content of a shard in the form in which the digest of its split counts it."""


@dataclass(frozen=True)
class Stored:
    """The rows of a release: `columns` of batches of a workspace, which are read where they are worked on, and the
    store of the images that they name."""

    parts: Sequence[Batch]
    store: Workspace
    images: ImageStore
    key: str
    columns: Sequence[str]

    @property
    def anywhere(self) -> bool:
        """Whether they are read on machines that share no disk with this one."""
        return self.store.store.anywhere

    def outline(self, part: Batch) -> Iterator[tuple[Any, Any, int]]:
        """Key, split and approximate size in bytes, of each row."""
        table = self._table(part)
        told = [name for name in (self.key, "split", "image") if name in table.column_names]
        each = table.nbytes // part.rows if part.rows else 0
        for row in table.select(told).to_pylist():
            image = self.images.size(digest_of_image(row)) if row.get("image") else 0
            yield row[self.key], row.get("split"), image + each

    def rows(self, part: Batch, split: str) -> Sequence[Row]:
        """The rows of a split, in the form that `filled` takes."""
        table = self._table(part)
        rows: list[Row] = table.filter(pc.equal(table["split"], split)).to_pylist()
        return rows

    def filled(self, row: Row) -> Row:
        """The row as it is stored: an image is {"bytes": …, "path": …}."""
        if not row.get("image"):
            return row
        digest, ending = row["image"].split(".")
        return {**row, "image": {"bytes": self.images.get(digest), "path": f"{row[self.key]}.{ending}"}}

    def _table(self, part: Batch) -> pa.Table:
        return self.store.read(part, [column for column in self.columns if column not in (FRAMES, UNANSWERED)])


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive rows of one split within one part, beginning with the `start`th row of that split there."""

    split: str
    start: int
    rows: int = 0
    num_bytes: int = 0


_Shard = list[tuple[Batch, Piece]]


@dataclass(frozen=True, slots=True)
class Written:
    """A written shard: its rows, their bytes in memory, the file, and what was counted in it."""

    rows: int
    num_bytes: int
    file: FileFacts
    tally: Any


@dataclass(frozen=True)
class Outlining:
    """The task that says what a part holds: pieces of at most as many rows as a row group, and digests of its keys."""

    parts: Stored
    group_rows: int
    packages: Sequence[str] = ()
    floats: bool = False

    @property
    def anywhere(self) -> bool:
        """As `Task`."""
        return self.parts.anywhere

    def __call__(self, name: str, unit: Batch) -> tuple[list[Piece], bytes]:
        keys, pieces, held = Keys(), list[Piece](), dict[str, Piece]()
        for key, split, size in self.parts.outline(unit):
            if not isinstance(split, str) or not SPLIT_NAME.fullmatch(split):
                raise BuildError(f"release: row {key!r}: found split {split!r}, expected letters, digits and _")
            keys.add(str(key))
            begun = held.get(split) or Piece(split, 0)
            piece = replace(begun, rows=begun.rows + 1, num_bytes=begun.num_bytes + size)
            if piece.rows >= self.group_rows or piece.num_bytes >= GROUP_BYTES:
                pieces.append(piece)
                piece = Piece(split, piece.start + piece.rows)
            held[split] = piece
        return pieces + [piece for piece in held.values() if piece.rows], keys.digests

    def told(self, unit: Batch) -> str:
        return "what a batch holds"


@dataclass(frozen=True)
class Sharding:
    """The task that writes shards, each under its name in `folder`, with a file of its content beside it (`LINES`)."""

    parts: Stored
    shape: Shape
    folder: Path
    tally: Callable[[], Tally] | None
    packages: Sequence[str] = ()
    floats: bool = False

    def __call__(self, name: str, unit: _Shard) -> Written:
        tally = self.tally() if self.tally else None
        check_seen(self.folder)
        with writing(self.folder), scratch(self.folder) as own:
            path, lines = own / name, own / f"{name}{LINES}"
            with lines.open("wb") as content:

                def take(row: Row) -> None:
                    content.write(content_line(row))
                    if tally is not None:
                        tally.add(row)

                rows, num_bytes = write_shard(path, self._rows(unit), self.shape, take)
            file = FileFacts(sha256=file_digest(path), size=path.stat().st_size)
            for whole in (lines, path):  # a task that was thought lost may write the same once more
                os.replace(whole, self.folder / whole.name)  # noqa: PTH105 - atomic, also where a file is
        return Written(rows, num_bytes, file, tally)

    def _rows(self, unit: _Shard) -> Iterator[Row]:
        for part, piece in unit:
            for row in self.parts.rows(part, piece.split)[piece.start : piece.start + piece.rows]:
                yield self.parts.filled(row)

    def told(self, unit: _Shard) -> str:
        return f"a shard of split {unit[0][1].split}"


def cut(parts: Stored, shape: Shape, engine: Engine, packages: Sequence[str]) -> dict[str, list[_Shard]]:
    """Divide the pieces of each split into shards of about SHARD_BYTES.

    Raises: BuildError for an invalid split name; ReleaseError for a duplicate key.
    """
    numbered = [(str(number), part) for number, part in enumerate(parts.parts)]
    with closing(engine.each(Outlining(parts, shape.group_rows, packages), numbered, where="release")) as outlined:
        found = dict(outlined)
    shards: dict[str, list[_Shard]] = {}
    held: dict[str, int] = {}
    keys = Keys()
    for name, part in numbered:
        pieces, digests = found.pop(name)
        keys.extend(digests)
        for piece in pieces:
            of_split = shards.setdefault(piece.split, [])
            if not of_split or held[piece.split] + piece.num_bytes > SHARD_BYTES:
                of_split.append([])
                held[piece.split] = 0
            held[piece.split] += piece.num_bytes
            shard = of_split[-1]
            if shard and shard[-1][0] is part:
                piece = replace(piece, start=shard[-1][1].start, rows=shard.pop()[1].rows + piece.rows)
            shard.append((part, piece))
    for place, first in keys.repeats().items():
        found_twice = f"row {place + 1} has the {shape.key} of row {first + 1}"
        do = "Give each row an id of its own, or exclude rows with the step `unique` of builders/steps.py"
        raise ReleaseError("release", found=found_twice, expected="unique keys", do=do)
    return shards


def shard_name(split: str, number: int) -> str:
    """The name of a shard before it is known how many there are."""
    return f"{split}-{number:05d}.parquet"


def write_shards(
    folder: Path,
    parts: Stored,
    shape: Shape,
    *,
    engine: Engine | None,
    tally: Callable[[], Tally] | None,
    packages: Sequence[str],
) -> dict[str, list[Written]]:
    """Write the shards of all splits into `folder`, each with its lines; returns what was written, by split, in order.

    If the rows are in a bucket, other machines need not see `folder`: this one writes, since all bytes must come here.

    Raises: as `cut`; BuildError when a row does not fit; BedsideError when the disk is full.
    """
    engine = engine if engine is not None and len(parts.parts) > 1 else Local()  # one part is not worth a process
    shards = cut(parts, shape, engine, packages)
    units = [
        (shard_name(split, number), pieces)
        for split, of_split in shards.items()
        for number, pieces in enumerate(of_split)
    ]
    task = Sharding(parts, shape, folder, tally, packages)
    own = opened() if engine.spread and parts.anywhere else nullcontext(engine)
    with own as writers, closing(writers.each(task, units, where="release")) as finished:
        written = dict(finished)
    return {
        split: [written[shard_name(split, number)] for number in range(len(of_split))]
        for split, of_split in shards.items()
    }
