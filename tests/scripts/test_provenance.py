"""What runs over a Hub may be called: a stand-in that was published stays one, and one condition alone bars."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from baselines.results.run import read_run
from baselines.threemdbench.consultation.assessor import as_items
from baselines.threemdbench.consultation.record import ITEMS
from builders import recipe as recipes
from builders.medlaybench_v import recipe
from loaders.manifest import Manifest
from loaders.opened import open_data
from scripts.cli import execute
from tests.parts.chat_server import ChatServer
from tests.parts.faulty_hub import FaultyHub
from tests.parts.hub_here import at_hub, own_caches, put
from tests.parts.papers import states
from tests.parts.played_consultations import write_cases

pytest.importorskip("textstat")
Capture = pytest.CaptureFixture[str]
CASES = 4


@pytest.fixture
def here(hub: FaultyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FaultyHub:
    own_caches(tmp_path, monkeypatch)
    at_hub(hub, monkeypatch)
    return hub


def run(*arguments: object) -> None:
    assert execute(["run", *map(str, arguments)]) == 0


def called(folder: Path, table: str, column: str) -> set[str]:
    """What the numbers of a column of a table may be called, and are by `bedside compare`."""
    labels = {one.provenance for one in read_run(folder)[1] if (one.table, one.column) == (table, column)}
    lines = [json.loads(line) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    assert labels == {line["provenance"] for line in lines if (line["table"], line["column"]) == (table, column)}
    return labels


# --- Stand-ins --------------------------------------------------------------------------------------------------------

SCRIPTED = ("--doctor", "scripted/keyword", "--patient", "scripted/patient", "--assessor", "scripted/assessor")
BY_RULES = ("--clinician", "scripted/expert", "--patient", "template", "--evaluator", "rules", "--judge", "rules")


def _published(hub: FaultyHub, repo: str, sample: Path) -> str:
    """A release of a sample, published; the reason why it is a stand-in."""
    assert execute(["publish", str(sample), repo, "--tag", "v1.0.0", "--endpoint", hub.url, "--no-verify"]) == 0
    return str(Manifest.read(sample).stand_in)


def _is_one(folder: Path, reason: str, hub: FaultyHub, repo: str) -> None:
    record, results = read_run(folder)
    assert record.stand_in is not None and reason in record.stand_in
    assert {result.provenance for result in results} == {"stand-in"}
    assert record.data.repository == f"{hub.url}/datasets/{repo}" and record.data.commit and not record.data.pinned


def test_stand_in_captions_remain_so_from_the_hub(
    captions: Path, here: FaultyHub, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    reason = _published(here, "org/captions", captions)
    data = "org/captions@v1.0.0"
    digest = open_data(data, split="test").content_digest
    given = ("--resamples", "20", "-o")
    run("language", data, "--split", "test", *given, tmp_path / "language")
    run("concepts", data, "-o", tmp_path / "concepts")
    run("captioning", data, "--model", "scripted/echo", "--pairs", "4", *given, tmp_path / "captioning")
    named = ["language", "concepts", "captioning"]
    if pytest.importorskip("open_clip"):
        encoded = ("--model", "random:tiny", "--cache", tmp_path / "cache", *given)
        run("retrieval", data, *encoded, tmp_path / "retrieval")
        run("embedding-space", data, "--no-projection", *encoded, tmp_path / "space")
        named += ["retrieval", "space"]
    # Not even a paper whose data these are can be reproduced with them.
    tables = "Table 1 | Table 2 | Table 3 | Table A1 | Table A2 | Table A3 | Table A4 | Table A5 | Table 5"
    states(monkeypatch, f"MedLayBench-V,{tables},,,,,data,data.content_digest,{digest},\n")
    for name in named:
        _is_one(tmp_path / name, reason, here, "org/captions")
    capsys.readouterr()
    assert execute(["compare", str(tmp_path / "language")]) == 0
    said = capsys.readouterr().out
    assert "reproduced" not in said and "stand-ins and reproduce nothing" in " ".join(said.split())


def test_stand_in_photos_and_patients_remain_so_from_the_hub(patients: Path, here: FaultyHub, tmp_path: Path) -> None:
    write_cases(tmp_path / "cases", CASES)
    put(here, "org/cases", tmp_path / "cases")
    run("consultation", "org/cases", *SCRIPTED, "--bare", "--resamples", 20, "-o", tmp_path / "consultation")
    again = ("--run", tmp_path / "consultation", "--assessor", "scripted/assessor", "--bare")
    run("recheck", "org/cases", *again, "-o", tmp_path / "recheck")
    for name in ("consultation", "recheck"):
        _is_one(tmp_path / name, "drawn for a test", here, "org/cases")
    reason = _published(here, "org/patients", patients)
    for task in ("confirmation", "intervention"):
        run(task, "org/patients@v1.0.0", *BY_RULES, "--limit", 3, "--bare", "-o", tmp_path / task)
        _is_one(tmp_path / task, reason, here, "org/patients")


def test_a_classifier_of_stand_in_photos(here: FaultyHub, tmp_path: Path) -> None:
    for package in ("timm", "accelerate", "sklearn"):
        pytest.importorskip(package)
    from tests.parts.classified_photos import TINY, noisy, write_photos

    splits = ("train", "validation", "test")
    rows = [noisy(split, label, 3 * at + n) for at, split in enumerate(splits) for label in (0, 1) for n in range(3)]
    write_photos(tmp_path / "photos", rows, "drawn for a test")
    put(here, "org/photos", tmp_path / "photos")
    run("classifier", "org/photos", *TINY, "--resamples", 100, "--epochs", 1, "-o", tmp_path / "cnn")
    _is_one(tmp_path / "cnn", "drawn for a test", here, "org/photos")


# --- A made-up paper over real rows -----------------------------------------------------------------------------------


def paper(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, table: str, facts: dict[str, str]) -> None:
    """A paper whose table is of exactly what this run was: condition -> the names of its facts, " | " between them."""
    record, results = read_run(folder)
    known = {**record.facts, "own.column": next(one.column for one in results if one.table == table)}
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for condition, fact in ((condition, fact) for condition, names in facts.items() for fact in names.split(" | ")):
        stated = known[fact] if isinstance(known[fact], str) else json.dumps(known[fact])
        filters = ["", "", stated if fact == "own.column" else "", ""]
        writer.writerow([name, table, *filters, condition, fact, stated, "made up"])
    states(monkeypatch, text.getvalue())


DOCTOR, PATIENT, ASSESSOR = (f"openai-api/local/{role}" for role in ("doctor", "patient", "assessor"))
TABLE_5 = {
    "data": "data.repository | data.commit | data.content_digest", "split": "data.split | options.cases",
    "models": "models.doctor | models.patient | models.assessor", "prompts": "words.doctor_dialogue | words.patient",
    "protocol": "options.setting | options.judge", "decoding": "options.decoding.doctor.temperature",
    "rounds": "options.cap_mode | options.epochs", "metric": "own.column",
}  # fmt: skip


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("LOCAL_API_KEY", "not-a-secret")

    def reply(body: dict[str, Any]) -> str:
        if body["model"].startswith("assessor"):
            return as_items(dict.fromkeys(ITEMS, 1)) if "4.1" in json.dumps(body["messages"]) else "eczema"
        return "It itches.\nBREAK" if "patient" in body["model"] and len(body["messages"]) > 4 else "And since when?"

    with ChatServer(reply) as running:
        monkeypatch.setenv("LOCAL_BASE_URL", running.base_url)
        yield running


def _consult(data: str, out: Path, *more: object) -> Path:
    given = {"--doctor": DOCTOR, "--patient": PATIENT, "--assessor": ASSESSOR, "--resamples": 10, "--max-invalid": 1}
    given |= dict(zip(more[::2], more[1::2], strict=True))
    run("consultation", data, "--bare", *(word for pair in given.items() for word in pair), "-o", out)
    return out


def test_only_the_second_assessor_is_asked_in_the_runs_folder(photos: Path, server: ChatServer, tmp_path: Path) -> None:
    """As `bedside rescore --help` says, which asks nobody."""
    out = _consult(str(photos), tmp_path / "run", "--limit", 3)
    first, asked = read_run(out)[0].run_id, len(server.requests)
    assert {str(request.body["model"]) for request in server.requests} == {"doctor", "patient", "assessor"}
    _consult(str(photos), out, "--limit", 3, "--assessor", "openai-api/local/assessor-2")
    assert {request.body["model"] for request in server.requests[asked:]} == {"assessor-2"}
    assert read_run(out / "earlier" / first)[0].run_id == first != read_run(out)[0].run_id


@pytest.mark.long
def test_one_condition_of_a_consultation_at_a_time(
    here: FaultyHub, server: ChatServer, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(here, "org/real", write_cases(tmp_path / "real", CASES, stand_in=None))
    put(here, "org/copy", tmp_path / "real")
    put(here, "org/fewer", write_cases(tmp_path / "fewer", CASES - 1, stand_in=None))
    put(here, "org/stand-in", write_cases(tmp_path / "stand-in", CASES))
    base = _consult("org/real", tmp_path / "base")
    assert called(base, "Table 5", "F1") == {"own (data, split, models, prompts)"}
    paper(monkeypatch, base, "3MDBench", "Table 5", TABLE_5)
    again = _consult("org/real", tmp_path / "again")
    assert called(again, "Table 5", "F1") == {"reproduced"}
    assert called(again, "Table 5", "F1 (strict)") == {"own (metric)"}
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    text = "You are a doctor. {{diagnoses}} {{image}} {{cues}}"
    (prompts / "doctor_dialogue.md").write_text(text, encoding="utf-8")
    for number, (data, option, value, label) in enumerate(
        (
            ("org/copy", "--seed", 0, "own (data)"),
            ("org/fewer", "--seed", 0, "own (data, split)"),
            ("org/real", "--limit", CASES - 1, "own (split)"),
            ("org/real", "--doctor", "openai-api/local/another-doctor", "own (models)"),
            ("org/real", "--patient", "openai-api/local/another-patient", "own (models)"),
            ("org/real", "--prompts", prompts, "own (prompts)"),
            ("org/real", "--judge", "experts", "own (protocol)"),
            ("org/real", "--temperature", "doctor=0.1", "own (decoding)"),
            ("org/real", "--cap-mode", "authors", "own (rounds)"),
            ("org/real", "--epochs", 2, "own (rounds)"),
            ("org/stand-in", "--seed", 0, "stand-in"),
            ("org/real", "--doctor", "scripted/keyword", "stand-in"),
        )
    ):
        out = _consult(data, tmp_path / f"run-{number}", option, value)
        assert called(out, "Table 5", "F1") == {label}, (data, option, value)
    capsys.readouterr()
    monkeypatch.delenv("COLUMNS", raising=False)
    assert execute(["compare", "--all", str(again)]) == 0
    said = capsys.readouterr().out
    assert "reproduced: " in said and "own (metric)" in said
    assert execute(["compare", "--all", str(tmp_path / "run-7")]) == 0
    said = capsys.readouterr().out
    (line,) = [line for line in said.splitlines() if " differs " in line and "decoding" in line]
    assert line.split()[:2] == ["decoding", "options.decoding.doctor.temperature"] and "0.6" in line and "0.1" in line


def test_compare_says_which_conditions_of_the_papers_setting_a_stand_in_lacks(
    here: FaultyHub, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run as the paper's, but for its rows and its agents."""
    monkeypatch.delenv("COLUMNS", raising=False)
    put(here, "org/cases", write_cases(tmp_path / "cases", CASES))
    run("consultation", "org/cases", *SCRIPTED, "--bare", "--resamples", 20, "-o", tmp_path / "run")
    capsys.readouterr()
    assert execute(["compare", "--all", "--table", "Table 5", str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    stated = {
        (words[0], words[1]): next(
            state for state in ("differs", "unknown", "equal", "not stated") if f" {state} " in line
        )
        for line in said.partition("Conditions of the paper")[2].splitlines()
        if len(words := line.split()) > 2 and words[1].startswith(("data.", "options.", "models.", "words.", "seeds."))
    }
    barred = {fact for (_, fact), state in stated.items() if state in ("differs", "unknown")}
    assert barred == {
        "data.repository", "data.pinned", "options.cases", "words.patient", "words.temperaments", "words.extraction",
        "words.assessment", "words.doctor_dialogue",
    } | {fact for fact in barred if fact.startswith("models.")}  # fmt: skip
    equal = {fact for (_, fact), state in stated.items() if state == "equal"}
    assert {"data.split", "options.judge", "options.cap_mode", "options.decoding.assessor.max_tokens"} <= equal
    assert stated["decoding", "options.decoding.patient.top_p"] == "not stated"


def test_captions_one_condition_at_a_time(here: FaultyHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    captions = tmp_path / "captions.csv"
    lines = "".join(
        f"t{n},CT of lesion {n} in the left lobe.,CC BY,{'test' if n < 6 else 'train'}\n" for n in range(12)
    )
    captions.write_text("image_id,caption,licence,split\n" + lines, encoding="utf-8")
    options = recipe.Options(captions=str(captions))
    recipes.build(recipe.RECIPE, options, tmp_path / "real", workspace=tmp_path / "work")
    assert open_data(str(tmp_path / "real")).stand_in is None
    put(here, "org/real", tmp_path / "real")
    facts = {
        "data": "data.repository | data.method | data.commit", "split": "data.split", "rounds": "options.resamples",
        "metric": "own.column",
    }  # fmt: skip
    given = ("--split", "test", "--resamples", "20", "-o")
    run("language", "org/real", *given, tmp_path / "base")
    paper(monkeypatch, tmp_path / "base", "MedLayBench-V", "Table 2", facts)
    run("language", "org/real", *given, tmp_path / "again")
    column = next(one.column for one in read_run(tmp_path / "again")[1] if one.table == "Table 2")
    assert called(tmp_path / "again", "Table 2", column) == {"reproduced"}
    run("language", tmp_path / "real", *given, tmp_path / "folder")
    assert called(tmp_path / "folder", "Table 2", column) == {"own (data)"}
    run("language", "org/real", "--split", "train", *given[2:], tmp_path / "train")
    assert called(tmp_path / "train", "Table 2", column) == {"own (split)"}
    run("language", "org/real", "--split", "test", "--resamples", "30", "-o", tmp_path / "more")
    assert called(tmp_path / "more", "Table 2", column) == {"own (rounds)"}
    assert read_run(tmp_path / "base")[0].data.method == "rules"
