"""The Parquet files of a release: written so that the same rows give the same bytes, and read back.

Shards carry the features of `datasets` in their schema, so that each decodes its images even when loaded on its own.
Content-defined chunking lets the Hub store equal parts of two versions once; the page index lets it read single rows.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
import pyarrow.parquet as pq

from builders.pipeline.rows import BuildError, Row, to_table
from builders.pipeline.run import EXCLUSIONS
from loaders.errors import InputError, ReleaseError
from loaders.files.disk import writing
from loaders.files.tables import open_parquet, parquet_rows
from loaders.files.untrusted import BadRow
from loaders.manifest import ContentDigest, Manifest, SplitFacts, order_splits
from loaders.schema import features_of

SPLIT_NAME = re.compile(r"\w+", re.ASCII)

CANARY = "canary"
"""The key of a Parquet file's metadata that holds the canary of its release."""
SHARD_BYTES = 400_000_000
GROUP_ROWS = 1_000
GROUP_ROWS_IMAGES = 100
GROUP_BYTES = 64_000_000
"""A row group, the unit that a reader fetches, ends after so many rows or so many bytes of images."""


def read_rows(folder: Path, manifest: Manifest, *splits: str) -> Iterator[Row]:
    """The rows of a release (of these splits, or of all in split order).

    Raises: ReleaseError naming the shard that cannot be read, or that holds other columns than the manifest says.
    """
    schema = features_of(manifest, str(folder)).arrow_schema
    for split in splits or order_splits(manifest.splits):
        for shard in manifest.shards(split):
            yield from read_parquet(folder, shard, schema, manifest.key)


def read_parquet(folder: Path, name: str, schema: pa.Schema = EXCLUSIONS, key: str = "key") -> Iterator[Row]:
    """The rows of one Parquet file of a release, each of which has its `key`; its exclusions unless others are named.

    Raises: ReleaseError when it cannot be read, or holds other columns.
    """
    where = folder / name
    try:
        with open_parquet(where) as file:
            found = file.schema_arrow
        if not found.equals(schema):
            types = [f"{field.name} {field.type}" for field in found]
            raise ReleaseError(where, found=f"columns {', '.join(types)}", expected=", ".join(schema.names))
        for placed in parquet_rows(where):
            if isinstance(placed, BadRow):
                raise placed
            if not isinstance(placed[1].get(key), str):
                raise ReleaseError(placed[0], found=f"a row without {key}", expected="one in every row")
            yield dict(placed[1])
    except InputError as error:
        raise ReleaseError(where, found=f"cannot be read: {error.found}", expected="a Parquet file") from error


class SplitWriter:
    """The shards of one split, as its rows come in."""

    def __init__(
        self,
        folder: Path,
        split: str,
        features: datasets.Features,
        key: str,
        shard_bytes: int,
        canary: str | None = None,
    ) -> None:
        self.split = split
        self._folder = folder
        self._schema = features.arrow_schema
        self._images = [name for name, feature in features.items() if isinstance(feature, datasets.Image)]
        self._key = key
        self._shard_bytes = shard_bytes
        self._canary = canary
        self._group: list[Row] = []
        self._group_bytes = 0
        self._shard: Shard | None = None
        self._shards: list[Path] = []
        self._num_bytes = 0
        self._content = ContentDigest()

    def add(self, row: Row) -> None:
        """Take in the next row of the split."""
        row = {**row, **{name: self._image(row, name) for name in self._images}}
        self._group.append(row)
        self._group_bytes += sum(len(row[name]["bytes"]) for name in self._images if row[name] is not None)
        if len(self._group) >= (GROUP_ROWS_IMAGES if self._images else GROUP_ROWS) or self._group_bytes >= GROUP_BYTES:
            self._flush()

    def finish(self) -> SplitFacts:
        """Write what is left and give the shards their names, which tell how many there are."""
        self._flush()
        self.close()
        for number, path in enumerate(self._shards):
            path.rename(self._folder / f"{self.split}-{number:05d}-of-{len(self._shards):05d}.parquet")
        return SplitFacts(rows=self._content.rows, num_bytes=self._num_bytes, content_digest=self._content.hexdigest())

    def close(self) -> None:
        """End the shard that is open, if any."""
        shard, self._shard = self._shard, None
        if shard is not None:
            shard.close()

    def _image(self, row: Row, name: str) -> dict[str, Any] | None:
        cell = row.get(name)
        if cell is None:
            return None
        if not isinstance(cell, dict) or not isinstance(cell.get("bytes"), bytes):
            expected = 'null or {"bytes": …, "path": …}: a release holds its images'
            raise BuildError(
                f"release: row {row[self._key]!r}, column {name}: found no image bytes, expected {expected}"
            )
        path = cell.get("path")
        return {"bytes": cell["bytes"], "path": None if path is None else Path(path).name}

    def _flush(self) -> None:
        if not self._group:
            return
        table = to_table(self._group, self._schema, where="release", key=self._key)
        for row in table.to_pylist():  # as it will be read back, which a float of 32 bits is not
            self._content.update(row)
        if self._shard is not None and self._shard.num_bytes + table.nbytes > self._shard_bytes:
            self.close()
        if self._shard is None:
            self._shards.append(self._folder / f"{self.split}-{len(self._shards):05d}.parquet")
            self._shard = Shard(self._shards[-1], self._schema, self._canary)
        self._shard.write(table)
        self._num_bytes += table.nbytes
        self._group, self._group_bytes = [], 0


class Shard:
    """One Parquet file, written so that the same tables give the same bytes and the Hub stores equal parts once.

    A `canary` stands in its metadata (`CANARY`).
    """

    def __init__(self, path: Path, schema: pa.Schema, canary: str | None = None) -> None:
        self.num_bytes = 0
        self._path = path
        self._file = path.open("wb")
        self._writer = pq.ParquetWriter(
            self._file,
            schema,
            compression="zstd",
            use_dictionary=[leaf for field in schema for leaf in _text_leaves(field.name, field.type)],
            use_content_defined_chunking=True,
            write_page_index=True,
        )
        if canary is not None:
            self._writer.add_key_value_metadata({CANARY: canary})

    def write(self, table: pa.Table) -> None:
        """Add the table as one row group."""
        with writing(self._path):
            self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self.num_bytes += table.nbytes

    def close(self) -> None:
        """Write the footer, and see to it that the bytes are on the disk."""
        with writing(self._path), self._file:
            self._writer.close()
            self._file.flush()
            os.fsync(self._file.fileno())


def _text_leaves(path: str, kind: pa.DataType) -> list[str]:
    """The Parquet columns of a field that a dictionary makes smaller: all but bytes."""
    if pa.types.is_struct(kind):
        return [leaf for field in kind for leaf in _text_leaves(f"{path}.{field.name}", field.type)]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _text_leaves(f"{path}.list.element", kind.value_type)
    return [] if pa.types.is_binary(kind) else [path]
