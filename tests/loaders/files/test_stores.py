"""Files in a folder and in a bucket: the same promises; and who works in a bucket."""

from __future__ import annotations

import json
import logging
import pickle
import tempfile
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from loaders.errors import BedsideError, InputError, MissingExtra
from loaders.files import lease
from loaders.files.bucket import Bucket, client
from loaders.files.stores import Folder, Store, locked
from tests.parts.google_store import GoogleStore
from tests.parts.privileges import unprivileged
from tests.parts.waiting import wait_until

pytest.importorskip("s3fs", reason="needs the extra `s3`")


@pytest.fixture(scope="module")
def google() -> Iterator[GoogleStore]:
    pytest.importorskip("gcsfs", reason="needs the extra `gs`")
    with GoogleStore().running() as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.variables.items():
            patch.setenv(name, value)
        yield server
        client.cache_clear()


@pytest.fixture(params=["folder", "s3", "gs"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "folder":
        return Folder(tmp_path / "store")
    if request.param == "s3":
        return Bucket(f"{request.getfixturevalue('object_store').bucket()}/a/prefix")
    request.getfixturevalue("google").objects["there"] = {}
    return Bucket("gs://there/a/prefix")


def test_google_refuses_in_words_of_its_own(google: GoogleStore, caplog: pytest.LogCaptureFixture) -> None:
    google.objects["there"], bucket = {}, Bucket("gs://there")
    assert bucket.list("a") == []
    with pytest.raises(InputError, match=r"^gs://elsewhere: there is no such bucket"):
        Bucket("gs://elsewhere/a").create("b", b"")
    google.forbidden = True
    try:
        for ask in (bucket.read, bucket.size, bucket.list, partial(bucket.create, data=b"")):
            with pytest.raises(BedsideError, match=r"^gs://there: refuses \(Forbidden\)") as caught:
                ask("a/b")
            assert "secret" not in str(caught.value) + caplog.text
    finally:
        google.forbidden = False


def test_a_name_has_one_content(store: Store) -> None:
    assert store.read("a/b.json") is None and store.size("a/b.json") is None and store.list("a") == []
    assert store.create("a/b.json", b"first") and not store.create("a/b.json", b"second")
    assert (store.read("a/b.json"), store.size("a/b.json")) == (b"first", 5)
    store.put("a/b.json", b"third")
    there = pickle.loads(pickle.dumps(store))  # as a worker has it
    assert there.create("a/a.json", b"") and there.read("a/b.json") == b"third"
    assert store.list("a") == ["a/a.json", "a/b.json"] and store.read("a/a.json") == b""


def test_of_many_writers_one_is_the_first(store: Store) -> None:
    for name in map(str, range(4)):
        with ThreadPoolExecutor(8) as pool:
            wrote = list(pool.map(lambda at, name=name: store.create(name, b"%d" % at), range(8)))
        assert wrote.count(True) == 1 and store.read(name) == b"%d" % wrote.index(True)


def test_two_simultaneous_writers_are_told_to_try_again(object_store: Any) -> None:
    """Amazon answers 409 to one of them, and knows of nobody who was first."""
    bucket, told = Bucket(object_store.bucket()), [(409, "ConditionalRequestConflict")] * 2
    with object_store.refusing(lambda method, path: told.pop() if method == "PUT" and told else None):
        assert bucket.create("name", b"data")
    assert bucket.read("name") == b"data"


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("s3://", r"^s3://: is not a bucket \(expected a folder, s3://BUCKET/PREFIX or gs://"),
        ("az://there/x", "^az://there/x: is not a bucket"),
        ("s3://Not-Ours/../x", "the bucket 'Not-Ours' .expected the name of one: 3 or more lower-case"),
        ("s3://x/y", "the bucket 'x' .expected the name of one: 3 or more"),
        ("s3://ours/a b", "the prefix 'a b' .expected letters"),
        ("s3://AKIA:secret@there/x", r"^--work: holds more than a bucket and a prefix .*\. Put credentials in"),
        ("s3://there/x?key=secret", "^--work: holds more"),
    ],
)
def test_what_is_no_address_is_refused_and_no_key_repeated(address: str, told: str) -> None:
    with pytest.raises(InputError, match=told) as caught:
        Bucket(address)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_without_its_library_the_extra_is_named(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Bucket("s3://there")
    client.cache_clear()
    monkeypatch.setattr("loaders.installed.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="s3://"):
        there.read("a")  # on a node that lacks it
    with pytest.raises(MissingExtra, match=rf"{scheme}://.*bedside\[{scheme}\]|{scheme}://.*\[{scheme}\]"):
        Bucket(f"{scheme}://there")


@pytest.mark.parametrize(
    ("verb", "status", "code", "told"),
    [
        (
            "read",
            503,
            "ServiceUnavailable",
            r"does not answer, or answers with an error \(ServiceUnavailable\)\. Check the ",
        ),
        ("list", 500, "InternalError", r"does not answer, or answers with an error \(InternalError\)"),
        ("create", 503, "SlowDown", r"does not answer, or answers with an error \(SlowDown\)"),
        (
            "put",
            400,
            "ExpiredToken",
            r"refuses \(ExpiredToken\) \(expected a bucket to read, list and write\)\. ",
        ),
        ("create", 403, "AccessDenied", r"refuses \(AccessDenied\)"),
        ("read", 403, "InvalidAccessKeyId", r"refuses \(InvalidAccessKeyId\)"),
        ("read", 404, "NoSuchBucket", r"there is no such bucket\. Create it"),
        ("put", 404, "NoSuchBucket", r"there is no such bucket\. Create it"),
    ],
)
def test_a_store_that_fails_is_one_error_after_a_few_tries(
    verb: str, status: int, code: str, told: str, object_store: Any, caplog: pytest.LogCaptureFixture
) -> None:
    bucket = Bucket(object_store.bucket())
    asks: dict[str, Callable[[], object]] = {
        "read": lambda: bucket.read("a/b"),
        "list": lambda: bucket.list("a"),
        "create": lambda: bucket.create("a/b", b""),
        "put": lambda: bucket.put("a/b", b""),
    }
    caplog.set_level(logging.DEBUG)
    before = len(object_store.requests)
    with object_store.refusing(lambda method, path: (status, code)), pytest.raises(BedsideError, match=told) as caught:
        asks[verb]()
    assert 1 <= len(object_store.requests) - before <= 12
    assert str(caught.value).startswith(str(bucket))
    said = "".join(traceback.format_exception(caught.value)) + caplog.text
    assert "secret" not in said and "AKIA" not in said


def test_no_network_and_no_credentials_are_one_error(object_store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = object_store.bucket()
    fresh = partial(client.__wrapped__, "s3")
    monkeypatch.setattr("loaders.files.bucket.client", lambda scheme: fresh())
    with monkeypatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
        with pytest.raises(
            BedsideError, match=r"does not answer, or answers with an error \(EndpointConnectionError\)"
        ):
            Bucket(bucket).read("x")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    with pytest.raises(BedsideError, match=r"refuses \(NoCredentialsError\)"):
        Bucket(bucket).put("x", b"")


def test_a_bucket_has_one_owner_at_a_time(object_store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, now = Bucket(object_store.bucket()), [1000.0]
    monkeypatch.setattr(lease.time, "time", lambda: now[0])
    monkeypatch.setattr(lease, "HOST", "first")
    killed = store.held(tmp_path / "a")
    killed.__enter__()
    monkeypatch.setattr(lease, "HOST", "second")
    refused = r"^s3://.*: another build is using this workspace \(process \d+ of first\)\. .*expires in 120 s$"
    with pytest.raises(BedsideError, match=refused), store.held(tmp_path / "b"):
        pass
    with pytest.raises(BedsideError, match=r"/a: another build is using"), store.held(tmp_path / "a"):
        pass
    now[0] += lease.LASTS + 1  # it was killed, and nobody renews it
    with store.held(tmp_path / "b") as check:
        check()
    with store.held(tmp_path / "c"):  # that one has ended
        pass
    assert [json.loads(store.read(name) or b"")["ended"] for name in store.list(lease.FOLDER)] == [False, True, True]


def test_a_killed_process_resumes_at_once(object_store: Any, tmp_path: Path) -> None:
    store = Bucket(object_store.bucket())
    with store.held(tmp_path / "a"):
        (name,) = store.list(lease.FOLDER)
        left = store.read(name) or b""
    store.put(name, left)  # as `kill -9` leaves it: nothing says that it ended
    with pytest.raises(BedsideError, match="another build is using"), store.held(tmp_path / "b"):
        pass
    with store.held(tmp_path / "a"):
        pass


def test_a_lease_is_renewed_and_its_loss_noticed(
    object_store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Bucket(object_store.bucket())
    monkeypatch.setattr(lease, "RENEWED", 0.02)
    with (
        pytest.raises(BedsideError, match="another build took over this workspace"),
        store.held(tmp_path / "a") as check,
    ):
        (name,) = store.list(lease.FOLDER)
        first = store.read(name)
        wait_until(lambda: store.read(name) != first)
        check()
        store.put(f"{lease.FOLDER}/00000002.json", b"{}")
        wait_until(lambda: _raises(check))
        check()


def _raises(check: Callable[[], None]) -> bool:
    try:
        check()
    except BedsideError:
        return True
    return False


def test_a_lock_of_another_user_is_named() -> None:
    """In a folder of a group, only the lock that somebody's build left may not be written."""
    with tempfile.TemporaryDirectory() as place:  # those of pytest lie in one that others may not enter
        folder = Path(place)
        with locked(folder):
            pass
        (folder / "lock").chmod(0o444)
        folder.chmod(0o777)
        with pytest.raises(InputError, match="may not be written") as told, unprivileged(), locked(folder):
            pass
        assert told.value.where == str(folder / "lock")
