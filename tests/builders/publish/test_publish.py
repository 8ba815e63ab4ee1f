"""Publishing to the loopback Hub: one commit, and a tag that is set last."""

from __future__ import annotations

from pathlib import Path

import pytest
from huggingface_hub import HfApi

from builders.release.cards import REPOSITORY, SAME_TAG
from loaders.errors import HubError, InputError
from tests.parts.faulty_hub import FaultyHub
from tests.parts.processes import printed
from tests.parts.publisher import CARD, FILES, REPO, SHARDS, Publisher, assert_published_once, make_release, of_manifest


def test_a_release_is_one_commit_and_a_tag_set_last(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
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
    hub: FaultyHub, publisher: Publisher, tmp_path: Path
) -> None:
    publisher(make_release(tmp_path / "1"))
    publisher(make_release(tmp_path / "2", text="enlarged"), tag="v1.1.0")
    said = printed("-c", LOAD, "v1.0.0", "v1.1.0", **hub.environment(tmp_path / "cache"))
    assert said.splitlines() == [str([f"{text} {number}" for number in range(4)]) for text in ("swollen", "enlarged")]


def test_main_never_goes_back_to_a_lower_version(hub: FaultyHub, publisher: Publisher, tmp_path: Path) -> None:
    done = publisher(make_release(tmp_path / "1"), tag="v1.10.0")
    before = len(hub.writes())
    for lower in ("v1.9.0", "v0.11.0"):
        for dry_run in (True, False):
            said = publisher.fails(make_release(tmp_path / f"{lower}{dry_run}", text="new"), tag=lower, dry_run=dry_run)
            assert f"main would go back to {lower}" in said and "under the next version" in said
    assert publisher.head() == done.commit and len(hub.writes()) == before
    publisher(make_release(tmp_path / "3", text="newer"), tag="v1.10.1")


def test_main_never_goes_back_to_a_version_below_one_that_has_no_tag_yet(
    hub: FaultyHub, publisher: Publisher, tmp_path: Path
) -> None:
    publisher(make_release(tmp_path / "1"))
    hub.refuse("POST", "/tag/", 403)
    publisher.fails(make_release(tmp_path / "2", text="new"), tag="v1.2.0")
    head = publisher.head()
    said = publisher.fails(make_release(tmp_path / "3", text="newer"), tag="v1.1.0")
    assert "v1.2.0 is on main, and its tag is not set yet; main would go back to v1.1.0" in said
    assert publisher.head() == head
    publisher(make_release(tmp_path / "4", text="newest"), tag="v1.2.1")
    publisher(make_release(tmp_path / "5", text="last"), tag="v1.2.2")


def test_two_releases_of_one_version_never_leave_main_without_a_tag(
    hub: FaultyHub, publisher: Publisher, release: Path, tmp_path: Path
) -> None:
    """Whoever comes between the commit and the tag of another would lose the tag, and main would hold their release."""
    other = make_release(tmp_path / "other", text="other")
    said: list[str] = []
    hub.meanwhile("POST", "/tag/", lambda: said.append(Publisher(hub).fails(other)))
    done = publisher(release)
    assert (
        f"v1.0.0 is on main, and its tag is not set yet; commit {done.commit[:8]} is another release of it" in said[0]
    )
    assert publisher.tags() == {"v1.0.0": publisher.head()} and publisher.head() == done.commit


def test_a_version_that_was_interrupted_is_continued_on_another_day(
    hub: FaultyHub, publisher: Publisher, tmp_path: Path
) -> None:
    release = make_release(tmp_path / "release", croissant='{"name": "corpus"}')
    hub.refuse("POST", "/tag/", 403)
    publisher.fails(release, date="2026-11-22")
    done = publisher(release, date="2026-11-23")
    assert publisher.tags() == {"v1.0.0": done.commit} and publisher.head() == done.commit


def test_a_version_that_comes_while_the_repository_is_made_is_not_followed_by_a_lower_one(
    hub: FaultyHub, publisher: Publisher, release: Path, tmp_path: Path
) -> None:
    theirs = make_release(tmp_path / "theirs", text="theirs")
    hub.meanwhile("POST", "/repos/create", lambda: Publisher(hub)(theirs, tag="v2.0.0"))
    assert "v2.0.0 is published; main would go back to v1.0.0" in publisher.fails(release)
    assert list(publisher.tags()) == ["v2.0.0"]


def test_what_came_to_main_before_the_tag_was_set_is_told(
    hub: FaultyHub, publisher: Publisher, release: Path, tmp_path: Path
) -> None:
    hub.meanwhile("POST", "/tag/", lambda: hub.commit(REPO, {"notes.txt": b"theirs"}))
    done = publisher(release)
    assert publisher.tags() == {"v1.0.0": done.commit} and publisher.head() != done.commit
    assert f"someone else committed {publisher.head()[:8]} to main meanwhile: only v1.0.0" in publisher.said[-1]


