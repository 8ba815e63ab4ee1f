"""The Parquet files of a release: written so that the same rows give the same bytes, and read back.

Shards carry the features of `datasets` in their schema, so that each decodes its images even when loaded on its own.
Content-defined chunking lets the Hub store equal parts of two versions once; the page index lets it read single rows.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from builders.pipeline.rows import BuildError, Row, to_table
from builders.pipeline.run import EXCLUSIONS
from builders.pipeline.work import schema_text
from loaders.errors import InputError, ReleaseError
from loaders.files.bad_rows import BadRow
from loaders.files.disk import writing
from loaders.files.tables import open_parquet, parquet_rows
from loaders.manifest import Manifest
from loaders.schema import features_of

if TYPE_CHECKING:
    import datasets

SPLIT_NAME = re.compile(r"\w+", re.ASCII)

CANARY = "canary"
"""The metadata key of a Parquet file that holds the canary of its release."""
SHARD_BYTES = 400_000_000
GROUP_ROWS = 1_000
GROUP_ROWS_IMAGES = 100
GROUP_BYTES = 64_000_000
"""A row group, the unit that a reader fetches, ends after this many rows or this many bytes of images."""


def read_rows(folder: Path, manifest: Manifest, *splits: str) -> Iterator[Row]:
    """The rows of a release (of these splits, or of all in split order). Raises: ReleaseError naming the shard that
    cannot be read, or whose columns differ from the manifest."""
    schema = features_of(manifest, str(folder)).arrow_schema
    for shard in manifest.shards(*(splits or manifest.splits)):
        yield from read_parquet(folder, shard, schema, manifest.key)


def read_parquet(folder: Path, name: str, schema: pa.Schema = EXCLUSIONS, key: str = "key") -> Iterator[Row]:
    """The rows of one Parquet file of a release, each with its `key`; by default the exclusions file. Raises:
    ReleaseError if it cannot be read, or holds other columns."""
    where = folder / name
    try:
        with open_parquet(where) as file:
            found = file.schema_arrow
        if (other := other_columns(found, schema)) is not None:
            raise ReleaseError(where, found=other[0], expected=other[1])
        for placed in parquet_rows(where):
            if isinstance(placed, BadRow):
                raise placed
            if not isinstance(placed[1].get(key), str):
                raise ReleaseError(placed[0], found=f"a row without {key}", expected="one in every row")
            yield dict(placed[1])
    except InputError as error:
        found = f"cannot be read: {error.found}"
        raise ReleaseError(where, found=found, expected="a Parquet file", do=error.do) from error


def other_columns(found: pa.Schema, expected: pa.Schema) -> tuple[str, str] | None:
    """The columns that a file has and should not have, and those that it should have instead; None if it is right.

    Only what differs is named: of twenty columns, nobody finds the renamed one.
    """
    if found.equals(expected):
        return None
    more, less = (
        [schema_text([column]) for column in own if not any(column.equals(one) for one in other)]
        for own, other in ((found, expected), (expected, found))
    )
    if not more and not less:
        return f"columns in the order {', '.join(found.names)}", ", ".join(expected.names)
    lacks = f"no column {'; '.join(less)}"
    return f"a column {'; '.join(more)}" if more else lacks, "; ".join(less) or "no such column"


@dataclass(frozen=True)
class Shape:
    """What all shards of a release share: their columns, those that hold images, the key, and the canary in their
    metadata."""

    schema: pa.Schema
    images: tuple[str, ...]
    key: str
    canary: str | None = None

    @classmethod
    def of(cls, features: datasets.Features, key: str, canary: str | None = None) -> Shape:
        """The shape of these features; worked out here, since `datasets` takes longer to import than a shard to
        write."""
        from datasets import Image

        images = tuple(name for name, feature in features.items() if isinstance(feature, Image))
        schema = features.arrow_schema
        told = json.loads(schema.metadata[b"huggingface"], object_hook=_as_before)
        return cls(schema.with_metadata({"huggingface": json.dumps(told)}), images, key, canary)

    @property
    def group_rows(self) -> int:
        """The maximum number of rows in a row group."""
        return GROUP_ROWS_IMAGES if self.images else GROUP_ROWS


def _as_before(part: dict[str, Any]) -> Any:
    """A list of any length as `datasets` described it up to version 3, which cannot read its `List`; later ones read
    both."""
    return [part["feature"]] if part.get("_type") == "List" and part.get("length", -1) == -1 else part


def write_shard(path: Path, rows: Iterable[Row], shape: Shape, take: Callable[[Row], None]) -> tuple[int, int]:
    """Write one Parquet file of these rows; returns how many there are, and their bytes in memory.

    `take` is called with each row as it will be read back, since a 32-bit float changes on the way.

    Raises: BuildError when a row does not fit; BedsideError when the disk is full.
    """
    number, num_bytes = 0, 0
    with parquet_file(path, shape.schema, shape.canary) as write:
        for group in _groups(rows, shape):
            table = to_table(group, shape.schema, where="release", key=shape.key)
            for row in table.to_pylist():
                take(row)
            write(table)
            number += table.num_rows
            num_bytes += table.nbytes
    return number, num_bytes


def _groups(rows: Iterable[Row], shape: Shape) -> Iterator[list[Row]]:
    """The rows of one row group after another, with images in the form in which they are stored."""
    images, most = shape.images, shape.group_rows
    group: list[Row] = []
    num_bytes = 0
    for row in rows:
        row = {**row, **{name: _image(row, name, shape.key) for name in images}}
        group.append(row)
        num_bytes += sum(len(row[name]["bytes"]) for name in images if row[name] is not None)
        if len(group) >= most or num_bytes >= GROUP_BYTES:
            yield group
            group, num_bytes = [], 0
    if group:
        yield group


def _image(row: Row, name: str, key: str) -> dict[str, Any] | None:
    cell = row.get(name)
    if cell is None:
        return None
    if not isinstance(cell, dict) or not isinstance(cell.get("bytes"), bytes):
        expected = 'null or {"bytes": …, "path": …}: a release holds its images'
        raise BuildError(f"release: row {row[key]!r}, column {name}: found no image bytes, expected {expected}")
    path = cell.get("path")
    return {"bytes": cell["bytes"], "path": None if path is None else Path(path).name}


@contextmanager
def parquet_file(path: Path, schema: pa.Schema, canary: str | None = None) -> Iterator[Callable[[pa.Table], None]]:
    """A Parquet file, on disk at the end, and what adds a table to it as one row group.

    The same tables give the same bytes, and the Hub stores equal parts once. A `canary` is in its metadata (`CANARY`).
    """

    def write(table: pa.Table) -> None:
        with writing(path):
            writer.write_table(table, row_group_size=max(1, table.num_rows))

    with path.open("wb") as file:
        writer = pq.ParquetWriter(
            file,
            schema,
            compression="zstd",
            use_dictionary=[leaf for field in schema for leaf in _text_leaves(field.name, field.type)],
            use_content_defined_chunking=True,
            write_page_index=True,
        )
        if canary is not None:
            writer.add_key_value_metadata({CANARY: canary})
        try:
            yield write
        finally:
            with writing(path):
                writer.close()
                file.flush()
                os.fsync(file.fileno())


def _text_leaves(path: str, kind: pa.DataType) -> list[str]:
    """The Parquet columns of a field for which a dictionary saves space: all but bytes."""
    if pa.types.is_struct(kind):
        return [leaf for field in kind for leaf in _text_leaves(f"{path}.{field.name}", field.type)]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _text_leaves(f"{path}.list.element", kind.value_type)
    return [] if pa.types.is_binary(kind) else [path]
