"""The benchmark of scale: its server keeps all that is asked of it in flight and knows what was when somebody died."""

from __future__ import annotations

import json
import socket
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from scripts.bench.scale_kills import Driver, handed_on, struck
from scripts.bench.scale_server import BEFORE, Counts, Server, plain, serving


def test_the_plain_client_keeps_as_many_in_flight_as_asked() -> None:
    with serving(0.05, echo=True) as server:
        rate, counted = plain(server.port, 60, 20), server.counts
        assert counted.requests == 60 and 10 < counted.most <= 20
        assert counted.repeated == 59 and counted.lost > 0  # the same again and again
        assert 0 < rate <= 20 / 0.05 and counted.rate > 0
        server.forget()
        asked = json.dumps({"messages": [{"role": "user", "content": "<draft>Scan.\n</draft>"}]}).encode()
        with socket.create_connection(("127.0.0.1", server.port)) as line:
            line.sendall(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(asked), asked))
            assert b"Scan." in line.recv(1000)
        with server.killing():
            pass
        assert server.counts.struck == server.counts.requests == 1


def test_the_time_is_known_for_which_so_many_were_in_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = Counts()
    events = [(1.0, "asked", (b"a",)), (2.0, "asked", (b"b",)), (4.0, "answered", ()), (9.0, "answered", ())]
    for at, name, given in events:
        monkeypatch.setattr("time.perf_counter", lambda at=at: at)
        getattr(counts, name)(*given)
    assert counts.held == {0: 0, 1: 6, 2: 2}
    assert [counts.full(number) for number in (1, 2, 3)] == [1, 0.25, 0]


@pytest.mark.parametrize(
    ("asked", "read", "lost"),
    [
        (0.0, 10.0 - BEFORE - 0.5, 1),  # long before
        (0.0, 10.0 - BEFORE / 2, 0),  # its answer may not have been kept yet
        (9.0, 11.0, 0),
        (10.5, 30.0, 0),  # by one that took a while to die
        (12.5, 13.0, 1),
    ],
)
def test_what_is_asked_again_was_in_flight_at_a_kill_or_is_lost(
    asked: float, read: float, lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = Counts()
    events = [(asked, "asked", (b"a",)), (read, "read", (b"a",)), (10.0, "kill", ()), (12.0, "killed", ())]
    for at, name, given in [*sorted(events), (40.0, "asked", (b"a",)), (40.0, "asked", (b"b",))]:
        monkeypatch.setattr("time.perf_counter", lambda at=at: at)
        getattr(counts, name)(*given)
    assert (counts.repeated, counts.lost, counts.struck) == (1, lost, 1 - lost)


def test_kills_come_in_turn_after_so_many_requests_and_where_somebody_is_at_work() -> None:
    state = SimpleNamespace(requests=0, ended=None, returncode=0, busy=False)
    state.counts = state
    killed: list[tuple[str, int]] = []

    class Process:
        args, returncode = "build", 0

        def poll(self) -> int | None:
            state.requests += 1
            return 0 if state.requests > 60 else None

        def wait(self) -> int:
            while self.poll() is None:
                pass
            return self.returncode

        def kill(self) -> None:
            state.ended = True

    def kill(what: str) -> bool:
        state.busy = not state.busy
        if state.busy:
            killed.append((what, state.requests))
        return state.busy

    driver = cast(Driver, SimpleNamespace(process=Process()))
    done = struck(cast(Server, state), driver, kill, requests=50, kills=4)
    assert done == [what for what, _ in killed] == ["driver", "worker", "node", "driver"]
    assert all(at >= 50 * (number + 1) // 5 for number, (_, at) in enumerate(killed)) and state.ended
    done = struck(cast(Server, state), driver, kill, requests=50, kills=4)
    assert done == []  # it had ended: nothing was killed, and the bench says so


def test_a_build_that_fails_fails_the_bench() -> None:
    failed: Any = SimpleNamespace(poll=lambda: 1, wait=lambda: 1, args="build", kill=lambda: None)
    with pytest.raises(subprocess.CalledProcessError):
        struck(cast(Server, None), cast(Driver, SimpleNamespace(process=failed)), lambda _: True, 1, 0)


def test_answers_that_no_server_gave_are_counted(tmp_path: Path) -> None:
    ours, told = tmp_path / "a.sqlite", json.dumps({"layman_caption": "Scan 1."})
    with closing(sqlite3.connect(ours)) as store, store:
        store.execute("CREATE TABLE answers (request, answer)")
        for number in (1, 2):
            asked = {"messages": [{"text": "x"}, {"text": f"<draft>Scan {number}.</draft>"}]}
            store.execute("INSERT INTO answers VALUES (?, ?)", (json.dumps(asked), json.dumps({"text": told})))
    assert handed_on(ours, tmp_path / "other" / "a.sqlite") == (2, 1)
    assert (tmp_path / "other" / "a.sqlite").read_bytes() == ours.read_bytes()
