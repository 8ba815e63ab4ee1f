"""MedLayBench-V with model servers that refuse rows, die, turn everybody away for a minute, or outlive the build."""

from __future__ import annotations

import os
import re
import shutil
import signal
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from builders import recipe as recipes
from builders.medlaybench_v import recipe
from builders.release.verify import verify
from loaders.errors import ModelError
from tests.builders.medlaybench_v.test_recipe import answer, build, captions_file, rows_of, without_waiting
from tests.parts.chat_server import Fault, Reply, Request, status
from tests.parts.failing_server import AWAY, TOO_LONG, Clock, FailingServer

MODEL = "openai-api/local/m"
ROWS = 200
REFUSED = {3, 4, 17, 118, 199}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai")
    monkeypatch.setenv("LOCAL_API_KEY", "none")


def lumps(count: int, refused: Iterable[int] = ()) -> list[tuple[str, str, str, str]]:
    return [(f"r{n:03}", f"CT shows a {'forbidden ' * (n in refused)}nodule {n}.", "CC BY", "") for n in range(count)]


class Server(FailingServer):
    """Calls every nodule a lump; `turns_away` may give a fault first."""

    def __init__(self, turns_away: Callable[[Request], Fault | None] = lambda request: None) -> None:
        super().__init__(self._lump, turns_away)

    @staticmethod
    def _lump(body: Any) -> str:
        return answer(f"The CT scan shows a small lump {_row(body)}.")

    def asked(self) -> Counter[int]:
        """How often each row was asked for."""
        return Counter(_row(request.body) for request in self.requests)


def _row(body: Any) -> int:
    return int(re.findall(r"CT shows a (?:forbidden )?nodule (\d+)\.", str(body))[0])


def refuses(code: int) -> Callable[[Request], Fault | None]:
    """Refuses what holds a forbidden word, for ever."""
    return lambda request: status(code, message="content policy") if "forbidden" in str(request.body) else None


@pytest.mark.parametrize(("code", "count"), [(400, ROWS), (500, 40)])
def test_rows_that_a_model_always_refuses_stop_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, count: int
) -> None:
    without_waiting(monkeypatch)
    refused = {n for n in REFUSED if n < count}
    with Server(refuses(code)) as server:
        manifest = build(
            tmp_path, captions_file(tmp_path, lumps(count, refused)), model=MODEL, base_url=server.base_url
        )
    rows = rows_of(tmp_path / "release")
    assert len(rows) == manifest.splits["train"].rows == count
    fallen = {key: row for key, row in rows.items() if row["status"] == "fallback"}
    assert set(fallen) == {f"r{n:03}" for n in refused}
    assert all(f"HTTP {code}" in str(row["status_reason"]) and row["layman_caption"] for row in fallen.values())
    assert all(row["status_reason"] is None for key, row in rows.items() if key not in fallen)
    if code == 400:  # a refusal is no failure: nothing is tried again
        assert server.asked() == dict.fromkeys(range(count), 1)
    assert verify(tmp_path / "release", row_check=recipe.check_row, measure=recipe.measure) == []


