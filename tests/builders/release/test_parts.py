"""Shards made by tasks: whoever makes them, in whatever order and however often, the release is the same."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pydantic import JsonValue

from builders.pipeline.image_store import ImageStore
from builders.pipeline.rows import Row
from builders.pipeline.workspace import Workspace
from builders.release.counted import Counted
from builders.release.parts import Stored
from builders.release.shards import parquet_file
from loaders.engines.local import Local
from loaders.errors import BedsideError
from loaders.files.stores import Folder
from tests.loaders.engines.test_engines import Shuffled
from tests.parts.small_release import files_of, measure, png, row, write_small

SPLITS = ("train", "test", "train", "validation", "train")
ROWS = [row(number, SPLITS[number % 5]) for number in range(40)]


class Tally:
    """As `measure`, in parts."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.letters = 0

    def add(self, row: Row) -> None:
        self.kinds["picture" if row["kind"] else "scan"] += 1
        self.letters += len(row["caption"])

    def merge(self, other: Tally) -> None:
        self.kinds += other.kinds
        self.letters += other.letters

    def statistics(self) -> JsonValue:
        return {"kinds": dict(self.kinds), "letters": self.letters}


def stored(folder: Path, batch_rows: int) -> Stored:
    """The rows in batches of a workspace, their images in a store."""
    store, images = Workspace(folder), ImageStore(Folder(folder))
    named = []
    for one in ROWS:
        name = None if one["image"] is None else f"{images.put(one['image']['bytes'])}.png"
        named.append({**one, "image": name})
    with store.store.held(folder):
        batches = [
            store.write(pa.Table.from_pylist(named[at : at + batch_rows])) for at in range(0, len(named), batch_rows)
        ]
    return Stored(batches, store, images, "image_id", list(ROWS[0]))


def plain() -> list[Row]:
    """The rows as they are stored: an image is called after its row."""
    return [{**one, "image": one["image"] and {**one["image"], "path": f"{one['image_id']}.png"}} for one in ROWS]


@pytest.mark.parametrize("engine", [Local(1), Shuffled(1), Shuffled(2)], ids=["in order", "one chance", "another"])
def test_any_engine_makes_the_same_shards(tmp_path: Path, engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.release.shards.GROUP_ROWS_IMAGES", 3)
    given: dict[str, Any] = {"shard_bytes": 2_000, "measure": Counted(Tally)}
    made = write_small(tmp_path / "out", ROWS, **given, rows=stored(tmp_path / "w", 7), engine=engine)
    assert len(made.shards("train")) > 2
    write_small(tmp_path / "calm", ROWS, **given, rows=stored(tmp_path / "w", 7))
    assert files_of(tmp_path / "out") == files_of(tmp_path / "calm")
    whole = write_small(tmp_path / "whole", plain(), measure=measure)
    assert (made.content_digest, made.statistics) == (whole.content_digest, whole.statistics)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["calm", "out", "w", "whole"]


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_bytes(png(1))], ids=["gone", "another"])
def test_an_image_that_is_gone_or_another_is_named(change: Callable[[Path], Any], tmp_path: Path) -> None:
    rows = stored(tmp_path / "w", 7)
    change(rows.images.path(rows.images.put(png(0))))
    with pytest.raises(BedsideError, match="an image of this build is missing or damaged"):
        write_small(tmp_path / "out", ROWS, rows=rows)


def test_a_row_more_leaves_most_bytes_of_a_file_as_they_were(tmp_path: Path) -> None:
    """So the Hub stores them once: pages begin where the content says, not after so many bytes."""
    draw = random.Random(0)
    pictures = [draw.randbytes(50_000).hex().encode() for _ in range(30)]
    for name, content in (("old", pictures), ("new", [b"one more", *pictures])):
        with parquet_file(tmp_path / name, pa.schema([("image", pa.binary())])) as write:
            write(pa.table({"image": content}))
    old, new = ((tmp_path / name).read_bytes() for name in ("old", "new"))
    assert old[len(old) // 2 :][:10_000] in new
