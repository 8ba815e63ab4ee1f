from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest

from builders.release.diff import Change, Keys
from builders.release.rebuilt import OtherFile, Rebuilt, compare, told
from loaders.manifest import Manifest, Source, file_digest
from tests.parts.small_release import FEATURES, row, rows, write_small


@pytest.fixture
def published(tmp_path: Path) -> Path:
    write_small(tmp_path / "published")
    return tmp_path / "published"


def again(published: Path, tmp_path: Path, writer: str = "", **more: object) -> Rebuilt:
    """The small release built again; `writer` is what its test shard then says of its library."""
    folder = tmp_path / "again"
    write_small(folder, **more)
    if writer:
        rewrite(folder, writer)
    return compare(published, folder)


def rewrite(folder: Path, writer: str) -> None:
    """The same rows as other bytes: another codec, and another name of the same length in the footer."""
    path = folder / "data" / "test-00000-of-00001.parquet"
    table = pq.read_table(path)
    pq.write_table(table, path, compression="snappy")
    data, before = path.read_bytes(), b"parquet-cpp-arrow"
    path.write_bytes(data.replace(before, writer.encode().ljust(len(before), b"-")[: len(before)]))
    manifest = Manifest.read(folder)
    name = "data/test-00000-of-00001.parquet"
    facts = manifest.files[name].model_copy(update={"sha256": file_digest(path), "size": path.stat().st_size})
    manifest.model_copy(update={"files": {**manifest.files, name: facts}}).write(folder)


def test_the_same_bytes(published: Path, tmp_path: Path) -> None:
    found = again(published, tmp_path)
    assert found.proved and found.files == [] and found.same_files == 5
    assert [line.partition(":")[0] for line in told(found)] == ["the same content", "files"]


def test_the_same_rows_by_another_library_are_explained(published: Path, tmp_path: Path) -> None:
    found = again(published, tmp_path, writer="another-library", versions={"bedside": "0.1.0", "pyarrow": "21"})
    assert found.proved and found.same_content and found.same_files == 4
    (file,) = found.files
    assert file.name == "data/test-00000-of-00001.parquet"
    assert file.why.startswith("the same rows, written by parquet-cpp-arrow version ") and "another-library" in file.why
    assert list(told(found))[-1] == "versions: pyarrow none, now 21"


def test_other_bytes_of_the_same_library_are_not_explained(published: Path, tmp_path: Path) -> None:
    found = again(published, tmp_path, writer="parquet-cpp-arrow", versions={"bedside": "0.1.0", "pyarrow": "21"})
    assert found.same_content and not found.proved
    assert any("NOT EXPLAINED: other library versions (pyarrow none, now 21)" in line for line in told(found))


def test_another_commit_is_named_before_the_libraries(published: Path, tmp_path: Path) -> None:
    found = again(published, tmp_path, writer="parquet-cpp-arrow", versions={"bedside": "0.1.0", "pyarrow": "21"})
    other = Change("code.commit", "a" * 40, "b" * 40)
    found = replace(found, difference=replace(found.difference, facts=[*found.difference.facts, other]))
    cause = "another commit (aaaaaaaaaaaa, now bbbbbbbbbbbb) or other library versions (pyarrow none, now 21)"
    assert any(line.endswith(f"NOT EXPLAINED: {cause}") for line in told(found))