def test_the_same_release_again_writes_nothing(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    first = publisher(release, gated="auto")
    before = len(hub.writes())
    again = publisher(release, gated="auto")
    assert (again.unchanged, again.commit, again.uploaded) == (True, first.commit, [])
    assert len(hub.writes()) == before
    assert "nothing to do" in publisher.said[-1]


def test_the_same_release_again_without_its_date_is_the_same(
    hub: FaultyHub, publisher: Publisher, tmp_path: Path
) -> None:
    release = make_release(tmp_path / "release", croissant='{"name": "corpus"}')
    first = publisher(release, date="2026-11-22")
    before = len(hub.writes())
    again = publisher(release)
    assert (again.unchanged, again.commit) == (True, first.commit) and "nothing to do" in publisher.said[-1]
    said = publisher.fails(release, date="2026-11-23")
    assert f"main is at {first.commit[:8]} (the files of this release)" in said
    assert "under the tag on 2026-11-22, and the date asked for is 2026-11-23" in said and "Leave out --date" in said
    assert "other content" in publisher.fails(
        make_release(tmp_path / "2", text="other", croissant='{"name": "corpus"}')
    )
    assert len(hub.writes()) == before
    publisher(release, tag="v1.0.1")
    assert "without a date" in publisher.fails(release, tag="v1.0.1", date="2026-11-23")


def test_the_same_content_under_a_new_tag_is_only_tagged(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    first = publisher(release)
    before = len(hub.writes())
    second = publisher(release, tag="v1.0.1")
    assert [request.path for request in hub.writes()[before:]] == [f"/api/datasets/{REPO}/tag/{first.commit}"]
    assert publisher.tags() == {"v1.0.0": first.commit, "v1.0.1": first.commit}
    assert (second.uploaded, second.unchanged) == ([], False)


def test_a_version_that_was_published_with_its_placeholders_is_the_same(
    hub: FaultyHub, publisher: Publisher, tmp_path: Path
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
    of_manifest(lambda manifest: None)(release)  # in another layout than that of this version
    publisher(release)
    there = publisher.api.hf_hub_download(REPO, "manifest.json", repo_type="dataset", cache_dir=tmp_path)
    assert Path(there).read_bytes() == (release / "manifest.json").read_bytes()


def test_a_tag_with_other_content_is_refused(hub: FaultyHub, publisher: Publisher, tmp_path: Path) -> None:
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
    hub: FaultyHub, publisher: Publisher, tmp_path: Path
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


def test_a_run_that_stopped_before_the_tag_is_continued_by_tagging(
    hub: FaultyHub, publisher: Publisher, release: Path
) -> None:
    hub.refuse("POST", "/tag/", 403)
    message = publisher.fails(release)
    assert f"main is at {publisher.head()[:8]} (the files of this release); v1.0.0 is not set" in message
    assert "tagging: the Hub answered 403" in message and "hf auth login" in message
    before = len(hub.writes())
    done = publisher(release)
    assert [request.path for request in hub.writes()[before:]] == [f"/api/datasets/{REPO}/tag/{done.commit}"]
    assert_published_once(publisher, done)


def test_a_dry_run_sends_no_write(hub: FaultyHub, publisher: Publisher, tmp_path: Path) -> None:
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


def test_a_dry_run_needs_no_token_and_changes_no_setting(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    anybody = HfApi(endpoint=hub.url, token=False)
    assert publisher(release, dry_run=True, gated="manual", api=anybody).plan.upload == tuple(FILES)
    assert "readers must request access (manual)" in publisher.said
    publisher(release, gated="auto")
    before = len(hub.writes())
    for tag in ("v1.0.0", "v1.0.1"):
        publisher(release, tag=tag, dry_run=True, gated="manual")
    assert (hub.repo(REPO).gated, len(hub.writes())) == ("auto", before)


def test_an_endpoint_is_the_same_with_a_slash_at_its_end(hub: FaultyHub, publisher: Publisher, tmp_path: Path) -> None:
    release = make_release(tmp_path / "named", croissant="{}")
    assert publisher(release, endpoint=f"{hub.url}/").url == f"{hub.url}/datasets/{REPO}/tree/v1.0.0"
    assert publisher(release).unchanged


@pytest.mark.parametrize("dry_run", [True, False])
def test_what_its_owners_keep_is_published_only_when_asked_to(
    hub: FaultyHub, publisher: Publisher, release: Path, dry_run: bool
) -> None:
    of_manifest(lambda manifest: manifest["settings"].update(kept="patients of a team of its own"))(release)
    with pytest.raises(InputError, match=r"patients of a team of its own.*a release meant for others.*--own"):
        publisher(release, dry_run=dry_run)
    assert hub.requests == []
    publisher(release, own=True, dry_run=dry_run)
    assert bool(hub.writes()) is not dry_run


def test_private_is_made_so_and_never_lands_in_public(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    publisher(release, private=True)
    assert hub.repo(REPO).private
    publisher.api.create_repo("org/public", repo_type="dataset")
    before = len(hub.writes())
    message = publisher.fails(release, "org/public", private=True)
    assert "the repository is public" in message
    assert len(hub.writes()) == before


def test_the_gate_is_set_before_any_data_is_sent(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    publisher(release, gated="manual")
    assert hub.repo(REPO).gated == "manual"
    methods = [(request.method, request.path.partition("?")[0].rpartition("/")[2]) for request in hub.writes()]
    assert methods[:2] == [("POST", "create"), ("PUT", "settings")]
    changed = publisher(release, gated="auto")
    assert (hub.repo(REPO).gated, changed.unchanged) == ("auto", False)
    publisher(release)
    assert hub.repo(REPO).gated == "auto"
