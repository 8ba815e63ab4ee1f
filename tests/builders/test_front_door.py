"""Builds of sources that somebody else made: no row is dropped silently, no file outside a named folder is read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from builders import recipe as recipes
from builders.medlaybench_v import recipe as captions
from builders.release.shards import read_parquet
from builders.release.verify import verify
from builders.threemdbench.sources import open_source as open_photos
from loaders.corpus import corpus
from loaders.errors import InputError
from loaders.manifest import Manifest
from tests.parts.pictures import drawn, jpeg
from tests.parts.rows import strictly

# What no table of any kind can say in a row, as JSON lines can try to.
BAD = {
    b'{"id": "", "caption": "no id"}': "no identifier",
    b'{"caption": "no id at all"}': "no identifier",
    b'{"id": "NaN", "caption": "what pandas writes for none"}': "no identifier",
    b'{"id": " None", "caption": "what Python writes"}': "no identifier",
    b'{"id": ["x"], "caption": "an id that is no text"}': "a cell of another type",
    b'{"id": "x", "caption": 7}': "a cell of another type",
    b'{"id": "x", "caption": "half \\ud800"}': "no JSON",
    b'{"id": "x", "caption": "nul \\u0000"}': "no JSON",
    b'{"id": "x", "caption": "caf\xe9"}': "not UTF-8 text",
    b'{"id": "x", "caption": NaN}': "no JSON",
    b'{"id": "x", "caption": ' + b"[" * 5_000: "no JSON",
    b'{"id": "x", "caption": "y", "cuis": "CT"}': "an unusable value",
    b'{"id": "x", "caption": "y", "split": "holdout"}': "no such split",
    b'{"id": "x", "caption": "y", "image": {"bytes": "text"}}': "a cell of another type",
    b"[1]": "no object",
    b"cut off {": "no JSON",
}


def build(folder: Path, source: Path, **options: Any) -> Manifest:
    chosen = captions.Options(captions=str(source), allowed_licences=frozenset({"unknown"}), **options)
    return recipes.build(captions.RECIPE, chosen, folder / "release", workspace=folder / "work")


def lines(good: int, *bad: bytes) -> bytes:
    sound = [
        json.dumps(
            {"id": f"r{at}", "caption": "Chest\u2028CT of the lung.", "image": None}, ensure_ascii=False
        ).encode()
        for at in range(good)
    ]
    return b"\n".join([*sound[: good // 2], *bad, *sound[good // 2 :]]) + b"\n"


def test_bad_rows_are_excluded_with_their_place_and_reason(tmp_path: Path) -> None:
    source = tmp_path / "captions.jsonl"
    source.write_bytes(lines(20, *BAD))
    manifest = build(tmp_path, source, max_bad=50)
    read = manifest.stages[0]
    assert (read.name, read.rows_in, read.rows_out) == ("read", 20 + len(BAD), 20)
    excluded = [row for row in read_parquet(tmp_path / "release", "exclusions.parquet") if row["stage"] == "read"]
    expected = [(f"captions.jsonl:{at}", reason) for at, reason in enumerate(BAD.values(), start=11)]
    assert [(row["key"], row["reason"]) for row in excluded] == expected
    assert str(tmp_path) not in json.dumps(excluded)
    assert manifest.sources[0].rows == 20 + len(BAD)
    assert not verify(tmp_path / "release", corpus=corpus("medlaybench-v"))
    assert len((tmp_path / "work" / "unread.jsonl").read_text().splitlines()) == len(BAD)


def test_what_was_expected_of_a_bad_row_is_in_brackets(tmp_path: Path) -> None:
    source = tmp_path / "captions.jsonl"
    source.write_bytes(lines(9, b'{"caption": "no id"}'))
    with pytest.raises(InputError, match=r"captions\.jsonl:5: no identifier \(expected the column"):
        build(tmp_path, source)


def test_too_many_bad_rows_fail_the_build_and_are_listed(tmp_path: Path) -> None:
    source = tmp_path / "captions.jsonl"
    source.write_bytes(lines(98, b"no", b"json"))
    for _ in range(2):  # read, and out of the workspace
        with pytest.raises(InputError) as error:
            build(tmp_path, source)
        assert "2 of 100 rows cannot be read: captions.jsonl:50: no JSON" in str(error.value)
        assert "--max-bad" in error.value.do
    assert not (tmp_path / "release").exists()
    build(tmp_path, source, max_bad=2)
    source.write_bytes(lines(99, b"no"))
    recipes.build(
        captions.RECIPE,
        captions.Options(captions=str(source), allowed_licences=frozenset({"unknown"})),
        tmp_path / "one_percent",
        workspace=tmp_path / "work",
    )


def test_a_source_that_can_be_read_has_nothing_to_account_for(tmp_path: Path) -> None:
    source = tmp_path / "captions.jsonl"
    source.write_bytes(lines(3))
    assert build(tmp_path, source).stages[0].name == "admit"


def test_images_outside_their_folder_and_pipes_are_not_released(tmp_path: Path) -> None:
    images, private = tmp_path / "images", tmp_path / "private"
    images.mkdir()
    private.mkdir()
    (private / "secret.jpg").write_bytes(jpeg(drawn(1)))
    (images / "link.jpg").symlink_to(private / "secret.jpg")
    (images / "own.jpg").write_bytes(jpeg(drawn(2)))
    (images / "again.jpg").symlink_to("own.jpg")
    (images / "circle.jpg").symlink_to("circle.jpg")
    os.mkfifo(images / "pipe.jpg")
    source = tmp_path / "captions.csv"
    names = ["link.jpg", "own.jpg", "again.jpg", "pipe.jpg", "../private/secret.jpg", str(private / "secret.jpg")]
    names.append("circle.jpg")
    rows = "".join(f"r{at},Chest CT.,{name}\n" for at, name in enumerate(names))
    source.write_text(f"image_id,caption,file_name\n{rows}")
    manifest = build(tmp_path, source, images=images)
    assert manifest.splits["train"].rows == 2
    rows = list(read_parquet(tmp_path / "release", "exclusions.parquet"))
    excluded = {row["key"]: row["reason"] for row in rows}
    assert excluded == {"r0": "image outside its folder", **dict.fromkeys(("r3", "r4", "r5", "r6"), "image missing")}
    assert "a link leads nowhere" in [row["detail"] for row in rows]


def test_of_several_pictures_in_a_file_the_first_is_used_and_reported(tmp_path: Path) -> None:
    images = tmp_path / "images"
    images.mkdir()
    frames = [drawn(number) for number in range(3)]
    frames[0].save(images / "stack.tif", save_all=True, append_images=frames[1:])
    frames[0].save(images / "one.tif")
    source = tmp_path / "captions.csv"
    source.write_text("image_id,caption\nstack,Chest CT.\none,Chest CT.\n")
    chosen = captions.Options(captions=str(source), images=images, allowed_licences=frozenset({"unknown"}))
    said: list[str] = []
    recipes.build(captions.RECIPE, chosen, tmp_path / "release", workspace=tmp_path / "work", tell=said.append)
    assert said == ["Files with several pictures, of which the first was used: stack (3)"]
    (path,) = (tmp_path / "release").rglob("train*.parquet")
    rows = pq.read_table(path).to_pylist()
    assert len(rows) == 2 and len({row["image"]["bytes"] for row in rows}) == 1


def test_photos_outside_their_folder_are_counted_and_not_used(tmp_path: Path) -> None:
    (tmp_path / "secret.jpg").write_bytes(jpeg(drawn(1)))
    folder = tmp_path / "photos" / "acne"
    folder.mkdir(parents=True)
    (folder / "a.jpg").write_bytes(jpeg(drawn(2)))
    (folder / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    found = {
        photo.file: (photo.path, photo.problem)
        for photo in strictly(open_photos(f"folder={tmp_path / 'photos'}").photos())
    }
    assert found["acne/a.jpg"] == (folder / "a.jpg", "")
    path, problem = found["acne/link.jpg"]
    assert path is None and problem.startswith("image outside its folder")


def test_a_group_that_says_nothing_ties_no_photos_together(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.jpg").write_bytes(jpeg(drawn(ord(name))))
    table = tmp_path / "t.csv"
    table.write_text("file,label,group\na.jpg,acne,nan\nb.jpg,acne,nan\n")
    assert {photo.group for photo in strictly(open_photos(f"table={table}").photos())} == {None}


def test_a_table_of_photos_loses_no_sound_row_to_a_bad_one(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(jpeg(drawn(2)))
    table = tmp_path / "t.csv"
    table.write_bytes(b'file,label\na.jpg,acne\nb\xff.jpg,acne\nc.jpg\n"d.jpg,acne\ne.jpg,acne\n')
    photos = list(open_photos(f"table={table}").photos())
    bad = {row.where for row in photos if isinstance(row, InputError)}
    assert (len(photos), bad) == (5, {"t.csv:3", "t.csv:4", "t.csv:5"})
