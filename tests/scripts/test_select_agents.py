"""`bedside select` and the sheets around it, on a small release with scripted agents: from the door to the folder."""

from __future__ import annotations

import csv
import json
import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PIL import Image

from baselines.dialogue.game import Script
from baselines.results.run import ELSEWHERE, ModelUsed, read_run
from baselines.threemdbench.consultation.record import HIGHEST, ITEMS, Case
from baselines.threemdbench.consultation.selection_game import BY_ROLE, judge
from loaders.errors import InputError
from loaders.models.messages import Message
from scripts.cli import execute
from scripts.select_agents import candidates
from scripts.select_agents.candidates import Selecting
from tests.parts import played_consultations
from tests.parts.chat_server import ChatServer, Reply
from tests.parts.full_disk import stopped_after
from tests.parts.pictures import drawn, jpeg
from tests.parts.played_consultations import write_cases

PATIENTS = ("--doctor", "scripted/doctor", "--judge", "scripted/judge", "--encoder", "words", "--bare")


def fill(path: Path, seed: int) -> None:
    with path.open(encoding="utf-8-sig", newline="") as handle:
        found = list(csv.DictReader(handle))
    draw = random.Random(seed)
    for row in found:
        if "1.1" in row:
            row.update({item: str(draw.randint(0, HIGHEST[item])) for item in ITEMS})
        row["diagnosis"] = row.get("gold") or "acne"
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(found[0]))
        writer.writeheader()
        writer.writerows(found)