def test_a_server_that_dies_half_way_stops_the_build_and_names_the_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it is back, the same command ends the build and asks nothing again that was answered."""
    without_waiting(monkeypatch)
    captions = captions_file(tmp_path, lumps(20, range(8, 20)))
    with Server(refuses(502)) as server:
        options = {"model": MODEL, "base_url": server.base_url, "concurrency": 1}
        with pytest.raises(ModelError, match=r"failed 10 rows in a row, the first of them r008: .*HTTP 502"):
            build(tmp_path, captions, **options)
        assert not (tmp_path / "release").exists()
        server.turns_away = lambda request: None
        server.requests.clear()
        build(tmp_path, captions, **options)
    assert server.asked() == dict.fromkeys(range(8, 20), 1)
    assert {row["status"] for row in rows_of(tmp_path / "release").values()} == {"accepted"}


@AWAY
def test_a_server_that_dies_with_few_rows_left_is_no_fault_of_theirs(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_waiting(monkeypatch)
    captions = captions_file(tmp_path, lumps(12, {10, 11}))
    with Server(lambda request: fault if len(server.requests) > 9 else None) as server:
        options = {"model": MODEL, "base_url": server.base_url, "concurrency": 1}
        told = r"failed r009 and 2 more, and then a row that it had answered before: gave no answer in 6 tries"
        with pytest.raises(ModelError, match=told):
            build(tmp_path, captions, **options)
        assert not (tmp_path / "release").exists()
        server.turns_away = lambda request: None
        server.requests.clear()
        build(tmp_path, captions, **options)
    assert server.asked() == {9: 1, 10: 1, 11: 1}
    assert {row["status"] for row in rows_of(tmp_path / "release").values()} == {"accepted"}


@AWAY
def test_rows_that_fail_while_the_server_is_away_are_asked_again_when_it_is_back(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    captions = captions_file(tmp_path, lumps(12))
    with Server(lambda request: fault if len(server.requests) > 4 and clock.now < 60 else None) as server:
        build(tmp_path, captions, model=MODEL, base_url=server.base_url, concurrency=1)
        assert server.asked()[4] > 6
    assert {row["status"] for row in rows_of(tmp_path / "release").values()} == {"accepted"}


@pytest.mark.parametrize("told", [None, 20])
def test_a_minute_of_429_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: float | None) -> None:
    """On a clock that only waiting moves, and whether or not the server says how long; no row is lost."""
    clock = Clock(monkeypatch)
    with Server(lambda request: status(429, retry_after=told) if clock.now < 60 else None) as server:
        captions = captions_file(tmp_path, lumps(12))
        build(tmp_path, captions, model=MODEL, base_url=server.base_url, concurrency=1)
    rows = rows_of(tmp_path / "release")
    fallen = [str(row["status_reason"]) for row in rows.values() if row["status"] != "accepted"]
    assert len(rows) == 12 and 60 <= clock.now < 130
    assert fallen == []
    late = set(range(1, 12))  # rows that came after the minute are asked for once
    assert {row: times for row, times in server.asked().items() if row in late} == dict.fromkeys(late, 1)


def test_a_killed_build_asks_nothing_twice(tmp_path: Path) -> None:
    """`kill -9` before the 9th answer: the same command asks for that row again, and for no other."""
    captions = captions_file(tmp_path, lumps(20))
    child = 0

    def kill(request: Request) -> Fault | None:
        if child and len(server.requests) == 9:
            os.kill(child, signal.SIGKILL)
        return None

    with Server(kill) as server:
        options = {"model": MODEL, "base_url": server.base_url, "concurrency": 1}
        child = os.fork()
        if not child:
            try:
                build(tmp_path, captions, **options)
            finally:
                os._exit(1)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        child = 0
        manifest = build(tmp_path, captions, **options)
    assert manifest.splits["train"].rows == len(rows_of(tmp_path / "release")) == 20
    assert server.asked() - Counter(range(20)) == {8: 1}


def test_a_release_says_who_answered_and_what_the_server_refused(tmp_path: Path) -> None:
    """The alias moves on while the build is stopped, and takes no temperature: both are told of stored answers too."""

    def turns_away(request: Request) -> Fault | None:
        if "temperature" in request.body:
            return status(400, message="temperature is not supported by this model")
        return status(401) if len(server.requests) == 6 else None

    captions = captions_file(tmp_path, lumps(8))
    with Server(turns_away) as server:
        lump, dates = server.reply, iter(["2025-11-20"] * 4 + ["2026-03-01"] * 99)
        server.reply = lambda body: Reply(lump(body), model=f"m-{next(dates)}")  # type: ignore[operator]
        options = {"model": MODEL, "base_url": server.base_url, "concurrency": 1}
        with pytest.raises(ModelError, match="API key"):
            build(tmp_path, captions, **options)
        first = build(tmp_path, captions, **options)
        asked = len(server.requests)
        again = build(tmp_path, captions, **options)
    assert first.settings["answered_as"] == {MODEL: {"served": "m-2025-11-20, m-2026-03-01", "refused": "temperature"}}
    assert (again, len(server.requests)) == (first, asked)
    assert verify(tmp_path / "release") == []


def test_a_key_that_is_refused_stops_the_build_and_names_the_row(tmp_path: Path) -> None:
    captions = captions_file(tmp_path, lumps(3, range(3)))
    with Server(refuses(401)) as server, pytest.raises(ModelError, match=r"refused the API key.*met first in row r00"):
        build(tmp_path, captions, model=MODEL, base_url=server.base_url)


def test_credit_that_is_used_up_is_no_fault_of_the_rows(tmp_path: Path) -> None:
    """HTTP 402 after some answers: the rows that are left must not be written by rules instead, and stay so."""
    captions = captions_file(tmp_path, lumps(40))
    with Server(lambda request: status(402) if len(server.requests) > 9 else None) as server:
        options = {"model": MODEL, "base_url": server.base_url, "concurrency": 1}
        with pytest.raises(ModelError, match=r"wants to be paid: HTTP 402.*met first in row r009"):
            build(tmp_path, captions, **options)
        server.turns_away = lambda request: None
        manifest = build(tmp_path, captions, **options)
    assert manifest.splits["train"].rows == 40
    assert {row["status"] for row in rows_of(tmp_path / "release").values()} == {"accepted"}
    assert server.asked() - Counter(range(40)) == {9: 1}


def test_a_context_with_room_for_no_row_stops_the_build(tmp_path: Path) -> None:
    """Once the model is served with a longer one, the same command asks it."""
    captions = captions_file(tmp_path, lumps(70))
    with Server(lambda request: TOO_LONG) as server:
        options = {"model": MODEL, "base_url": server.base_url}
        with pytest.raises(ModelError, match=r"answered none of (6\d|70) rows.*does not fit into the model's context"):
            build(tmp_path, captions, **options)
        server.turns_away = lambda request: None
        build(tmp_path, captions, **options)
    assert {row["status"] for row in rows_of(tmp_path / "release").values()} == {"accepted"}


def test_rows_that_no_model_answered_are_told_apart_and_can_be_asked_for_again(tmp_path: Path) -> None:
    captions = captions_file(tmp_path, lumps(20))
    faults: dict[int, Fault] = {3: TOO_LONG, 4: status(400, message="unwanted"), 5: TOO_LONG}
    faults[6] = status(400, error="content_filter")
    with Server(lambda request: faults.get(_row(request.body))) as server:
        server.reply = lambda body: {7: "Sorry, no.", 8: answer("A dog.")}.get(_row(body)) or Server._lump(body)

        def told(overwrite: bool) -> str:
            sentences: list[str] = []
            chosen = recipe.Options(captions=str(captions), model=MODEL, base_url=(server.base_url,))
            out, work = tmp_path / "release", tmp_path / "work"
            recipes.build(recipe.RECIPE, chosen, out, workspace=work, overwrite=overwrite, tell=sentences.append)
            return "\n".join(sentences)

        said, results = told(overwrite=False), tmp_path / "work" / "results"
        expected = (
            "Rows without a text of the model: in 1 no text passed the gates; in 1 no answer was in the form that is "
            "asked for (most often: the answer is not one JSON object and nothing else); in 4 there is no answer (most "
            f"often: {MODEL} refused the request or failed: the question does not fit into the model's context). "
            f"To ask again for those without an answer, delete {results} and"
        )
        assert expected in said
        faults.clear()
        server.requests.clear()
        shutil.rmtree(results)
        assert "no answer (" not in told(overwrite=True)
        assert server.asked() == {3: 1, 4: 1, 5: 1, 6: 1}
    fallen = {key for key, row in rows_of(tmp_path / "release").items() if row["status"] == "fallback"}
    assert fallen == {"r007", "r008"}
