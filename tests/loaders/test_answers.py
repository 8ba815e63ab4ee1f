"""The store of paid answers: nothing is bought twice, whatever kills, damages or fills what."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import pytest

from loaders.errors import BedsideError, InputError, ModelError
from loaders.models.answers import AnswerStore, Usage, gather_bounded
from loaders.models.messages import Answer, ChatModel, Decoding, Message
from tests.parts.processes import started

HELLO = [Message("user", "Hello")]
PNG = b"\x89PNG\r\n\x1a\n"


class Paid(ChatModel):
    """A model that counts what it was asked, answers with a running number, and takes its time."""

    stand_in = True

    def __init__(self, name: str = "paid/one", *, base_url: str = "", client: str = "kit 1", failures: int = 0) -> None:
        self.name = name
        self.asked: list[str] = []
        self._base_url = base_url
        self._client = client
        self._failures = failures

    @property
    def identity(self) -> dict[str, str]:
        return {"name": self.name, "provider": "paid", "base_url": self._base_url, "client": self._client}

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None = None,
        **decoding: Unpack[Decoding],
    ) -> Answer:
        self.asked.append(messages[-1].text)
        number = len(self.asked)
        await asyncio.sleep(0.01)
        if number <= self._failures:
            raise ModelError(self.name, found="is down")
        return Answer(f"answer {number}", input_tokens=10, output_tokens=2, stop="stop")


def put(store: AnswerStore, model: ChatModel, messages: Sequence[Message] = HELLO, **other: Any) -> str:
    settings: dict[str, Any] = {"temperature": 0, "max_tokens": 50} | other
    return asyncio.run(store.ask(model, messages, **settings)).text


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "answers.sqlite"


def test_an_answer_is_bought_once(path: Path) -> None:
    model = Paid()
    with AnswerStore(path) as store:
        assert [put(store, model), put(store, model)] == ["answer 1", "answer 1"]
        assert store.usage == Usage(asked=1, replayed=1)
    with AnswerStore(path) as store:  # another run
        assert asyncio.run(store.ask(model, HELLO, temperature=0, max_tokens=50)) == Answer("answer 1", 10, 2, "stop")
        assert store.usage == Usage(asked=0, replayed=1)
    assert model.asked == ["Hello"]
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_whatever_may_change_the_answer_is_part_of_the_key(path: Path) -> None:
    model = Paid()
    variants: list[tuple[ChatModel, Sequence[Message], dict[str, Any]]] = [
        (model, HELLO, {}),
        (model, HELLO, {"temperature": 0.5}),
        (model, HELLO, {"max_tokens": 51}),
        (model, HELLO, {"seed": 0}),
        (model, HELLO, {"seed": 1}),
        (model, HELLO, {"json_schema": {"type": "object"}}),
        (model, HELLO, {"namespace": "case 7"}),
        (model, HELLO, {"encounter": "Anna"}),
        (model, HELLO, {"encounter": "Ben"}),
        (model, HELLO, {"temperature": None}),
        (model, HELLO, {"top_p": 0.9}),
        (model, HELLO, {"reasoning_effort": "low"}),
        (model, [Message("system", "Hello")], {}),
        (model, [Message("user", "Hello", (PNG,))], {}),
        (model, [Message("user", "Hello", (PNG + b"1",))], {}),
        (model, [Message("user", "Hello", (PNG, PNG))], {}),
        (model, [*HELLO, *HELLO], {}),
        (Paid("paid/two"), HELLO, {}),
    ]
    with AnswerStore(path) as store:
        for who, messages, settings in variants:
            put(store, who, messages, **settings)
        assert store.usage.asked == len(variants)
        for who, messages, settings in variants:
            put(store, who, messages, **settings)
        assert store.usage.asked == len(variants)


def test_what_cannot_change_the_answer_is_not(path: Path, tmp_path: Path) -> None:
    picture = tmp_path / "here.png"
    picture.write_bytes(PNG)
    with AnswerStore(path) as store:
        put(store, Paid(), [Message("user", "Hello", (picture,))], json_schema={"type": "object", "title": "x"})
        upgraded = Paid(client="kit 2", base_url="http://elsewhere/v1")
        same = [Message("user", "Hello", (PNG,))]
        schema = {"title": "x", "type": "object"}
        assert put(store, upgraded, same, temperature=0.0, top_p=None, json_schema=schema) == "answer 1"
        assert upgraded.asked == []


def test_the_file_is_plain(path: Path) -> None:
    with AnswerStore(path) as store:
        put(store, Paid(), [Message("user", "Größe?", (PNG,))], seed=3, namespace="case 1")
    with closing(sqlite3.connect(path)) as connection:
        [(digest, model, request, answer, tokens_in, tokens_out)] = connection.execute("SELECT * FROM answers")
    assert digest == hashlib.sha256(request.encode()).hexdigest()
    assert json.loads(request) == {
        "model": "paid/one",
        "messages": [{"role": "user", "text": "Größe?", "images": [hashlib.sha256(PNG).hexdigest()]}],
        "decoding": {"temperature": 0.0, "max_tokens": 50, "seed": 3},
        "json_schema": None,
        "namespace": "case 1",
        "encounter": None,
    }
    assert json.loads(answer) == {"text": "answer 1", "input_tokens": 10, "output_tokens": 2, "stop": "stop"}
    assert (model, tokens_in, tokens_out) == ("paid/one", 10, 2)


def test_any_text_survives(path: Path) -> None:
    strange = 'NUL \0, quote ", emoji 🩻, lone surrogate \ud800, line\u2028end'

    class Strange(Paid):
        async def ask(self, messages: Sequence[Message], **_: Any) -> Answer:
            return Answer(messages[0].text, None, None, "unknown")

    with AnswerStore(path) as store:
        assert put(store, Strange(), [Message("user", strange)]) == strange
        assert put(store, Paid("paid/two"), [Message("user", strange)]) == "answer 1"
    with AnswerStore(path) as store:
        assert put(store, Strange(), [Message("user", strange)]) == strange
        assert store.usage == Usage(replayed=1)


@pytest.mark.parametrize("text", ["", "a\ud800b", 'é\u2028\n"\\\x00\x7f', "𝒳"])
def test_a_message_is_part_of_a_key_as_plain_json(text: str, path: Path) -> None:
    messages = [Message("system", text), Message("user", text, (PNG, PNG + b"x")), Message("assistant", text)]
    with AnswerStore(path) as store:
        put(store, Paid(), messages)
    with closing(sqlite3.connect(path)) as connection:
        ((request,),) = connection.execute("SELECT request FROM answers").fetchall()
    assert request == json.dumps(json.loads(request), sort_keys=True, separators=(",", ":"))
    assert [message["text"] for message in json.loads(request)["messages"]] == [text] * 3
    digest = put_dialogue(path.with_name("dialogue.sqlite"), messages)
    plain = json.dumps(json.loads(request)["messages"], sort_keys=True, separators=(",", ":"))
    assert digest == hashlib.sha256(plain.encode()).hexdigest()


def put_dialogue(path: Path, messages: Sequence[Message]) -> str:
    """The digest of the messages by which a dialogue's store knows a request."""
    with AnswerStore(path, dialogue=True) as store:
        put(store, Paid(), messages)
        (request,) = store.connection.execute("SELECT request FROM answers").fetchone()
    return str(json.loads(request)["messages"])