def test_other_shards_are_not_explained(published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builders.release.shards.GROUP_ROWS_IMAGES", 1)
    found = again(published, tmp_path, shard_bytes=500)
    assert found.same_content and not found.proved
    assert {file.why for file in found.files if file.name.startswith("data/")} == {""}


def test_a_card_that_tells_another_number_is_not_explained(published: Path, tmp_path: Path) -> None:
    path = published / "README.md"
    path.write_text(path.read_text(encoding="utf-8").replace("12 rows of", "13 rows of"), encoding="utf-8")
    manifest = Manifest.read(published)
    facts = manifest.files["README.md"].model_copy(update={"sha256": file_digest(path)})
    manifest.model_copy(update={"files": {**manifest.files, "README.md": facts}}).write(published)
    found = again(published, tmp_path)
    assert found.problems == [] and found.files == [OtherFile("README.md", "")] and not found.proved


def test_other_names_of_classes_are_no_rebuild(published: Path, tmp_path: Path) -> None:
    """The rows hold numbers: their digest is the same."""
    features = datasets.Features({**FEATURES, "kind": datasets.ClassLabel(names=["picture", "scan"])})
    found = again(published, tmp_path, features=features)
    assert not found.same_content and not found.proved


def test_another_content_is_no_rebuild(published: Path, tmp_path: Path) -> None:
    found = again(published, tmp_path, content=[*rows()[:-1], row(11, "validation", caption="caption of another")])
    assert not found.same_content and not found.proved
    lines = list(told(found))
    assert lines[0].startswith("DIFFERENT CONTENT") and any(line.endswith("holds different rows") for line in lines)
    assert "  README.md: tells of other rows" in lines and not any("NOT EXPLAINED" in line for line in lines)
    assert not any("--images" in line for line in lines)


def test_a_release_built_again_without_its_images_is_reported(published: Path, tmp_path: Path) -> None:
    manifest = Manifest.read(published)
    pictures = manifest.sources[0].model_copy(update={"name": f"images of {manifest.sources[0].name}"})
    manifest.model_copy(update={"sources": [*manifest.sources, pictures]}).write(published)
    assert any(line.endswith("add --images DIR") for line in told(again(published, tmp_path)))


def test_a_source_of_another_name_is_said_to_be_the_same(published: Path, tmp_path: Path) -> None:
    (old,) = Manifest.read(published).sources
    pictures = old.model_copy(update={"name": f"images of {old.name}", "digest": "e" * 64})
    manifest = Manifest.read(published)
    manifest.model_copy(update={"sources": [old, pictures]}).write(published)
    names = {"old": old.name, "new": "renamed.csv"}
    found = again(
        published,
        tmp_path,
        sources=[
            old.model_copy(update={"name": names["new"]}),
            pictures.model_copy(update={"name": f"images of {names['new']}"}),
        ],
    )
    lines = list(told(found))
    for kind in ("", "images of "):
        renamed = f"renamed source: sources.{kind}{names['old']}, now sources.{kind}{names['new']}, of the same digest"
        assert f"{renamed}: name it as it was" in lines
    assert not found.proved and not any("different source" in line or "--images" in line for line in lines)
    assert all(line.endswith("NOT EXPLAINED: other sources") for line in lines if "NOT EXPLAINED" in line)


def test_other_exclusions_are_no_other_rows(published: Path, tmp_path: Path) -> None:
    found = again(published, tmp_path)
    changed = replace(found.difference, exclusions={"detail changed": Keys(1, ["a"])})
    assert next(told(replace(found, difference=changed))).startswith("the same rows, DIFFERENT EXCLUSIONS")


def test_another_source_is_reported_though_the_rows_are_the_same(published: Path, tmp_path: Path) -> None:
    old = Manifest.read(published).sources[0]
    found = again(published, tmp_path, sources=[Source(**{**dict(old), "digest": "f" * 64})])
    assert found.same_content and not found.proved
    assert next(told(found)).startswith(f"different source: sources.{old.name}.digest: ")


def test_a_published_release_that_is_damaged_proves_nothing(published: Path, tmp_path: Path) -> None:
    manifest = Manifest.read(published)
    manifest.model_copy(update={"content_digest": "0" * 64}).write(published)
    found = again(published, tmp_path)
    assert not found.same_content and not found.proved
    shutil.rmtree(tmp_path / "again")
    manifest.write(published)
    (published / "more.txt").write_text("slipped in")
    found = again(published, tmp_path)
    assert found.same_content and not found.proved
    assert next(told(found)).startswith("the published release has problems: more.txt")
