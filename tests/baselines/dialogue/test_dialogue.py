"""Games played bare: who answers, what is stored, what ends a case and what ends a run."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from baselines.dialogue.game import Drawing
from baselines.dialogue.played import PlayedCase, Spent, read_played
from baselines.dialogue.playing import Player, Scripted
from baselines.dialogue.run import Played, play_run
from loaders.errors import BedsideError, InputError, ModelError, ModelRefused
from loaders.models.chat import open_model
from loaders.models.messages import Answer, ChatModel, Message
from loaders.models.scripted_chat import scripted as scripted_model
from scripts.run.play import Play, Roles, _tell, roles_of
from scripts.run.play import play as play_command
from tests.parts.chat_server import ChatServer, Fault, Reply, cut, raw, status
from tests.parts.processes import started
from tests.parts.puzzles import ROLES, Crowd, Round, game, models, puzzles, scripted


def play(out: Path, players: dict[str, Player], number: int = 4, **options: Any) -> Played[Any]:
    return play_run(game(), puzzles(number), players, out, **({"bare": True} | options))


def lines(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "dialogues.jsonl").read_text().splitlines()]


# --- A run ------------------------------------------------------------------------------------------------------------


def test_scripted_agents_know_their_case_and_are_stand_ins(tmp_path: Path) -> None:
    played = play(tmp_path, dict(scripted()))
    assert [outcome.case_id for outcome in played.outcomes] == ["case-000", "case-001", "case-002", "case-003"]
    assert [record.mark for record in played.records] == [0, 1, 0, 1]
    assert played.records[2].turns[0] == ("guest", "I have 2 spots.")
    assert played.stand_in == "scripted guest scripted/guest, host scripted/host, judge scripted/judge"
    assert played.failure is None
    assert [one.record for one in read_played(tmp_path, PlayedCase[Round])] == played.records


def test_models_are_asked_once_a_turn_and_replayed_after(tmp_path: Path, server: ChatServer) -> None:
    first = play(tmp_path, models(server))
    assert len(server.requests) == 4 * 8
    files = {name: (tmp_path / name).read_bytes() for name in ("dialogues.jsonl", "usage.json")}
    again = play(tmp_path, models(server))
    assert len(server.requests) == 4 * 8
    assert (first.usage.asked, again.usage.asked, again.usage.replayed) == (32, 0, 32)
    assert {name: (tmp_path / name).read_bytes() for name in files} == files
    assert first.stand_in is None
    assert [(one.role, one.name) for one in first.models] == [(role, f"openai-api/local/{role}") for role in ROLES]


def test_the_models_behind_an_alias_are_recorded(tmp_path: Path, server: ChatServer) -> None:
    says = server.reply
    assert callable(says)

    def dated(body: dict[str, Any]) -> Any:
        model = f"host-0{len(body['messages']) // 4}" if body["model"] == "host" else None  # it moves on in a dialogue
        return Reply(says(body), model=model)

    server.reply = dated
    first = play(tmp_path, models(server), 1)
    recorded = {one.role: one.revision for one in first.models}
    assert recorded == {"guest": None, "host": "host-00, host-01", "judge": None}
    assert play(tmp_path, models(server), 1).models == first.models
    with closing(sqlite3.connect(tmp_path / "private" / "answers.sqlite")) as answers, answers:
        answers.execute("UPDATE answers SET answer = json_remove(answer, '$.served')")  # as an earlier version
    assert {one.revision for one in play(tmp_path, models(server), 1).models} == {None}


def test_what_the_server_of_a_role_refuses_is_recorded_by_a_resumed_run_too(tmp_path: Path, server: ChatServer) -> None:
    says = server.reply
    assert callable(says)

    def picky(body: dict[str, Any]) -> Any:
        return status(400, message="No seed here") if body["model"] == "host" and "seed" in body else says(body)

    server.reply = picky
    for _ in range(2):
        played = play(tmp_path, models(server), 1, seed=92)
        assert {one.role: one.refused for one in played.models} == {"guest": None, "host": "seed", "judge": None}


def test_more_cases_ask_only_for_theirs(tmp_path: Path, server: ChatServer) -> None:
    play(tmp_path, models(server), 2)
    play(tmp_path, models(server), 3)
    assert len(server.requests) == 3 * 8


BOTH = pytest.mark.parametrize("bare", [True, False])  # the bare loop, and inspect_ai's


@BOTH
def test_equal_requests_of_two_cases_are_two_requests(bare: bool, tmp_path: Path, server: ChatServer) -> None:
    twins = [replace(puzzle, said="I have spots.", secret="one") for puzzle in puzzles(2)]
    play_run(game(), twins, models(server), tmp_path, bare=bare)
    asked = Counter(json.dumps(request.body, sort_keys=True) for request in server.requests)
    assert set(asked.values()) == {2}
    assert len(server.requests) == 16


def test_epochs_are_asked_apart_with_a_seed_each(tmp_path: Path, server: ChatServer) -> None:
    played = play(tmp_path, models(server), 2, epochs=2, seed=92)
    assert [(outcome.case_id, outcome.epoch) for outcome in played.outcomes] == [
        ("case-000", 1), ("case-001", 1), ("case-000", 2), ("case-001", 2)
    ]  # fmt: skip
    assert Counter(request.body["seed"] for request in server.requests) == {92: 16, 93: 16}


@BOTH
def test_a_changed_prompt_model_or_seed_is_never_answered_from_the_store(
    bare: bool, tmp_path: Path, server: ChatServer
) -> None:
    play(tmp_path, models(server), 1, bare=bare)
    before = lines(tmp_path)
    play_run(game(prompt="Name the animal."), puzzles(1), models(server), tmp_path, bare=bare)
    # The guest's first words depend on no prompt of the host; everything after that does.
    assert len(server.requests) == 8 + 7
    assert lines(tmp_path) != before
    other = models(server) | {"host": open_model("openai-api/local/other", base_url=server.base_url)}
    play(tmp_path, other, 1, bare=bare)
    assert len(server.requests) == 8 + 7 + 7
    play(tmp_path, models(server), 1, bare=bare, seed=7)
    assert len(server.requests) == 8 + 7 + 7 + 8


def test_the_store_of_a_dialogue_holds_answers_and_no_prompt(tmp_path: Path, server: ChatServer) -> None:
    """Each request repeats the dialogue before it: kept whole, they would take a hundred times the answers' place."""
    play(tmp_path, models(server), 2)
    with closing(sqlite3.connect(tmp_path / "private/answers.sqlite")) as connection:
        kept = connection.execute("SELECT request, answer FROM answers").fetchall()
    assert len(kept) == 16
    assert not [request for request, _ in kept if "You are the guest" in request or "says" in request]
    assert {len(json.loads(request)["messages"]) for request, _ in kept} == {64}
    assert any("guest says" in answer for _, answer in kept)