@pytest.mark.parametrize("dialogue", [False, True])
def test_of_two_processes_both_return_what_was_stored_first(dialogue: bool, path: Path) -> None:
    class Slow(Paid):
        async def ask(self, *messages: Any, **settings: Any) -> Answer:
            with AnswerStore(path, dialogue=dialogue) as other:
                await other.ask(Paid(), HELLO, temperature=0, max_tokens=50)
            return Answer("too late", 10, 2, "stop")

    with AnswerStore(path, dialogue=dialogue) as store:
        assert [put(store, Slow()), put(store, Slow())] == ["answer 1"] * 2


def test_equal_questions_at_once_are_asked_once(path: Path) -> None:
    model = Paid()
    with AnswerStore(path) as store:

        async def crowd() -> list[Answer]:
            ask = (store.ask(model, HELLO, temperature=0, max_tokens=50) for _ in range(20))
            return await asyncio.gather(*ask)

        assert {answer.text for answer in asyncio.run(crowd())} == {"answer 1"}
        assert store.usage == Usage(asked=1, replayed=19)
    assert model.asked == ["Hello"]


def test_a_failed_question_is_asked_again_by_those_who_wait(path: Path) -> None:
    model = Paid(failures=1)
    with AnswerStore(path) as store:

        async def crowd() -> list[Answer | BaseException]:
            ask = (store.ask(model, HELLO, temperature=0, max_tokens=50) for _ in range(3))
            return await asyncio.gather(*ask, return_exceptions=True)

        first, second, third = asyncio.run(crowd())
        assert isinstance(first, ModelError)
        assert second == third == Answer("answer 2", 10, 2, "stop")
        assert store.usage == Usage(asked=1, replayed=1)


