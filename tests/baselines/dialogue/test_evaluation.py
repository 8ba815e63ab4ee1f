"""The adapter to inspect_ai: the traps that it leaves to its callers, one by one, and what its logs hold."""

from __future__ import annotations

import errno
import gc
import json
import logging
import os
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from configparser import ConfigParser
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from loaders.files.records import to_json

pytest.importorskip("inspect_ai")

from inspect_ai import eval as inspect_eval
from inspect_ai import eval_set
from inspect_ai.log import EvalLog, read_eval_log

from baselines.dialogue.evaluation import dialogue_task, settings_digest
from baselines.dialogue.playing import Player, Scripted
from baselines.dialogue.run import Played, play_run
from loaders.errors import BedsideError, InputError, ModelError, ModelRefused
from loaders.models import chat, inspect_form
from loaders.models.chat import open_model
from loaders.models.messages import Message
from loaders.models.scripted_chat import scripted as scripted_model
from loaders.models.waiting import watched
from tests.parts.chat_server import ChatServer, Request, status
from tests.parts.places import ROOT
from tests.parts.puzzles import ROLES, Crowd, game, models, puzzles, scripted
from tests.parts.tiny_chat import MISSING, tiny_chat_server


def play(out: Path, players: dict[str, Player], number: int = 3, **options: Any) -> tuple[Played[Any], EvalLog]:
    played = play_run(game(), puzzles(number), players, out, **options)
    assert played.log is not None
    return played, read_eval_log(str(played.log))


def judge_that_fails(*names: str) -> Scripted:
    """A judge that gives no mark for the cases of these names."""
    return Scripted(
        "scripted/judge", lambda puzzle: lambda messages: "no idea" if puzzle.name in names else '{"mark": 1}'
    )


