"""MedConceal with model servers that refuse threads, die, turn everybody away for a minute, or outlive the build."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from builders import recipe as recipes
from builders.medconceal import recipe
from builders.medconceal.asking import NO_ANSWER
from builders.release.verify import verify
from builders.samples.medconceal import comments, submissions
from builders.samples.medconceal import threads as bundled
from loaders.errors import ModelError
from loaders.manifest import Manifest
from loaders.spans import words
from tests.parts.chat_server import Fault, Request, hang, status
from tests.parts.failing_server import AWAY, REFUSED_FOR_EVER, TOO_LONG, Clock, FailingServer, when
from tests.parts.processes import kill
from tests.parts.thread_reader import asked_for, careful, prompt_of

MODEL = "openai-api/local/reader"
QUESTIONS = 5  # about each thread


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai")
    monkeypatch.setenv("LOCAL_API_KEY", "none")


def asks(request: Request, question: str, words: str = "") -> bool:
    """Whether it is that question, about a thread with these words."""
    return asked_for(request.body) == question and words in prompt_of(request.body)


def told_of(
    folder: Path, server: FailingServer, source: str = "sample-threads", **options: Any
) -> tuple[Manifest, str]:
    """Builds a release; its manifest, and what the user is told."""
    sentences: list[str] = []
    chosen = recipe.Options(source=source, model=MODEL, base_url=(server.base_url,), **options)
    out, work = folder / "release", folder / "work"
    manifest = recipes.build(recipe.RECIPE, chosen, out, workspace=work, tell=sentences.append, overwrite=True)
    assert verify(out, row_check=recipe.check_row, measure=recipe.measure) == []
    return manifest, "\n".join(sentences)


def left_out(folder: Path) -> list[tuple[str, str, str]]:
    """Stage, reason and detail of the threads for which there is no answer."""
    rows = pq.read_table(folder / "release" / "exclusions.parquet").to_pylist()
    return [(row["stage"], row["reason"], row["detail"]) for row in rows if NO_ANSWER in row["reason"]]


def thrice(folder: Path) -> str:
    """The bundled threads as a dump, three times with other names: 18 are kept."""
    folder.mkdir()
    dumps: dict[str, list[str]] = {"submissions": [], "comments": []}
    posters = {thread["author"] for thread in bundled.written()}
    for letter, fruit in zip("abc", ("plums", "cherries", "melons"), strict=True):
        for name, lines in (("submissions", submissions()), ("comments", comments())):
            for line in lines:
                record = json.loads(re.sub(r"\bsyn(?=\d{3})|(?<=_)syn(?=\d{3})", f"sy{letter}", line))
                if record["author"] in posters:
                    record["author"] += letter
                if "title" in record:
                    record["title"] += f" (I like {fruit})"
                dumps[name].append(json.dumps(record))
    for name, lines in dumps.items():
        (folder / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return f"threads={folder}"


@REFUSED_FOR_EVER
@pytest.mark.parametrize(
    ("question", "stage"), [pytest.param("rarity", "commonness", marks=pytest.mark.long), ("profile", "profile")]
)
def test_threads_that_a_model_always_refuses_are_left_out_with_the_reason(
    question: str, stage: str, fault: Fault, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(monkeypatch)
    with FailingServer(careful, when(lambda request: asks(request, question, "dialysis"), fault)) as server:
        manifest, said = told_of(tmp_path, server)
        ((where, why, detail),) = left_out(tmp_path)
        assert (where, detail) == (stage, f"{MODEL} {reason}") and why.startswith("no ")
        assert manifest.splits["test"].rows == 5
        assert {s.name: s.excluded.get(why) for s in manifest.stages}[stage] == 1
        assert why in (tmp_path / "release" / "README.md").read_text()
        assert f"without an answer of the model: 1 (most often: {detail}). To ask again for" in said
        assert clock.now or max(server.sent().values()) == 1  # a refusal is no failure: nothing is tried again
        server.requests.clear()
        assert told_of(tmp_path, server)[0].content_digest == manifest.content_digest and not server.requests


@pytest.mark.parametrize(
    "says", ["blocked: {thread}", "blocked ('sons' and “wife”)", "blocked: wife and sons, it seems"]
)
def test_what_a_provider_quotes_of_a_thread_is_not_published(says: str, tmp_path: Path) -> None:
    thread = next(one for one in bundled.written() if "My wife and sons say dialysis" in one["text"])
    quoting = status(400, message=says.format(thread=thread["text"]))
    with FailingServer(careful, when(lambda request: asks(request, "profile", "dialysis"), quoting)) as server:
        _, said = told_of(tmp_path, server)
    ((_, _, detail),) = left_out(tmp_path)
    assert "HTTP 400" in detail and detail in said
    assert not {"sons", "wife", "dialysis"} & set(words(detail))


def test_a_server_that_dies_half_way_stops_the_build_and_names_the_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it is back, the same command ends the build and asks nothing again that was answered."""
    Clock(monkeypatch)
    source = thrice(tmp_path / "dumps")
    with FailingServer(careful) as server:
        server.turns_away = when(lambda request: len(server.requests) > 18 + 4, status(502))
        with pytest.raises(ModelError, match=r"failed 10 rows in a row, the first of them mc-\w+: .*HTTP 502"):
            told_of(tmp_path, server, source, concurrency=1)
        assert not (tmp_path / "release").exists()
        answered = set(list(server.sent())[: 18 + 4])
        server.turns_away = lambda request: None
        server.requests.clear()
        manifest, said = told_of(tmp_path, server, source, concurrency=1)
        assert set(server.sent().values()) == {1} and not answered & server.sent().keys()
        assert len(server.requests) == 18 * QUESTIONS - 22
    assert manifest.splits["test"].rows == 18 and "without an answer" not in said


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Manifest:
    """A build of the bundled threads with a server that is always there."""
    with FailingServer(careful) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("LOCAL_API_KEY", "none")
        return told_of(tmp_path_factory.mktemp("undisturbed"), server, concurrency=1)[0]


