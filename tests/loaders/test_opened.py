"""Data by the name that a user types."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest
from huggingface_hub import constants

from loaders import pins
from loaders.errors import BedsideError, InputError
from loaders.manifest import Manifest, content_digest
from loaders.medlaybench_v import CORPUS
from loaders.opened import open_data
from tests.parts.caption_release import make_release, row
from tests.parts.faulty_hub import FaultyHub
from tests.parts.hub_here import at_hub, own_caches, put


@pytest.fixture(scope="module")
def captions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small release of sample data; nobody changes it."""
    content = {split: [row(n, split) for n in range(2)] for split in ("train", "test")}
    folder = tmp_path_factory.mktemp("captions") / "release"
    return make_release(folder, content, stand_in="sample data", settings={"refiner": "rules"})


def test_a_folder_says_what_it_is(captions: Path) -> None:
    opened = open_data(str(captions))
    manifest = Manifest.read(captions)
    assert opened.content_digest == content_digest({n: s.content_digest for n, s in manifest.splits.items()})
    assert (opened.corpus, opened.split, opened.revision) == ("medlaybench-v", "train+test", None)
    assert opened.stand_in == manifest.stand_in and opened.stand_in
    assert sum(1 for _ in opened.rows("image_id")) == sum(s.rows for s in manifest.splits.values())


def test_one_split_has_its_own_digest(captions: Path) -> None:
    name = next(iter(Manifest.read(captions).splits))
    opened = open_data(str(captions), split=name)
    assert opened.split == name
    several = len(Manifest.read(captions).splits) > 1
    assert (opened.content_digest != open_data(str(captions)).content_digest) == several


def test_rows_hold_only_what_is_asked_for(captions: Path) -> None:
    assert set(next(open_data(str(captions)).rows("split", "layman_caption"))) == {"split", "layman_caption"}


def test_a_name_that_is_nothing(captions: Path) -> None:
    with pytest.raises(InputError):
        open_data("")
    with pytest.raises(InputError, match="no split"):
        open_data(str(captions), split="middle")
    with pytest.raises(BedsideError):
        open_data("no-such-folder")


# --- On a Hub ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def here(hub: FaultyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FaultyHub:
    own_caches(tmp_path, monkeypatch)
    at_hub(hub, monkeypatch)
    return hub


def test_a_published_stand_in_remains_marked(captions: Path, here: FaultyHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever a release lies, it is the same one: mark, digest, method; and from a Hub, its address and commit."""
    folder = open_data(str(captions))
    commit = put(here, "org/made-here", captions)
    for split in (None, "train"):
        online = open_data("org/made-here", split=split)
        same = open_data(str(captions), split=split)
        assert online.stand_in == folder.stand_in and online.stand_in
        assert online.content_digest == same.content_digest and online.method == same.method == "rules"
        assert (online.repository, online.commit) == (f"{here.url}/datasets/org/made-here", commit)
        assert online.pinned is None and (same.repository, same.commit) == (None, None)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    cached = open_data("org/made-here")
    assert (cached.stand_in, cached.content_digest, cached.commit) == (folder.stand_in, folder.content_digest, commit)


def _official(folder: Path, captions: list[str]) -> Path:
    (folder / "data").mkdir(parents=True)
    rows = [
        {"image": None, "cuis": "['C0040405']", "expert_caption": "Chest CT.", "layman_caption": caption}
        for caption in captions
    ]
    features = datasets.Features(
        {name: datasets.Value("string") for name in ("cuis", "expert_caption", "layman_caption")}
        | {"image": datasets.Image()}
    )
    made = datasets.Dataset.from_list(rows, features=features)
    made.to_parquet(folder / "data" / "test-00000-of-00001.parquet")
    return folder


def test_the_first_load_of_the_authors_data_pins_them(
    here: FaultyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CORPUS.official_rows, "test", 2)
    repo = str(CORPUS.official_repo)
    first = put(here, repo, _official(tmp_path / "one", ["A CT scan.", "A scan of the chest."]))
    opened = open_data("official", split="test")
    assert (opened.pinned, opened.commit, opened.repository) == (True, first, f"{here.url}/datasets/{repo}")
    assert opened.stand_in is None and opened.method is None
    second = put(here, repo, _official(tmp_path / "two", ["Another scan.", "A scan of the chest."]))
    assert open_data("official", split="test").commit == first
    other = open_data("official@main", split="test")
    assert (other.pinned, other.commit) == (False, second)


def test_rows_that_are_no_longer_those_of_the_first_load(
    here: FaultyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CORPUS.official_rows, "test", 1)
    put(here, str(CORPUS.official_repo), _official(tmp_path / "one", ["A CT scan."]))
    assert open_data("official", split="test").pinned is True
    path = Path(constants.HF_HUB_CACHE) / pins.NAME
    told = path.read_text(encoding="utf-8")
    digest = open_data("official", split="test").content_digest
    assert digest  # of the split in the file, and of nothing else
    path.write_text(told.replace(told.split('schema 1": "')[1][:8], "0" * 8), encoding="utf-8")
    assert open_data("official", split="test").pinned is False
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="Delete it"):
        open_data("official", split="test")


def test_a_cache_that_takes_no_pin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "file" / "cache"))
    assert pins.as_pinned("https://hub/datasets/a/b", "c0", {"test": "d0"}) is None
    assert pins.pinned_commit("https://hub/datasets/a/b") is None
