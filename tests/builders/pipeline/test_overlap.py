"""Batches that ask a model overlap: none waits for another; limit, answers and bytes stay what they were."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import closing, nullcontext
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from builders.chat import Chat
from builders.pipeline import overlap
from builders.pipeline.rows import Row
from builders.pipeline.run import run
from builders.pipeline.stage import Excluded
from builders.steps import Step, stages, step
from loaders.engines.local import Local
from loaders.errors import BedsideError, ModelError, ModelRefused
from loaders.models.answers import AnswerStore
from loaders.models.messages import Answer, ChatModel, Message
from loaders.models.prompts import Prompts
from loaders.models.tries import REFUSED
from scripts.terminal import stopping
from tests.loaders.engines.test_engines import Shuffled
from tests.parts.processes import started

SCHEMA = pa.schema([("id", pa.string())])
SAID = pa.schema([("said", pa.string())])


class Model(ChatModel):
    """Notes the requests in the order in which they come, and how many are in flight; `before` each answer."""

    name = "local/slow"
    stand_in = True

    @property
    def identity(self) -> dict[str, str]:
        return {"name": self.name, "provider": "local", "base_url": "", "client": ""}

    def __init__(self, before: Callable[[str], Any] = lambda text: asyncio.sleep(0.01)) -> None:
        self.before = before
        self.asked: list[str] = []
        self.in_flight = self.most = 0

    async def ask(self, messages: Any, **_: Any) -> Answer:
        text = messages[-1].text
        self.asked.append(text)
        self.in_flight += 1
        self.most = max(self.most, self.in_flight)
        try:
            await self.before(text)
        finally:
            self.in_flight -= 1
        return Answer(f"said {text}", 1, 1, "stop", served=f"of {text}")


@step(takes="batch", adds=SAID, parallel=False)
def say(rows: list[Row], chat: Chat, same: bool = False) -> Iterable[Row | Excluded]:
    async def ask(row: Row, store: AnswerStore) -> str:
        message = Message("user", "x" if same else row["id"])
        return (await store.ask(chat.model, [message], temperature=0, max_tokens=5)).text

    for said in chat.each_or_error(ask, {row["id"]: row for row in rows}).values():
        yield {"said": said}


def built(
    at: Path,
    said: Callable[[Chat], Step],
    model: Model,
    *,
    rows: int = 12,
    limit: int = 4,
    batch: int = 2,
    engine: Any = None,
) -> Any:
    chat = Chat(model, Prompts({}), at / "answers.sqlite", limit)
    source = [{"id": f"r{n:02}"} for n in range(rows)]
    given: dict[str, Any] = {"workspace": at / "w", "source_identity": "x", "batch_rows": batch, "engine": engine}
    return run(source, stages([said(chat)], SCHEMA), key="id", **given)


def test_a_slow_answer_holds_up_no_other_batch(tmp_path: Path) -> None:
    later: list[asyncio.Event] = []

    async def before(text: str) -> None:
        later[:] = later or [asyncio.Event()]
        if text == "r05":
            later[0].set()
        if text == "r00":
            await asyncio.wait_for(later[0].wait(), 60)  # of the third batch

    done = built(tmp_path, say, Model(before))
    assert [row["said"] for row in done.rows()] == [f"said r{n:02}" for n in range(12)]
    alone = built(tmp_path / "alone", say, Model(), batch=100)
    assert list(alone.rows()) == list(done.rows())
    said = {("local/slow", f"of r{n:02}", None) for n in range(12)}
    assert alone.heard() == done.heard() == built(tmp_path, say, Model(), rows=12).heard() == said


def test_each_batch_keeps_what_was_said_of_its_own_rows(tmp_path: Path) -> None:
    built(tmp_path, say, Model())
    records = [json.loads(path.read_bytes()) for path in (tmp_path / "w" / "results").iterdir()]
    each = sorted([said for _, said, _ in record["heard"]] for record in records if record["heard"])
    assert each == [[f"of r{n:02}", f"of r{n + 1:02}"] for n in range(0, 12, 2)]


def test_the_limit_holds_over_batches_and_the_first_is_first(tmp_path: Path) -> None:
    model = Model()
    built(tmp_path, say, model, rows=40, limit=4, batch=10)
    assert model.most == 4
    assert len(model.asked) == 40 and {text[:2] for text in model.asked[:4]} <= {"r0", "r1", "r2", "r3"}


def test_others_are_asked_before_answers_are_looked_into(tmp_path: Path) -> None:
    """Of six that are ready, two at a time, and the two are answered at once."""
    told: list[str] = []

    async def asked() -> None:
        both = asyncio.Barrier(2)

        async def before(text: str) -> None:
            told.append(f"asked {text}")
            await both.wait()

        async def one(text: str) -> None:
            await store.ask(Model(before), [Message("user", text)], temperature=0, max_tokens=5)
            told.append(f"read {text}")

        with AnswerStore(tmp_path / "answers.sqlite") as store:
            store.turns = overlap.Turns(2)
            await asyncio.gather(*(one(text) for text in "abcdef"))

    asyncio.run(asked())
    assert [set(told[at : at + 2]) for at in range(0, 8, 2)] == [
        {"asked a", "asked b"},
        {"asked c", "asked d"},
        {"read a", "read b"},
        {"asked e", "asked f"},
    ]


def test_batches_that_ask_the_same_ask_once(tmp_path: Path) -> None:
    model = Model()
    built(tmp_path, lambda chat: say(chat, same=True), model)
    assert model.asked == ["x"]


def test_an_error_ends_all_and_what_was_answered_is_kept(tmp_path: Path) -> None:
    said: list[str] = []

    async def before(text: str) -> None:
        if text < "r03":
            said.append(text)
            return
        await until(lambda: text == "r03" and len(said) == 3)
        raise ModelRefused("local/slow", found="refused the API key")

    with pytest.raises(ModelRefused, match="met first in row r03"):
        built(tmp_path, say, Model(before), limit=12)
    again = Model()
    assert len(list(built(tmp_path, say, again).rows())) == 12
    assert sorted(again.asked) == [f"r{n:02}" for n in range(3, 12)]


async def until(due: Callable[[], bool]) -> None:
    """Waits as other coroutines and threads go on, however slow the machine is."""
    while not due():
        await asyncio.sleep(0.005)


@step(takes="batch", adds=SAID, parallel=False)
def say_or_tell(rows: list[Row], chat: Chat) -> Iterable[Row | Excluded]:
    async def ask(row: Row, store: AnswerStore) -> str:
        return (await store.ask(chat.model, [Message("user", row["id"])], temperature=0, max_tokens=5)).text

    for said in chat.each_or_error(ask, {row["id"]: row for row in rows}).values():
        yield {"said": said if isinstance(said, str) else "refused"}


def refuses(*rows: int) -> Callable[[str], Any]:
    async def before(text: str) -> None:
        if int(text[1:]) in rows:
            raise ModelError("local/slow", found=f"{REFUSED}: HTTP 400")
        await asyncio.sleep(0.3)

    return before


def test_a_batch_of_refused_rows_ends_no_build_while_others_are_not_answered_yet(tmp_path: Path) -> None:
    done = built(tmp_path, say_or_tell, Model(refuses(*range(6))), rows=8)
    assert [row["said"] for row in done.rows()] == ["refused"] * 6 + ["said r06", "said r07"]


@pytest.mark.parametrize(("rows", "judged"), [(2, 2), (4, 4), (12, 8)])
def test_a_model_that_answers_none_of_the_batches_under_way_ends_the_build(
    rows: int, judged: int, tmp_path: Path
) -> None:
    with pytest.raises(ModelError, match=f"answered none of {judged} rows"):
        built(tmp_path, say_or_tell, Model(refuses(*range(rows))), rows=rows)


def test_a_refused_row_that_is_left_over_ends_no_build(tmp_path: Path) -> None:
    """The batches that an earlier build finished show that the model answers; not that its server is up today."""

    async def ends_late(text: str) -> None:
        if text == "r04":
            await until(lambda: len(list((tmp_path / "w" / "results").iterdir())) == 3)  # the source, and the others
            raise ModelRefused("local/slow", found="refused the API key")

    async def down(text: str) -> None:
        raise ModelError("local/slow", found="gave no answer in 6 tries")

    async def refused(text: str) -> None:
        raise ModelError("local/slow", found=f"{REFUSED}: HTTP 400")

    with pytest.raises(ModelRefused):
        built(tmp_path, say_or_tell, Model(ends_late), rows=5)
    with pytest.raises(ModelError, match="answered none of 1 rows, the first of them r04: gave no answer"):
        built(tmp_path, say_or_tell, Model(down), rows=5)
    last = Model(refused)
    done = built(tmp_path, say_or_tell, last, rows=5)
    assert last.asked == ["r04"] and [row["said"] for row in done.rows()][-2:] == ["said r03", "refused"]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGKILL])
def test_a_build_that_is_stopped_asks_again_only_what_was_in_flight(stop: signal.Signals, tmp_path: Path) -> None:
    """Run as a script, this module builds 40 rows in batches of 5, ten requests at a time, each noted in `asked`."""
    asked = tmp_path / "asked"
    asked.touch()
    process = started(Path(__file__), tmp_path)
    while len(asked.read_text().split()) < 20:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(stop)
    _, said = process.communicate(timeout=120)
    assert "Traceback" not in said and "never awaited" not in said
    if stop != signal.SIGKILL:
        assert process.returncode == 1 and "run the same command again to resume" in said
    first = asked.read_text().split()
    again = Model()
    done = built(tmp_path, say, again, rows=40, batch=5)
    assert [row["said"] for row in done.rows()] == [f"said r{n:02}" for n in range(40)]
    assert len(set(first) & set(again.asked)) <= 10 + 5  # and what came while the signal was on its way


async def noted(text: str) -> None:
    with (Path(sys.argv[1]) / "asked").open("a") as file:
        file.write(f"{text}\n")
    await asyncio.sleep(0.1 if text < "r20" else 600)  # until it is stopped


if __name__ == "__main__":
    stopping.end_as_by_ctrl_c()
    try:
        built(Path(sys.argv[1]), say, Model(noted), rows=40, limit=10, batch=5)
    except KeyboardInterrupt as ended:
        sys.exit(str(ended))


class Logged(Model):
    """Sent to other processes; each request leaves a line: the process, and how many it has in flight."""

    def __init__(self, log: Path) -> None:
        super().__init__(self.note)
        self.log = log

    async def note(self, text: str) -> None:
        with self.log.open("a") as file:
            file.write(f"{os.getpid()} {self.in_flight}\n")
        await until(lambda: len({line.split()[0] for line in self.log.read_text().splitlines()}) == 2)


def test_more_requests_than_one_process_is_for_are_shared_by_several(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("builders.pipeline.overlap.os.cpu_count", lambda: 2)
    monkeypatch.setattr(overlap, "overlapped", None)  # this process asks nothing
    with Local(2) as engine:
        done = built(tmp_path, say, Logged(tmp_path / "log"), rows=128, limit=64, batch=16, engine=engine)
    assert [row["said"] for row in done.rows()] == [f"said r{n:02}" for n in range(128)]
    asked = [tuple(map(int, line.split())) for line in (tmp_path / "log").read_text().splitlines()]
    assert len(asked) == 128 and max(in_flight for _, in_flight in asked) <= 32
    assert len({process for process, _ in asked} - {os.getpid()}) == 2
    with closing(sqlite3.connect(tmp_path / "answers.sqlite")) as answers:  # of both processes
        assert answers.execute("SELECT count(*) FROM answers").fetchone() == (128,)


class Elsewhere(Shuffled):
    """Stands for a cluster: units in an order of chance, some of them done twice; it is lost after so many."""

    spread = True

    def __init__(self, seed: int, lost_after: int = 100) -> None:
        super().__init__(seed)
        self.left = lost_after

    def narrowed(self, slots: int) -> Any:
        assert slots == 2  # 64 requests at a time
        return nullcontext(self)

    def each(self, task: Any, units: Any, *, where: str) -> Any:
        for done in super().each(task, units, where=where):
            if not self.left:
                raise BedsideError("the cluster", found="is gone")
            self.left -= 1
            yield done


async def at_once(text: str) -> None:
    return None


@pytest.mark.parametrize("lost", [100, 0, 2])
def test_on_a_cluster_each_unit_keeps_its_answers_and_the_driver_takes_them_in(tmp_path: Path, lost: int) -> None:
    model = Model(at_once)
    given: dict[str, Any] = {"rows": 40, "limit": 64, "batch": 2}
    with pytest.raises(BedsideError, match="is gone") if lost < 100 else nullcontext():
        built(tmp_path, say, model, engine=Elsewhere(lost, lost), **given)
    assert (tmp_path / "answers.parts").exists() == (lost < 100)
    for result in (tmp_path / "w" / "results").iterdir():
        result.unlink()
    done = built(tmp_path, say, model, engine=Elsewhere(7), **given)
    assert [row["said"] for row in done.rows()] == [f"said r{n:02}" for n in range(40)]
    assert len(model.asked) == 40 and not (tmp_path / "answers.parts").exists()
    for result in (tmp_path / "w" / "results").iterdir():
        result.unlink()
    built(tmp_path, say, model, **given)
    assert len(model.asked) == 40
