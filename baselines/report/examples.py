"""Pairs of a release to look at: those with a failed gate first, the others drawn by seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa

from loaders.errors import InputError, ReleaseError
from loaders.files.tables import open_parquet
from loaders.files.untrusted import understood
from loaders.manifest import Manifest, order_splits
from loaders.medlaybench_v import CORPUS, entry
from loaders.pages import Entry

_Place = tuple[str, int, int]  # file, row group, row


def examples(release: Path, *, count: int = 6, seed: int = 0) -> list[Entry]:
    """`count` pairs of a release folder: up to half with a failed gate, the others drawn by seed.

    Raises: ReleaseError when the folder is no release or a file of it cannot be read, InputError when its corpus has no
    caption pairs.
    """
    manifest = Manifest.read(release)
    if manifest.corpus != CORPUS.name:
        raise InputError(release, found=f"a release of {manifest.corpus}", expected=f"one of {CORPUS.name}")
    with understood(release, expected="a release as it was built"):
        return _drawn(release, manifest, count, seed)


def _drawn(release: Path, manifest: Manifest, count: int, seed: int) -> list[Entry]:
    draw = random.Random(seed)
    failed: list[_Place] = []
    others: list[_Place] = []
    for split in order_splits(manifest.splits):
        for shard in manifest.shards(split):
            for group, table in _groups(release / shard, ["gates"]):
                for at, gates in enumerate(table.column("gates").to_pylist()):
                    sound = all(gate["passed"] for gate in gates or [])
                    (others if sound else failed).append((shard, group, at))
    chosen = draw.sample(failed, min(len(failed), count // 2))
    chosen += draw.sample(others, min(len(others), count - len(chosen)))
    return [_entry(release, place) for place in chosen]


def _entry(release: Path, place: _Place) -> Entry:
    shard, group, at = place
    ((_, table),) = _groups(release / shard, None, group)
    return entry(table.slice(at, 1).to_pylist()[0])


def _groups(path: Path, columns: Sequence[str] | None, only: int | None = None) -> Iterator[tuple[int, pa.Table]]:
    """The row groups of a file by number, or the one asked for; of all columns where none is named."""
    try:
        with open_parquet(path) as file:
            for group in range(file.num_row_groups) if only is None else [only]:
                yield group, file.read_row_group(group, columns=columns)
    except InputError as error:
        raise ReleaseError(path, found=f"cannot be read: {error.found}", expected="a Parquet file") from error
