"""`bedside run consultation`, and the same consultations for `inspect eval`: from the door to the folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from baselines.dialogue.played import PlayedCase, read_played
from baselines.results.run import read_run
from baselines.threemdbench.classifier.cues import write_cues
from baselines.threemdbench.consultation.assessor import as_items
from baselines.threemdbench.consultation.record import ITEMS, Consultation
from baselines.threemdbench.consultation.settings import PAPER
from loaders.opened import Opened, open_data
from scripts.cli import execute
from tests.parts.chat_server import ChatServer, status
from tests.parts.places import ROOT
from tests.parts.played_consultations import case, write_cases

CASES = 6
SCRIPTED = ("--doctor", "scripted/keyword", "--patient", "scripted/patient", "--assessor", "scripted/assessor")
LOCAL = tuple(word for role in ("doctor", "patient", "assessor") for word in (f"--{role}", f"openai-api/local/{role}"))


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cases(tmp_path_factory.mktemp("consultation") / "release", CASES)


@pytest.fixture(scope="module")
def opened(release: Path) -> Opened:
    return open_data(str(release), split="test", default="3mdbench")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("LOCAL_API_KEY", "not-a-secret")

    def reply(body: dict[str, Any]) -> str:
        turns = len(body["messages"])
        if body["model"] == "assessor":
            return as_items(dict.fromkeys(ITEMS, 1)) if "4.1" in json.dumps(body["messages"]) else "eczema"
        return "It itches. BREAK" if body["model"] == "patient" and turns > 6 else f"What about point {turns}?"

    with ChatServer(reply) as running:
        monkeypatch.setenv("LOCAL_BASE_URL", running.base_url)
        yield running


def run(release: Path, out: Path, *arguments: object) -> int:
    return execute(["run", "consultation", *map(str, (release, "-o", out, "--resamples", 20, *arguments))])


def dialogues(out: Path) -> list[PlayedCase[Consultation]]:
    return read_played(out, PlayedCase[Consultation])


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """All that was printed, on one line."""
    captured = capsys.readouterr()
    return " ".join((captured.out + captured.err).split())


# --- Runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", [PAPER[0], PAPER[-1]])
def test_scripted_agents_play_and_are_told_of(
    setting: str, release: Path, opened: Opened, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments: list[object] = ["--setting", setting, "--bare", *SCRIPTED]
    if "cues" in setting:
        names = {case(number).case_id: list(case(number).cues or ()) for number in range(CASES)}
        write_cues(tmp_path / "cues.parquet", names, content_digest=opened.content_digest, model="random:tiny",
                   run_id="0" * 16, stand_in="random weights")  # fmt: skip
        arguments += ["--cues", tmp_path / "cues.parquet"]
    assert run(release, tmp_path / "run", *arguments) == 0, told(capsys)
    record, _ = read_run(tmp_path / "run")
    assert record.stand_in and "stand-in" in told(capsys)
    assert len(dialogues(tmp_path / "run")) == CASES


def test_models_are_paid_once_and_a_log_is_left(
    release: Path, server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("inspect_ai")
    price = ("--price", "openai-api/local/doctor=1,2", "--model-seed", 92, "--concurrency", 2, "--limit", 2)
    assert run(release, tmp_path / "run", *LOCAL, *price) == 0, told(capsys)
    asked = len(server.requests)
    assert {request.body["seed"] for request in server.requests} == {92}
    assert f"{asked} new answers, 0 reused" in told(capsys)
    files = {name: (tmp_path / "run" / name).read_bytes() for name in ("dialogues.jsonl", "usage.json", "results.csv")}
    assert run(release, tmp_path / "run", *LOCAL, *price) == 0
    assert f"0 new answers, {asked} reused" in told(capsys)
    assert len(server.requests) == asked
    assert {name: (tmp_path / "run" / name).read_bytes() for name in files} == files
    assert len(list((tmp_path / "run" / "private/logs").glob("*.eval"))) == 2
    record, _ = read_run(tmp_path / "run")
    assert record.stand_in == "drawn for a test"
    assert record.input_tokens and record.output_tokens
    assert record.seeds == {"bootstrap": 0, "models": 92}
    assert json.loads(files["usage.json"])["doctor"]["cost_usd"] > 0


def test_limit_epochs_and_the_doctor_in_front(release: Path, tmp_path: Path) -> None:
    assert run(release, tmp_path, "--bare", "--limit", 2, "--epochs", 3, "--f1", "strict", *SCRIPTED) == 0
    played = dialogues(tmp_path)
    assert [(one.case_id, one.epoch) for one in played] == [
        (f"case-{number:04}", epoch) for epoch in (1, 2, 3) for number in (0, 1)
    ]


def test_an_assessor_in_prose_is_counted_and_leaves_no_results(
    release: Path, server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few = ("--bare", "--limit", 2)
    assert run(release, tmp_path, *few, *SCRIPTED) == 0
    assert (tmp_path / "results.csv").exists()
    server.reply = lambda body: "All in all this was a very good consultation, thank you."
    prose = ("--doctor", "scripted/keyword", "--patient", "scripted/patient", "--assessor", "openai-api/local/assessor")
    capsys.readouterr()
    assert run(release, tmp_path, *few, *prose) == 1
    said = told(capsys)
    assert "Failed: 2 of 2 cases cannot be scored, more than 10%" in said
    assert "2 of 2: " in said
    assert not (tmp_path / "results.csv").exists(), "those of the earlier run"
    assert not (tmp_path / "run.json").exists()
    (aside,) = (tmp_path / "earlier").iterdir()
    assert "earlier ones are now in" in said and (aside / "results.csv").exists() and (aside / "run.json").exists()
    assert len(dialogues(tmp_path)) == 2
    asked = len(server.requests)
    assert run(release, tmp_path, *few, *prose) == 1, "as it said: no request is made that could change this"
    assert "would end the same way" in said and "would end the same way" in told(capsys)
    assert len(server.requests) == asked
    assert run(release, tmp_path, *few, "--max-invalid", 1, *prose) == 0
    _, results = read_run(tmp_path)
    (failed,) = [one for one in results if one.table == "Table 5" and one.column == "Assessment failed"]
    assert failed.value == 100.0


def test_a_run_that_is_refused_does_not_ask_to_be_repeated_as_it_is(
    release: Path, server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.reply = lambda body: status(400, message="Unsupported value: 'temperature' does not support 0.6")
    assert run(release, tmp_path, "--bare", "--limit", 2, *LOCAL) == 1
    said = told(capsys)
    assert "Before you run it again, change the option" in said and "plays the cases again" not in said
    server.reply = lambda body: status(500)
    assert run(release, tmp_path, "--bare", "--limit", 2, "--max-retries", 0, *LOCAL) == 1
    assert "plays the cases again" in told(capsys)


def test_what_did_not_fit_is_asked_again_and_the_end_says_so(
    release: Path, server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = server.reply
    assert callable(answers)
    too_long = status(400, message="This model's maximum context length is 8 tokens", error="context_length_exceeded")
    server.reply = lambda body: too_long if body["model"] == "assessor" else answers(body)
    assert run(release, tmp_path, "--bare", "--limit", 2, *LOCAL) == 1
    said = told(capsys)
    assert "The same command asks again what did not fit" in said and "would end the same way" not in said
    server.reply = answers
    assert run(release, tmp_path, "--bare", "--limit", 2, *LOCAL) == 0
    assert "4 new answers" in told(capsys)


def test_a_case_that_a_model_refused_is_none_of_the_cases_of_the_run(
    release: Path, server: ChatServer, tmp_path: Path
) -> None:
    server.faults += [status(400, message="content policy")]
    played = ("--bare", "--concurrency", 1, "--max-invalid", 1, *SCRIPTED[:-1], "openai-api/local/assessor")
    assert run(release, tmp_path, *played) == 0
    record, results = read_run(tmp_path)
    assert record.options["cases"] == CASES - 1
    assert f"test ({CASES - 1} cases)" in {one.split_or_group for one in results}
    assert run(release, tmp_path, *played) == 0, "the same command plays it"
    assert read_run(tmp_path)[0].options["cases"] == CASES


def test_reasons_beyond_those_shown_are_counted(
    release: Path, server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    number = count()

    def reply(body: dict[str, Any]) -> str:
        if "4.1" in json.dumps(body["messages"]):
            return as_items(dict.fromkeys(ITEMS, 1))
        return f"Case {next(number)} has gone as well as it could."

    server.reply = reply
    assert run(release, tmp_path, "--bare", "--max-invalid", 1, *SCRIPTED[:-1], "openai-api/local/assessor") == 0
    said = told(capsys)
    assert said.count("1 of 6: the diagnosis could not be read out: ") == 5
    assert "1 of 6: 1 other reason, in dialogues.jsonl" in said


# --- Refusals: one error, nothing paid --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--doctor", "scripted/keyword", "--assessor", "scripted/assessor"], "--patient found no model"),
        ([*SCRIPTED, "--setting", "dialog"], "setting found 'dialog'"),
        ([*SCRIPTED, "--setting", "dialogue+image+rationale+cues"], "--cues found no file"),
        ([*SCRIPTED, "--cues", "cues.parquet"], "--cues found dialogue+image gives the doctor no cues"),
        ([*SCRIPTED, "--price", "free"], "--price found 'free'"),
        ([*SCRIPTED, "--price", "openai/other=1,2"], "--price found openai/other"),
        ([*SCRIPTED, *(2 * ("--price", f"{SCRIPTED[1]}=1,2"))], f"--price found {SCRIPTED[1]} twice"),
        ([*SCRIPTED, "--temperature", "doctor=1", "--temperature", "0"], "--temperature found role doctor twice"),
        ([*SCRIPTED, "--base-url", "nurse=http://localhost:1/v1"], "--base-url found role nurse"),
        ([*SCRIPTED, "--f1", "best"], "--f1 found 'best'"),
        ([*SCRIPTED, "--protocol", "ours"], "--protocol found 'ours'"),
        ([*SCRIPTED, "--temperature", "nurse=1"], "--temperature found role nurse"),
        ([*SCRIPTED, "--temperature", "hot"], "--temperature found 'hot'"),
        ([*SCRIPTED, "--top-p", "doctor=0"], "--top-p found 'doctor=0'"),
        ([*SCRIPTED, "--max-tokens", "doctor=none"], "--max-tokens found 'doctor=none'"),
        ([*SCRIPTED, "--reasoning-effort", "doctor=much"], "--reasoning-effort found 'doctor=much'"),
        ([*SCRIPTED, "--cap-mode", "none"], "--cap-mode found 'none'"),
        (["--doctor", "scripted/patient", *SCRIPTED[2:]], "scripted/patient found it is no doctor"),
        (["--doctor", "gpt", *SCRIPTED[2:]], "gpt found it is not the name of a chat model"),
    ],
)
def test_what_cannot_be_is_refused(
    arguments: list[str], said: str, release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(release, tmp_path / "run", "--bare", *arguments) == 2
    assert said in told(capsys)
    assert not (tmp_path / "run").exists()


def test_cues_of_another_release_are_refused(release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cues.parquet"
    names = {case(number).case_id: list(case(number).cues or ()) for number in range(CASES)}
    write_cues(path, names, content_digest="ab" * 32, model="m", run_id="0" * 16, stand_in=None)
    setting = ("--setting", "dialogue+image+rationale+cues", "--cues", path)
    assert run(release, tmp_path / "run", "--bare", *SCRIPTED, *setting) == 2
    assert "cues for rows with content digest" in told(capsys)


def test_a_wrong_key_is_one_error(
    release: Path, server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server.faults += [status(401, message="bad key")] * 50
    assert run(release, tmp_path / "run", "--bare", "--concurrency", 1, *LOCAL) == 2
    said = told(capsys)
    assert said.count("refused the API key") == 1
    assert "0 of 6 dialogues are finished and every answer is in" in said
    assert len(server.requests) == 1


def test_the_diagnosis_reaches_neither_doctor_nor_patient(release: Path, server: ChatServer, tmp_path: Path) -> None:
    """A patient never reads it; a doctor reads all 34 names, and so neither the name of a file nor the id of a case."""
    assert run(release, tmp_path / "run", "--bare", "--limit", 3, *LOCAL) == 0
    for number in range(3):
        one = case(number)
        mine = [
            json.dumps(request.body)
            for request in server.requests
            if one.basic in json.dumps(request.body) and request.body["model"] == "patient"
        ]
        assert mine, "the test can fail"
        assert not [text for text in mine if one.diagnosis in text.casefold()]
    doctor = [json.dumps(request.body) for request in server.requests if request.body["model"] == "doctor"]
    assert not [text for text in doctor if ".jpg" in text or "case-" in text]
    assert not [path for path in (tmp_path / "run").rglob("*") for number in range(3)
                if case(number).diagnosis in path.name]  # fmt: skip


# --- The same for inspect_ai's own command line -----------------------------------------------------------------------


@pytest.mark.parametrize("setting", ["dialogue+image", "image+basic"])
def test_inspect_eval_plays_the_same_consultations(release: Path, tmp_path: Path, setting: str) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai import eval as inspect_eval

    import scripts.inspect_tasks  # noqa: F401 - as the entry point does

    (log,) = inspect_eval(
        "bedside/consultation",
        task_args={"data": str(release), "setting": setting},
        model=None,
        model_roles={"doctor": "scripted/keyword", "assessor": "scripted/assessor"}
        | ({"patient": "scripted/patient"} if setting == "dialogue+image" else {}),
        log_dir=str(tmp_path / "logs"),
        limit=2,
        display="none",
    )
    assert log.status == "success", log.error
    assert run(release, tmp_path / "run", "--bare", "--limit", 2, "--setting", setting, *SCRIPTED) == 0
    rows_of_run = [json.loads(line) for line in (tmp_path / "run" / "dialogues.jsonl").read_text().splitlines()]
    logged = [sample.metadata["outcome"]["record"] for sample in log.samples or []]
    assert logged == [row["record"] for row in rows_of_run]


@pytest.mark.parametrize("name", ["@consultation", "@bedside/consultation"])
def test_inspect_eval_finds_the_task_in_the_file(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai import eval as inspect_eval
    from inspect_ai import list_tasks

    file = ROOT / "scripts" / "inspect_tasks.py"
    found = {one.name for one in list_tasks([file.name], root_dir=file.parent)}
    assert found == {f"bedside/{task}" for task in ("consultation", "confirmation", "intervention", "captioning")}
    monkeypatch.setenv("PWD", str(release.parent))  # where the command was typed: paths are from there
    (log,) = inspect_eval(
        f"{file}{name}",
        task_args={"data": release.name},
        model=None,
        model_roles={"doctor": "scripted/keyword", "patient": "scripted/patient", "assessor": "scripted/assessor"},
        log_dir=str(tmp_path / "logs"),
        limit=1,
        display="none",
    )
    assert log.status == "success", log.error
    assert log.eval.dataset.samples == CASES and len(log.samples or []) == 1
