"""Publishing where somebody else has put files, commits or releases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.parts.faulty_hub import FaultyHub
from tests.parts.publisher import CARD, FILES, REPO, SHARDS, Publisher, make_release


def empty_main(hub: FaultyHub) -> None:
    hub.commit(REPO, dict.fromkeys(FILES))


def break_manifest_of_main(hub: FaultyHub) -> None:
    hub.commit(REPO, {"manifest.json": b"[" * 100_000})


@pytest.mark.parametrize("meanwhile", [lambda hub: None, empty_main, break_manifest_of_main])
@pytest.mark.parametrize("tag", ["v1.0.0", "v1.1.0"])
def test_a_repository_of_another_corpus_is_refused(
    hub: FaultyHub, publisher: Publisher, tmp_path: Path, tag: str, meanwhile: Callable[[FaultyHub], None]
) -> None:
    publisher(make_release(tmp_path / "a", corpus="3mdbench"))
    meanwhile(hub)
    state = (publisher.head(), publisher.tags(), len(hub.writes()))
    for options in ({}, {"dry_run": True}, {"replace": [*FILES, "./", "3mdbench"]}):
        message = publisher.fails(make_release(tmp_path / str(options)), tag=tag, **options)
        assert "holds a release of 3mdbench" in message
        assert "only releases of medlaybench-v" in message
    assert (publisher.head(), publisher.tags(), len(hub.writes())) == state


def test_another_corpus_that_was_only_committed_is_refused(
    hub: FaultyHub, publisher: Publisher, tmp_path: Path
) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    theirs = make_release(tmp_path / "theirs", corpus="medconceal")
    publisher.api.upload_folder(repo_id=REPO, folder_path=theirs, repo_type="dataset")
    assert "main holds a release of medconceal" in publisher.fails(make_release(tmp_path / "ours"))


def test_another_corpus_that_comes_while_the_repository_is_made_is_refused(
    hub: FaultyHub, publisher: Publisher, tmp_path: Path
) -> None:
    theirs = make_release(tmp_path / "theirs", corpus="medconceal")
    hub.meanwhile("POST", "/repos/create", lambda: Publisher(hub)(theirs))
    assert "main holds a release of medconceal" in publisher.fails(make_release(tmp_path / "ours"), tag="v2.0.0")
    assert list(publisher.tags()) == ["v1.0.0"]


def test_a_file_that_comes_while_the_repository_is_made_is_not_deleted(
    hub: FaultyHub, publisher: Publisher, release: Path
) -> None:
    def theirs() -> None:
        publisher.api.create_repo(REPO, repo_type="dataset")
        hub.commit(REPO, {"notes.txt": b"theirs"})

    hub.meanwhile("POST", "/repos/create", theirs)
    assert "no release of medlaybench-v put there" in publisher.fails(release)
    assert "notes.txt" in publisher.files() and publisher.tags() == {}


def test_a_stand_in_never_follows_real_data(publisher: Publisher, tmp_path: Path) -> None:
    sample = make_release(tmp_path / "sample", text="drawn", stand_in="sample data")
    publisher(sample)
    publisher(make_release(tmp_path / "real"), tag="v1.0.1")
    assert "main holds real data" in publisher.fails(make_release(tmp_path / "2", stand_in="sample data"), tag="v1.0.2")


def test_real_data_that_only_a_version_holds_is_not_followed_by_a_stand_in(
    hub: FaultyHub, publisher: Publisher, tmp_path: Path
) -> None:
    publisher(make_release(tmp_path / "real"))
    empty_main(hub)
    message = publisher.fails(make_release(tmp_path / "sample", stand_in="sample data"), tag="v1.0.1")
    assert "v1.0.0 holds real data, but this release is a stand-in" in message


def test_files_of_another_corpus_that_main_has_lost_the_manifest_of_are_not_ours(
    hub: FaultyHub, publisher: Publisher, tmp_path: Path
) -> None:
    """It was committed as a release and never tagged, so that nothing but its commit says whose its files are."""
    hub.refuse("POST", "/tag/", 403)
    publisher.fails(make_release(tmp_path / "theirs", corpus="3mdbench", notes="theirs"))
    head = hub.commit(REPO, {"manifest.json": None})
    assert "no release of medlaybench-v put there" in publisher.fails(make_release(tmp_path / "ours", text="sore"))
    assert publisher.head() == head


@pytest.mark.parametrize("title", ["Upload", "Release notes"])
def test_what_was_committed_by_hand_is_not_replaced_unasked(publisher: Publisher, tmp_path: Path, title: str) -> None:
    """A folder with a manifest of this corpus, but in a commit that publishing did not make."""
    publisher.api.create_repo(REPO, repo_type="dataset")
    theirs = make_release(tmp_path / "theirs", notes="theirs")
    publisher.api.upload_folder(repo_id=REPO, folder_path=theirs, repo_type="dataset", commit_message=title)
    message = publisher.fails(make_release(tmp_path / "ours", text="sore"))
    assert "--replace notes.txt" in message and f"--replace {SHARDS[0]}" in message


def test_a_shard_that_somebody_exchanged_is_not_overwritten_unasked(publisher: Publisher, tmp_path: Path) -> None:
    publisher(make_release(tmp_path / "1"))
    other = make_release(tmp_path / "other", text="mended") / SHARDS[0]
    in_our_words = "Release v1.0.1"
    publisher.api.upload_file(
        path_or_fileobj=other, path_in_repo=SHARDS[0], repo_id=REPO, repo_type="dataset", commit_message=in_our_words
    )
    message = publisher.fails(make_release(tmp_path / "2", text="sore"), tag="v1.1.0")
    assert f"delete or overwrite {SHARDS[0]}, which" in message


@pytest.mark.parametrize("named", [["notes.txt", "old/a.csv", "old/b.csv"], ["notes.txt", "old/"]])
def test_files_of_others_go_only_when_they_are_named(
    hub: FaultyHub, publisher: Publisher, release: Path, named: list[str]
) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    theirs = {"notes.txt": b"theirs", "old/a.csv": b"a", "old/b.csv": b"b", "README.md": CARD.encode()}
    head = hub.commit(REPO, dict(theirs))
    for short in ([], named[:-1], ["notes", "old", "notes.txt/"]):
        message = publisher.fails(release, replace=short)
        assert "no release of medlaybench-v put there" in message
        assert "README.md" not in message  # the same as ours: nothing of it is lost
        assert publisher.head() == head
    publisher(release, replace=named)
    assert publisher.files() == [".gitattributes", *FILES]


def test_what_a_release_of_this_corpus_put_there_is_replaced_unasked(
    hub: FaultyHub, publisher: Publisher, tmp_path: Path
) -> None:
    publisher(make_release(tmp_path / "1", notes="old"))
    publisher(make_release(tmp_path / "2", text="enlarged"), tag="v1.1.0")
    hub.refuse("POST", "/tag/", 403)
    publisher.fails(make_release(tmp_path / "3", text="tender", notes="never tagged"), tag="v1.2.0")
    publisher(make_release(tmp_path / "4", text="warm"), tag="v1.2.1")
    assert publisher.files("v1.2.1") == [".gitattributes", *FILES]


def test_a_card_that_somebody_mended_on_the_hub_is_not_overwritten_unasked(
    hub: FaultyHub, publisher: Publisher, tmp_path: Path
) -> None:
    publisher(make_release(tmp_path / "1"))
    mended = hub.commit(REPO, {"README.md": b"# Mended by hand"}, "Release v1.0.1")  # in the words of a release
    message = publisher.fails(make_release(tmp_path / "2", text="enlarged"), tag="v1.1.0")
    assert "delete or overwrite README.md, which" in message
    assert publisher.head() == mended
