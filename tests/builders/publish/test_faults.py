"""Publishing through every fault of a Hub and of the way to it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from huggingface_hub import HfApi, get_session

from builders.publish.hub_state import PATIENCE
from loaders.errors import ReleaseError
from loaders.manifest import FileFacts, Manifest
from tests.parts.faulty_hub import FaultyHub
from tests.parts.http_client import httpx
from tests.parts.publisher import FILES, REPO, SHARDS, Publisher, assert_published_once, make_release


@pytest.mark.parametrize("route", ["/commit/", "/tag/", "/repos/create"])
def test_a_lost_response_does_not_make_a_second_commit(
    hub: FaultyHub, publisher: Publisher, release: Path, route: str
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
    hub: FaultyHub, publisher: Publisher, release: Path, method: str, route: str, status: int
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
    hub: FaultyHub, publisher: Publisher, release: Path, method: str, route: str, status: int
) -> None:
    fault = hub.refuse(method, route, status, times=2)
    assert_published_once(publisher, publisher(release))
    assert fault.hits == 2


def test_retry_after_is_obeyed_and_reported(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    hub.refuse("POST", "/commit/", 429, retry_after=17)
    assert_published_once(publisher, publisher(release))
    assert publisher.waits == [17.0]
    assert any("committing: the Hub answered 429" in line and "waiting 17 s" in line for line in publisher.said)


@pytest.mark.parametrize(("left", "waits"), [(0, [17.0]), (5, [1.0])])
def test_the_hubs_own_limit_is_obeyed_once_it_is_used_up(
    hub: FaultyHub, publisher: Publisher, release: Path, left: int, waits: list[float]
) -> None:
    """A request that was refused for its number was not carried out: nobody asks whether it was."""
    hub.refuse("POST", "/commit/", 429).headers = {"RateLimit": f'"api";r={left};t=17'}
    done = publisher(release)
    assert publisher.waits == waits
    assert not any("/commits/" in request.path for request in hub.requests)
    assert_published_once(publisher, done)


def test_a_wait_beyond_reason_is_an_error_that_says_how_long(
    hub: FaultyHub, publisher: Publisher, release: Path
) -> None:
    hub.refuse("POST", "/commit/", 429, retry_after=3600)
    message = publisher.fails(release)
    assert publisher.waits == []
    assert "3600 s" in message
    assert "(not this release); v1.0.0 is not set; this run uploaded 3 Parquet files" in message


@pytest.mark.parametrize("status", [500, 503])
def test_a_hub_that_keeps_refusing_the_commit(hub: FaultyHub, publisher: Publisher, release: Path, status: int) -> None:
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
    hub: FaultyHub, publisher: Publisher, release: Path, route: str, status: int
) -> None:
    hub.refuse("POST", route, status, although_done=True)
    assert_published_once(publisher, publisher(release))
    assert sum(route in request.path for request in hub.requests) == 1


@pytest.mark.parametrize("reply_only", [False, True])
@pytest.mark.parametrize("route", ["/commit/", "/tag/"])
def test_an_answer_that_comes_too_late(
    hub: FaultyHub, publisher: Publisher, release: Path, route: str, reply_only: bool
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
    hub: FaultyHub, publisher: Publisher, release: Path
) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    hub.meanwhile("POST", "/commit/", lambda: hub.commit(REPO, {".gitattributes": b"*.parquet filter=lfs\n"}, "Theirs"))
    done = publisher(release)
    assert publisher.commits() == ["Release v1.0.0", "Theirs", "initial commit"]
    assert publisher.tags() == {"v1.0.0": done.commit}
    assert publisher.files("v1.0.0") == [".gitattributes", *FILES]


def test_the_same_release_published_twice_at_once_is_one_commit(
    hub: FaultyHub, publisher: Publisher, release: Path
) -> None:
    other = Publisher(hub)
    publisher.api.create_repo(REPO, repo_type="dataset")
    hub.meanwhile("POST", "/commit/", lambda: other(release))
    assert_published_once(publisher, publisher(release))
    assert sum("/commit/" in request.path for request in hub.requests) == 2


def test_going_back_to_older_content_is_a_commit_of_its_own(
    hub: FaultyHub, publisher: Publisher, tmp_path: Path
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
    hub: FaultyHub, publisher: Publisher, release: Path, status: int
) -> None:
    hub.refuse("POST", "/commit/", status)
    assert_published_once(publisher, publisher(release))


def test_somebody_who_always_comes_first_is_given_way_once(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
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
    hub: FaultyHub, publisher: Publisher, release: Path, path: str
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
    hub: FaultyHub, publisher: Publisher, release: Path
) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    hub.lose_response("POST", "/commit/")
    hub.meanwhile("GET", "/commits/", lambda: hub.commit(REPO, {"notes.txt": b"theirs"}, "Theirs"))
    done = publisher(release)
    assert publisher.commits() == ["Theirs", "Release v1.0.0", "initial commit"]
    assert publisher.tags() == {"v1.0.0": done.commit}
    assert publisher.files("v1.0.0") == [".gitattributes", *FILES]


def test_somebody_else_setting_our_tag_is_reported(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    publisher.api.create_repo(REPO, repo_type="dataset")
    first = publisher.head()
    hub.meanwhile("POST", "/tag/", lambda: hub.repo(REPO).tags.update({"v1.0.0": first}))
    message = publisher.fails(release)
    assert f"the tag names commit {first[:8]}" in message
    assert "next version" in message


@pytest.mark.usefixtures("no_waiting")
def test_a_dropped_upload_is_sent_again(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    fault = hub.cut_upload(times=2)
    assert_published_once(publisher, publisher(release))
    assert fault.hits == 2


@pytest.mark.usefixtures("no_waiting")
def test_an_upload_that_is_always_dropped_ends_in_one_error(
    hub: FaultyHub, publisher: Publisher, release: Path
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
    hub: FaultyHub, publisher: Publisher, release: Path
) -> None:
    fault = hub.swallow_upload()
    assert_published_once(publisher, publisher(release))
    assert fault.hits == 1


@pytest.mark.parametrize("times", [1, 3])
def test_an_upload_acknowledged_and_verified_falsely_is_sent_again(
    hub: FaultyHub, publisher: Publisher, release: Path, times: int
) -> None:
    fault = hub.swallow_upload(times=times, lie=True)
    assert_published_once(publisher, publisher(release))
    assert fault.hits == times
    assert any("lost an acknowledged upload" in line for line in publisher.said)


def test_uploads_that_are_always_acknowledged_falsely_end_in_one_error(
    hub: FaultyHub, publisher: Publisher, release: Path
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
    name: str, hub: FaultyHub, publisher: Publisher, release: Path
) -> None:
    """With digests that fit, as whoever forges a shard writes them."""
    (release / name).write_bytes(b"not Parquet")
    manifest = Manifest.read(release)
    facts = FileFacts(sha256=hashlib.sha256(b"not Parquet").hexdigest(), size=11)
    manifest.model_copy(update={"files": {**manifest.files, name: facts}}).write(release)
    with pytest.raises(ReleaseError, match=f"{name}: cannot be read: .*a Parquet file"):
        publisher(release)
    assert hub.writes() == []


def test_a_shard_stored_damaged_is_never_tagged(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    hub.damage_upload()
    message = publisher.fails(release)
    digest = hashlib.sha256((release / SHARDS[0]).read_bytes()).hexdigest()
    assert f"{SHARDS[0]} of commit {publisher.head()[:8]} has SHA-256" in message
    assert f"expected SHA-256 {digest[:12]}" in message
    assert "v1.0.0 is not set" in message
    assert publisher.tags() == {}


def test_a_shard_that_the_hub_lost_is_sent_again(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    lost = f"/resolve/[0-9a-f]+/{SHARDS[1]}"
    hub.meanwhile("HEAD", lost, lambda: hub.lose_object(REPO, SHARDS[1]))
    assert_published_once(publisher, publisher(release))
    assert any(f"{SHARDS[1]} cannot be downloaded" in line for line in publisher.said)


def test_a_shard_that_the_hub_keeps_losing_is_never_tagged(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    hub.meanwhile("HEAD", f"/resolve/[0-9a-f]+/{SHARDS[1]}", lambda: hub.lose_object(REPO, SHARDS[1]), times=99)
    message = publisher.fails(release)
    assert f"{SHARDS[1]} of commit {publisher.head()[:8]} cannot be downloaded" in message
    assert "delete it" in message
    assert publisher.tags() == {}


@pytest.mark.usefixtures("no_waiting")
def test_a_hub_that_does_not_answer_when_read_back_has_damaged_nothing(
    hub: FaultyHub, publisher: Publisher, release: Path
) -> None:
    fault = hub.refuse("HEAD", "/resolve/", 503, times=999)
    message = publisher.fails(release)
    assert f"reading back {SHARDS[0]}" in message and "Run the same command again" in message
    assert "delete it" not in message and not any("uploading it again" in line for line in publisher.said)
    assert publisher.tags() == {}
    fault.left = 0
    assert_published_once(publisher, publisher(release))


def test_a_download_damaged_on_the_way_is_repeated(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    fault = hub.damage_download(SHARDS[0])
    assert_published_once(publisher, publisher(release))
    assert fault.hits == 1


def test_a_commit_that_is_read_back_different_is_never_tagged(
    hub: FaultyHub, publisher: Publisher, release: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A Hub that stores another card than it was given."""
    blob = hub.store.blob
    monkeypatch.setattr(hub.store, "blob", lambda body: blob(body.replace(b"# A corpus", b"# A CORPUS")))
    message = publisher.fails(release)
    assert "does not match the release when read back; different: README.md" in message
    assert publisher.tags() == {}


def test_no_hub_at_all(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    message = publisher.fails(release, api=HfApi(endpoint="http://127.0.0.1:1", token=hub.token))
    assert "cannot be reached" in message
    assert "On the Hub: unknown, because it does not answer" in message
    assert publisher.waits == [1.0, 2.0, 4.0]


@pytest.mark.usefixtures("no_waiting")
def test_a_hub_that_dies_after_the_commit(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    hub.meanwhile("POST", "/commit/", lambda: hub.refuse("GET", "/api/", 503, times=999))
    message = publisher.fails(release)
    assert "listing commit" in message
    known = f"this run uploaded 3 Parquet files and made commit {publisher.head()[:8]}; v1.0.0 was not confirmed"
    assert f"On the Hub: unknown, because it does not answer; {known}" in message
    hub.faults.clear()
    assert_published_once(publisher, publisher(release))