@AWAY
@pytest.mark.parametrize("question", [0, *(pytest.param(at, marks=pytest.mark.long) for at in range(1, QUESTIONS))])
def test_a_server_that_dies_with_few_threads_left_is_no_fault_of_theirs(
    question: int, fault: Fault, undisturbed: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it is back, the same command ends the build as if nothing had been."""
    Clock(monkeypatch)
    before = question * 6 + 4
    with FailingServer(careful) as server:
        server.turns_away = when(lambda request: len(server.requests) > before, fault)
        told = r"failed mc-\w+ and 1 more, and then a row that it had answered before: gave no answer in 6 tries"
        with pytest.raises(ModelError, match=told):
            told_of(tmp_path, server, concurrency=1)
        assert not (tmp_path / "release").exists()
        server.turns_away = lambda request: None
        server.requests.clear()
        manifest, said = told_of(tmp_path, server, concurrency=1)
        assert len(server.requests) == 6 * QUESTIONS - before
    assert manifest.content_digest == undisturbed.content_digest and "without an answer" not in said


@pytest.mark.parametrize("told", [None, 20])
def test_a_minute_of_429_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: float | None) -> None:
    clock = Clock(monkeypatch)
    with FailingServer(careful) as server:
        server.turns_away = when(lambda request: clock.now < 60, status(429, retry_after=told))
        manifest, said = told_of(tmp_path, server, concurrency=1)
    assert 60 <= clock.now < 130 and manifest.splits["test"].rows == 6 and "without an answer" not in said


@pytest.mark.parametrize("question", [pytest.param("rarity", marks=pytest.mark.long), "profile"])
def test_a_context_too_short_for_every_thread_stops_the_build(question: str, tmp_path: Path) -> None:
    """Also if it has room for shorter questions. Once it is longer, the same command asks what is left."""
    with FailingServer(careful, when(lambda request: asks(request, question), TOO_LONG)) as server:
        for _ in range(2):
            with pytest.raises(ModelError, match=r"answered none of 6 rows, the first of them mc-\w+: .*does not fit"):
                told_of(tmp_path, server)
        assert not (tmp_path / "release").exists()
        asked = sum(not asks(request, question) for request in server.requests)
        server.turns_away = lambda request: None
        server.requests.clear()
        manifest, _ = told_of(tmp_path, server)
    assert manifest.splits["test"].rows == 6 and len(server.requests) == 6 * QUESTIONS - asked


@pytest.mark.long
def test_a_killed_build_asks_nothing_twice(tmp_path: Path) -> None:
    """`kill -9` in the middle: the same command asks again for what was in flight, and for nothing else."""
    command = ("-m", "scripts", "build", "medconceal", "--source", "sample-threads", "--model", MODEL)
    with FailingServer(careful) as server:
        server.turns_away = when(lambda request: len(server.requests) >= 9, hang())
        more = ("--base-url", server.base_url, "--concurrency", "1", "--work", tmp_path / "work", "--workers", "1")
        kill(lambda: len(server.requests) >= 9, *command, *more, "--out", tmp_path / "release")
        assert not (tmp_path / "release").exists() and len(server.requests) == 9
        server.turns_away = lambda request: None
        manifest, _ = told_of(tmp_path, server, concurrency=1)
        sent = server.sent()
    assert manifest.splits["test"].rows == 6
    assert len(sent) == 6 * QUESTIONS and sent.total() == len(sent) + 1