@pytest.mark.parametrize(("dialogue", "levels"), [(False, [2, 2]), (True, [1])])  # FULL; NORMAL
def test_an_answer_outlasts_a_power_cut_except_in_a_dialogue(
    dialogue: bool, levels: list[int], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    AnswerStore(path).close()
    connect, told = sqlite3.connect, list[int]()

    class Told(sqlite3.Connection):
        def close(self) -> None:
            told.append(self.execute("PRAGMA synchronous").fetchone()[0])
            super().close()

    monkeypatch.setattr(sqlite3, "connect", partial(connect, factory=Told))
    with AnswerStore(path, dialogue=dialogue) as store:
        put(store, Paid())
    assert told == levels  # that of the commit, and of the store


@pytest.mark.parametrize("stop", ["model_length", "content_filter"])
@pytest.mark.parametrize("half_way", [("", 10, 0), ("Half", None, None)])
def test_a_request_that_was_turned_away_is_sent_again(half_way: Any, stop: str, path: Path) -> None:
    """The server may have a longer context by then. A text that was stopped half way is an answer, and is paid."""
    away, stopped = Answer("", None, None, stop), Answer(*half_way, stop)

    class Small(Paid):
        async def ask(self, *args: Any, **how: Any) -> Answer:
            answer = await super().ask(*args, **how)
            return {1: away, 2: stopped}.get(len(self.asked), answer)

    model = Small()

    async def ask(store: AnswerStore) -> Answer:
        return await store.ask(model, HELLO, temperature=0.0, max_tokens=8)

    found = []
    for _ in range(3):
        with AnswerStore(path) as store:
            found.append(asyncio.run(ask(store)))
    assert found == [away, stopped, stopped] and len(model.asked) == 2


def test_a_cancelled_question_frees_those_who_wait(path: Path) -> None:
    model = Paid()
    with AnswerStore(path) as store:

        async def race() -> Answer:
            first = asyncio.create_task(store.ask(model, HELLO, temperature=0, max_tokens=50))
            second = asyncio.create_task(store.ask(model, HELLO, temperature=0, max_tokens=50))
            await asyncio.sleep(0)
            first.cancel()
            return await second

        assert asyncio.run(race()).text == "answer 2"


# Stores of earlier versions


BEFORE = Path(__file__).parents[1] / "written_before"
"""Stores of format 1: two requests, each asked at the ports 8000 and 8001."""


@pytest.mark.parametrize("dialogue", [False, True])
def test_answers_of_format_1_are_found_wherever_the_server_is_now(tmp_path: Path, dialogue: bool) -> None:
    path = tmp_path / "answers.sqlite"
    shutil.copy(BEFORE / ("dialogue_answers.sqlite" if dialogue else "answers.sqlite"), path)
    moved = Paid(base_url="http://localhost:9999/v1")
    asked = [Message("system", "Be kind."), Message("user", "What is this?", (PNG,))]
    settings: dict[str, Any] = {"temperature": 0.6, "max_tokens": 512, "seed": 3, "json_schema": {"type": "object"}}
    settings["namespace"] = '["consultation", "case-1", 1, "doctor", 0]'
    for _ in range(2):  # once brought over, it stays so
        with AnswerStore(path, dialogue=dialogue) as store:
            assert put(store, moved) == "Hello at http://localhost:8000/v1"
            assert put(store, moved, asked, **settings) == "What is this? at http://localhost:8000/v1"
    assert moved.asked == []
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM answers").fetchone() == (4,), "nothing is thrown away"
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)


