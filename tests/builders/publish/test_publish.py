"""Publishing to the loopback Hub: the recipe, and every fault on its way."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sized
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfApi, get_session

from builders.publish import watch
from builders.publish.hub_state import PATIENCE
from builders.publish.plan import Published
from builders.publish.run import publish
from builders.release.naming import REPOSITORY, SAME_TAG
from loaders.errors import HubError, InputError, ReleaseError
from loaders.manifest import ContentDigest, ExclusionFacts, FileFacts, Manifest, SplitFacts, content_digest
from scripts.loopback_hub import routes as hub_routes
from scripts.loopback_hub.hub import Fault, LoopbackHub
from tests.parts.http_client import httpx
from tests.parts.processes import printed

REPO = "org/corpus"
CARD = """---
license: cc-by-4.0
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train-*.parquet
---
# A corpus
"""
SHARDS = ["data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet"]
UNCHECKED = ["--no-verify"]  # its releases are just what the Hub has to be told: no corpus has such rows
FILES = ["README.md", *SHARDS, "exclusions.parquet", "manifest.json"]


def make_release(
    folder: Path,
    *,
    text: str = "swollen",
    card: str = CARD,
    corpus: str = "medlaybench-v",
    stand_in: str | None = None,
    notes: str = "",
    versions: dict[str, str] | None = None,
) -> Path:
    """Two shards of two rows, an empty table of exclusions, a card and a manifest."""
    (folder / "data").mkdir(parents=True)
    rows = [{"id": number, "text": f"{text} {number}"} for number in range(4)]
    digest = ContentDigest()
    for row in rows:
        digest.update(row)
    for shard, part in zip(SHARDS, (rows[:2], rows[2:]), strict=True):
        pq.write_table(pa.Table.from_pylist(part), folder / shard)
    pq.write_table(pa.table({"id": pa.array([], pa.int64())}), folder / "exclusions.parquet")
    (folder / "README.md").write_text(card, encoding="utf-8")
    if notes:
        (folder / "notes.txt").write_text(notes, encoding="utf-8")
    listed = {
        path: FileFacts(
            sha256=hashlib.sha256((folder / path).read_bytes()).hexdigest(), size=(folder / path).stat().st_size
        )
        for path in [*FILES[:-1], *(["notes.txt"] if notes else [])]
    }
    Manifest(
        corpus=corpus,
        stand_in=stand_in,
        key="id",
        features=[],
        sources=[],
        settings={},
        prompts={},
        versions=versions or {},
        stages=[],
        splits={"train": SplitFacts(rows=4, num_bytes=64, content_digest=digest.hexdigest())},
        content_digest=content_digest({"train": digest.hexdigest()}),
        statistics={},
        exclusions=ExclusionFacts(rows=0, content_digest=hashlib.sha256().hexdigest()),
        files=listed,
    ).write(folder)
    return folder


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return make_release(tmp_path / "release")


class Publisher:
    """`publish` with a token, without real waiting, and with what it said and how long it would have waited."""

    def __init__(self, hub: LoopbackHub) -> None:
        self.hub = hub
        self.api = HfApi(endpoint=hub.url, token=hub.token)
        self.waits: list[float] = []
        self.said: list[str] = []

    def __call__(self, folder: Path, repo_id: str = REPO, *, tag: str = "v1.0.0", **options: Any) -> Published:
        options = {"api": self.api, "sleep": self.waits.append, "report": self.said.append, **options}
        return publish(folder, repo_id, tag=tag, **options)

    def fails(self, folder: Path, repo_id: str = REPO, **options: Any) -> str:
        with pytest.raises(HubError) as error:
            self(folder, repo_id, **options)
        return str(error.value)

    def files(self, revision: str = "main") -> list[str]:
        return self.api.list_repo_files(REPO, revision=revision, repo_type="dataset")

    def commits(self) -> list[str]:
        return [commit.title for commit in self.api.list_repo_commits(REPO, repo_type="dataset")]

    def tags(self) -> dict[str, str]:
        return dict(self.hub.repo(REPO).tags)

    def head(self) -> str:
        return self.hub.repo(REPO).branches["main"]


@pytest.fixture
def publisher(hub: LoopbackHub) -> Publisher:
    return Publisher(hub)


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client library waits between its own attempts (up to 23 s each time)."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)


def assert_published_once(publisher: Publisher, done: Published) -> None:
    """One commit beside the first, with all files, named by the tag."""
    assert publisher.commits() == ["Release v1.0.0", "initial commit"]
    assert publisher.files("v1.0.0") == [".gitattributes", *FILES]
    assert publisher.tags() == {"v1.0.0": publisher.head()} == {"v1.0.0": done.commit}


# ------------------------------------------------------------------- the recipe


def test_a_release_is_one_commit_and_a_tag_set_last(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    done = publisher(release)
    assert_published_once(publisher, done)
    assert done.url == f"{hub.url}/datasets/{REPO}/tree/v1.0.0"
    assert (done.uploaded, done.unchanged) == (FILES, False)
    writes = [request.path.partition("?")[0] for request in hub.writes()]
    assert writes[0] == "/api/repos/create"
    assert writes[1:4] == [path for path in writes if path.startswith("/lfs/")]
    assert writes[4:] == [f"/api/datasets/{REPO}/commit/main", f"/api/datasets/{REPO}/tag/{done.commit}"]
    # The bytes were read back before the tag was set.
    lines = [request.path for request in hub.requests]
    assert lines.index(writes[-1]) > max(i for i, line in enumerate(lines) if f"/resolve/{done.commit}/" in line)


LOAD = """
import sys
from datasets import load_dataset
for tag in sys.argv[1:]:
    print(load_dataset("org/corpus", split="train", revision=tag)["text"][:])