def whole_log(path: Path) -> dict[str, str]:
    """Every member of a log file as text."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


# --- The traps, in the order of the list in the design notes ----------------------------------------------------------


def test_trap_1_a_log_is_no_success_when_too_many_samples_failed(tmp_path: Path) -> None:
    players = dict(scripted())
    enough, log = play(tmp_path / "1", players | {"judge": judge_that_fails("case-003")}, 10)
    assert (enough.failure, log.status) == (None, "success"), "a tenth is not more than a tenth"
    assert [sample.error.message for sample in log.samples or [] if sample.error] == [
        "InvalidCase('the judge gave no mark in 3 tries')"
    ]
    (bad,) = [sample for sample in log.samples or [] if sample.error]
    assert bad.metadata["outcome"]["invalid"] and bad.messages, "a case without a score is logged like any other"
    failed, log = play(tmp_path / "2", players | {"judge": judge_that_fails("case-003", "case-004")}, 10)
    assert failed.failure == "2 of 10 cases cannot be scored, more than 10%"
    assert log.status == "error"
    assert len(log.samples or []) == 10, "the others are played and logged all the same"
    every = tuple(puzzle.name for puzzle in puzzles(3))
    counted, log = play(tmp_path / "3", players | {"judge": judge_that_fails(*every)}, 3, max_invalid=1.0)
    assert (counted.failure, log.status) == (None, "success"), "who asks for it"


def test_trap_2_a_role_without_a_model_is_not_played_by_another(tmp_path: Path, server: ChatServer) -> None:
    task = dialogue_task(game(), puzzles(3), agents={})
    (log,) = inspect_eval(
        task,
        model="openai-api/local/host",
        model_roles={"host": "openai-api/local/host", "judge": "openai-api/local/judge"},
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "error"
    assert server.requests == []
    logged = "".join(whole_log(Path(log.location)).values())
    assert "role guest of puzzle: no model. Name one: --model-role guest=" in logged


def test_trap_3_an_eval_set_does_not_take_another_prompt_for_the_same_task(tmp_path: Path, server: ChatServer) -> None:
    def run(prompt: str) -> int:
        server.requests.clear()
        done, _ = eval_set(
            [dialogue_task(game(prompt=prompt), puzzles(1), agents={})],
            model=None,
            model_roles={role: f"openai-api/local/{role}" for role in ROLES},
            log_dir=str(tmp_path),
            log_dir_allow_dirty=True,
            display="none",
        )
        assert done
        return len(server.requests)

    assert [run("Guess."), run("Guess."), run("Guess once more.")] == [8, 0, 8]
    assert settings_digest(game()) != settings_digest(game(prompt="Guess."))


def test_trap_5_retries_are_bounded_and_waits_are_reported(tmp_path: Path, server: ChatServer) -> None:
    server.faults += [status(429)] * 1000
    told: list[str] = []
    with watched(told.append), pytest.raises(ModelError, match=r"failed 3 cases in a row.*HTTP 429"):
        play(tmp_path, models(server), 4, concurrency=1)
    waits = (1, 2, 4, 8, 16, 32, 60, 60, 60, 60)  # five minutes, whatever the number of tries
    assert len(server.requests) == 3 * (1 + len(waits))
    assert told == [line for wait in waits for line in (f"waiting {wait} s: rate limit", "")] * 3


def test_trap_5_retries_are_those_of_the_command_line(tmp_path: Path, server: ChatServer) -> None:
    server.faults += [status(500)] * 20
    roles = {role: f"openai-api/local/{role}" for role in ROLES}
    task = dialogue_task(game(), puzzles(1), agents={})
    (log,) = inspect_eval(
        task, model=None, model_roles=roles, max_retries=0, log_dir=str(tmp_path), display="none"
    )  # fmt: skip
    assert log.status == "error" and len(server.requests) == 1


def test_trap_6_the_picture_is_in_the_log_once_and_shown(tmp_path: Path, server: ChatServer) -> None:
    played, log = play(tmp_path, models(server), 1)
    assert played.log is not None
    (sample,) = log.samples or []
    first = sample.messages[0].content
    assert isinstance(first, list)
    assert first[1].type == "image"
    (name,) = [name for name in whole_log(played.log) if name.startswith("samples/")]
    text = whole_log(played.log)[name]
    assert text.count("data:image/jpeg;base64,") == 1, "kept as an attachment, referred to by messages and requests"
    assert first[1].image.startswith("attachment://")


def test_trap_7_scripted_agents_are_models_for_the_command_line(tmp_path: Path) -> None:
    declared = ConfigParser()
    declared.read(ROOT / "setup.cfg")
    name, module = declared["options.entry_points"]["inspect_ai"].strip().split(" = ")
    assert name == "bedside"
    import_module(module)
    agents = {player.name: player.agent for player in scripted().values()}
    (log,) = inspect_eval(
        dialogue_task(game(), puzzles(2), agents=agents),
        model=None,
        model_roles={role: f"scripted/{role}" for role in ROLES},
        log_dir=str(tmp_path),
        display="none",
    )
    assert log.status == "success", log.error
    assert [sample.metadata["outcome"]["record"]["mark"] for sample in log.samples or []] == [0, 1]
    assert {role: found.model for role, found in (log.eval.model_roles or {}).items()} == {
        role: f"scripted/{role}" for role in ROLES
    }


def test_trap_8_costs_of_unknown_models(tmp_path: Path, server: ChatServer) -> None:
    prices = {"openai-api/local/host": (2.0, 10.0), "openai-api/local/guest": (1.0, 1.0)}
    _, log = play(tmp_path, models(server), 2, prices=prices)
    usage = json.loads((tmp_path / "usage.json").read_text())
    for role in ("host", "guest"):
        logged = log.stats.role_usage[role]
        assert logged.total_cost == pytest.approx(usage[role]["cost_usd"])
        assert usage[role]["cost_usd"] > 0
        assert (logged.input_tokens, logged.output_tokens) == (
            usage[role]["input_tokens"], usage[role]["output_tokens"]
        )  # fmt: skip
    assert log.stats.role_usage["judge"].total_cost is None
    assert usage["judge"]["cost_usd"] is None


def test_trap_9_answered_turns_are_replayed_within_a_dialogue(tmp_path: Path, server: ChatServer) -> None:
    """After a stop in mid-dialogue; tests/baselines/dialogue/test_dialogue.py kills a process instead."""

    def stopping(request: Request) -> bool:
        return len(server.requests) > 13

    crowd = Crowd()

    def answer(body: dict[str, Any]) -> str:
        if stopping(server.requests[-1]):
            server.faults += [status(401)]
        return crowd(body)

    server.reply = answer
    with pytest.raises(ModelRefused, match="refused the API key"):
        play(tmp_path, models(server), 3, concurrency=1)
    answered = len(server.requests) - 1
    server.reply, server.faults = crowd, []
    server.requests.clear()
    played, log = play(tmp_path, models(server), 3)
    assert len(server.requests) == 3 * 8 - answered
    assert log.status == "success"
    assert played.usage.replayed == answered


@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
@pytest.mark.long
def test_trap_10_noise_of_a_random_model_is_played_to_the_end_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TINY_API_KEY", "not-a-secret")
    with tiny_chat_server(tmp_path) as (base_url, name):
        model = open_model(f"openai-api/tiny/{name}", base_url=base_url)
        # Of text only, so that the picture is left out of what it is sent.
        blind = [replace(puzzle, picture=b"") for puzzle in puzzles(1)]
        played = play_run(game(rounds=1), blind, dict.fromkeys(ROLES, model), tmp_path / "run")
    assert played.problems == {"the judge gave no mark in 3 tries": 1}
    assert played.failure == "1 of 1 cases cannot be scored, more than 10%"
    assert played.log is not None
    assert read_eval_log(str(played.log), header_only=True).status == "error"
    assert len(played.records) == 1
    assert played.spent["host"].output_tokens > 0


# --- What a log shows -------------------------------------------------------------------------------------------------


def test_a_log_holds_turns_scores_record_and_requests_by_role(tmp_path: Path, server: ChatServer) -> None:
    played, log = play(tmp_path, models(server), 2, seed=92)
    assert log.status == "success"
    assert log.eval.task == "puzzle"
    assert log.eval.task_args["settings"]["prompts"] == {"host": "Guess what the guest has."}
    assert log.eval.task_version == settings_digest(game())
    assert log.results is not None
    assert {name: metric.value for name, metric in log.results.scores[0].metrics.items()} == {"mark": 1.0, "turns": 7.0}
    (sample, _) = log.samples or []
    assert [message.text for message in sample.messages] == [text for _, text in played.records[0].turns]
    assert sample.metadata["outcome"]["record"] == to_json(played.records[0])
    assert sample.scores is not None
    assert sample.scores["dialogue"].value == {"turns": 7.0, "mark": 1}
    assert played.log is not None
    resolved = read_eval_log(str(played.log), resolve_attachments=True)
    (shown,) = [event for event in (resolved.samples or [])[0].events if event.event == "info"]
    assert str(shown.data).startswith("**user** guest says")
    asked = [event for event in sample.events if event.event == "model"]
    assert [event.role for event in asked] == ["guest", *["host", "guest"] * 3, "judge"]
    assert {event.config.seed for event in asked} == {92}
    changed = [event.model_dump_json() for event in sample.events if event.event == "state"]
    assert not [text for text in changed if '"/messages' in text or "outcome" in text], "the record is logged once"


def test_the_log_and_the_bare_loop_leave_the_same_files(tmp_path: Path, server: ChatServer) -> None:
    play_run(game(), puzzles(2), models(server), tmp_path / "log", epochs=2, concurrency=3)
    play_run(game(), puzzles(2), models(server), tmp_path / "bare", epochs=2, concurrency=1, bare=True)
    for name in ("dialogues.jsonl", "usage.json"):
        assert (tmp_path / "log" / name).read_bytes() == (tmp_path / "bare" / name).read_bytes()


def test_an_evaluation_leaves_no_trace_of_its_requests_and_the_settings_of_the_process(
    tmp_path: Path, server: ChatServer, caplog: pytest.LogCaptureFixture
) -> None:
    traces, often = logging.getLogger("inspect_ai.model._model"), gc.get_threshold()
    traces.addHandler(caplog.handler)
    frozen: list[int] = []
    try:
        play(tmp_path, models(server), 1, progress=lambda done, total: frozen.append(gc.get_freeze_count()))
    finally:
        traces.removeHandler(caplog.handler)
    assert not [record for record in caplog.records if record.name == traces.name]
    assert (traces.level, gc.get_threshold()) == (logging.NOTSET, often)
    assert frozen > [0] and gc.get_freeze_count() == 0


def test_a_message_is_made_once_a_dialogue_and_kept_no_longer(
    tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Message] = []
    whole = inspect_form.inspect_message
    monkeypatch.setattr(inspect_form, "inspect_message", lambda message: made.append(message) or whole(message))
    play(tmp_path, models(server), 3, concurrency=3)
    assert len(made) > 20 and max(Counter(made).values()) == 3  # what begins each of the three
    assert inspect_form.TOLD.get() is None


def test_a_picture_is_one_text_in_all_messages_of_a_dialogue_and_not_kept_after_it() -> None:
    picture = b"\x89PNG\r\n\x1a\n"
    token = inspect_form.TOLD.set({})
    try:
        first = inspect_form.to_inspect(Message("user", "In clinical words.", (picture,)))
        again = inspect_form.to_inspect(Message("user", "In plain words.", (bytes(bytearray(picture)),)))
        shown = inspect_form.inspect_message(Message("user", "In clinical words.", (picture,)))
        assert first.content[1].image is again.content[1].image is shown.content[1].image
        inspect_form.forget()
        assert inspect_form.TOLD.get() == {}
    finally:
        inspect_form.TOLD.reset(token)


def test_a_dialogue_that_has_ended_holds_nothing_of_what_was_sent(
    tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[dict[Any, Any]] = []
    whole = inspect_form.to_inspect

    def noted(message: Message) -> Any:
        sent = whole(message)
        if (one := inspect_form.TOLD.get()) is not None and not any(one is other for other in told):
            told.append(one)
        return sent

    monkeypatch.setattr(chat, "to_inspect", noted)
    play(tmp_path, models(server), 3)
    assert len(told) == 3 and not any(told)


def test_one_model_may_play_two_roles(tmp_path: Path, server: ChatServer) -> None:
    one = open_model("openai-api/local/guest")
    _, log = play(tmp_path, models(server) | {"guest": one, "host": one}, 1)
    assert log.stats.role_usage["guest"].output_tokens > 0
    assert log.stats.role_usage["host"].output_tokens > 0


def test_progress_counts_every_case(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    play(tmp_path, dict(scripted()), 4, epochs=2, progress=lambda done, total: told.append((done, total)))
    assert told == [(done, 8) for done in range(1, 9)]


@pytest.mark.parametrize("down", [False, True])
def test_what_is_hidden_is_in_no_name_no_head_and_no_error(down: bool, tmp_path: Path) -> None:
    def fails(messages: Any) -> str:
        raise ModelError("scripted/down", found="is down")

    judge = scripted_model(fails, name="fails") if down else scripted()["judge"]
    shown: dict[str, str] = {}
    try:
        _, log = play(tmp_path, {**scripted(), "judge": judge}, 3, concurrency=1)
        assert {(one.target, one.input) for one in log.samples or []} == {("", puzzle.name) for puzzle in puzzles(3)}
    except ModelError as error:
        shown["the error"] = str(error)
    assert bool(shown) == down
    (path,) = (tmp_path / "private/logs").glob("*.eval")
    shown |= whole_log(path) | {"its name": path.name}
    for puzzle in puzzles(3):
        assert not [name for name, text in shown.items() if puzzle.secret in text]


# --- When it goes wrong -----------------------------------------------------------------------------------------------


def test_a_case_that_a_model_refuses_is_an_errored_sample(tmp_path: Path, server: ChatServer) -> None:
    server.faults += [status(400, message="content policy")]
    played, log = play(tmp_path, models(server), 4, concurrency=1, max_invalid=0.25)
    assert (played.lost, played.failure, log.status) == (1, None, "success")
    (bad,) = [sample for sample in log.samples or [] if sample.error]
    assert bad.id == "case-000"
    assert "content policy" in (bad.error.message if bad.error else "")


FULL = """
import sys
from pathlib import Path
from baselines.dialogue.run import play_run
from loaders.errors import BedsideError
from tests.parts.places import ROOT
from tests.parts.puzzles import game, puzzles, scripted
try:
    play_run(game(), puzzles(60), scripted(), Path(sys.argv[1]) / "run")
