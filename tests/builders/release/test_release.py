"""Release folders: whole or absent, the same bytes each time, loadable by plain `datasets`."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import threading
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import datasets
import filelock
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from builders.pipeline.rows import BuildError, Row
from builders.release.shards import read_rows
from loaders.errors import BedsideError, InputError, ReleaseError
from loaders.manifest import Code, ContentDigest, Manifest
from tests.parts.processes import forked, printed
from tests.parts.small_release import EXCLUSIONS, FEATURES, Held, files_of, png, row, rows, write_small
from tests.parts.waiting import PATIENCE

SPLITS = {"train": [1, 2, 5, 6, 9, 10], "validation": [3, 7, 11], "test": [0, 4, 8]}


def siblings(out: Path) -> list[str]:
    return sorted(path.name for path in out.parent.iterdir())


def as_stored(number: int, split: str) -> Row:
    expected = row(number, split)
    expected["score"] = pa.array([expected["score"]], pa.float32())[0].as_py()
    return expected


# --- what is written --------------------------------------------------------------------------------------------------


def test_the_folder_and_its_manifest(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()  # an empty folder may be used
    manifest = write_small(tmp_path / "out")
    assert sorted(files_of(tmp_path / "out")) == [
        "README.md",
        *(f"data/{split}-00000-of-00001.parquet" for split in ("test", "train", "validation")),
        "exclusions.parquet",
        "manifest.json",
    ]
    assert siblings(tmp_path / "out") == ["out"]
    assert Manifest.read(tmp_path / "out") == manifest
    assert {name: split.rows for name, split in manifest.splits.items()} == {"train": 6, "validation": 3, "test": 3}
    assert manifest.check_files(tmp_path / "out") == [] and manifest.check_counts() == []
    assert manifest.statistics == {"kinds": {"picture": 6, "scan": 6}, "letters": 10 * 9 + 2 * 10}
    found = list(read_rows(tmp_path / "out", manifest))
    assert found == [as_stored(number, split) for split, numbers in SPLITS.items() for number in numbers]
    content = ContentDigest()
    for number in SPLITS["test"]:
        content.update(as_stored(number, "test"))
    assert manifest.splits["test"].content_digest == content.hexdigest()
    assert pq.read_table(tmp_path / "out" / "exclusions.parquet").to_pylist() == EXCLUSIONS


def test_load_dataset_decodes_the_images(tmp_path: Path) -> None:
    write_small(tmp_path / "out")
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert list(loaded) == ["train", "validation", "test"]
    assert loaded["train"].features == FEATURES
    first = loaded["test"][0]
    assert first["image"].size == (4, 3) and first["image"].getpixel((0, 0)) == 0
    assert loaded["test"][1]["image"].getpixel((0, 0)) == 4
    assert loaded["validation"]["image"] == [None, None, None]
    assert first["kind"] == 0 and loaded["train"]["image_id"] == [f"r{n:03}" for n in SPLITS["train"]]
    shard = str(tmp_path / "out" / "data" / "test-00000-of-00001.parquet")
    bare = datasets.load_dataset("parquet", data_files=shard, cache_dir=str(tmp_path / "cache"), split="train")
    assert bare.features == FEATURES and bare[1]["image"].getpixel((0, 0)) == 4


def test_datasets_2_and_3_know_the_types_of_a_shard(tmp_path: Path) -> None:
    write_small(tmp_path / "out")
    told = pq.read_schema(tmp_path / "out" / "data" / "test-00000-of-00001.parquet").metadata[b"huggingface"]
    kinds = re.findall(r'"_type": "(\w+)"', told.decode())
    assert set(kinds) == {"Image", "Value", "ClassLabel"}  # and no `List`, which came with version 4


def test_shards_are_numbered_and_hold_the_rows_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.release.shards.GROUP_ROWS_IMAGES", 2)
    manifest = write_small(tmp_path / "out", shard_bytes=600)
    assert len(manifest.shards("train")) == 3
    assert manifest.shards("train")[1] == "data/train-00001-of-00003.parquet"
    assert [found["image_id"] for found in read_rows(tmp_path / "out", manifest, "train")] == [
        f"r{number:03}" for number in SPLITS["train"]
    ]
    whole = write_small(tmp_path / "whole")
    assert whole.content_digest == manifest.content_digest  # how rows are cut into shards does not matter
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"), split="train")
    assert loaded.num_rows == 6


def test_parquet_is_written_for_the_hub(tmp_path: Path) -> None:
    write_small(tmp_path / "out", [row(number, "train") for number in range(250)], exclusions=[])
    facts = pq.ParquetFile(tmp_path / "out" / "data" / "train-00000-of-00001.parquet").metadata
    assert [facts.row_group(i).num_rows for i in range(facts.num_row_groups)] == [100, 100, 50]
    columns = {
        facts.row_group(0).column(i).path_in_schema: facts.row_group(0).column(i) for i in range(facts.num_columns)
    }
    assert {column.compression for column in columns.values()} == {"ZSTD"}
    assert columns["caption"].has_offset_index and columns["caption"].has_column_index
    assert "RLE_DICTIONARY" in columns["split"].encodings
    assert "RLE_DICTIONARY" not in columns["image.bytes"].encodings


def test_a_row_group_of_large_images_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.release.shards.GROUP_BYTES", sum(len(png(number)) for number in (0, 1, 2, 4, 5)))
    write_small(tmp_path / "out", [row(number, "train") for number in (0, 1, 2, 4, 5, 6, 8)], exclusions=[])
    facts = pq.ParquetFile(tmp_path / "out" / "data" / "train-00000-of-00001.parquet").metadata
    assert [facts.row_group(i).num_rows for i in range(facts.num_row_groups)] == [5, 2]


def test_a_shard_of_large_images_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.release.parts.GROUP_BYTES", 1)
    write_small(tmp_path / "out", shard_bytes=500)
    assert len(list((tmp_path / "out" / "data").iterdir())) > 3


def test_only_the_last_part_of_an_image_path_is_kept(tmp_path: Path) -> None:
    content = [row(0, "test", image={"bytes": png(0), "path": "/home/someone/pictures/a.png"})]
    manifest = write_small(tmp_path / "out", content)
    assert [found["image"]["path"] for found in read_rows(tmp_path / "out", manifest)] == ["a.png"]


SCRIPT = """
import sys
from pathlib import Path
from tests.parts.small_release import write_small
write_small(Path(sys.argv[1]))
"""


def test_place_time_locale_and_hash_seed_change_no_byte(tmp_path: Path) -> None:
    write_small(tmp_path / "here")
    there = tmp_path / "another place" / "there"
    printed("-c", SCRIPT, there, PYTHONHASHSEED="7", TZ="Asia/Tokyo", LC_ALL="C")
    assert files_of(there) == files_of(tmp_path / "here")


# --- what is refused --------------------------------------------------------------------------------------------------


def test_no_row_left_tells_the_reasons(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match=r"no rows are left \(no licence: 2; no caption: 1\)") as error:
        write_small(tmp_path / "out", [])
    assert "the first is x1: row 1" in str(error.value)
    with pytest.raises(ReleaseError, match=r"no rows are left \(the source was empty\)"):
        write_small(tmp_path / "out", [], exclusions=[])
    assert siblings(tmp_path / "out") == []


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        ([row(0, "test"), row(0, "train")], ReleaseError, "row 2 has the image_id of row 1"),
        ([row(0, "te-st")], BuildError, "found split 'te-st'"),
        ([{**row(0, "test"), "split": None}], BuildError, "found split None"),
        ([row(0, "test", caption=3)], BuildError, "release: row 'r000', column caption: found int, expected string"),
        ([row(0, "test", kind="scan")], BuildError, "column kind: found str, expected int64"),
        ([row(0, "test", image={"bytes": None, "path": "a.png"})], BuildError, "found no image bytes"),
        ([row(0, "test", image="a.png")], BuildError, "found no image bytes"),
    ],
)
def test_rows_that_cannot_be_released(content: list[Row], error: type[Exception], message: str, tmp_path: Path) -> None:
    with pytest.raises(error, match=message):
        write_small(tmp_path / "out", content)
    assert siblings(tmp_path / "out") == []


def test_counts_that_do_not_add_up(tmp_path: Path) -> None:
    with pytest.raises(ReleaseError, match="expected in = out \\+ excluded"):
        write_small(tmp_path / "out", stages=[{"name": "s", "version": 1, "rows_in": 9, "rows_out": 9, "excluded": {}}])
    assert siblings(tmp_path / "out") == []


def test_what_is_not_a_release_is_never_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("mine")
    (tmp_path / "file").write_text("mine")
    for name in ("thesis", "file"):
        with pytest.raises(InputError, match="already exists and is not a release"):
            write_small(tmp_path / name, overwrite=True)
    assert files_of(tmp_path) == {"file": b"mine", "thesis/chapter.tex": b"mine"}
    write_small(tmp_path / "release")
    write_small(tmp_path / "release", overwrite=True)
    for name in (".DS_Store", "._train.parquet"):
        (tmp_path / "release" / "data" / name).write_text("of a Mac, where somebody looked into the folder")
    write_small(tmp_path / "release", overwrite=True)
    (tmp_path / "release" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="other files in it: notes.txt"):
        write_small(tmp_path / "release", overwrite=True)
    assert (tmp_path / "release" / "notes.txt").read_text() == "mine"
    with pytest.raises(InputError, match="is a file, not a folder"):
        write_small(tmp_path / "file" / "out")


def test_the_same_release_again_is_left_as_it_is(tmp_path: Path) -> None:
    write_small(tmp_path / "out")
    before = (tmp_path / "out" / "manifest.json").stat()
    write_small(tmp_path / "out")
    assert (tmp_path / "out" / "manifest.json").stat().st_ino == before.st_ino
    assert siblings(tmp_path / "out") == ["out"]


def test_the_same_bytes_by_another_commit_are_the_same_release(tmp_path: Path) -> None:
    first = write_small(tmp_path / "out", code=Code(commit="a" * 40, changed=False, lock=None))
    before = files_of(tmp_path / "out")
    write_small(tmp_path / "out", code=Code(commit="b" * 40, changed=True, lock="c" * 64))
    assert files_of(tmp_path / "out") == before and Manifest.read(tmp_path / "out") == first


def test_another_release_is_replaced_only_when_told(tmp_path: Path) -> None:
    write_small(tmp_path / "out")
    before = files_of(tmp_path / "out")
    with pytest.raises(InputError, match=r"already holds another release.* --overwrite"):
        write_small(tmp_path / "out", rows()[:5])
    assert files_of(tmp_path / "out") == before and siblings(tmp_path / "out") == ["out"]
    manifest = write_small(tmp_path / "out", rows()[:5], overwrite=True)
    assert Manifest.read(tmp_path / "out") == manifest and manifest.check_files(tmp_path / "out") == []
    assert siblings(tmp_path / "out") == ["out"]


def test_a_symlink_stays_one(tmp_path: Path) -> None:
    write_small(tmp_path / "there" / "out")
    (tmp_path / "link").symlink_to(tmp_path / "there" / "out")
    manifest = write_small(tmp_path / "link", rows()[:5], overwrite=True)
    assert (tmp_path / "link").is_symlink() and Manifest.read(tmp_path / "there" / "out") == manifest
    assert siblings(tmp_path / "link") == ["link", "there"] and siblings(tmp_path / "there" / "out") == ["out"]


def test_a_damaged_release_is_not_called_up_to_date(tmp_path: Path) -> None:
    write_small(tmp_path / "out")
    good = files_of(tmp_path / "out")
    card = tmp_path / "out" / "README.md"
    card.write_text(card.read_text().replace("Small", "Large"))
    with pytest.raises(InputError, match=r"holds a damaged copy of this release \(README.md"):
        write_small(tmp_path / "out")
    write_small(tmp_path / "out", overwrite=True)
    assert files_of(tmp_path / "out") == good


# --- interruptions ----------------------------------------------------------------------------------------------------


def die(*_: Any, **__: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


class Some(Held):
    def filled(self, row: Row) -> Row:
        return die() if row["image_id"] == "r005" else row


def dying(out: Path, moment: str) -> None:
    """Writes a release, and dies at that moment: in a copy of this process, where nothing is put back."""
    if moment == "manifest":
        replace = os.replace
        os.replace = lambda a, b: die() if b.name == "manifest.json" else replace(a, b)  # type: ignore[assignment]
    if moment == "swap":  # the clean-up after the old and the new release have changed places
        remove = shutil.rmtree
        shutil.rmtree = lambda path, **more: (  # type: ignore[assignment]
            die() if (Path(path) / "manifest.json").exists() else remove(path, **more)
        )
    more: dict[str, Any] = {"rows": Some(rows(), "image_id"), "measure": die, "card": die}
    given = {moment: more[moment]} if moment in more else {}
    write_small(out, rows()[:5] if moment == "swap" else None, overwrite=True, **given)


@pytest.mark.parametrize("moment", ["rows", "measure", "card", "manifest", "swap"])
def test_whenever_killed_the_folder_holds_a_whole_release_or_none(moment: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    if moment == "swap":
        write_small(out)
    assert forked(partial(dying, out, moment)) == -signal.SIGKILL
    assert ".out.building" in siblings(out)
    if moment == "swap":
        present = Manifest.read(out)
        assert present.check_files(out) == [] and present.rows == 5
    else:
        assert not out.exists()
    write_small(out, overwrite=moment == "swap")
    write_small(tmp_path / "calm")
    assert files_of(out) == files_of(tmp_path / "calm")
    assert siblings(out) == ["calm", "out"]


def test_there_is_never_a_moment_without_a_release(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_small(out)
    counts, stop, looked = set(), threading.Event(), threading.Event()
    failures: list[Exception] = []

    def look() -> None:
        while not stop.is_set():
            try:
                counts.add(Manifest.read(out).rows)
            except Exception as error:
                failures.append(error)
            looked.set()

    reader = threading.Thread(target=look)
    reader.start()
    for number in range(8):
        write_small(out, rows()[: 6 + number % 2], overwrite=True)
        for _ in range(2):  # the first may have begun before
            looked.clear()
            assert looked.wait(PATIENCE)
    stop.set()
    reader.join()
    assert failures == [] and {6, 7} <= counts


def test_without_an_atomic_exchange_two_renames_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(*_: Any, **__: Any) -> None:
        raise OSError("no such library")

    write_small(tmp_path / "out")
    monkeypatch.setattr("builders.release.write.ctypes.CDLL", no_library)
    manifest = write_small(tmp_path / "out", rows()[:5], overwrite=True)
    assert Manifest.read(tmp_path / "out") == manifest and siblings(tmp_path / "out") == ["out"]


@pytest.mark.parametrize("stop", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()])
def test_stopped_between_the_two_renames_the_old_release_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    def no_library(*_: Any, **__: Any) -> None:
        raise OSError("no such library")

    def rename(place: Path, target: Path) -> Path:
        if place.name == ".out.building":
            raise stop
        return real(place, target)

    out, real = tmp_path / "out", Path.rename
    write_small(out)
    before = files_of(out)
    monkeypatch.setattr("builders.release.write.ctypes.CDLL", no_library)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", rename)
        with pytest.raises((InputError, KeyboardInterrupt)):
            write_small(out, rows()[:5], overwrite=True)
    assert files_of(out) == before and siblings(out) == ["out"]


def test_killed_between_the_two_renames_the_old_release_comes_back(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write_small(out)
    before = files_of(out)
    out.rename(tmp_path / ".out.previous")
    shutil.copytree(tmp_path / ".out.previous", tmp_path / ".out.building")
    with pytest.raises(InputError, match="already holds another release"):
        write_small(out, rows()[:5])
    assert files_of(out) == before and siblings(out) == ["out"]


def test_an_error_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    def stop(_: object) -> NoReturn:
        raise KeyboardInterrupt

    class Some(Held):
        def filled(self, row: Row) -> Row:
            return stop(row) if row["image_id"] == "r005" else row

    for more in ({"rows": Some(rows(), "image_id")}, {"measure": stop}, {"card": stop}):
        with pytest.raises(KeyboardInterrupt):
            write_small(tmp_path / "out", **more)
    assert siblings(tmp_path / "out") == []


def test_a_full_disk_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("builders.release.shards.os.fsync", fsync)
        with pytest.raises(BedsideError, match=r"train-00000\.parquet: the disk is full"):
            write_small(tmp_path / "out", [row(1, "train")])
    assert siblings(tmp_path / "out") == []


def test_one_build_at_a_time(tmp_path: Path) -> None:
    with (
        filelock.FileLock(tmp_path / ".out.lock"),
        pytest.raises(BedsideError, match="another build is writing to it"),
    ):
        write_small(tmp_path / "out")


def test_a_shard_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    manifest = write_small(tmp_path / "out")
    (tmp_path / "out" / "data" / "test-00000-of-00001.parquet").write_bytes(b"PAR1 not really PAR1")
    with pytest.raises(ReleaseError, match=r"test-00000-of-00001\.parquet: cannot be read"):
        list(read_rows(tmp_path / "out", manifest))