def test_processes_bring_a_store_over_together(path: Path) -> None:
    path.parent.mkdir()
    shutil.copy(BEFORE / "answers.sqlite", path)
    children = [child(path, who, 20) for who in "ab"]
    told = [process.communicate(timeout=1200)[0].splitlines() for process in children]
    assert [process.returncode for process in children] == [0, 0]
    assert all(sorted(lines) == sorted(told[0]) for lines in told)
    with AnswerStore(path) as store:
        assert put(store, Paid()) == "Hello at http://localhost:8000/v1"


@pytest.mark.parametrize("request_", ["7", "[]", "null", "[" * 5_000, "{}", '{"model": 1}'])
def test_a_store_that_cannot_be_brought_over_is_left_as_it_is(request_: str, path: Path) -> None:
    path.parent.mkdir()
    shutil.copy(BEFORE / "answers.sqlite", path)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE answers SET request = ? WHERE rowid = 3", (request_,))
        before = connection.execute("SELECT * FROM answers").fetchall()
    for _ in range(2):
        with pytest.raises(InputError, match="is damaged"), AnswerStore(path):
            pass
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT * FROM answers").fetchall() == before


# Several processes, killed processes


CHILD = """
import asyncio, sys, time
from pathlib import Path
from loaders.models.answers import AnswerStore, gather_bounded
from loaders.models.messages import Message
from loaders.models.scripted_chat import scripted

path, who, count, pause = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])

def answer(messages):
    time.sleep(pause)
    return f"{messages[0].text} by {who}"

model = scripted(answer, name="child")

async def ask(number):
    given = await store.ask(model, [Message("user", f"question {number}")], temperature=0, max_tokens=9)
    print(given.text, flush=True)

with AnswerStore(path) as store:
    asyncio.run(gather_bounded(ask, range(count), limit=2))
"""


def child(path: Path, who: str, count: int, pause: float = 0.0) -> subprocess.Popen[str]:
    return started("-c", CHILD, path, who, count, pause)