def test_usage_counts_by_role_with_costs(tmp_path: Path, server: ChatServer) -> None:
    prices = {"openai-api/local/host": (2.0, 10.0)}
    play(tmp_path, models(server), 1, prices=prices)
    usage = json.loads((tmp_path / "usage.json").read_text())
    assert {role: usage[role]["requests"] for role in ROLES} == {"guest": 4, "host": 3, "judge": 1}
    assert usage["host"]["output_tokens"] == 3 * 6  # a token of this server is a word
    assert usage["host"]["cost_usd"] == pytest.approx((usage["host"]["input_tokens"] * 2 + 18 * 10) / 1e6)
    assert usage["guest"]["cost_usd"] is None


@pytest.mark.parametrize(("read", "written"), [(7, None), (None, 3)])
def test_a_provider_that_counts_only_one_side_has_not_counted(
    read: int | None, written: int | None, tmp_path: Path
) -> None:
    """The other side would be taken for no tokens at all, and the cost for half of what it was."""

    class Half(ChatModel):
        stand_in = False

        def __init__(self, role: str) -> None:
            self.name = f"made/{role}"

        @property
        def identity(self) -> dict[str, str]:
            return {"name": self.name}

        async def ask(self, messages: Sequence[Message], **how: Any) -> Answer:
            return Answer('{"mark": 1}', read, written, "stop")

    prices = {f"made/{role}": (1e6, 1e6) for role in ROLES}
    played = play(tmp_path, {role: Half(role) for role in ROLES}, 1, prices=prices, max_cost=1e9)
    assert played.taken == dict.fromkeys(("input_tokens", "output_tokens", "cost_usd"))
    assert all(spent.uncounted == spent.requests for spent in played.spent.values())
    told = sum(spent.input_tokens + spent.output_tokens for spent in played.spent.values())
    assert played.charged >= told + 8, "the other side is estimated where a limit is kept"
    again = play(tmp_path, {role: Half(role) for role in ROLES}, 1, prices=prices, max_cost=1e9)
    assert (again.usage.asked, again.charged) == (0, pytest.approx(played.charged))


