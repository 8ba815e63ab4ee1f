"""3MDBench with model servers that refuse photos, die, turn everybody away for a minute, or outlive the build."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from builders import recipe as recipes
from builders.release.verify import verify
from builders.threemdbench import recipe
from builders.threemdbench.complaints import AUTHORED, authored_basic
from builders.threemdbench.remarks import NO_ANSWER
from loaders.errors import ModelError
from tests.builders.threemdbench.test_recipe import GOOD, drawn, question, rows_of
from tests.parts.chat_server import Fault, Request, cut, hang, status
from tests.parts.failing_server import TOO_LONG, Clock, FailingServer, when
from tests.parts.processes import kill

pytestmark = pytest.mark.usefixtures("found_once")

MODEL = "openai-api/local/vision"
BASIC = "You have spots that bother you."
THREE = ("acne", "stye", "warts")


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai")
    monkeypatch.setenv("LOCAL_API_KEY", "none")


def of_a_photo(request: Request) -> bool:
    return "already said" in question(request.body)


def says(body: Any) -> str:
    return json.dumps({"complaints": GOOD} if "already said" in question(body) else {"complaint": BASIC})


def told_of(folder: Path, table: Path, server: FailingServer, **options: Any) -> tuple[list[dict[str, Any]], str]:
    """Builds a release; the cases of its test split, and what the user is told."""
    sentences: list[str] = []
    chosen = recipe.Options(sources=(f"table={table}",), model=MODEL, base_url=(server.base_url,), **options)
    out, work = folder / "release", folder / "work"
    recipes.build(recipe.RECIPE, chosen, out, workspace=work, tell=sentences.append, overwrite=True)
    return [row for row in rows_of(out) if row["split"] == "test"], "\n".join(sentences)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (status(400, message="not with us"), "refused the request or failed: HTTP 400: not with us"),
        (status(500, message="no idea"), "gave no answer in 6 tries; the last error: HTTP 500: no idea"),
    ],
    ids=["policy", "500"],
)
def test_photos_that_a_model_always_refuses_stop_nothing(
    fault: Fault, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    table = drawn(tmp_path / "photos", *THREE)
    refused = when(lambda request: of_a_photo(request) and "Diagnosis: warts" in question(request.body), fault)
    with FailingServer(says, refused) as server:
        cases, said = told_of(tmp_path, table, server)
        fallen = {row["image_id"]: row for row in cases if row["complaints_status"] == "fallback"}
        assert fallen and {row["diagnosis"] for row in cases if row["image_id"] in fallen} == {"warts"}
        assert {row["complaints_source"] for row in fallen.values()} == {AUTHORED}
        assert {row["complaints_status"] for row in cases if row["diagnosis"] != "warts"} == {"accepted"}
        assert {row["general_complaint"] for row in cases} == {BASIC}
        assert clock.now or max(server.sent().values()) == 1  # a refusal is no failure: nothing is tried again
        assert f"authored complaints: {len(fallen)} (most often: {MODEL} {reason})." in said
        assert f"To ask again for those without an answer, delete {tmp_path / 'work' / 'results'} and" in said
        lines = (tmp_path / "work" / NO_ANSWER).read_text().splitlines()
        assert {(line["key"], line["reason"]) for line in map(json.loads, lines)} == {
            (key, f"{MODEL} {reason}") for key in fallen
        }
        assert verify(tmp_path / "release", row_check=recipe.check_row, measure=recipe.measure) == []
        server.requests.clear()
        assert told_of(tmp_path, table, server)[0] == cases and not server.requests


def test_a_diagnosis_that_a_model_refuses_begins_with_the_authored_complaint(tmp_path: Path) -> None:
    table = drawn(tmp_path / "photos", *THREE)
    refused = when(lambda r: not of_a_photo(r) and "Diagnosis: stye" in question(r.body), status(400, message="no"))
    with FailingServer(says, refused) as server:
        cases, said = told_of(tmp_path, table, server)
    begins = {row["diagnosis"]: (row["general_complaint"], row["general_complaint_source"]) for row in cases}
    assert begins == dict.fromkeys(THREE, (BASIC, MODEL)) | {"stye": (authored_basic("stye"), AUTHORED)}
    assert {row["complaints_status"] for row in cases} == {"accepted"}
    assert f"basic complaint: stye: 1 (most often: {MODEL} refused the request or failed: HTTP 400: no)." in said
    assert verify(tmp_path / "release", row_check=recipe.check_row, measure=recipe.measure) == []


def test_answers_that_pass_no_check_are_told_from_none_with_the_check_and_not_their_words(tmp_path: Path) -> None:
    def unfit(body: Any) -> str:
        if "Diagnosis: warts" in question(body) and "already said" in question(body):
            return json.dumps({"complaints": [*GOOD, "You have warts."]})
        return "You have a lump." if "Diagnosis: stye" in question(body) else says(body)

    with FailingServer(unfit) as server:
        cases, said = told_of(tmp_path, drawn(tmp_path / "photos", *THREE), server)
    fallen = {row["image_id"] for row in cases if row["complaints_status"] == "fallback"}
    assert {row["diagnosis"] for row in cases if row["complaints_source"] == AUTHORED} == {"stye", "warts"}
    assert verify(tmp_path / "release", row_check=recipe.check_row, measure=recipe.measure) == []
    form = "format: the answer is not one JSON object and nothing else"
    assert f"of which no answer passed the checks, with authored complaints: {len(fallen)} (most often: " in said
    assert f"with an authored basic complaint: stye: 1 (most often: {form})." in said
    assert "You have warts" not in said and "ask again" not in said
    lines = [json.loads(line) for line in (tmp_path / "work" / NO_ANSWER).read_text().splitlines()]
    assert {line["key"] for line in lines if line["unanswered"] == "complaints"} == fallen
    assert {line["reason"] for line in lines if line["diagnosis"] == "stye"} == {f"no answer passed the checks: {form}"}


def test_a_server_that_dies_half_way_stops_the_build_and_names_the_photo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it is back, the same command ends the build and asks nothing again that was answered."""
    Clock(monkeypatch)
    table = drawn(tmp_path / "photos", *THREE, each=10)
    with FailingServer(says) as server:
        server.turns_away = when(lambda request: len(server.requests) > 3 + 4, status(502))
        with pytest.raises(ModelError, match=r"failed 10 rows in a row, the first of them table-\w+: .*HTTP 502"):
            told_of(tmp_path, table, server, concurrency=1)
        assert not (tmp_path / "release").exists()
        answered = {request for request, _ in list(server.sent().items())[:7]}
        server.turns_away = lambda request: None
        server.requests.clear()
        cases, said = told_of(tmp_path, table, server, concurrency=1)
        assert set(server.sent().values()) == {1} and not answered & server.sent().keys()
    assert len(cases) == 7 - 3 + len(server.requests)
    assert {row["complaints_status"] for row in cases} == {"accepted"} and "without an answer" not in said


