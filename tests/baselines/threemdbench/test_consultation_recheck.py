"""Consultations assessed again: a steady assessor moves nothing, one that pays for length is found out."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from baselines.dialogue.game import Script, ScriptedAgent
from baselines.dialogue.playing import Playing, Scripted, play_bare
from baselines.results.headline import headline
from baselines.results.run import DataUsed, RunRecord, read_run
from baselines.statistics.resampling import bootstrap_means
from baselines.threemdbench import consultation
from baselines.threemdbench.consultation.agents import scripted_agent
from baselines.threemdbench.consultation.assessor import as_items, transcript
from baselines.threemdbench.consultation.recheck import Rechecked, recheck_game, results
from baselines.threemdbench.consultation.record import ITEMS, Assessment, Case, Consultation
from loaders.errors import InputError
from loaders.files.opening import digest_of
from loaders.files.records import from_json, to_json
from loaders.models.messages import Message
from scripts.cli import execute
from tests.parts.played_consultations import PROMPTS, by_script, case, write_cases

RECORD = RunRecord(baseline="recheck", data=DataUsed("3mdbench", "test", None, "0" * 64), stand_in="test")
STEADY = dict.fromkeys(ITEMS, 1)


def consultations(count: int) -> tuple[list[Case], dict[str, Consultation]]:
    """Played cases, each with the same scores."""
    cases = [case(number) for number in range(count)]
    found = {one.case_id: replace(by_script(one, "keyword")[0], assessment=Assessment(STEADY, "", 1)) for one in cases}
    return cases, found


def rechecked(cases: list[Case], found: dict[str, Consultation], agent: ScriptedAgent) -> list[Rechecked]:
    playing = Playing(recheck_game(PROMPTS, found), {"assessor": Scripted("scripted/again", agent)})
    return [outcome.record for outcome in play_bare(playing, cases) if outcome.record is not None]


def test_an_assessor_that_pays_for_length_is_found_out() -> None:
    cases, records = consultations(5)
    before = {name: len(transcript(one.turns)) for name, one in records.items()}

    def pays_for_length(one: Case) -> Script:
        def script(messages: Sequence[Message]) -> str:
            return as_items(STEADY | {"4.1": 2 if len(messages[-1].text) > before[one.case_id] else 1})

        return script

    found = rechecked(cases, records, pays_for_length)
    assert [from_json(Rechecked, to_json(one), "record") for one in found] == found
    numbers = {(one.setting, one.column): one for one in results(found, RECORD, row="long", setting="dialogue")}
    assert numbers["dialogue, padded", "Criterion 4.1, mean change"].value == 1
    assert numbers["dialogue, padded", "Criterion 4.1, changed"].value == 100
    assert numbers["dialogue, shuffled", "Criterion 4.1, changed"].value == 0
    first = headline(list(numbers.values()))
    assert {one.setting for one in first} == {"dialogue, padded", "dialogue, shuffled"}, "a look at one is no look"
    assert numbers["dialogue, padded", "Criterion 2.1, changed"].value == 0
    assert len(numbers) == 2 * len(ITEMS) * 2


def test_intervals_draw_patients_as_those_of_the_run_do() -> None:
    """Four photos of one patient counted as four patients: twice as sure as there was reason to be."""
    cases, records = consultations(12)
    records = {name: replace(one, group=f"p{at // 4}") for at, (name, one) in enumerate(records.items())}

    def moved_for(one: Case) -> Script:
        return lambda messages: as_items(STEADY | {"4.1": 2 if records[one.case_id].group == "p0" else 1})

    found = rechecked(cases, records, moved_for)
    assert [one.group for one in found] == [one.group for one in records.values()]
    column = "Criterion 4.1, mean change"
    grouped, apart = (
        next(one for one in results(each, RECORD, row="x", setting="d") if one.column == column)
        for each in (found, [replace(one, group="") for one in found])
    )
    by_patient = bootstrap_means(np.array([1.0, 0.0, 0.0]), seed=0)
    assert grouped.value == apart.value == 1 / 3 and grouped.ci95 is not None and apart.ci95 is not None
    assert grouped.ci95 == pytest.approx(by_patient.estimate(0)[1])
    assert grouped.ci95[1] > apart.ci95[1]


def test_a_failed_assessment_is_left_out_and_counted() -> None:
    good = Rechecked("a", Assessment(STEADY, "", 1), Assessment(STEADY, "", 1), Assessment(STEADY, "", 1))
    bad = Rechecked("b", Assessment(STEADY, "", 1), Assessment(None, "?", 4, "no JSON"), Assessment(STEADY, "", 1))
    numbers = results([good, bad], RECORD, row="x", setting="dialogue")
    assert {one.n for one in numbers if "shuffled" in one.setting} == {1}
    assert "1 of 2 cases" in numbers[0].note
    with pytest.raises(InputError, match="assessed both times"):
        results([bad], RECORD, row="x", setting="dialogue")
    game = recheck_game(PROMPTS, {})
    assert game.invalid(bad) == "the assessment failed, shuffled: no JSON" and game.invalid(good) is None
    worse = replace(bad, padded=Assessment(None, "?", 4, "no number"))
    assert game.invalid(worse) == f"{game.invalid(bad)}; the assessment failed, padded: no number"


@pytest.mark.parametrize("split", ["test", "validation"])
def test_the_command_rechecks_a_finished_run(split: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    release, run = write_cases(tmp_path / "release", 4, split=split), tmp_path / "run"
    people = ("--patient", "scripted/patient", "--assessor", "scripted/assessor", "--limit", "4", "--bare")
    asked = ("--doctor", "scripted/keyword", "--setting", "dialogue", "--split", split)
    assert execute(["run", "consultation", str(release), *asked, *people, "-o", str(run)]) == 0
    again = ("--assessor", "scripted/assessor", "--bare", "-o", str(tmp_path / "again"))
    capsys.readouterr()
    assert execute(["run", "recheck", str(release), "--run", str(run), *again]) == 0
    record, numbers = read_run(tmp_path / "again")
    assert record.stand_in and {one.n for one in numbers} == {4}
    assert "bedside compare" not in capsys.readouterr().out  # the paper rechecks nothing
    assert execute(["run", "recheck", str(release), "--run", str(tmp_path / "again"), *again]) == 2
    assert "one of consultation" in " ".join(capsys.readouterr().err.split())


def test_a_consultation_without_scores_is_not_assessed_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release, run = write_cases(tmp_path / "release", 4), tmp_path / "run"
    people = ("--patient", "scripted/patient", "--assessor", "scripted/assessor", "--bare")
    asked = ("--doctor", "scripted/keyword", "--setting", "dialogue")
    assert execute(["run", "consultation", str(release), *asked, *people, "-o", str(run)]) == 0
    first, *rest = (run / "dialogues.jsonl").read_text("utf-8").splitlines()
    played = json.loads(first)
    played["record"]["assessment"] |= {"items": None, "failure": "no JSON"}
    (run / "dialogues.jsonl").write_text("\n".join([json.dumps(played), *rest]) + "\n", "utf-8")
    facts = json.loads((run / "run.json").read_text("utf-8"))
    facts["files"]["dialogues.jsonl"] = digest_of(run / "dialogues.jsonl")
    (run / "run.json").write_text(json.dumps(facts), "utf-8")
    again = ("--assessor", "scripted/assessor", "--bare", "-o", str(tmp_path / "again"))
    assert execute(["run", "recheck", str(release), "--run", str(run), *again]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "1 consultation whose assessment failed in the run is not assessed again" in told
    record, numbers = read_run(tmp_path / "again")
    assert record.options["cases"] == 3 and {one.n for one in numbers} == {3}


def test_only_the_assessor_of_the_run_as_it_was_asked_is_rechecked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release, run = write_cases(tmp_path / "release", 4), tmp_path / "run"
    people = ("--patient", "scripted/patient", "--assessor", "scripted/assessor", "--limit", "2", "--bare")
    asked = ("--doctor", "scripted/keyword", "--setting", "dialogue", "--epochs", "2")
    assert execute(["run", "consultation", str(release), *asked, *people, "-o", str(run)]) == 0
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    rubric = Path(consultation.__file__).parent / "prompts" / "rubric.md"
    (prompts / "rubric.md").write_bytes(rubric.read_bytes().replace(b"1.1 ", b"1.1 Say, ", 1))
    again = ["run", "recheck", str(release), "--run", str(run), "--bare", "-o", str(tmp_path / "again"), "--assessor"]
    for given, told in (
        (["openai/other"], "--assessor found openai/other expected scripted/assessor, who assessed the run"),
        (["scripted/assessor", "--temperature", "0.9"], "decoding of the assessor found"),
        (["scripted/assessor", "--prompts", str(prompts)], "prompts found other texts of rubric"),
    ):
        assert execute([*again, *given]) == 2
        assert told in " ".join(capsys.readouterr().err.split())
    assert execute([*again, "scripted/assessor"]) == 0
    assert "2 repetitions are not" in " ".join(capsys.readouterr().err.split())


def test_the_shipped_stand_in_reads_what_is_asked() -> None:
    found = rechecked(*consultations(3), scripted_agent("assessor", "assessor"))
    changed = [one for one in results(found, RECORD, row="x", setting="dialogue") if "changed" in one.column]
    shuffled = {one.value for one in changed if "shuffled" in one.setting and "4.1" not in one.column}
    padded = {one.value for one in changed if "padded" in one.setting and "4.1" not in one.column}
    assert shuffled == padded  # by its rules neither order nor polite words count