def stored(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {json.loads(answer)["text"] for (answer,) in connection.execute("SELECT answer FROM answers")}


def test_processes_share_a_store(path: Path) -> None:
    # They start together on a store that is not there yet; each must print what the first of them stored.
    children = [child(path, who, 40, pause=0.001) for who in "abc"]
    told = [process.communicate(timeout=1200)[0].splitlines() for process in children]
    assert [process.returncode for process in children] == [0, 0, 0]
    assert all(sorted(lines) == sorted(told[0]) for lines in told)
    assert stored(path) == set(told[0])
    assert len(told[0]) == 40


def test_kill_minus_nine_loses_no_returned_answer(path: Path) -> None:
    told: set[str] = set()
    for round_ in range(3):
        process = child(path, f"run {round_}", 1000, pause=0.002)
        assert process.stdout is not None
        lines = [process.stdout.readline().strip() for _ in range(len(told) + 10)]
        process.kill()
        told |= set(lines) | {line.strip() for line in process.stdout if line.endswith("\n")}
        process.wait()
        assert told <= stored(path)
    assert len({text.partition(" by ")[0] for text in told}) == len(told) >= 30


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to a process")
def test_control_c_keeps_what_is_stored(path: Path) -> None:
    process = child(path, "me", 5000, pause=0.002)
    assert process.stdout is not None
    told = {process.stdout.readline().strip() for _ in range(10)}
    process.send_signal(signal.SIGINT)
    told |= {line.strip() for line in process.communicate(timeout=120)[0].splitlines()}
    assert process.returncode != 0
    assert told <= stored(path)
    assert len(stored(path)) < 5000


def test_a_file_system_without_hard_links(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "no hard links here")

    monkeypatch.setattr(os, "link", refuse)
    for _ in range(2):
        with AnswerStore(path) as store:
            assert put(store, Paid()) == "answer 1"
    assert [each.name for each in path.parent.iterdir()] == [path.name]


# Files that are no store


def test_foreign_and_damaged_files_are_left_alone(path: Path) -> None:
    path.parent.mkdir()
    other = path.with_name("other.sqlite")
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE answers (digest TEXT)")
    with AnswerStore(path) as store:
        for number in range(200):
            put(store, Paid(), [Message("user", f"{number} " + "x" * 200)])
    whole = path.read_bytes()
    cases = {
        b"": "is not an SQLite file",
        b"answers: none": "is not an SQLite file",
        other.read_bytes(): "is the SQLite file of another program",
        whole[:60] + (3).to_bytes(4, "big") + whole[64:]: "is an answer store of format 3 .* Install a newer Bedside",
        whole[:4096]: "is damaged",
        whole[: len(whole) // 2]: "is damaged",
        whole[:100] + bytes(len(whole) - 100): "is damaged",
        whole.replace(b"CREATE TABLE", b"CREATE \xcc\xff\xfeLE"): "is damaged",
    }
    for number, (content, found) in enumerate(cases.items()):
        bad = path.with_name(f"bad-{number}.sqlite")
        bad.write_bytes(content)
        with pytest.raises(InputError, match=found), AnswerStore(bad) as store:
            for each in range(200):
                put(store, Paid(), [Message("user", f"{each} " + "x" * 200)])
        assert bad.read_bytes() == content, found


def test_a_garbled_answer_is_damage(path: Path) -> None:
    with AnswerStore(path) as store:
        put(store, Paid())
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("""UPDATE answers SET answer = '{"text": 1'""")
            connection.commit()
        with pytest.raises(InputError, match="is damaged"):
            put(store, Paid())


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a folder"):
        AnswerStore(tmp_path)
    with pytest.raises(InputError, match="is a file, not a folder"):
        AnswerStore(tmp_path / "file" / "answers.sqlite")


def test_a_full_disk_is_an_error_and_loses_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Paid()
    with AnswerStore(path) as store:
        put(store, model)
        pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
        connect = sqlite3.connect

        def full(*arguments: Any, **settings: Any) -> sqlite3.Connection:
            connection: sqlite3.Connection = connect(*arguments, **settings)
            connection.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own "disk is full"
            return connection

        with monkeypatch.context() as disk:
            disk.setattr(sqlite3, "connect", full)
            with pytest.raises(BedsideError, match=r"database or disk is full.*Free some space"):
                put(store, model, [Message("user", "long " * 5000)])
        assert put(store, model) == "answer 1"
        assert put(store, model, [Message("user", "long " * 5000)]) == "answer 3"


def test_a_commit_waits_for_no_other_work(path: Path) -> None:
    """All threads of the loop are taken, by pictures that are read or names that are looked up."""
    done = threading.Event()

    async def busy() -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(1))
        reading = loop.run_in_executor(None, done.wait, 600)
        try:
            await asyncio.wait_for(store.ask(Paid(), HELLO, temperature=0, max_tokens=5), 60)
            with closing(sqlite3.connect(path)) as other:
                assert other.execute("SELECT count(*) FROM answers").fetchone() == (1,)
        finally:
            done.set()
            await reading

    with AnswerStore(path) as store:
        asyncio.run(busy())


def test_an_answer_waits_for_two_commits_at_most(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one under way, and its own: whatever comes meanwhile is one group, however much it is."""
    commit, groups, free = AnswerStore._commit, [], [threading.Event() for _ in range(3)]

    def held(store: AnswerStore, rows: Any) -> None:
        groups.append(len(rows))
        assert free[len(groups) - 1].wait(60)
        commit(store, rows)

    async def come() -> None:
        async def ask(name: str) -> None:
            await store.ask(Paid(), [Message("user", name)], temperature=0, max_tokens=5)

        async def until(number: int) -> None:
            while len(groups) < number:
                await asyncio.sleep(0.001)

        first = asyncio.create_task(ask("first"))
        await until(1)  # it began at once, with nothing else to come
        second = [asyncio.create_task(ask(f"second {number}")) for number in range(20)]
        while len(store._waiting) < 20:
            await asyncio.sleep(0.001)
        free[0].set()
        await until(2)
        third = asyncio.create_task(ask("third"))
        free[1].set()
        await asyncio.gather(first, *second)  # and not for what came after them
        assert not third.done()
        free[2].set()
        await third

    monkeypatch.setattr(AnswerStore, "_commit", held)
    with AnswerStore(path) as store:
        asyncio.run(come())
    assert groups == [1, 20, 1]


def test_what_was_answered_when_all_was_stopped_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writing = asyncio.Event()

    async def busy(self: AnswerStore) -> None:  # the disk, with an earlier answer
        writing.set()
        await asyncio.sleep(60)

    async def stopped() -> None:
        asking = asyncio.create_task(store.ask(model, HELLO, temperature=0, max_tokens=5))
        await writing.wait()
        asking.cancel()
        await asking

    model = Paid()
    with AnswerStore(path) as store, monkeypatch.context() as disk, pytest.raises(asyncio.CancelledError):
        disk.setattr(AnswerStore, "_write_waiting", busy)
        asyncio.run(stopped())
    with AnswerStore(path) as store:
        asyncio.run(store.ask(model, HELLO, temperature=0, max_tokens=5))
    assert store.usage.replayed == 1


def test_what_the_disk_had_not_begun_to_take_is_kept_too(path: Path) -> None:
    model, busy = Paid(), threading.Event()

    async def stopped() -> None:
        asking = asyncio.create_task(store.ask(model, HELLO, temperature=0, max_tokens=5))
        while store._writing is None or store._waiting:
            await asyncio.sleep(0.01)
        store._writing.cancel()
        asking.cancel()
        await asyncio.gather(asking, store._writing, return_exceptions=True)

    with AnswerStore(path) as store:
        store._writer.submit(busy.wait, 10)
        asyncio.run(stopped())
        busy.set()
    with AnswerStore(path) as store:
        asyncio.run(store.ask(model, HELLO, temperature=0, max_tokens=5))
    assert store.usage.replayed == 1


def test_a_locked_store_is_an_error(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loaders.files.sqlite_store.SqliteStore.PATIENCE", 0.05)
    with AnswerStore(path) as store, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="Another process has held it"):
            put(store, Paid())
        other.execute("ROLLBACK")
        assert put(store, Paid()) == "answer 1"


# gather_bounded


def test_order_limit_and_progress() -> None:
    busy = most = 0
    seen: list[tuple[int, int]] = []

    async def square(number: int) -> int | None:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(0.001 * (10 - number))  # the first ends last
        busy -= 1
        return number * number if number % 2 else None

    def report(done: int, total: int) -> None:
        seen.append((done, total))

    results = asyncio.run(gather_bounded(square, range(10), limit=4, progress=report))
    assert results == [None, 1, None, 9, None, 25, None, 49, None, 81]
    assert most == 4
    assert seen == [(done, 10) for done in range(1, 11)]
    assert asyncio.run(gather_bounded(square, [], limit=4)) == []
    assert asyncio.run(gather_bounded(square, [3], limit=4)) == [9]
    with pytest.raises(ValueError, match="limit"):
        asyncio.run(gather_bounded(square, [3], limit=0))


def test_the_first_error_ends_it_and_keeps_what_was_stored(path: Path) -> None:
    started: list[int] = []
    cancelled: list[int] = []
    model, waits = Paid(), asyncio.Event()
    with AnswerStore(path) as store:

        async def work(number: int) -> None:
            started.append(number)
            if number == 3:
                await waits.wait()
                raise ModelError("paid/one", found="is down")
            await store.ask(model, [Message("user", str(number))], temperature=0, max_tokens=50)
            if number == 5:
                waits.set()
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    cancelled.append(number)
                    raise
            elif number > 5:
                await asyncio.sleep(0.03)

        with pytest.raises(ModelError, match="is down"):
            asyncio.run(gather_bounded(work, range(1000), limit=3))
        assert cancelled == [5]
        assert len(started) < 50
        bought = store.usage.asked
        assert bought >= 5
        fresh = Paid()
        for number in (0, 1, 2, 4, 5):
            put(store, fresh, [Message("user", str(number))])
        assert (fresh.asked, store.usage.asked) == ([], bought)