@pytest.mark.parametrize(("before", "fault"), [(2, status(502)), (4, cut())], ids=["diagnoses", "photos"])
def test_a_server_that_dies_with_few_left_is_no_fault_of_theirs(
    before: int, fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch)
    table = drawn(tmp_path / "photos", *THREE)
    with FailingServer(says) as server:
        server.turns_away = when(lambda request: len(server.requests) > before, fault)
        told = r"failed \w+-\w+.*, and then a row that it had answered before: gave no answer in 6 tries"
        with pytest.raises(ModelError, match=told):
            told_of(tmp_path, table, server, concurrency=1)
        assert not (tmp_path / "release").exists()
        server.turns_away = lambda request: None
        server.requests.clear()
        cases, said = told_of(tmp_path, table, server, concurrency=1)
        assert len(server.requests) == len(THREE) + len(cases) - before
    assert {row["complaints_status"] for row in cases} == {"accepted"} and "without an answer" not in said
    assert {row["general_complaint"] for row in cases} == {BASIC}


@pytest.mark.parametrize("told", [None, 20])
def test_a_minute_of_429_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: float | None) -> None:
    clock = Clock(monkeypatch)
    table = drawn(tmp_path / "photos", *THREE)
    with FailingServer(says) as server:
        begun = []

        def busy(request: Request) -> Fault | None:
            begun.extend([clock.now] * (of_a_photo(request) and not begun))
            return status(429, retry_after=told) if begun and clock.now < begun[0] + 60 else None

        server.turns_away = busy
        cases, _ = told_of(tmp_path, table, server, concurrency=1)
    assert 60 <= clock.now < 130 and {row["complaints_status"] for row in cases} == {"accepted"}


@pytest.mark.parametrize("fault", [TOO_LONG, status(400, message="no images, please")], ids=["too long", "blind"])
def test_a_model_that_takes_no_photo_stops_the_build_and_names_the_first(fault: Fault, tmp_path: Path) -> None:
    """It answers all questions without a photo. Once another is served under the name, the same command asks it."""
    table = drawn(tmp_path / "photos", *THREE)
    with FailingServer(says, when(of_a_photo, fault)) as server:
        for _ in range(2):
            with pytest.raises(ModelError, match=r"answered none of \d+ rows, the first of them table-\w+: refused"):
                told_of(tmp_path, table, server)
        assert not (tmp_path / "release").exists()
        server.turns_away = lambda request: None
        server.requests.clear()
        cases, _ = told_of(tmp_path, table, server)
        assert all(map(of_a_photo, server.requests)) and len(server.requests) == len(cases)
    assert {row["complaints_status"] for row in cases} == {"accepted"}


def test_a_key_that_is_refused_stops_the_build(tmp_path: Path) -> None:
    table = drawn(tmp_path / "photos", "acne")
    with (
        FailingServer(says, when(of_a_photo, status(401))) as server,
        pytest.raises(ModelError, match=r"refused the API key.*met first in row table-"),
    ):
        told_of(tmp_path, table, server)


def test_a_killed_build_asks_nothing_twice(tmp_path: Path) -> None:
    """`kill -9` in the middle: the same command asks again for what was in flight, and for nothing else."""
    table = drawn(tmp_path / "photos", *THREE)
    command = ("-m", "scripts", "build", "3mdbench", "--source", f"table={table}", "--workers", "1", "--model", MODEL)
    with FailingServer(says) as server:
        server.turns_away = when(lambda request: len(server.requests) >= 5, hang())
        more = ("--base-url", server.base_url, "--concurrency", "1", "--work", tmp_path / "work")
        kill(lambda: len(server.requests) >= 5, *command, *more, "--out", tmp_path / "release")
        assert not (tmp_path / "release").exists() and len(server.requests) == 5
        server.turns_away = lambda request: None
        cases, _ = told_of(tmp_path, table, server, concurrency=1)
        sent = server.sent()
    assert len(sent) == len(THREE) + len(cases) and sent.total() == len(sent) + 1
    assert {row["complaints_status"] for row in cases} == {"accepted"}
