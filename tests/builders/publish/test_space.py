"""A report as a static Space of the loopback Hub: one commit, never over what others put there; what the Hub says is
one error."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from huggingface_hub import HfApi

from builders.publish.space import MARK, publish_page
from loaders.errors import HubError, InputError
from tests.parts.faulty_hub import FaultyHub
from tests.parts.hub_here import own_caches

SPACE = "org/name"


@pytest.fixture
def api(hub: FaultyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HfApi:
    own_caches(tmp_path / "home", monkeypatch)
    return HfApi(endpoint=hub.url, token=hub.token)


def page(folder: Path, text: str = "<p>page</p>") -> Path:
    (folder / "report.html").write_text(text)
    return folder / "report.html"


def held(hub: FaultyHub) -> dict[str, bytes | None]:
    """The files of the Space as the Hub holds them, large ones not among them."""
    tree = hub.store.repo(SPACE, "space").at("main").tree
    return {name: hub.store.objects.get(f"git/{entry.blob}") for name, entry in tree.items()}


def commits(hub: FaultyHub) -> int:
    return len(hub.store.repo(SPACE, "space").commits)


def test_a_page_is_one_commit_and_may_follow_itself(hub: FaultyHub, api: HfApi, tmp_path: Path) -> None:
    assert publish_page(page(tmp_path), SPACE, api=api) == f"{hub.url}/spaces/{SPACE}"
    files, card = held(hub), (held(hub)["README.md"] or b"").decode()
    assert files["index.html"] == b"<p>page</p>" and commits(hub) == 2  # the Hub's own, and ours
    assert "sdk: static" in card and "app_file: index.html" in card and MARK in card
    publish_page(page(tmp_path, "<p>next</p>"), SPACE, api=api)
    assert held(hub)["index.html"] == b"<p>next</p>" and commits(hub) == 3


def theirs(hub: FaultyHub, api: HfApi, files: Mapping[str, bytes]) -> None:
    """A Space that somebody else made, with these files."""
    api.create_repo(SPACE, repo_type="space", space_sdk="static")
    repo = hub.store.repo(SPACE, "space")
    tree = {**repo.at("main").tree, **{name: hub.store.blob(body) for name, body in files.items()}}
    hub.store.commit(repo, "main", tree, "theirs", "", "somebody")


@pytest.mark.parametrize("other", ["index.html", "app.py"])
def test_what_others_put_there_is_not_overwritten(other: str, hub: FaultyHub, api: HfApi, tmp_path: Path) -> None:
    files = {"README.md": b"---\nsdk: gradio\n---\nmine, with bedside", other: b"mine"}
    theirs(hub, api, files)
    with pytest.raises(HubError, match=f"Bedside did not put there: {other}"):
        publish_page(page(tmp_path), SPACE, api=api)
    assert files.items() <= held(hub).items() and commits(hub) == 2


def test_an_empty_space_is_used(hub: FaultyHub, api: HfApi, tmp_path: Path) -> None:
    theirs(hub, api, {"README.md": b"---\nsdk: static\n---\n"})
    publish_page(page(tmp_path), SPACE, api=api)
    assert held(hub)["index.html"] == b"<p>page</p>"


def test_what_the_hub_puts_into_a_new_space_is_nobodys(hub: FaultyHub, api: HfApi, tmp_path: Path) -> None:
    hub_own = {"index.html": hub.store.blob(b"Welcome to your static Space!")}

    def filled() -> None:
        repo = hub.store.repo(SPACE, "space")
        hub.store.commit(repo, "main", {**repo.at("main").tree, **hub_own}, "initial files", "", "hub")

    hub.meanwhile("POST", "/preupload/", filled)
    publish_page(page(tmp_path), SPACE, api=api)
    assert held(hub)["index.html"] == b"<p>page</p>" and commits(hub) == 3


@pytest.mark.parametrize("name", ["name", "org/na me", "a/b/c"])
def test_an_invalid_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="org/name"):
        publish_page(page(tmp_path), name)


@pytest.mark.parametrize("route", ["/api/repos/create", "/commit/"])
def test_a_hub_that_refuses_is_one_error(route: str, hub: FaultyHub, api: HfApi, tmp_path: Path) -> None:
    hub.refuse("POST", route, 403, times=9)
    with pytest.raises(HubError, match=f"Space {SPACE}"):
        publish_page(page(tmp_path), SPACE, api=api)
