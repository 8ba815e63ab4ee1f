"""The loopback Hub, through the unmodified client libraries: what it keeps and what it refuses; `test_faults` meets
its faults."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from datasets import Dataset, load_dataset
from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, HfFileSystem, RepoFile, RepoFolder
from huggingface_hub.errors import (
    EntryNotFoundError,
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from tests.parts.faulty_hub import FaultyHub
from tests.parts.http_client import httpx
from tests.parts.hub_here import at_hub, own_caches

REPO = "org/corpus"
PARQUET = b"PAR1" + bytes(range(256)) * 8 + b"PAR1"


@pytest.fixture
def api(hub: FaultyHub) -> HfApi:
    api = HfApi(endpoint=hub.url, token=hub.token)
    api.create_repo(REPO, repo_type="dataset")
    return api


def commit(api: HfApi, files: dict[str, bytes], *, delete: tuple[str, ...] = (), parent: str | None = None) -> str:
    operations = [CommitOperationAdd(path, body) for path, body in files.items()]
    deletions = [CommitOperationDelete(path) for path in delete]
    made = api.create_commit(
        REPO, [*operations, *deletions], commit_message="A commit", repo_type="dataset", parent_commit=parent
    )
    return str(made.oid)


def head(api: HfApi) -> str:
    return str(api.dataset_info(REPO).sha)


def status(error: pytest.ExceptionInfo[HfHubHTTPError]) -> int:
    return int(error.value.response.status_code)


# ---------------------------------------------------------------- repositories


def test_an_account_and_its_repositories(hub: FaultyHub, api: HfApi) -> None:
    assert api.whoami()["name"] == "tester"
    assert api.whoami(token=hub.read_token)["auth"]["accessToken"]["role"] == "read"
    assert str(api.create_repo(REPO, repo_type="dataset", exist_ok=True)) == f"{hub.url}/datasets/{REPO}"
    with pytest.raises(HfHubHTTPError) as error:
        api.create_repo(REPO, repo_type="dataset")
    assert status(error) == 409


def test_a_new_repository_holds_one_commit_with_its_attributes(api: HfApi) -> None:
    [first] = api.list_repo_commits(REPO, repo_type="dataset")
    assert first.title == "initial commit"
    assert api.list_repo_files(REPO, repo_type="dataset") == [".gitattributes"]


def test_a_private_repository_is_hidden_from_strangers(hub: FaultyHub, api: HfApi) -> None:
    api.create_repo("org/secret", repo_type="dataset", private=True)
    assert api.dataset_info("org/secret").private is True
    assert api.dataset_info("org/secret", token=hub.read_token).id == "org/secret"
    for token in (hub.stranger_token, False):
        with pytest.raises(RepositoryNotFoundError):
            api.dataset_info("org/secret", token=token)
    api.update_repo_settings("org/secret", private=False, repo_type="dataset")
    assert api.dataset_info("org/secret", token=False).private is False


def test_a_gated_repository_shows_its_files_and_keeps_their_bytes(hub: FaultyHub, api: HfApi, tmp_path: Path) -> None:
    commit(api, {"notes.txt": b"terms apply"})
    api.update_repo_settings(REPO, gated="manual", repo_type="dataset")
    assert api.dataset_info(REPO, token=False).gated == "manual"
    for token in (hub.stranger_token, False):
        with pytest.raises(GatedRepoError):
            api.hf_hub_download(REPO, "notes.txt", repo_type="dataset", cache_dir=tmp_path, token=token)
    path = api.hf_hub_download(REPO, "notes.txt", repo_type="dataset", cache_dir=tmp_path)
    assert Path(path).read_bytes() == b"terms apply"


def test_writing_needs_a_token_that_may_write(hub: FaultyHub, api: HfApi) -> None:
    for token, expected in ((hub.read_token, 403), (hub.stranger_token, 403), (False, 401)):
        with pytest.raises(HfHubHTTPError) as error:
            api.create_tag(REPO, tag="v1", repo_type="dataset", token=token)
        assert status(error) == expected
    with pytest.raises(HfHubHTTPError) as error:
        api.whoami(token="hf_nobody")
    assert status(error) == 401


# --------------------------------------------------------------------- commits


def test_ids_of_files_are_those_of_git(api: HfApi) -> None:
    # printf 'hello\n' | git hash-object --stdin
    commit(api, {"data/hello.txt": b"hello\n"})
    file, folder = api.get_paths_info(REPO, ["data/hello.txt", "data", "absent"], repo_type="dataset")
    assert isinstance(file, RepoFile)
    assert file.blob_id == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert isinstance(folder, RepoFolder)


def test_a_commit_adds_changes_deletes_and_has_a_parent(hub: FaultyHub, api: HfApi) -> None:
    first = commit(api, {"a.txt": b"1", "b.txt": b"2", "shard.parquet": PARQUET})
    second = commit(api, {"a.txt": b"changed"}, delete=("b.txt",), parent=first)
    assert api.list_repo_files(REPO, repo_type="dataset") == [".gitattributes", "a.txt", "shard.parquet"]
    assert [c.commit_id for c in api.list_repo_commits(REPO, repo_type="dataset")][:2] == [second, first]
    assert hub.repo(REPO).commits[second].parents == [first]
    assert "b.txt" in api.list_repo_files(REPO, repo_type="dataset", revision=first)
    shard = api.get_paths_info(REPO, "shard.parquet", repo_type="dataset")[0]
    assert isinstance(shard, RepoFile)
    assert shard.lfs is not None
    assert (shard.lfs.sha256, shard.lfs.size) == (hashlib.sha256(PARQUET).hexdigest(), len(PARQUET))


def test_an_object_of_another_repository_does_not_count(hub: FaultyHub, api: HfApi) -> None:
    api.create_repo("org/other", repo_type="dataset")
    for repo in (REPO, "org/other"):
        api.upload_file(path_or_fileobj=PARQUET, path_in_repo="s.parquet", repo_id=repo, repo_type="dataset")
    assert sum(request.method == "PUT" for request in hub.requests) == 2


def test_deleting_what_is_not_there_is_refused(api: HfApi) -> None:
    with pytest.raises(EntryNotFoundError):
        commit(api, {}, delete=("absent.txt",))


# ------------------------------------------------------------------------ refs


def test_tags_and_the_branch(api: HfApi) -> None:
    first = commit(api, {"a.txt": b"1"})
    api.create_tag(REPO, tag="v1.0.0", repo_type="dataset")
    second = commit(api, {"a.txt": b"2"})
    refs = api.list_repo_refs(REPO, repo_type="dataset")
    assert {tag.name: tag.target_commit for tag in refs.tags} == {"v1.0.0": first}
    assert {branch.name: branch.target_commit for branch in refs.branches} == {"main": second}
    assert api.dataset_info(REPO, revision="v1.0.0").sha == api.dataset_info(REPO, revision=first[:8]).sha == first
    with pytest.raises(HfHubHTTPError) as error:
        api.create_tag(REPO, tag="v1.0.0", revision=second, repo_type="dataset")
    assert status(error) == 409
    api.create_tag(REPO, tag="v1.0.0", repo_type="dataset", exist_ok=True)
    with pytest.raises(RevisionNotFoundError):
        api.dataset_info(REPO, revision="v1.0.1")


# ----------------------------------------------------------------------- files


def test_lists_longer_than_a_page_are_followed() -> None:
    with FaultyHub(page_size=2) as hub:
        api = HfApi(endpoint=hub.url, token=hub.token)
        api.create_repo(REPO, repo_type="dataset")
        for number in range(5):
            commit(api, {f"data/{number}.txt": b"text"})
        paths = [entry.path for entry in api.list_repo_tree(REPO, recursive=True, repo_type="dataset")]
        assert paths == [".gitattributes", "data", *(f"data/{number}.txt" for number in range(5))]
        assert [entry.path for entry in api.list_repo_tree(REPO, "data", repo_type="dataset")] == paths[2:]
        assert len(api.list_repo_commits(REPO, repo_type="dataset")) == 6
        assert sum("cursor=" in request.path for request in hub.requests) >= 3 + 2 + 2


def test_downloads_by_revision_whole_and_in_part(hub: FaultyHub, api: HfApi, tmp_path: Path) -> None:
    first = commit(api, {"a.txt": b"1", "shard.parquet": PARQUET})
    commit(api, {"a.txt": b"2"})
    old = api.hf_hub_download(REPO, "a.txt", revision=first, repo_type="dataset", cache_dir=tmp_path)
    assert Path(old).read_bytes() == b"1"
    folder = Path(api.snapshot_download(REPO, repo_type="dataset", cache_dir=tmp_path))
    assert (folder / "a.txt").read_bytes() == b"2"
    assert (folder / "shard.parquet").read_bytes() == PARQUET
    files = HfFileSystem(endpoint=hub.url, token=hub.token, skip_instance_cache=True)
    with files.open(f"datasets/{REPO}/shard.parquet", "rb", block_size=16) as remote:
        remote.seek(100)
        assert remote.read(8) == PARQUET[100:108]
    assert any(request.status == 206 for request in hub.requests)
    with pytest.raises(EntryNotFoundError):
        api.hf_hub_download(REPO, "absent", repo_type="dataset", cache_dir=tmp_path)


# ------------------------------------------------------------------------ others


def test_what_it_does_not_know_is_an_answer_too(hub: FaultyHub, api: HfApi) -> None:
    assert httpx.get(f"{hub.url}/api/spaces-of-the-week").status_code == 404
    reply = httpx.post(f"{hub.url}/api/repos/create", content=b"{", headers={"authorization": f"Bearer {hub.token}"})
    assert reply.status_code == 500 and "JSONDecodeError" in reply.text


# --------------------------------------------------------- `datasets`, unmodified


def test_datasets_pushes_and_loads_by_tag(hub: FaultyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_hub(hub, monkeypatch)
    own_caches(tmp_path / "push", monkeypatch)
    Dataset.from_dict({"id": [1, 2, 3], "text": ["a", "b", "c"]}).push_to_hub("org/pushed", num_shards=2)
    HfApi(hub.url).create_tag("org/pushed", tag="v1.0.0", repo_type="dataset")
    Dataset.from_dict({"id": [4], "text": ["d"]}).push_to_hub("org/pushed")
    own_caches(tmp_path / "load", monkeypatch)
    assert load_dataset("org/pushed", split="train", revision="v1.0.0")["text"][:] == ["a", "b", "c"]
    assert load_dataset("org/pushed", split="train")["id"][:] == [4]


def test_a_hub_for_another_shell_says_how_to_reach_it() -> None:
    command = [sys.executable, "-m", "scripts.loopback_hub"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        exports = dict(iter(process.stdout.readline().removeprefix("export ").strip().split("=", 1)) for _ in range(8))
        api = HfApi(endpoint=exports["HF_ENDPOINT"], token=exports["HF_TOKEN"])
        api.create_repo("org/mine", repo_type="dataset")
        assert api.repo_exists("org/mine", repo_type="dataset")
        process.send_signal(signal.SIGINT)
        process.wait()  # it ends its line, for which the pipe has to be open
    assert process.returncode == 0