"""


def test_what_was_published_loads_by_tag_into_a_fresh_cache(
    hub: LoopbackHub, publisher: Publisher, tmp_path: Path
) -> None:
    publisher(make_release(tmp_path / "1"))
    publisher(make_release(tmp_path / "2", text="enlarged"), tag="v1.1.0")
    said = printed("-c", LOAD, "v1.0.0", "v1.1.0", **hub.environment(tmp_path / "cache"))
    assert said.splitlines() == [str([f"{text} {number}" for number in range(4)]) for text in ("swollen", "enlarged")]


def test_main_never_goes_back_to_a_lower_version(hub: LoopbackHub, publisher: Publisher, tmp_path: Path) -> None:
    done = publisher(make_release(tmp_path / "1"), tag="v1.10.0")
    before = len(hub.writes())
    for lower in ("v1.9.0", "v0.11.0"):
        for dry_run in (True, False):
            said = publisher.fails(make_release(tmp_path / f"{lower}{dry_run}", text="new"), tag=lower, dry_run=dry_run)
            assert f"main would go back to {lower}" in said and "under the next version" in said
    assert publisher.head() == done.commit and len(hub.writes()) == before
    publisher(make_release(tmp_path / "3", text="newer"), tag="v1.10.1")


def test_the_same_release_again_writes_nothing(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    first = publisher(release, gated="auto")
    before = len(hub.writes())
    again = publisher(release, gated="auto")
    assert (again.unchanged, again.commit, again.uploaded) == (True, first.commit, [])
    assert len(hub.writes()) == before
    assert "nothing to do" in publisher.said[-1]


def test_the_same_content_under_a_new_tag_is_only_tagged(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    first = publisher(release)
    before = len(hub.writes())
    second = publisher(release, tag="v1.0.1")
    assert [request.path for request in hub.writes()[before:]] == [f"/api/datasets/{REPO}/tag/{first.commit}"]
    assert publisher.tags() == {"v1.0.0": first.commit, "v1.0.1": first.commit}
    assert (second.uploaded, second.unchanged) == ([], False)


def test_a_version_that_was_published_with_its_placeholders_is_the_same(
    hub: LoopbackHub, publisher: Publisher, tmp_path: Path
) -> None:
    """As a version of Bedside did that named neither repository nor tag."""
    release = make_release(tmp_path / "release", card=f'{CARD}\nload_dataset("{REPOSITORY}", revision="{SAME_TAG}")\n')
    publisher.api.create_repo(REPO, repo_type="dataset")
    publisher.api.upload_folder(repo_id=REPO, folder_path=release, repo_type="dataset")
    publisher.api.create_tag(REPO, tag="v1.0.0", repo_type="dataset")
    assert publisher(release).unchanged
    publisher(release, tag="v1.0.1")
    card = publisher.api.hf_hub_download(REPO, "README.md", repo_type="dataset", revision="v1.0.1", cache_dir=tmp_path)
    assert f'load_dataset("{REPO}", revision="v1.0.1")' in Path(card).read_text("utf-8")


def test_a_release_without_placeholders_is_published_as_it_stands(
    publisher: Publisher, release: Path, tmp_path: Path
) -> None:
    _of_manifest(lambda manifest: None)(release)  # in another layout than that of this version
    publisher(release)
    there = publisher.api.hf_hub_download(REPO, "manifest.json", repo_type="dataset", cache_dir=tmp_path)
    assert Path(there).read_bytes() == (release / "manifest.json").read_bytes()


def test_a_tag_with_other_content_is_refused(hub: LoopbackHub, publisher: Publisher, tmp_path: Path) -> None:
    publisher(make_release(tmp_path / "1"))
    before, tags = len(hub.writes()), publisher.tags()
    message = publisher.fails(make_release(tmp_path / "2", text="enlarged"))
    assert "published with other content" in message
    assert SHARDS[0] in message
    assert "exclusions.parquet" not in message
    assert "next version" in message
    assert len(hub.writes()) == before
    assert publisher.tags() == tags


def test_the_next_version_sends_what_changed_and_deletes_what_is_gone(
    hub: LoopbackHub, publisher: Publisher, tmp_path: Path
) -> None:
    publisher(make_release(tmp_path / "1"))
    hub.commit(REPO, {"data/old-00000-of-00001.csv": b"id\n1\n"})
    release = make_release(tmp_path / "2", card=CARD + "\nRelease notes.\n")
    before = len(hub.writes())
    done = publisher(release, tag="v1.1.0", replace=["data/old-00000-of-00001.csv"])
    assert done.uploaded == ["README.md", "manifest.json"]
    assert done.plan.delete == ("data/old-00000-of-00001.csv",)
    assert not any(request.method == "PUT" for request in hub.writes()[before:])
    assert publisher.files("v1.1.0") == [".gitattributes", *FILES]


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ({"python": "3.11.7", "pyarrow": "21.0.0"}, "(pyarrow 21.0.0, now 26.0.0)"),
        ({"pyarrow": "\x1b[31m"}, "(pyarrow unreadable, now 26.0.0)"),
        ({"pyarrow": "26.0.0"}, None),
        ({}, None),  # it does not say
    ],
)
def test_what_follows_a_version_of_other_libraries_says_so(
    before: dict[str, str], told: str | None, publisher: Publisher, tmp_path: Path
) -> None:
    publisher(make_release(tmp_path / "1", versions=before))
    publisher.said.clear()
    now = {"python": "3.11.7", "pyarrow": "26.0.0"}
    publisher(make_release(tmp_path / "2", text="sore", versions=now), tag="v1.1.0")
    expected = [f"v1.0.0 was made with other library versions {told}: expect different files"] if told else []
    assert [line for line in publisher.said if "versions" in line] == expected


def test_a_run_that_stopped_before_the_tag_is_continued_by_tagging(
    hub: LoopbackHub, publisher: Publisher, release: Path
) -> None:
    hub.refuse("POST", "/tag/", 403)
    message = publisher.fails(release)
    assert f"main is at {publisher.head()[:8]} (the files of this release); v1.0.0 is not set" in message
    assert "tagging: the Hub answered 403" in message and "hf auth login" in message
    before = len(hub.writes())
    done = publisher(release)
    assert [request.path for request in hub.writes()[before:]] == [f"/api/datasets/{REPO}/tag/{done.commit}"]
    assert_published_once(publisher, done)


def test_a_dry_run_sends_no_write(hub: LoopbackHub, publisher: Publisher, tmp_path: Path) -> None:
    release = make_release(tmp_path / "1")
    plan = publisher(release, dry_run=True, private=True).plan
    assert (plan.creates, plan.upload, plan.delete) == (True, tuple(FILES), ())
    assert publisher.said[0] == f"create the private dataset repository {REPO}"
    assert f"upload README.md ({len(CARD)} bytes)" in publisher.said
    assert hub.writes() == []
    publisher(release)
    theirs = hub.commit(REPO, {"notes.txt": b"theirs", "README.md": b"changed"})
    before = len(hub.writes())
    with pytest.raises(HubError, match="--replace README.md --replace notes.txt"):
        publisher(release, tag="v1.0.1", dry_run=True)
    assert "delete notes.txt (not in the release)" in publisher.said
    done = publisher(release, tag="v1.0.1", dry_run=True, replace=["README.md", "notes.txt"])
    assert (done.plan.upload, done.plan.delete, done.commit) == (("README.md",), ("notes.txt",), theirs)
    assert publisher.said[-1] == "tag v1.0.1"
    assert publisher(release, dry_run=True).unchanged
    assert len(hub.writes()) == before


def test_a_dry_run_needs_no_token_and_changes_no_setting(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    anybody = HfApi(endpoint=hub.url, token=False)
    assert publisher(release, dry_run=True, gated="manual", api=anybody).plan.upload == tuple(FILES)
    assert "readers must request access (manual)" in publisher.said
    publisher(release, gated="auto")
    before = len(hub.writes())
    for tag in ("v1.0.0", "v1.0.1"):
        publisher(release, tag=tag, dry_run=True, gated="manual")
    assert (hub.repo(REPO).gated, len(hub.writes())) == ("auto", before)


@pytest.mark.parametrize("dry_run", [True, False])
def test_what_its_owners_keep_is_published_only_when_asked_to(
    hub: LoopbackHub, publisher: Publisher, release: Path, dry_run: bool
) -> None:
    _of_manifest(lambda manifest: manifest["settings"].update(kept="patients of a team of its own"))(release)
    with pytest.raises(InputError, match=r"patients of a team of its own.*a release meant for others.*--own"):
        publisher(release, dry_run=dry_run)
    assert hub.requests == []
    publisher(release, own=True, dry_run=dry_run)
    assert bool(hub.writes()) is not dry_run


def test_private_is_made_so_and_never_lands_in_public(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    publisher(release, private=True)
    assert hub.repo(REPO).private
    publisher.api.create_repo("org/public", repo_type="dataset")
    before = len(hub.writes())
    message = publisher.fails(release, "org/public", private=True)
    assert "the repository is public" in message
    assert len(hub.writes()) == before


def test_the_gate_is_set_before_any_data_is_sent(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    publisher(release, gated="manual")
    assert hub.repo(REPO).gated == "manual"
    methods = [(request.method, request.path.partition("?")[0].rpartition("/")[2]) for request in hub.writes()]
    assert methods[:2] == [("POST", "create"), ("PUT", "settings")]
    changed = publisher(release, gated="auto")
    assert (hub.repo(REPO).gated, changed.unchanged) == ("auto", False)
    publisher(release)
    assert hub.repo(REPO).gated == "auto"


# ------------------------------------------------------------ what others have there


def empty_main(hub: LoopbackHub) -> None:
    hub.commit(REPO, dict.fromkeys(FILES))


def break_manifest_of_main(hub: LoopbackHub) -> None:
    hub.commit(REPO, {"manifest.json": b"[" * 100_000})


@pytest.mark.parametrize("meanwhile", [lambda hub: None, empty_main, break_manifest_of_main])
@pytest.mark.parametrize("tag", ["v1.0.0", "v1.1.0"])
def test_a_repository_of_another_corpus_is_refused(
    hub: LoopbackHub, publisher: Publisher, tmp_path: Path, tag: str, meanwhile: Callable[[LoopbackHub], None]
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
    hub: LoopbackHub, publisher: Publisher, tmp_path: Path
) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    theirs = make_release(tmp_path / "theirs", corpus="medconceal")
    publisher.api.upload_folder(repo_id=REPO, folder_path=theirs, repo_type="dataset")
    assert "main holds a release of medconceal" in publisher.fails(make_release(tmp_path / "ours"))


def test_another_corpus_that_comes_while_the_repository_is_made_is_refused(
    hub: LoopbackHub, publisher: Publisher, tmp_path: Path
) -> None:
    theirs = make_release(tmp_path / "theirs", corpus="medconceal")
    hub.meanwhile("POST", "/repos/create", lambda: Publisher(hub)(theirs))
    assert "main holds a release of medconceal" in publisher.fails(make_release(tmp_path / "ours"), tag="v2.0.0")
    assert list(publisher.tags()) == ["v1.0.0"]


def test_a_file_that_comes_while_the_repository_is_made_is_not_deleted(
    hub: LoopbackHub, publisher: Publisher, release: Path
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
    hub: LoopbackHub, publisher: Publisher, tmp_path: Path
) -> None:
    publisher(make_release(tmp_path / "real"))
    empty_main(hub)
    message = publisher.fails(make_release(tmp_path / "sample", stand_in="sample data"), tag="v1.0.1")
    assert "v1.0.0 holds real data, but this release is a stand-in" in message


def test_files_of_another_corpus_that_main_has_lost_the_manifest_of_are_not_ours(
    hub: LoopbackHub, publisher: Publisher, tmp_path: Path
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
    hub: LoopbackHub, publisher: Publisher, release: Path, named: list[str]
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
    hub: LoopbackHub, publisher: Publisher, tmp_path: Path
) -> None:
    publisher(make_release(tmp_path / "1", notes="old"))
    publisher(make_release(tmp_path / "2", text="enlarged"), tag="v1.1.0")
    hub.refuse("POST", "/tag/", 403)
    publisher.fails(make_release(tmp_path / "3", text="tender", notes="never tagged"), tag="v1.2.0")
    publisher(make_release(tmp_path / "4", text="warm"), tag="v1.2.0")
    assert publisher.files("v1.2.0") == [".gitattributes", *FILES]


def test_a_card_that_somebody_mended_on_the_hub_is_not_overwritten_unasked(
    hub: LoopbackHub, publisher: Publisher, tmp_path: Path
) -> None:
    publisher(make_release(tmp_path / "1"))
    mended = hub.commit(REPO, {"README.md": b"# Mended by hand"}, "Release v1.0.1")  # in the words of a release
    message = publisher.fails(make_release(tmp_path / "2", text="enlarged"), tag="v1.1.0")
    assert "delete or overwrite README.md, which" in message
    assert publisher.head() == mended


# --------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("repo_id", "options", "named"),
    [
        (REPO, {"tag": "1.0.0"}, "vMAJOR.MINOR.PATCH"),
        (REPO, {"tag": "v1.0"}, "vMAJOR.MINOR.PATCH"),
        (REPO, {"tag": "v1.0.0\n"}, "vMAJOR.MINOR.PATCH"),
        ("corpus", {}, "org/name"),
        ("org/a corpus", {}, "org/name"),
        ("a/b/c", {}, "org/name"),
        (REPO, {"gated": "closed"}, "auto or manual"),
    ],
)
def test_arguments_that_cannot_be_used(
    hub: LoopbackHub, publisher: Publisher, release: Path, repo_id: str, options: dict[str, Any], named: str
) -> None:
    with pytest.raises(InputError, match=named):
        publisher(release, repo_id, **options)
    assert hub.requests == []


def _of_manifest(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        change(manifest)
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    return changed


def _unlist_card(folder: Path) -> None:
    _of_manifest(lambda manifest: manifest["files"].pop("README.md"))(folder)
    (folder / "README.md").unlink()


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda folder: (folder / SHARDS[0]).unlink(), SHARDS[0]),
        (lambda folder: (folder / "README.md").write_text(CARD.replace("corpus", "CORPUS")), "README.md"),
        (lambda folder: (folder / "data/extra.parquet").write_bytes(b"PAR1"), "extra.parquet"),
        (lambda folder: (folder / "manifest.json").unlink(), "manifest.json"),
        (_unlist_card, "card"),
        (_of_manifest(lambda manifest: manifest["exclusions"].update(rows=7)), "exclusions"),
    ],
)
def test_a_folder_that_is_not_its_manifest_is_never_sent(
    hub: LoopbackHub, publisher: Publisher, release: Path, spoil: Callable[[Path], None], named: str
) -> None:
    spoil(release)
    with pytest.raises(ReleaseError, match=named):
        publisher(release)
    assert hub.requests == []


def test_a_card_that_the_hub_refuses_commits_nothing(publisher: Publisher, tmp_path: Path) -> None:
    message = publisher.fails(make_release(tmp_path / "release", card="---\nlicense: mit\n\n# Not closed\n"))
    assert "README.md" in message
    assert "Fix the card" in message
    assert publisher.commits() == ["initial commit"]
    assert publisher.tags() == {}


# ------------------------------------------------------------------------ access


@pytest.mark.parametrize("token", ["read_token", "stranger_token"])
def test_a_token_that_may_only_read(hub: LoopbackHub, publisher: Publisher, release: Path, token: str) -> None:
    message = publisher.fails(release, api=HfApi(endpoint=hub.url, token=getattr(hub, token)))
    assert "is read-only" in message
    assert "hf auth login" in message
    assert hub.writes() == []


def test_a_token_that_the_hub_does_not_know(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    message = publisher.fails(release, api=HfApi(endpoint=hub.url, token="hf_expired"))
    assert "the Hub answered 401: it does not know this token" in message
    assert "nothing was uploaded" in message
    assert "does not answer" not in message
    assert "hf auth login" in message
    assert hub.writes() == []


def test_a_token_that_expires_on_the_way(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    hub.meanwhile("POST", "/commit/", lambda: tokens.clear())
    with pytest.MonkeyPatch.context() as patch:
        tokens = dict(hub_routes.ACCOUNTS)
        patch.setattr(hub_routes, "ACCOUNTS", tokens)
        message = publisher.fails(release)
    assert "committing: the Hub answered 401: it does not know this token" in message
    assert "unknown, because it does not say" in message
    assert "hf auth login" in message


@pytest.mark.parametrize(
    ("token", "told"),
    [
        ("hf_secret\n", "the token holds characters that HTTP does not allow"),
        ("hf_secrét", "the token holds characters that HTTP does not allow"),
        ("hf_secret\x7f", "the Hub answered 401"),
        ("hf_secret token", "the Hub answered 401"),
    ],
)
def test_a_token_with_characters_that_no_token_has_is_never_shown(
    hub: LoopbackHub, publisher: Publisher, release: Path, token: str, told: str
) -> None:
    message = publisher.fails(release, api=HfApi(endpoint=hub.url, token=token))
    assert told in message and "hf_secr" not in message + "".join(publisher.said)


@pytest.mark.parametrize(
    "endpoint", ["huggingface.co", "ftp://127.0.0.1", "http://[::1", "http://127.0.0.1:port", "http://"]
)
def test_an_endpoint_that_is_no_web_address(publisher: Publisher, release: Path, endpoint: str) -> None:
    with pytest.raises(InputError, match="is not a web address"):
        publisher(release, api=HfApi(endpoint=endpoint, token="hf_any"))


def test_a_token_that_may_not_create_a_repository(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    hub.refuse("POST", "/repos/create", 403)
    message = publisher.fails(release)
    assert "creating the repository: the Hub answered 403" in message and "hf auth login" in message
    assert hub.store.repos == {}


def test_a_repository_without_a_branch_main(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    hub.repo(REPO).branches["other"] = hub.repo(REPO).branches.pop("main")
    before = len(hub.writes())
    for dry_run in (True, False):
        assert "the repository has no branch main" in publisher.fails(release, dry_run=dry_run)
    assert len(hub.writes()) == before


def test_a_token_without_rights_on_this_repository(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    hub.refuse("POST", "/preupload/", 403)
    message = publisher.fails(release)
    assert "403" in message
    assert "hf auth login" in message


NO_TOKEN = """
import sys
from pathlib import Path
from builders.publish.run import publish
from loaders.errors import HubError
try:
    publish(Path(sys.argv[1]), "org/corpus", tag="v1.0.0")