def message(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert execute(arguments) == 2
    return " ".join(capsys.readouterr().err.split())


def test_patients_are_ranked_marked_and_kept_apart(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "select"
    named = ("--patient", "scripted/honest", "--patient", "scripted/inventor")
    arguments = ["select", "patient", str(photos), *named, *PATIENTS, "-o", str(out)]
    assert execute(arguments) == 0
    record, results = read_run(out)
    cells = {(one.row, one.column): one.value for one in results}
    assert cells["scripted/honest", "Mean Rank"] < cells["scripted/inventor", "Mean Rank"]  # type: ignore[operator]
    assert cells["scripted/honest", "Factuality"] == 1 and cells["scripted/inventor", "Factuality"] == 0
    assert record.baseline == "patient-selection" and record.stand_in
    assert "words" in record.stand_in and "scripted/honest" in record.stand_in
    assert {model.role for model in record.models} == {"patient", "doctor", "judge", "sentence encoder"}
    assert len(list(out.glob("scripted-*/dialogues.jsonl"))) == 2
    assert record.options["decoding"]["doctor"]["temperature"] == 0.6 and "selection_patient" in record.words
    assert (record.input_tokens, record.cost_usd) == (0, 0)
    before = [path.read_bytes() for path in sorted(out.glob("scripted-*/dialogues.jsonl"))]
    assert execute([*arguments, "--temperature", "doctor=0.1"]) == 0
    assert [path.read_bytes() for path in sorted(out.glob("scripted-*/dialogues.jsonl"))] == before
    assert (out / "earlier" / record.run_id / "run.json").exists(), "sampled otherwise, it is another choice"


def test_the_record_has_the_model_that_a_server_says_it_asked(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    with ChatServer(lambda body: Reply("I do not know.", model="dated-1")) as server:
        named = ("--patient", "openai-api/local/alias", "--base-url", server.base_url, "--limit", "1")
        assert execute(["select", "patient", str(photos), *named, *PATIENTS, "-o", str(tmp_path / "select")]) == 0
    record, _ = read_run(tmp_path / "select")
    assert ModelUsed("patient", "openai-api/local/alias", "dated-1", ELSEWHERE) in record.models


def test_ranks_over_fewer_cases_than_were_played_are_told(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def speechless(case: Case) -> Script:
        """Gives no mark to what the inventor says."""
        rated = judge(case)

        def script(messages: Sequence[Message]) -> str:
            answer = "<instructions>" not in messages[0].text
            return "Well." if answer and "cousin" in messages[-1].text else rated(messages)

        return script

    monkeypatch.setitem(BY_ROLE["judge"], "judge", speechless)
    named = ("--patient", "scripted/honest", "--patient", "scripted/inventor")
    assert execute(["select", "patient", str(photos), *named, *PATIENTS, "--limit", "2", "-o", str(tmp_path)]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert (
        "Mean Rank: over the cases that could be rated with all candidates: 2 (Instruction following), 0 (Rel" in told
    )


def test_max_cost_is_what_all_candidates_may_cost_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[float | None] = []

    def play(game: Any, cases: Any, roles: Any, options: Selecting, **more: Any) -> SimpleNamespace:
        limits.append(options.max_cost)
        return SimpleNamespace(charged=2.5)

    monkeypatch.setattr(candidates, "play", play)
    monkeypatch.setattr(candidates, "roles_of", lambda *given, **more: None)
    options = Selecting(out=tmp_path, max_cost=9.0)
    candidates.play_each(None, [], options, None, "patient", ("a", "b", "c", "d", "e"), {})  # type: ignore[arg-type]
    assert limits == [9.0, 6.5, 4.0, 1.5, 0.0]


def test_a_candidate_named_twice_and_an_unknown_one(
    photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["select", "patient", str(photos), *PATIENTS, "-o", str(tmp_path / "out")]
    assert "scripted/honest twice" in message(
        [*base, "--patient", "scripted/honest", "--patient", "scripted/honest"], capsys
    )
    assert "scripted/honest, scripted/hasty" in message([*base, "--patient", "scripted/nobody"], capsys)


def test_candidates_of_one_row_of_the_table_are_refused_before_anything_is_paid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both were played; then their numbers could not be written, since they have one name in the paper's tables."""
    monkeypatch.setattr(candidates, "play", None)
    monkeypatch.setattr(candidates, "roles_of", None)
    names = ("openai/gpt-4o-mini", "scripted/x", "openai/gpt-4o-mini-2024-07-18")
    options = Selecting(out=tmp_path)
    with pytest.raises(
        InputError, match="--patient: openai/gpt-4o-mini and openai/gpt-4o-mini-2024-07-18, both GPT-4o-mini"
    ):
        candidates.play_each(None, [], options, None, "patient", names, {})  # type: ignore[arg-type]


def test_assessors_are_chosen_by_sheets_that_people_filled_in(
    photos: Path, played: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheet = tmp_path / "study" / "sheet.csv"
    line = ["select", "sheet", str(played), "--count", "5", "--raters", "2", "-o", str(sheet)]
    with stopped_after(4):  # the first photo is written
        assert execute(line) == 2
    assert not sheet.parent.exists()
    assert execute(line) == 0
    assert len(list((sheet.parent / "images").iterdir())) == 5
    sheets = sorted(map(str, sheet.parent.glob("sheet-R*.csv")))
    for at, path in enumerate(sheets):
        fill(Path(path), at)
    base = ["select", "assessor", *sheets, "--data", str(photos), "--bare", "--assessor", "scripted/assessor"]
    out = tmp_path / "out"
    assert execute([*base, "--run", str(played), "-o", str(out)]) == 0
    record, results = read_run(out)
    assert {one.table for one in results} == {"Table 4", "Figure 8 (text App B)"}
    assert record.options["dialogues"] == 5 and "drawn for a test" in (record.stand_in or "")
    page = tmp_path / "report.html"
    assert execute(["report", str(played), str(out), "-o", str(page)]) == 0
    assert "Graph. Cohen&#39;s kappa of every two annotators" in page.read_text("utf-8")
    other = tmp_path / "other"
    other.mkdir()
    for path in played.iterdir():
        if path.is_file():
            (other / path.name).write_bytes(path.read_bytes())
    facts = json.loads((other / "dialogues.jsonl").read_text().splitlines()[0])
    (other / "dialogues.jsonl").write_text(json.dumps(facts) + "\n")
    content = json.loads((other / "run.json").read_text())
    del content["files"]["dialogues.jsonl"]  # as an earlier version left it
    (other / "run.json").write_text(json.dumps(content))
    capsys.readouterr()
    assert "all annotated runs" in message([*base, "--run", str(other)], capsys)
    shutil.copytree(played, other, dirs_exist_ok=True)
    for picture in (other / "images").iterdir():
        picture.unlink()
        picture.symlink_to("/dev/zero")
    again = [
        "select",
        "sheet",
        str(other),
        "--count",
        "5",
        "--raters",
        "2",
        "-o",
        str(tmp_path / "again" / "sheet.csv"),
    ]
    assert "is not a regular file" in message(again, capsys)


def test_physicians_are_shown_beside_a_model_on_the_same_cases(photos: Path, played: Path, tmp_path: Path) -> None:
    run, sheet, out = tmp_path / "run", tmp_path / "study" / "p.csv", tmp_path / "out"
    agents = ("--doctor", "scripted/majority", "--assessor", "scripted/assessor", "--setting", "image+basic")
    assert execute(["run", "consultation", str(photos), "-o", str(run), "--bare", "--resamples", "20", *agents]) == 0
    line = ["select", "physicians-sheet", str(photos), "-o", str(sheet)]
    with stopped_after(4):
        assert execute(line) == 2
    assert not sheet.parent.exists()
    assert execute(line) == 0
    sheets = sorted(map(str, sheet.parent.glob("p-R*.csv")))
    assert (sheet.parent / "images").is_dir() and len(sheets) == 2
    assert "no two" not in sheet.with_suffix(".md").read_text(encoding="utf-8"), "the model is not told so either"
    for path in sheets:
        fill(Path(path), 0)
    assert execute(["select", "physicians", *sheets, "--run", str(run), "-o", str(out)]) == 0
    record, results = read_run(out)
    assert {one.table for one in results} == {"Table 7"} and record.baseline == "physicians"
    assert {one.row for one in results} == {"scripted/majority", "Labeler R1", "Labeler R2"}
    assert execute(["select", "physicians", *sheets, "--run", str(played), "-o", str(out)]) == 2
    assert execute(["report", str(run), str(out), "-o", str(tmp_path / "report.html")]) == 0


def test_a_physician_sees_no_smaller_photo_than_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(played_consultations, "PHOTO", jpeg(drawn(1, (900, 600))))
    release, run, study = write_cases(tmp_path / "release", 2), tmp_path / "run", tmp_path / "study"
    agents = ("--doctor", "scripted/majority", "--assessor", "scripted/assessor", "--setting", "image+basic")
    assert execute(["run", "consultation", str(release), "-o", str(run), "--bare", "--resamples", "20", *agents]) == 0
    dialogues = ("select", "sheet", str(run), "--count", "2", "-o")
    for at, command in enumerate((dialogues, ("select", "physicians-sheet", str(release), "-o"), dialogues)):
        assert execute([*command, str(study / f"{at}.csv")]) == 0
        sizes = {Image.open(path).size for path in (study / "images").iterdir()}
        assert sizes == {(900, 600) if at else (360, 240)}, "never made smaller again"