def test_what_a_run_took_is_known_where_every_answer_was_counted(tmp_path: Path, server: ChatServer) -> None:
    players = {**models(server), "guest": scripted()["guest"]}
    prices = {"openai-api/local/host": (2.0, 10.0), "openai-api/local/judge": (1.0, 5.0)}
    played = play(tmp_path, players, 1, prices=prices)
    played = replace(
        played, spent={"guest": Spent(4, uncounted=4), "host": Spent(3, 100, 10), "judge": Spent(1, 50, 4)}
    )
    dollars = (100 * 2 + 10 * 10 + 50 + 4 * 5) / 1e6  # a script costs nothing, whatever it says
    assert played.taken == {"input_tokens": 150, "output_tokens": 14, "cost_usd": pytest.approx(dollars)}
    uncounted = replace(played, spent={**played.spent, "host": Spent(3, 100, 10, uncounted=1)})
    assert uncounted.taken == dict.fromkeys(("input_tokens", "output_tokens", "cost_usd"))
    assert (uncounted.cost("host"), uncounted.cost("guest")) == (None, 0)
    unpriced = replace(played, prices={"openai-api/local/host": (2.0, 10.0)})
    assert unpriced.taken == {"input_tokens": 150, "output_tokens": 14, "cost_usd": None}


# --- Bad input --------------------------------------------------------------------------------------------------------


@BOTH
def test_a_role_without_a_player_is_one_error(bare: bool, tmp_path: Path, server: ChatServer) -> None:
    players = models(server)
    del players["judge"]
    with pytest.raises(InputError, match="role judge of puzzle: no model"):
        play(tmp_path, players, bare=bare)
    with pytest.raises(InputError, match="role doctor: puzzle has no such role"):
        play(tmp_path, models(server) | {"doctor": scripted()["host"]}, bare=bare)
    assert server.requests == [] and not (tmp_path / "logs").exists()


def test_cases_need_distinct_ids(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="case-000: the id of two cases"):
        play_run(game(), puzzles(1) * 2, scripted(), tmp_path, bare=True)
    with pytest.raises(InputError, match="no case"):
        play_run(game(), [], scripted(), tmp_path, bare=True)


@BOTH
def test_a_bug_in_a_game_or_agent_is_no_invalid_case(bare: bool, tmp_path: Path) -> None:
    broken = Scripted("scripted/broken", lambda puzzle: lambda messages: messages[99].text)
    with pytest.raises(IndexError):
        play(tmp_path, {**scripted(), "host": broken}, bare=bare)


# --- Providers that misbehave -----------------------------------------------------------------------------------------


@BOTH
def test_a_wrong_key_stops_at_once(bare: bool, tmp_path: Path, server: ChatServer) -> None:
    from inspect_ai.log import read_eval_log

    server.faults += [status(401, message="bad key")] * 100
    with pytest.raises(ModelRefused, match=r"refused the API key.*0 of 8 dialogues are finished") as caught:
        play(tmp_path, models(server), 8, concurrency=3, bare=bare)
    assert len(server.requests) <= 3  # those already under way
    assert str(caught.value).count("refused") == 1
    assert str(caught.value).count("run the same command again") == 1
    assert not (tmp_path / "dialogues.jsonl").exists()
    logs = [read_eval_log(str(path), header_only=True) for path in tmp_path.glob("private/logs/*.eval")]
    assert [log.status for log in logs] == ["error"] * (not bare)