except HubError as error:
    print(error)
"""


def test_no_token_at_all(hub: LoopbackHub, release: Path, tmp_path: Path) -> None:
    environment = {**os.environ, **hub.environment(tmp_path / "home")}
    del environment["HF_TOKEN"]
    command = [sys.executable, "-c", NO_TOKEN, str(release)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "no token" in done.stdout
    assert "hf auth login" in done.stdout
    assert hub.requests == []


WITH_XET = """
import sys
from pathlib import Path
from builders.publish.run import publish
print(publish(Path(sys.argv[1]), "org/corpus", tag="v1.0.0").commit)
"""


def test_a_hub_without_xet_is_served_by_plain_lfs(
    hub: LoopbackHub, publisher: Publisher, release: Path, tmp_path: Path
) -> None:
    environment = {**os.environ, **hub.environment(tmp_path / "home")}
    del environment["HF_HUB_DISABLE_XET"]
    command = [sys.executable, "-c", WITH_XET, str(release)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert publisher.tags() == {"v1.0.0": done.stdout.splitlines()[-1]}
    assert publisher.files("v1.0.0") == [".gitattributes", *FILES]


# ------------------------------------------------------------------------ faults


@pytest.mark.parametrize("route", ["/commit/", "/tag/", "/repos/create"])
def test_a_lost_response_does_not_make_a_second_commit(
    hub: LoopbackHub, publisher: Publisher, release: Path, route: str
) -> None:
    fault = hub.lose_response("POST", route)
    assert_published_once(publisher, publisher(release))
    assert fault.hits == 1
    if route != "/repos/create":  # which is sent again, because making it twice changes nothing
        assert sum(route in request.path for request in hub.requests) == 1
        assert any("took effect" in line for line in publisher.said)
        assert publisher.waits == []


@pytest.mark.parametrize(
    ("method", "route", "status"),
    [
        ("GET", "/whoami-v2", 503),
        ("POST", "/repos/create", 503),
        ("GET", "/refs", 503),
        ("PUT", "/settings", 503),
        *(("POST", route, status) for route in ("/commit/", "/tag/") for status in (429, 500, 503)),
    ],
)
def test_a_refusal_that_passes_is_waited_out(
    hub: LoopbackHub, publisher: Publisher, release: Path, method: str, route: str, status: int
) -> None:
    fault = hub.refuse(method, route, status, times=2)
    assert_published_once(publisher, publisher(release, gated="auto"))
    assert fault.hits == 2
    assert publisher.waits == [1.0, 2.0]
    assert sum(f"answered {status}" in line for line in publisher.said) == 2


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize(
    ("method", "route", "status"),
    [
        ("POST", "/preupload/", 503),
        ("POST", "/objects/batch", 429),
        *(("PUT", "^/lfs/", status) for status in (429, 500, 503)),
        ("GET", "/tree/", 503),
        ("HEAD", "/resolve/", 503),
        ("GET", "/resolve/", 503),
    ],
)
def test_a_refusal_on_the_way_of_the_files_is_waited_out(
    hub: LoopbackHub, publisher: Publisher, release: Path, method: str, route: str, status: int
) -> None:
    fault = hub.refuse(method, route, status, times=2)
    assert_published_once(publisher, publisher(release))
    assert fault.hits == 2


def test_retry_after_is_obeyed_and_reported(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    hub.refuse("POST", "/commit/", 429, retry_after=17)
    assert_published_once(publisher, publisher(release))
    assert publisher.waits == [17.0]
    assert any("committing: the Hub answered 429" in line and "waiting 17 s" in line for line in publisher.said)


@pytest.mark.parametrize(("left", "waits"), [(0, [17.0]), (5, [1.0])])
def test_the_hubs_own_limit_is_obeyed_once_it_is_used_up(
    hub: LoopbackHub, publisher: Publisher, release: Path, left: int, waits: list[float]
) -> None:
    """A request that was refused for its number was not carried out: nobody asks whether it was."""
    hub.refuse("POST", "/commit/", 429).headers = {"RateLimit": f'"api";r={left};t=17'}
    done = publisher(release)
    assert publisher.waits == waits
    assert not any("/commits/" in request.path for request in hub.requests)
    assert_published_once(publisher, done)


def test_a_wait_beyond_reason_is_an_error_that_says_how_long(
    hub: LoopbackHub, publisher: Publisher, release: Path
) -> None:
    hub.refuse("POST", "/commit/", 429, retry_after=3600)
    message = publisher.fails(release)
    assert publisher.waits == []
    assert "3600 s" in message
    assert "(not this release); v1.0.0 is not set; this run uploaded 3 Parquet files" in message


@pytest.mark.parametrize("status", [500, 503])
def test_a_hub_that_keeps_refusing_the_commit(
    hub: LoopbackHub, publisher: Publisher, release: Path, status: int
) -> None:
    fault = hub.refuse("POST", "/commit/", status, times=99)
    message = publisher.fails(release)
    assert fault.hits == 4
    assert f"committing: the Hub answered {status}" in message
    assert "(not this release); v1.0.0 is not set; this run uploaded 3 Parquet files" in message
    assert "Run the same command again" in message
    fault.left = 0
    uploads = sum(request.method == "PUT" for request in hub.requests)
    assert_published_once(publisher, publisher(release))
    assert sum(request.method == "PUT" for request in hub.requests) == uploads


@pytest.mark.parametrize("status", [500, 504])
@pytest.mark.parametrize("route", ["/commit/", "/tag/"])
def test_an_error_although_it_was_done_is_looked_into(
    hub: LoopbackHub, publisher: Publisher, release: Path, route: str, status: int
) -> None:
    hub.refuse("POST", route, status, although_done=True)
    assert_published_once(publisher, publisher(release))
    assert sum(route in request.path for request in hub.requests) == 1


@pytest.mark.parametrize("reply_only", [False, True])
@pytest.mark.parametrize("route", ["/commit/", "/tag/"])
def test_an_answer_that_comes_too_late(
    hub: LoopbackHub, publisher: Publisher, release: Path, route: str, reply_only: bool
) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    fault = hub.delay("POST", route, 2.0, reply_only=reply_only)
    client = get_session()
    before = client.timeout
    client.timeout = httpx.Timeout(1.0)
    try:
        done = publisher(release)
    finally:
        client.timeout = before
    assert_published_once(publisher, done)
    assert fault.hits == 1
    assert any("did not answer in time" in line for line in publisher.said)


def test_no_request_waits_forever(publisher: Publisher, release: Path) -> None:
    client = get_session()
    client.timeout = httpx.Timeout(None)  # the library's own setting
    publisher(release)
    assert client.timeout.read == PATIENCE


def test_a_concurrent_commit_beside_the_release_is_built_upon(
    hub: LoopbackHub, publisher: Publisher, release: Path
) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    hub.meanwhile("POST", "/commit/", lambda: hub.commit(REPO, {".gitattributes": b"*.parquet filter=lfs\n"}, "Theirs"))
    done = publisher(release)
    assert publisher.commits() == ["Release v1.0.0", "Theirs", "initial commit"]
    assert publisher.tags() == {"v1.0.0": done.commit}
    assert publisher.files("v1.0.0") == [".gitattributes", *FILES]


def test_the_same_release_published_twice_at_once_is_one_commit(
    hub: LoopbackHub, publisher: Publisher, release: Path
) -> None:
    other = Publisher(hub)
    publisher.api.create_repo(REPO, repo_type="dataset")
    hub.meanwhile("POST", "/commit/", lambda: other(release))
    assert_published_once(publisher, publisher(release))
    assert sum("/commit/" in request.path for request in hub.requests) == 2


def test_going_back_to_older_content_is_a_commit_of_its_own(
    hub: LoopbackHub, publisher: Publisher, tmp_path: Path
) -> None:
    older = make_release(tmp_path / "1")
    publisher(older)
    publisher(make_release(tmp_path / "2", text="enlarged"), tag="v1.1.0")
    hub.refuse("POST", "/commit/", 503)
    done = publisher(older, tag="v1.2.0")
    assert publisher.commits() == ["Release v1.2.0", "Release v1.1.0", "Release v1.0.0", "initial commit"]
    assert publisher.tags()["v1.2.0"] == publisher.head() == done.commit


@pytest.mark.parametrize("status", [409, 412])
def test_a_conflict_without_another_commit_is_tried_once_more(
    hub: LoopbackHub, publisher: Publisher, release: Path, status: int
) -> None:
    hub.refuse("POST", "/commit/", status)
    assert_published_once(publisher, publisher(release))


def test_somebody_who_always_comes_first_is_given_way_once(
    hub: LoopbackHub, publisher: Publisher, release: Path
) -> None:
    turns = iter(range(99))
    fault = hub.meanwhile(
        "POST",
        "/commit/",
        lambda: hub.commit(REPO, {".gitattributes": f"# {next(turns)}".encode()}, "Theirs"),
        times=99,
    )
    publisher.api.create_repo(REPO, repo_type="dataset")
    assert "to main meanwhile, changing .gitattributes" in publisher.fails(release)
    assert fault.hits == 2 and publisher.tags() == {}
    fault.left = 0
    publisher(release)
    assert publisher.files("v1.0.0") == [".gitattributes", *FILES]


@pytest.mark.parametrize("path", ["README.md", "notes.txt", SHARDS[0]])
def test_a_concurrent_commit_to_the_release_stops_it(
    hub: LoopbackHub, publisher: Publisher, release: Path, path: str
) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    hub.meanwhile("POST", "/commit/", lambda: hub.commit(REPO, {path: b"theirs"}, "Theirs"))
    message = publisher.fails(release)
    assert f"someone else committed {publisher.head()[:8]} to main meanwhile, changing {path}" in message
    assert f"main is at {publisher.head()[:8]} (not this release); v1.0.0 is not set" in message
    assert "this run uploaded 3 Parquet files" in message
    # The advice is to run the same command again: that leaves alone what they did, until somebody says otherwise.
    assert "Run the same command again" in message.replace("then run", "Run")
    before = len(hub.writes())
    assert f"--replace {path}" in publisher.fails(release)
    assert len(hub.writes()) == before
    assert publisher.commits() == ["Theirs", "initial commit"]
    done = publisher(release, replace=[path])
    assert publisher.commits() == ["Release v1.0.0", "Theirs", "initial commit"]
    assert publisher.files("v1.0.0") == [".gitattributes", *FILES]
    assert publisher.tags() == {"v1.0.0": done.commit}


def test_a_commit_of_somebody_else_on_top_of_ours_does_not_move_the_tag(
    hub: LoopbackHub, publisher: Publisher, release: Path
) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    hub.lose_response("POST", "/commit/")
    hub.meanwhile("GET", "/commits/", lambda: hub.commit(REPO, {"notes.txt": b"theirs"}, "Theirs"))
    done = publisher(release)
    assert publisher.commits() == ["Theirs", "Release v1.0.0", "initial commit"]
    assert publisher.tags() == {"v1.0.0": done.commit}
    assert publisher.files("v1.0.0") == [".gitattributes", *FILES]


def test_somebody_else_setting_our_tag_is_reported(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    first = publisher.head()
    hub.meanwhile("POST", "/tag/", lambda: hub.repo(REPO).tags.update({"v1.0.0": first}))
    message = publisher.fails(release)
    assert f"the tag names commit {first[:8]}" in message
    assert "next version" in message


@pytest.mark.usefixtures("no_waiting")
def test_a_dropped_upload_is_sent_again(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    fault = hub.cut_upload(times=2)
    assert_published_once(publisher, publisher(release))
    assert fault.hits == 2


@pytest.mark.usefixtures("no_waiting")
def test_an_upload_that_is_always_dropped_ends_in_one_error(
    hub: LoopbackHub, publisher: Publisher, release: Path
) -> None:
    fault = hub.cut_upload(times=999)
    message = publisher.fails(release)
    assert fault.hits == 2 * 6  # our attempts, each with the library's own
    assert f"uploading {SHARDS[0]}" in message
    assert "(not this release); v1.0.0 is not set; this run uploaded nothing" in message
    assert publisher.commits() == ["initial commit"]
    fault.left = 0
    assert_published_once(publisher, publisher(release))


def test_an_upload_acknowledged_and_missed_by_its_verification_is_sent_again(
    hub: LoopbackHub, publisher: Publisher, release: Path
) -> None:
    fault = hub.swallow_upload()
    assert_published_once(publisher, publisher(release))
    assert fault.hits == 1


@pytest.mark.parametrize("times", [1, 3])
def test_an_upload_acknowledged_and_verified_falsely_is_sent_again(
    hub: LoopbackHub, publisher: Publisher, release: Path, times: int
) -> None:
    fault = hub.swallow_upload(times=times, lie=True)
    assert_published_once(publisher, publisher(release))
    assert fault.hits == times
    assert any("lost an acknowledged upload" in line for line in publisher.said)


def test_uploads_that_are_always_acknowledged_falsely_end_in_one_error(
    hub: LoopbackHub, publisher: Publisher, release: Path
) -> None:
    fault = hub.swallow_upload(times=999, lie=True)
    message = publisher.fails(release)
    assert fault.hits == 2 * 3
    assert "acknowledged an upload twice but does not have it" in message
    assert "this run uploaded 3 Parquet files" in message  # each once, however often it was sent
    assert publisher.commits() == ["initial commit"]
    assert publisher.tags() == {}


@pytest.mark.parametrize("name", [SHARDS[1], "exclusions.parquet"])
def test_a_file_that_is_no_parquet_is_never_sent(
    name: str, hub: LoopbackHub, publisher: Publisher, release: Path
) -> None:
    """With digests that fit, as whoever forges a shard writes them."""
    (release / name).write_bytes(b"not Parquet")
    manifest = Manifest.read(release)
    facts = FileFacts(sha256=hashlib.sha256(b"not Parquet").hexdigest(), size=11)
    manifest.model_copy(update={"files": {**manifest.files, name: facts}}).write(release)
    with pytest.raises(ReleaseError, match=f"{name}: cannot be read: .*a Parquet file"):
        publisher(release)
    assert hub.writes() == []


def test_a_shard_stored_damaged_is_never_tagged(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    hub.damage_upload()
    message = publisher.fails(release)
    digest = hashlib.sha256((release / SHARDS[0]).read_bytes()).hexdigest()
    assert f"{SHARDS[0]} of commit {publisher.head()[:8]} has SHA-256" in message
    assert f"expected SHA-256 {digest[:12]}" in message
    assert "v1.0.0 is not set" in message
    assert publisher.tags() == {}
    publisher(release, read_back="digests")  # which believes what the Hub lists
    assert "v1.0.0" in publisher.tags()


def test_a_shard_that_the_hub_lost_is_sent_again(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    lost = f"/resolve/[0-9a-f]+/{SHARDS[1]}"
    hub.meanwhile("HEAD", lost, lambda: hub.lose_object(REPO, SHARDS[1]))
    assert_published_once(publisher, publisher(release))
    assert any(f"{SHARDS[1]} cannot be downloaded" in line for line in publisher.said)


def test_a_shard_that_the_hub_keeps_losing_is_never_tagged(
    hub: LoopbackHub, publisher: Publisher, release: Path
) -> None:
    hub.meanwhile("HEAD", f"/resolve/[0-9a-f]+/{SHARDS[1]}", lambda: hub.lose_object(REPO, SHARDS[1]), times=99)
    message = publisher.fails(release)
    assert f"{SHARDS[1]} of commit {publisher.head()[:8]} cannot be downloaded" in message
    assert "delete it" in message
    assert publisher.tags() == {}


@pytest.mark.usefixtures("no_waiting")
def test_a_hub_that_does_not_answer_when_read_back_has_damaged_nothing(
    hub: LoopbackHub, publisher: Publisher, release: Path
) -> None:
    fault = hub.refuse("HEAD", "/resolve/", 503, times=999)
    message = publisher.fails(release)
    assert f"reading back {SHARDS[0]}" in message and "Run the same command again" in message
    assert "delete it" not in message and not any("uploading it again" in line for line in publisher.said)
    assert publisher.tags() == {}
    fault.left = 0
    assert_published_once(publisher, publisher(release))


def test_a_download_damaged_on_the_way_is_repeated(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    fault = hub.damage_download(SHARDS[0])
    assert_published_once(publisher, publisher(release))
    assert fault.hits == 1


def test_a_commit_that_is_read_back_different_is_never_tagged(
    hub: LoopbackHub, publisher: Publisher, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Hub that stores another card than it was given."""
    blob = hub.store.blob
    monkeypatch.setattr(hub.store, "blob", lambda body: blob(body.replace(b"# A corpus", b"# A CORPUS")))
    message = publisher.fails(release)
    assert "does not match the release when read back; different: README.md" in message
    assert publisher.tags() == {}


