"""Publishing ends within its deadline, and says what it knows."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sized
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from builders.publish import watch
from loaders.errors import HubError, InputError
from tests.parts.faulty_hub import Fault, FaultyHub
from tests.parts.publisher import REPO, ROUTES, SHARDS, UNCHECKED, Publisher, assert_published_once, bedside_publish

Order = Callable[[FaultyHub], Fault]


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
    hub: FaultyHub, publisher: Publisher, release: Path, monkeypatch: pytest.MonkeyPatch, fault: str
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
    hub: FaultyHub, publisher: Publisher, release: Path, monkeypatch: pytest.MonkeyPatch
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
    hub: FaultyHub, publisher: Publisher, release: Path, monkeypatch: pytest.MonkeyPatch
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


def test_a_wait_that_leads_past_the_deadline_is_not_begun(hub: FaultyHub, publisher: Publisher, release: Path) -> None:
    hub.refuse("POST", "/commit/", 429, retry_after=60)
    message = publisher.fails(release, deadline=30.0)
    assert publisher.waits == []
    assert "committing: the Hub answered 429" in message


@pytest.mark.parametrize("deadline", [0.0, -1.0, float("nan"), float("inf")])
def test_an_invalid_deadline(publisher: Publisher, release: Path, deadline: float) -> None:
    with pytest.raises(InputError, match="deadline"):
        publisher(release, deadline=deadline)


def test_a_hub_that_accepts_and_never_answers(hub: FaultyHub, release: Path, tmp_path: Path) -> None:
    """From the command line, where what was left behind must not keep the process."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint = f"http://127.0.0.1:{silent.getsockname()[1]}"
        environment = {**os.environ, **hub.environment(tmp_path / "home"), "HF_ENDPOINT": endpoint}
        done = bedside_publish(release, environment, "--deadline", "0.05")
    assert done.returncode == 2, done.stderr
    assert "checking the login did not finish before the deadline of 3 s" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_control_c_says_what_was_done(hub: FaultyHub, release: Path, tmp_path: Path) -> None:
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


def test_an_upload_by_xet_that_hangs(hub: FaultyHub, release: Path, tmp_path: Path) -> None:
    hub.delay("GET", "/xet-write-token/", 3600.0, times=99)
    environment = {**os.environ, **hub.environment(tmp_path / "home")}
    del environment["HF_HUB_DISABLE_XET"]
    done = bedside_publish(release, environment, "--deadline", "0.25")
    assert done.returncode == 2, done.stderr
    assert f"uploading {SHARDS[0]} did not finish before the deadline of 15 s" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