@BOTH
def test_what_no_repetition_can_pass_is_not_said_to_be_resumed(bare: bool, tmp_path: Path, server: ChatServer) -> None:
    server.faults += [status(400, message="no such option")] * 100
    with pytest.raises(ModelError, match=r"failed 3 cases in a row.*HTTP 400.*the setting of the server") as caught:
        play(tmp_path, models(server), 8, concurrency=3, bare=bare)
    assert caught.value.do.endswith(f"0 of 8 dialogues are finished and every answer is in {tmp_path}")
    assert "same command" not in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "said", "tries"),
    [
        (status(429), "HTTP 429", 11),  # a rate limit is waited for
        (status(500), "HTTP 500", 3),
        (raw(200, '{"choices": [{"mess'), "no chat completion", 3),
        (cut(after_bytes=200), "gave no answer in 3 tries", 3),
    ],
)
def test_a_model_that_is_down_costs_a_bounded_number_of_requests(
    fault: Any, said: str, tries: int, tmp_path: Path, server: ChatServer
) -> None:
    play(tmp_path, models(server), 2)
    server.requests.clear()
    server.faults += [fault] * 1000
    with pytest.raises(ModelError, match="failed 4 cases in a row") as caught:
        play(tmp_path, models(server), 12, concurrency=4)
    assert said in str(caught.value)
    assert "2 of 12 dialogues are finished" in str(caught.value)
    assert len(server.requests) <= tries * (4 + 3)  # in each of four cases, and of those under way
    server.faults.clear()
    resumed = play(tmp_path, models(server), 3)
    assert resumed.failure is None
    # Not the server's log: a request that was given up may reach it late.
    assert (resumed.usage.asked, resumed.usage.replayed) == (1 * 8, 2 * 8)


def test_an_hour_of_429_is_not_waited_for(tmp_path: Path, server: ChatServer) -> None:
    server.faults += [status(429, retry_after=3600)] * 100
    with pytest.raises(ModelError, match="asks to wait 3600 s"):
        play(tmp_path, models(server), 4, concurrency=1)
    assert len(server.requests) == 3  # one try in each of three cases


def test_a_fault_that_passes_is_not_noticed(tmp_path: Path, server: ChatServer) -> None:
    server.faults += [status(500), cut(), status(429), cut(after_bytes=50)]
    played = play(tmp_path, models(server, max_retries=4), 2, concurrency=1)
    assert not played.problems


def test_silence_is_an_answer_and_garbage_is_counted(tmp_path: Path, server: ChatServer) -> None:
    server.reply = lambda body: Reply(None) if body["model"] == "guest" else "Sure! Here is the mark: very good"
    played = play(tmp_path, models(server), 2)
    assert played.problems == {"the judge gave no mark in 3 tries": 2}
    assert played.failure == "2 of 2 cases cannot be scored, more than 10%"
    assert len(played.records) == len(lines(tmp_path)) == 2