def test_no_hub_at_all(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    message = publisher.fails(release, api=HfApi(endpoint="http://127.0.0.1:1", token=hub.token))
    assert "cannot be reached" in message
    assert "On the Hub: unknown, because it does not answer" in message
    assert publisher.waits == [1.0, 2.0, 4.0]


@pytest.mark.usefixtures("no_waiting")
def test_a_hub_that_dies_after_the_commit(hub: LoopbackHub, publisher: Publisher, release: Path) -> None:
    hub.meanwhile("POST", "/commit/", lambda: hub.refuse("GET", "/api/", 503, times=999))
    message = publisher.fails(release)
    assert "listing commit" in message
    known = f"this run uploaded 3 Parquet files and made commit {publisher.head()[:8]}; v1.0.0 was not confirmed"
    assert f"On the Hub: unknown, because it does not answer; {known}" in message
    hub.faults.clear()
    assert_published_once(publisher, publisher(release))


# ------------------------------------------------------------------ answers that are none


@pytest.mark.parametrize("status", [200, 403, 409])
def test_a_repository_that_somebody_made_meanwhile(
    hub: LoopbackHub, publisher: Publisher, release: Path, status: int
) -> None:
    """The real Hub has answered a 409 without the address of the repository."""

    def make() -> None:
        publisher.api.create_repo(REPO, repo_type="dataset")

    fault = hub.answer(
        "POST", "/repos/create", b'{"error": "You already created this dataset repo"}', status, action=make
    )
    assert_published_once(publisher, publisher(release))
    assert fault.hits == 1


ROUTES = [
    ("GET", "/whoami-v2"),
    ("GET", "/refs"),
    ("POST", "/repos/create"),
    ("GET", "/tree/"),
    ("GET", f"/api/datasets/{REPO}$"),
    ("POST", "/preupload/"),
    ("POST", "/objects/batch"),
    ("PUT", "^/lfs/"),
    ("POST", "/verify"),
    ("POST", "/validate-yaml"),
    ("POST", "/commit/"),
    ("POST", "/tag/"),
    ("HEAD", "/resolve/"),
    ("GET", "/resolve/"),
]


@pytest.mark.usefixtures("no_waiting")
@pytest.mark.parametrize(
    "body", [b"{}", b"[]", b"null", b'{"error": "cut', b"", b"<html>Welcome to our network", b"[[]]"]
)
@pytest.mark.parametrize(("method", "route"), ROUTES)
def test_an_invalid_reply_is_one_error_or_ignored(
    hub: LoopbackHub, publisher: Publisher, release: Path, method: str, route: str, body: bytes
) -> None:
    fault = hub.answer(method, route, body, times=999)
    with suppress(HubError):
        publisher(release, gated="auto")
    assert fault.hits
    fault.left = 0
    publisher(release, gated="auto")
    assert publisher.files("v1.0.0") == [".gitattributes", *FILES]
    assert publisher.tags() == {"v1.0.0": publisher.head()}


@pytest.mark.parametrize(("method", "route"), [("GET", "/whoami-v2"), ("GET", "/refs"), ("POST", "/commit/")])
def test_an_invalid_reply_is_named_and_requested_again(
    hub: LoopbackHub, publisher: Publisher, release: Path, method: str, route: str
) -> None:
    hub.answer(method, route, b"[]")
    assert_published_once(publisher, publisher(release))
    assert publisher.waits == [1.0]
    assert any("the answer is not from a Hub" in line for line in publisher.said)


# ----------------------------------------------------------------------- the deadline

Order = Callable[[LoopbackHub], Fault]


def ordered(name: str, *arguments: Any, **options: Any) -> Order:
    return lambda hub: getattr(hub, name)(*arguments, times=9999, **options)


ENDLESS: dict[str, Order] = {
    **{f"{method} {route} never answers": ordered("delay", method, route, 3600.0) for method, route in ROUTES},
    "a commit that is made and never answered": ordered("delay", "POST", "/commit/", 3600.0, reply_only=True),
    "a list that drips": ordered("drip", "GET", "/tree/"),
    "a download that drips": ordered("drip", "GET", "/resolve/"),
    "a Hub that asks to wait, and wait": ordered("refuse", "POST", "/commit/", 429, retry_after=1),
    "a Hub that always fails": ordered("refuse", "GET", "/refs", 503),
    "uploads that are always cut": ordered("cut_upload"),
    "responses that are always lost": ordered("lose_response", "GET", "/refs"),
    "commits that are always lost": ordered("lose_response", "POST", "/commit/"),
    "tags that are refused though they are set": ordered("refuse", "POST", "/tag/", 500, although_done=True),
    "uploads that are always swallowed": ordered("swallow_upload"),
    "uploads that are always swallowed, and verified": ordered("swallow_upload", lie=True),
    "uploads that are always damaged": ordered("damage_upload"),
    "downloads that are always damaged": ordered("damage_download"),
    "somebody who always comes first": lambda hub: hub.meanwhile(
        "POST", "/commit/", lambda: hub.commit(REPO, {".gitattributes": f"# {time.monotonic()}".encode()}), times=9999
    ),
    "a conflict that the library would repeat for ever": ordered(
        "answer", "POST", "/repos/create", b"Cannot create repo: another conflicting operation is in progress", 409
    ),
}


def late_once(monkeypatch: pytest.MonkeyPatch, fault: Fault, said: Sized) -> None:
    """Move the deadline's clock on by an hour as soon as a line was said after the fault struck, and 0.3 s went by.

    However busy the machine is, the time is then up at the fault, neither before nor after it.
    """
    came: list[tuple[float, int]] = []

    def clock() -> float:
        now = time.monotonic()
        if fault.hits and not came:
            came.append((now + 0.3, len(said)))
        return now + 3600 * any(now > when and len(said) > lines for when, lines in came)

    monkeypatch.setattr(watch, "HEARTBEAT", 0.2)
    monkeypatch.setattr(watch, "time", SimpleNamespace(monotonic=clock))


@pytest.mark.parametrize("fault", ENDLESS)
def test_every_fault_ends_within_the_deadline_and_is_never_silent(
    hub: LoopbackHub, publisher: Publisher, release: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    struck, said, message = ENDLESS[fault](hub), [time.monotonic()], "published"
    late_once(monkeypatch, struck, said)
    try:
        publisher(release, gated="auto", report=lambda _: said.append(time.monotonic()), sleep=time.sleep, deadline=30)
    except HubError as error:
        message = str(error)
        assert "run the same command again" in message.lower()
    end = time.monotonic()
    assert struck.hits
    assert end - said[0] < 25
    assert max(later - earlier for earlier, later in pairwise([*said, end])) < 10  # 0.2 on a machine with time
    tagged = publisher.tags() if f"datasets/{REPO}" in hub.store.repos else {}
    assert bool(tagged) <= (message == "published" or "/tag/" in fault)
    struck.left = 0


def test_the_deadline_says_what_went_on_and_what_is_known(
    hub: LoopbackHub, publisher: Publisher, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.refuse("POST", "/commit/", 503)
    late_once(monkeypatch, hub.delay("POST", "/commit/", 3600.0), publisher.said)
    message = publisher.fails(release, deadline=1800.0)
    assert "committing did not finish before the deadline of 30 min" in message
    assert "the last problem was: committing: the Hub answered 503" in message
    assert "this run uploaded 3 Parquet files; v1.0.0 was not confirmed" in message
    assert "--deadline MINUTES" in message
    assert any(line.startswith("committing: still running after") for line in publisher.said)
    assert_published_once(publisher, publisher(release))


def test_work_abandoned_at_the_deadline_goes_no_further(
    hub: LoopbackHub, publisher: Publisher, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit may still be made, as the error says; nothing follows it."""
    later = threading.Event()
    late_once(monkeypatch, hub.meanwhile("POST", "/commit/", lambda: later.wait(120)), publisher.said)
    before = threading.enumerate()  # another test's Hub may still be silent
    assert "may still take effect" in publisher.fails(release, deadline=1800.0)
    later.set()
    left_behind = [thread for thread in threading.enumerate() if thread.name == "publishing" and thread not in before]
    for thread in left_behind:
        thread.join(120)
    assert publisher.commits() == ["Release v1.0.0", "initial commit"]
    assert publisher.tags() == {}
    assert_published_once(publisher, publisher(release))


def test_a_wait_that_leads_past_the_deadline_is_not_begun(
    hub: LoopbackHub, publisher: Publisher, release: Path
) -> None:
    hub.refuse("POST", "/commit/", 429, retry_after=60)
    message = publisher.fails(release, deadline=30.0)
    assert publisher.waits == []
    assert "committing: the Hub answered 429" in message


@pytest.mark.parametrize("deadline", [0.0, -1.0, float("nan"), float("inf")])
def test_an_invalid_deadline(publisher: Publisher, release: Path, deadline: float) -> None:
    with pytest.raises(InputError, match="deadline"):
        publisher(release, deadline=deadline)


def bedside_publish(release: Path, environment: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scripts", "publish", str(release), REPO, "--tag", "v1.0.0", *UNCHECKED, *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=1200)


def test_a_hub_that_accepts_and_never_answers(hub: LoopbackHub, release: Path, tmp_path: Path) -> None:
    """From the command line, where what was left behind must not keep the process."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        environment = {**os.environ, **hub.environment(tmp_path / "home"), "HF_ENDPOINT": endpoint}
        done = bedside_publish(release, environment, "--deadline", "0.05")
    assert done.returncode == 2, done.stderr
    assert "checking the login did not finish before the deadline of 3 s" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_control_c_says_what_was_done(hub: LoopbackHub, release: Path, tmp_path: Path) -> None:
    fault = hub.delay("POST", "/commit/", 3600.0)
    environment = {**os.environ, **hub.environment(tmp_path / "home")}
    command = [sys.executable, "-m", "scripts", "publish", str(release), REPO, "--tag", "v1.0.0", *UNCHECKED]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        while not fault.hits:
            time.sleep(0.05)
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130, said
    assert "Stopped while committing; this run uploaded 3 Parquet files. Run the same command" in " ".join(said.split())


def test_an_upload_by_xet_that_hangs(hub: LoopbackHub, release: Path, tmp_path: Path) -> None:
    hub.delay("GET", "/xet-write-token/", 3600.0, times=99)
    environment = {**os.environ, **hub.environment(tmp_path / "home")}
    del environment["HF_HUB_DISABLE_XET"]
    done = bedside_publish(release, environment, "--deadline", "0.25")
    assert done.returncode == 2, done.stderr
    assert f"uploading {SHARDS[0]} did not finish before the deadline of 15 s" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