except BedsideError as error:
    print(error)
"""


def _own_disk(folder: Path, kilobytes: int) -> list[str]:
    """The start of a command that sees a small disk of its own at `folder`."""
    mount = f'mount -t tmpfs -o size={kilobytes}k tmpfs {folder} && exec "$@"'
    return ["unshare", "-rm", "sh", "-c", mount, "sh"]


def _can_mount(folder: Path) -> bool:
    return (
        bool(shutil.which("unshare")) and subprocess.run([*_own_disk(folder, 16), "true"], check=False).returncode == 0
    )


@pytest.mark.long  # the next test has the disk's error without a disk
def test_a_disk_that_fills_up_while_logging_is_one_error(tmp_path: Path) -> None:
    if not _can_mount(tmp_path):
        pytest.skip("no small disk can be mounted here")
    done = subprocess.run(
        [*_own_disk(tmp_path, 100), sys.executable, "-c", FULL, str(tmp_path)],
        cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "the disk is full. Free some space there and run the same command again" in done.stdout
    assert "of 60 dialogues are finished and every answer is in" in done.stdout
    assert done.stdout.count("\n") == 1


def test_a_log_that_cannot_be_written_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_ai.log._recorders import eval as recorder

    async def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(recorder.ZipLogFile, "flush", full)
    with pytest.raises(BedsideError, match="the disk is full"):
        play(tmp_path, dict(scripted()), 4)


def test_a_home_where_nothing_can_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """inspect_ai keeps traces there, and cannot begin without them; the log is not what fails."""
    home = tmp_path / "home"
    home.write_bytes(b"")
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    with pytest.raises(InputError) as caught:
        play(tmp_path / "run", dict(scripted()))
    assert caught.value.where == str(home)
    assert "XDG_DATA_HOME=DIR" in caught.value.do and "(--bare)" in caught.value.do
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "elsewhere"))
    assert len(play(tmp_path / "run", dict(scripted()))[0].records) == 3
