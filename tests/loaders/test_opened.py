"""Data by the name that a user types."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders import recipe as recipes
from builders.medlaybench_v import recipe
from loaders.errors import BedsideError, InputError
from loaders.manifest import Manifest, content_digest
from loaders.opened import open_data


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("opened")
    recipes.build(
        recipe.RECIPE, recipe.Options(captions="sample", limit=100), folder / "release", workspace=folder / "work"
    )
    return folder / "release"


def test_a_folder_says_what_it_is(release: Path) -> None:
    opened = open_data(str(release))
    manifest = Manifest.read(release)
    assert opened.content_digest == content_digest({n: s.content_digest for n, s in manifest.splits.items()})
    assert (opened.corpus, opened.split, opened.revision) == ("medlaybench-v", "+".join(manifest.splits), None)
    assert opened.stand_in == manifest.stand_in and opened.stand_in
    assert sum(1 for _ in opened.rows("image_id")) == sum(s.rows for s in manifest.splits.values())


def test_one_split_has_its_own_digest(release: Path) -> None:
    name = next(iter(Manifest.read(release).splits))
    opened = open_data(str(release), split=name)
    assert opened.split == name
    several = len(Manifest.read(release).splits) > 1
    assert (opened.content_digest != open_data(str(release)).content_digest) == several


def test_rows_hold_only_what_is_asked_for(release: Path) -> None:
    assert set(next(open_data(str(release)).rows("split", "layman_caption"))) == {"split", "layman_caption"}


def test_a_name_that_is_nothing(release: Path) -> None:
    with pytest.raises(InputError):
        open_data("")
    with pytest.raises(InputError, match="no split"):
        open_data(str(release), split="middle")
    with pytest.raises(BedsideError):
        open_data("no-such-folder")
