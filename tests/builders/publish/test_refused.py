"""What is refused before anything is sent, and what a token may not do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import HfApi

from loaders.errors import InputError, ReleaseError
from scripts.loopback_hub import routes as hub_routes
from tests.parts.faulty_hub import FaultyHub
from tests.parts.publisher import CARD, FILES, REPO, SHARDS, Publisher, of_manifest


@pytest.mark.parametrize(
    ("repo_id", "options", "named"),
    [
        (REPO, {"tag": "1.0.0"}, "vMAJOR.MINOR.PATCH"),
        (REPO, {"tag": "v1\u0660.0.0"}, "vMAJOR.MINOR.PATCH"),
        (REPO, {"tag": "v1.0"}, "vMAJOR.MINOR.PATCH"),
        (REPO, {"tag": "v1.0.0\n"}, "vMAJOR.MINOR.PATCH"),
        ("corpus", {}, "org/name"),
        ("org/a corpus", {}, "org/name"),
        ("a/b/c", {}, "org/name"),
        (REPO, {"gated": "closed"}, "auto or manual"),
    ],
)
def test_arguments_that_cannot_be_used(
    hub: FaultyHub, publisher: Publisher, release: Path, repo_id: str, options: dict[str, Any], named: str
) -> None:
    with pytest.raises(InputError, match=named):
        publisher(release, repo_id, **options)
    assert hub.requests == []


def _unlist_card(folder: Path) -> None:
    of_manifest(lambda manifest: manifest["files"].pop("README.md"))(folder)
    (folder / "README.md").unlink()


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (lambda folder: (folder / SHARDS[0]).unlink(), SHARDS[0]),
        (lambda folder: (folder / "README.md").write_text(CARD.replace("corpus", "CORPUS")), "README.md"),
        (lambda folder: (folder / "data/extra.parquet").write_bytes(b"PAR1"), "extra.parquet"),
        (lambda folder: (folder / "manifest.json").unlink(), "manifest.json"),
        (_unlist_card, "card"),
        (of_manifest(lambda manifest: manifest["exclusions"].update(rows=7)), "exclusions"),
    ],
)
def test_a_folder_that_is_not_its_manifest_is_never_sent(
    hub: FaultyHub, publisher: Publisher, release: Path, spoil: Callable[[Path], None], named: str
) -> None:
    spoil(release)
    with pytest.raises(ReleaseError, match=named):
        publisher(release)
    assert hub.requests == []


def test_a_card_that_the_hub_refuses_commits_nothing(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    hub.answer("POST", "/validate-yaml", b'{"errors": [{"message": "not closed"}], "warnings": []}', 400)
    message = publisher.fails(release)
    assert "README.md" in message
    assert "Fix the card" in message
    assert publisher.commits() == ["initial commit"]
    assert publisher.tags() == {}


@pytest.mark.parametrize("token", ["read_token", "stranger_token"])
def test_a_token_that_may_only_read(hub: FaultyHub, publisher: Publisher, release: Path, token: str) -> None:
    message = publisher.fails(release, api=HfApi(endpoint=hub.url, token=getattr(hub, token)))
    assert "is read-only" in message
    assert "hf auth login" in message
    assert hub.writes() == []


def test_a_token_that_the_hub_does_not_know(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    message = publisher.fails(release, api=HfApi(endpoint=hub.url, token="hf_expired"))
    assert "the Hub answered 401: it does not know this token" in message
    assert "nothing was uploaded" in message
    assert "does not answer" not in message
    assert "hf auth login" in message
    assert hub.writes() == []


def test_a_token_that_expires_on_the_way(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
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
    hub: FaultyHub, publisher: Publisher, release: Path, token: str, told: str
) -> None:
    message = publisher.fails(release, api=HfApi(endpoint=hub.url, token=token))
    assert told in message and "hf_secr" not in message + "".join(publisher.said)


@pytest.mark.parametrize(
    "endpoint", ["huggingface.co", "ftp://127.0.0.1", "http://[::1", "http://127.0.0.1:port", "http://"]
)
def test_an_endpoint_that_is_no_web_address(publisher: Publisher, release: Path, endpoint: str) -> None:
    with pytest.raises(InputError, match="is not a web address"):
        publisher(release, api=HfApi(endpoint=endpoint, token="hf_any"))


def test_a_token_that_may_not_create_a_repository(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    hub.refuse("POST", "/repos/create", 403)
    message = publisher.fails(release)
    assert "creating the repository: the Hub answered 403" in message and "hf auth login" in message
    assert hub.store.repos == {}


def test_a_repository_without_a_branch_main(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    hub.repo(REPO).branches["other"] = hub.repo(REPO).branches.pop("main")
    before = len(hub.writes())
    for dry_run in (True, False):
        assert "the repository has no branch main" in publisher.fails(release, dry_run=dry_run)
    assert len(hub.writes()) == before


def test_a_token_without_rights_on_this_repository(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
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


def test_no_token_at_all(hub: FaultyHub, release: Path, tmp_path: Path) -> None:
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
    hub: FaultyHub, publisher: Publisher, release: Path, tmp_path: Path
) -> None:
    environment = {**os.environ, **hub.environment(tmp_path / "home")}
    del environment["HF_HUB_DISABLE_XET"]
    command = [sys.executable, "-c", WITH_XET, str(release)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert publisher.tags() == {"v1.0.0": done.stdout.splitlines()[-1]}
    assert publisher.files("v1.0.0") == [".gitattributes", *FILES]