@pytest.mark.parametrize(
    ("code", "stop", "told"),
    [
        ("context_length_exceeded", "model_length", "are empty, because the question does not fit"),
        ("content_filter", "content_filter", "were refused, or stopped by the provider's filter"),
    ],
)
def test_empty_answers_are_told_with_their_reason(
    code: str, stop: str, told: str, tmp_path: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    def reply(body: dict[str, Any]) -> str | Fault:
        return status(400, error=code) if body["model"] == "guest" else '{"mark": 1}'

    server.reply = reply
    for _ in range(2):  # the second run asks again what was turned away
        played = play(tmp_path, models(server), 3)
        asked = played.spent["guest"].requests
        assert played.playing.silenced == {("guest", stop): asked} and asked >= 3
    _tell(played, tmp_path)
    said = " ".join(capsys.readouterr().err.split())
    assert f"guest: {asked} of {asked} answers {told}" in said


@pytest.mark.parametrize(("epochs", "draws", "told"), [(3, False, True), (3, True, False), (1, False, False)])
def test_epochs_that_repeat_each_other_are_told(
    epochs: int, draws: bool, told: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    players: dict[str, Player] = dict(scripted())
    if draws:
        words = players["guest"]
        assert isinstance(words, Scripted)
        players["guest"] = Scripted(words.name, Drawing(lambda seed: words.agent))
    play_options = Play(out=tmp_path, epochs=epochs, bare=True)
    play_command(game(), puzzles(2), Roles(players, {}, {}), play_options, title="Talks")
    said = " ".join(capsys.readouterr().out.split())
    assert ("all 3 epochs play each case in the same way" in said) is told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"base_url": ("http://localhost:9/v1",)}, "--base-url: nothing heeds it"),
        (
            {"base_url": ("guest=http://localhost:9/v1",), "top_p": ("host=0.5",)},
            "--base-url guest=, --top-p host=: nothing",
        ),
        ({}, ""),
    ],
)
def test_options_that_no_script_heeds_are_told(
    given: dict[str, tuple[str, ...]], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    roles_of(
        {"host": "scripted/a", "guest": "scripted/b"}, lambda role, name: lambda case: str, Play(out=tmp_path, **given)
    )
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith(told) and bool(said) is bool(told)


def test_a_share_that_is_just_reached_is_no_failure_however_it_rounds(tmp_path: Path, server: ChatServer) -> None:
    """0.58 * 50 is a little less than 29."""
    played = play(tmp_path, models(server), 1)
    (outcome,) = played.outcomes
    bad = [replace(outcome, error="broken")] * 29
    some = replace(played, outcomes=(*bad, *[outcome] * 21), max_invalid=0.58)
    assert some.failure is None and replace(some, max_invalid=0.57).failure is not None


def test_a_request_that_one_case_is_refused_ends_that_case_only(tmp_path: Path, server: ChatServer) -> None:
    server.faults += [status(400, message="content policy")]
    played = play(tmp_path, models(server), 4, concurrency=1, max_invalid=0.25)
    assert (played.lost, played.cases) == (1, 3)
    assert played.failure is None, "one of four is not more than a quarter"
    (line,) = [line for line in lines(tmp_path) if line["record"] is None]
    assert line["case"] == "case-000"
    assert "content policy" in line["error"]
    server.faults += [status(400), status(400)]
    assert play(tmp_path / "other", models(server), 4, concurrency=1, max_invalid=0.25).failure is not None


# --- Killed, interrupted, full ----------------------------------------------------------------------------------------

WORKER = """
import sys
from pathlib import Path
from baselines.dialogue.run import play_run
from loaders.models.chat import open_model
from tests.parts.processes import started
from tests.parts.puzzles import game, puzzles
url, out, number = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
players = {role: open_model(f"openai-api/local/{role}", base_url=url) for role in ("guest", "host", "judge")}
try:
    played = play_run(game(), puzzles(number), players, out, concurrency=6)
    print(played.usage.asked)
except KeyboardInterrupt as stop:
    print(stop)
    sys.exit(130)
"""


def worker(server: ChatServer, out: Path, number: int) -> subprocess.Popen[str]:
    return started("-c", WORKER, server.base_url, out, number, LOCAL_API_KEY="not-a-secret")


def stored(out: Path) -> int:
    with closing(sqlite3.connect(out / "private/answers.sqlite")) as connection:
        return int(connection.execute("SELECT count(*) FROM answers").fetchone()[0])


@pytest.mark.long  # tests/scripts/test_stopping.py stops commands; `test_trap_9` replays within a dialogue
@pytest.mark.skipif(os.name != "posix", reason="sends signals to a process")
@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
def test_a_stopped_run_asks_no_answered_turn_again(sign: signal.Signals, tmp_path: Path, server: ChatServer) -> None:
    number, wanted = 4, 4 * 8
    crowd = Crowd()
    process: list[subprocess.Popen[str]] = []

    def slow(body: dict[str, Any]) -> str:
        if len(server.requests) == 17 and process[0].poll() is None:
            process[0].send_signal(sign)
        return crowd(body)

    server.reply = slow
    process.append(worker(server, tmp_path / "run", number))
    told, errors = process[0].communicate(timeout=300)
    assert process[0].returncode == (130 if sign == signal.SIGINT else -sign), errors
    assert not (tmp_path / "run" / "dialogues.jsonl").exists()
    kept = stored(tmp_path / "run")
    assert 17 - 6 <= kept < wanted
    if sign == signal.SIGINT:
        assert told.startswith("Stopped. ")
        assert f"of {number} dialogues are finished and every answer is in" in told

    server.reply = crowd
    server.requests.clear()
    resumed = play(tmp_path / "run", models(server), number)
    assert len(server.requests) == wanted - kept
    assert resumed.usage.replayed == kept
    undisturbed = play(tmp_path / "other", models(server), number)
    assert undisturbed.usage.asked == wanted
    for name in ("dialogues.jsonl", "usage.json"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_a_full_disk_stops_the_run_with_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from loaders.models.answers import AnswerStore

    opened = AnswerStore.__init__

    def small(store: AnswerStore, path: Path, *, dialogue: bool = False) -> None:
        opened(store, path, dialogue=dialogue)
        store.connection.execute("PRAGMA max_page_count = 20")  # SQLite's own "disk is full"

    calls = 0

    def wordy(messages: Any) -> str:
        nonlocal calls
        calls += 1
        return f"word {calls} " * 400

    players = {**scripted(), "host": scripted_model(wordy, name="wordy")}
    monkeypatch.setattr(AnswerStore, "__init__", small)
    with pytest.raises(BedsideError, match=r"database or disk is full.*of 40 dialogues are finished"):
        play(tmp_path, players, 40)
    asked, kept = calls, stored(tmp_path)
    assert kept >= 5
    monkeypatch.setattr(AnswerStore, "__init__", opened)
    played = play(tmp_path, players, 40)
    assert played.failure is None
    assert calls - asked == 40 * 3 - kept


# --- What is hidden stays hidden --------------------------------------------------------------------------------------


def test_only_the_judge_is_told_the_hidden_answer(tmp_path: Path, server: ChatServer) -> None:
    cases = puzzles(6)
    played = play(tmp_path, models(server), 6)
    secrets = [puzzle.secret for puzzle in cases]
    asked = {role: [json.dumps(r.body) for r in server.requests if r.body["model"] == role] for role in ROLES}
    assert all(any(secret in text for text in asked["judge"]) for secret in secrets), "the test can fail"
    for role in ("guest", "host"):
        assert not [text for text in asked[role] for secret in secrets if secret in text]
    assert played.failure is None


def test_an_error_of_the_judge_does_not_tell_the_hidden_answer(tmp_path: Path, server: ChatServer) -> None:
    """Providers repeat the prompt in their errors, and the prompt of the judge holds the truth."""
    secrets = [puzzle.secret for puzzle in puzzles(5)]

    class Refusing(ChatServer):
        """Refuses the judge's requests, with the whole prompt as the reason."""

        def receive(self, request: Any) -> Any:
            if request.body["model"] == "judge":
                return status(400, message="cannot answer: " + request.body["messages"][0]["content"])
            return super().receive(request)

    with Refusing(Crowd()) as refusing, pytest.raises(ModelError) as caught:
        play(tmp_path, models(refusing), 5, concurrency=1)
    assert "[prompt]" in str(caught.value)
    assert not [secret for secret in secrets if secret in str(caught.value)]


def test_an_error_that_repeats_only_what_is_hidden_does_not_tell_it_either(tmp_path: Path) -> None:
    def tells(messages: Any) -> str:
        raise ModelError("m", found=f"cannot answer: {messages[0].text.partition('.')[0]}")

    hiding = replace(game(), secrets=lambda puzzle: [puzzle.secret])
    players = {**scripted(), "judge": scripted_model(tells, name="tells")}
    with pytest.raises(ModelError) as caught:
        play_run(hiding, puzzles(5), players, tmp_path, bare=True, concurrency=1)
    assert "repeats what is hidden" in str(caught.value)
    assert not [puzzle.secret for puzzle in puzzles(5) if puzzle.secret in str(caught.value)]
