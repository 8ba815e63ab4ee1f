"""Dialogues of people: the trace that made the replies is scored, and people and cases are drawn apart."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache, partialmethod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from baselines.dialogue.playing import Scripted
from baselines.dialogue.run import play_run
from baselines.medconceal.acceptance import play_scripted
from baselines.medconceal.agents import rules_evaluator
from baselines.medconceal.clinician import MOST_FINDINGS
from baselines.medconceal.clinician_scripted import CLINICIANS
from baselines.medconceal.comparisons import compare_cases
from baselines.medconceal.game import Rules, public, task_game
from baselines.medconceal.judge_rules import judge
from baselines.medconceal.judgement import JudgedEpisode
from baselines.medconceal.metrics import Measure, measures
from baselines.medconceal.policy import DEFAULT, PAPER
from baselines.medconceal.record import Encounter, Episode
from baselines.medconceal.tables import results
from baselines.medconceal.transcripts import line_of, read_transcripts, traced, transcript_game, written_lines
from baselines.results.run import DataUsed, RunRecord, read_run
from builders.medconceal.compose import composed
from builders.samples import medconceal as bundled
from loaders.errors import InputError
from loaders.files.records import to_json
from loaders.medconceal import CATEGORIES, TASKS, Task
from scripts.cli import execute

CASES = bundled.profiles()[:6]
RECORD = RunRecord(baseline="confirmation", data=DataUsed("medconceal", "test", None, "0"))


@cache
def lived(clinician: str = "open-empathic", task: Task = "confirmation") -> tuple[Episode, ...]:
    """Dialogues as a live game leaves them."""
    game = task_game(Rules(task, evaluator="rules", patient="template"))
    return tuple(play_scripted(game, CASES, CLINICIANS[clinician]))


def a_line(episode: Episode, person: str = "P1", **changes: Any) -> dict[str, Any]:
    count = len(episode.exchanges)
    who = Encounter(person, f"{person}-{episode.case_id}", tuple(10.0 * n for n in range(count)), tuple(
        10.0 * n + 5 for n in range(count)))  # fmt: skip
    return line_of(episode, who, {"patient": "template", "evaluator": "rules"}) | changes


def untraced(episode: Episode, **changes: Any) -> dict[str, Any]:
    """As somebody else has it, or an earlier version: what was said, and nothing of the game."""
    line = a_line(episode)
    return {name: line[name] for name in line if name not in ("trace", "models", "stopped")} | changes


def a_file(tmp_path: Path, *lines: dict[str, Any]) -> Path:
    path = tmp_path / "people.jsonl"
    path.write_bytes(written_lines(lines))
    return path


@pytest.mark.parametrize("task", TASKS)
def test_the_trace_of_the_live_game_is_scored_bit_for_bit(task: Task, tmp_path: Path) -> None:
    """Nobody is asked, and another policy or evaluator than the live one changes nothing."""
    played = lived(task=task)
    lines = [a_line(replace(one, mode="timed", stopped="time")) for one in played]
    hidden = [text for one in played for concern in one.hidden or () for text in concern.evidence]
    said = {exchange.patient for one in played for exchange in one.exchanges}
    raw = a_file(tmp_path, *lines).read_text()
    assert not [text for text in hidden if text in raw and not any(text in reply for reply in said)]
    read = read_transcripts(tmp_path / "people.jsonl", CASES)
    game = transcript_game(task, evaluator=None)
    assert game.roles == () and not any(one.computed for one in read.dialogues)
    again = play_run(game, read.dialogues, {}, tmp_path / "again", bare=True).records
    for before, after in zip(played, again, strict=True):
        assert after.encounter and after.encounter.participant == "P1" and after.encounter.shown[0] == 5
        assert (after.findings and after.findings.items) == (before.findings and before.findings.items)
        live = replace(before, mode="timed", stopped="time", findings=after.findings)
        assert replace(after, encounter=None) == live
        assert public(after).hidden is None


@pytest.mark.parametrize("task", TASKS)
def test_a_trace_computed_from_the_turns_is_that_of_the_dialogue(task: Task, tmp_path: Path) -> None:
    played = lived("expert", task)
    dialogues = read_transcripts(a_file(tmp_path, *map(untraced, played)), CASES).dialogues
    game = transcript_game(task, evaluator="rules")
    assert game.roles == ()
    for before, after in zip(played, play_run(game, dialogues, {}, tmp_path / "again", bare=True).records, strict=True):
        assert after.mode == "transcript" and after.encounter
        assert after.encounter.encounter == f"P1-{before.case_id}"
        assert [one.traces for one in after.exchanges] == [one.traces for one in before.exchanges]
        assert [one.voiced for one in after.exchanges] == [one.voiced for one in before.exchanges]
        assert (after.states, after.address_turns) == (before.states, before.address_turns)
        given, read = (one.findings and (one.findings.items, one.findings.failure) for one in (before, after))
        assert given == read


def test_a_transcript_is_rated_by_the_same_evaluator(tmp_path: Path) -> None:
    (played, *_) = lived()
    dialogues = read_transcripts(a_file(tmp_path, untraced(played)), CASES).dialogues
    rater = {"evaluator": Scripted("scripted/rules", rules_evaluator)}
    (again,) = play_run(transcript_game("confirmation"), dialogues, rater, tmp_path / "again", bare=True).records
    assert {one.evaluation.obtained for one in again.exchanges} == {"model"} and again.states == played.states


def test_findings_are_as_early_where_only_the_trace_says_that_they_were_handed_in(tmp_path: Path) -> None:
    line = a_line(lived()[0]) | {"stopped": ""}
    trace = line["trace"] | {"stopped": "clinician", "exchanges": line["trace"]["exchanges"][:4]}
    with pytest.raises(InputError, match="handed in after 4 turns"):
        read_transcripts(a_file(tmp_path, line | {"trace": trace, "turns": line["turns"][:4]}), CASES)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"participant": " "}, "no participant"),
        ({"stopped": "bored"}, "people.jsonl, line 1: .*stopped is a text .expected 'turn_limit', 'clinician', "),
        ({"task": "confirm"}, "line 1: .*task is a text .expected 'confirmation' or 'intervention'"),
        ({"task": "intervention"}, "an intervention has none"),
        ({"findings": "all"}, "findings is a text"),
        ({"findings": [{"category": "x"}]}, "no findings.0.description"),
        ({"turns": [{"clinician": "a"}]}, "no turns.0.patient"),
        ({"turns": ["a"]}, "turns.0 is a text"),
        ({"encounter": 3}, "encounter is 3"),
        ({"hidden": 1}, "unknown: hidden"),
        ({"case": "nobody"}, "case 'nobody'"),
        (
            {"findings": [{"category": "Bogus", "description": "Cannot pay."}]},
            "line 1: category 'Bogus' of finding 1 .expected one of Misinformation or Misconceptions, Emotional",
        ),
        ({"findings": [{"category": "", "description": "Cannot pay."}]}, "category '' of finding 1"),
        ({"turns": []}, "no turns"),
        ({"case": CASES[1].case_id}, "not the same case"),
        ({"trace": None, "turns": [{"clinician": "a", "patient": "b"}] * 41}, "41 turns"),
        ({"trace": None, "turns": [{"clinician": "a", "patient": "b"}] * 4, "stopped": "clinician"}, "after 4 turns"),
        ({"trace": None, "turns": [{"clinician": "a", "patient": "b", "sent": 9, "shown": 8}]}, "times that decrease"),
        ({"trace": None, "turns": [{"clinician": "a", "patient": "b", "sent": -1, "shown": 8}]}, "times that decrease"),
        ({"trace": None, "turns": [{"clinician": "a", "patient": "b", "sent": 9}]}, "times for only some turns"),
        ({"stopped": "time"}, "not the same reason for stopping"),
    ],
)
def test_a_wrong_line_is_one_clear_error(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    line = a_line(lived()[0], **changes)
    with pytest.raises(InputError, match=says):
        read_transcripts(a_file(tmp_path, {name: value for name, value in line.items() if value is not None}), CASES)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "holds no dialogue"),
        (b"case,turns\n1,x\n", "line 1: is not JSON .*expected dialogues as JSON Lines"),
        (b'{"case": "x"', "line 1: is incomplete JSON"),
        (b'{"case": "x"}\n\xe9', ":2: byte 0xe9"),
        (b"PK\x03\x04\x00\x00", "is a ZIP archive"),
    ],
)
def test_files_of_another_kind_than_transcripts(content: bytes, says: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    with pytest.raises(InputError, match="does not exist"):
        read_transcripts(path, CASES)
    path.write_bytes(content)
    with pytest.raises(InputError, match=says) as refused:
        read_transcripts(path, CASES)
    assert refused.value.do


def test_a_reply_may_be_shown_in_the_second_in_which_it_was_asked_for(tmp_path: Path) -> None:
    line = untraced(lived()[0], turns=[{"clinician": "a", "patient": "b", "sent": 0, "shown": 0}])
    who = read_transcripts(a_file(tmp_path, line), CASES).dialogues[0].who
    assert (who.sent, who.shown) == ((0,), (0,))


@pytest.mark.parametrize("field", ["states", "reveal_turns", "address_turns", "exchanges"])
def test_an_outcome_that_the_turns_of_the_trace_do_not_have_is_refused(field: str, tmp_path: Path) -> None:
    line = a_line(lived()[0])
    line["trace"][field] = [] if field == "exchanges" else [2] * len(line["trace"][field])
    with pytest.raises(InputError, match="not the same (?:outcome|words)"):
        read_transcripts(a_file(tmp_path, line), CASES)


def test_other_words_than_those_of_the_trace_are_refused(tmp_path: Path) -> None:
    line = a_line(lived()[0])
    line["turns"][2]["patient"] = "Something else."
    with pytest.raises(InputError, match="not the same words"):
        read_transcripts(a_file(tmp_path, line), CASES)


def test_people_who_left_are_left_out_and_nobody_gets_a_case_twice(tmp_path: Path) -> None:
    first, second, *_ = lived()
    with pytest.raises(InputError, match="id 'P1-synthetic-asthma-inhaler' twice"):
        read_transcripts(a_file(tmp_path, a_line(first), a_line(first)), CASES)
    gone = a_line(first, "P2") | {"stopped": "withdrawn", "encounter": "E9"}
    gone.pop("trace")
    read = read_transcripts(a_file(tmp_path, a_line(first), gone, a_line(second)), CASES)
    assert len(read.dialogues) == 2 and read.left_out == {"withdrawn": 1}
    with pytest.raises(InputError, match="person 'P1' twice with case"):
        read_transcripts(a_file(tmp_path, a_line(first), a_line(first) | {"encounter": "E2"}), CASES)


def test_a_blank_around_an_id_makes_no_other_person(tmp_path: Path) -> None:
    first, second, *_ = lived()
    lines = [a_line(first, "P1 "), a_line(second) | {"case": f" {second.case_id}"}]
    read = read_transcripts(a_file(tmp_path, *lines), CASES)
    assert {one.who.participant for one in read.dialogues if one.who} == {"P1"}
    with pytest.raises(InputError, match="person 'P1' twice with case"):
        read_transcripts(a_file(tmp_path, lines[0], a_line(first) | {"encounter": "E2"}), CASES)


def test_nobody_need_have_recorded_why_a_dialogue_ended(tmp_path: Path) -> None:
    first, second, *_ = lived()
    read = read_transcripts(a_file(tmp_path, untraced(first, stopped=""), untraced(second)), CASES)
    assert {one.stopped for one in read.dialogues} == {"transcript_end"}


def test_a_category_that_is_none_is_refused_in_a_trace_too(tmp_path: Path) -> None:
    line = a_line(lived()[0])
    line["trace"]["findings"] = {"items": [{"category": "Bogus", "description": "Cannot pay."}]}
    del line["findings"]
    with pytest.raises(InputError, match="category 'Bogus' of finding 1"):
        read_transcripts(a_file(tmp_path, line), CASES)


def test_a_category_that_is_spelt_otherwise_is_read(tmp_path: Path) -> None:
    line = a_line(lived()[0]) | {"findings": [{"category": "financial / insurance", "description": "Cost."}]}
    (told,) = read_transcripts(a_file(tmp_path, line), CASES).dialogues
    assert told.findings and told.findings.items[0].category == "Financial or Insurance-Related Concern"


def test_findings_beyond_the_most_that_are_kept_are_counted(tmp_path: Path) -> None:
    findings = [{"category": CATEGORIES[0], "description": f"Fear {at}."} for at in range(MOST_FINDINGS + 3)]
    line = a_line(lived()[0]) | {"findings": findings}
    (told,) = read_transcripts(a_file(tmp_path, line), CASES).dialogues
    assert told.findings and (len(told.findings.items), told.findings.omitted) == (MOST_FINDINGS, 3)


def test_dialogues_of_a_person_widen_the_interval() -> None:
    """Twelve cases; one person had all that went well, another all that went badly."""
    episodes = [
        replace(one, case_id=profile.case_id)
        for one, profile in zip((lived("expert") + lived("closed-checklist")), composed(12, seed=1), strict=True)
    ]

    def reveal(persons: list[str | None]) -> tuple[float, float]:
        told = [
            replace(one, encounter=who and Encounter(who, f"E{at}")) for at, (one, who) in enumerate(
                zip(episodes, persons, strict=True))
        ]  # fmt: skip
        found = measures([JudgedEpisode(one, judge(one)) for one in told])[0].interval(resamples=1_000)
        assert found is not None
        return found

    nobody = reveal([None] * 12)
    two = reveal(["P1"] * 6 + ["P2"] * 6)
    many = reveal([f"P{n}" for n in range(12)])
    width = [high - low for low, high in (nobody, many, two)]
    assert width[0] <= width[1] < width[2]


def test_several_clinicians_of_a_case_are_averaged_and_paired_with_the_model() -> None:
    good, bad = lived("expert"), lived("closed-checklist")
    people = [replace(one, encounter=Encounter(f"P{at}", f"E{at}")) for at, one in enumerate(good)]
    people += [replace(one, encounter=Encounter(f"P{at}", f"F{at}")) for at, one in enumerate(bad)]
    both, model = ([JudgedEpisode(one, judge(one)) for one in run] for run in (people, bad))
    found = {one.name: one for one in compare_cases(both, model)}["Reveal Rate"]
    alone = {one.name: one for one in compare_cases(both[:6], model)}["Reveal Rate"]
    assert found.test == "sign flips of cases and people" and alone.test == "sign flips" and found.n == 6
    assert found.reference == pytest.approx((alone.reference + alone.other) / 2)
    assert found.difference == pytest.approx(alone.difference / 2)
    assert found.ci95[0] <= found.difference <= found.ci95[1] and 0 < found.p <= 1


def test_a_writer_makes_the_other_human_row(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Measure, "interval", partialmethod(Measure.interval, resamples=100))  # not what is looked at
    file = a_file(tmp_path, *(a_line(replace(one, mode="timed"), allowed=600.0) for one in lived("expert")))
    told = [str(patients), "--transcripts", str(file), "--judge", "rules", "--bare"]
    assert execute(["run", "confirmation", *told, "-o", str(tmp_path / "own")]) == 0
    writer = ["--writer", "scripted/plan-repeater"]
    assert execute(["run", "findings", *told, *writer, "-o", str(tmp_path / "written")]) == 0
    own, written = (
        {(one.table, one.column): one for one in read_run(tmp_path / name)[1]} for name in ("own", "written")
    )
    assert own["Table 1", "Fine F1"].setting == "Human summary"
    assert own["Table 2", "Word/Turn"].setting == "Human (10-minute limit)"
    assert written["Table 1", "Fine F1"].setting == "scripted/plan-repeater summary"
    assert written["Table 1", "Reveal Rate"].value == own["Table 1", "Reveal Rate"].value
    assert (own["Table 1", "Fine F1"].value or 0) > (written["Table 1", "Fine F1"].value or 0) == 0
    record = read_run(tmp_path / "own")[0]
    assert record.options["traces"] == {"recorded": 6, "computed": 0} and record.options["participants"] == 1
    assert record.stand_in and "evaluator without a model in the recorded dialogues" in record.stand_in
    capsys.readouterr()
    assert execute(["contrast", str(tmp_path / "own"), str(tmp_path / "written"), "--json"]) == 0
    assert {one["test"] for one in json.loads(capsys.readouterr().out)} == {"sign flips of cases and people"}
    assert execute(["rescore", str(tmp_path / "written"), "-o", str(tmp_path / "rescored")]) == 0
    again = {(one.table, one.column): one.setting for one in read_run(tmp_path / "rescored")[1]}
    assert again["Table 1", "Fine F1"] == "scripted/plan-repeater summary"


@pytest.mark.parametrize(
    ("allowed", "setting", "findings"),
    [
        ((600.0, 600.0), "Human (10-minute limit)", "Human summary"),
        ((90.0, 90.0), "Human (1.5-minute limit)", "Human summary (1.5-minute limit)"),
        ((600.0, 900.0), "Human (different limits)", "Human summary (different limits)"),
        ((None, None), "Human (unknown limit)", "Human summary (unknown limit)"),
    ],
)
def test_people_with_another_limit_are_in_no_row_of_the_papers(
    allowed: tuple[float | None, ...], setting: str, findings: str, tmp_path: Path
) -> None:
    """Every study had the name of the published row, also one of 90 seconds."""
    told = {} if allowed[0] is None else {"allowed": allowed}
    lines = [
        a_line(replace(one, mode="timed"), f"P{at}", **{name: value[at] for name, value in told.items()})
        for at, one in enumerate(lived("expert")[:2])
    ]
    dialogues = read_transcripts(a_file(tmp_path, *lines), CASES)
    game = transcript_game("confirmation", evaluator=None)
    played = play_run(game, dialogues.dialogues, {}, tmp_path / "again", bare=True).records
    judged = [JudgedEpisode(one, judge(one)) for one in played]
    found = {one.table: one.setting for one in results(judged, RECORD, row="people")}
    assert found["Table 2"] == setting and found["Table 1"] == findings
    minutes = [None if one is None else one / 60 for one in sorted(set(allowed), key=lambda one: one or 0)]
    assert traced(dialogues, dialogues.dialogues)["minutes"] == minutes


def test_a_limit_is_a_time(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="allowed"):
        read_transcripts(a_file(tmp_path, a_line(lived()[0], allowed=-1.0)), CASES)


def test_cases_that_people_share_count_once(patients: Path, tmp_path: Path) -> None:
    """A study of six cases had as many as the paper, if enough people talked."""
    lines = [a_line(one, person) for person in ("P1", "P2") for one in lived()[:2]]
    told = [str(patients), "--transcripts", str(a_file(tmp_path, *lines)), "--judge", "rules", "--bare"]
    assert execute(["run", "confirmation", *told, "-o", str(tmp_path / "run")]) == 0
    assert read_run(tmp_path / "run")[0].options["cases"] == 2


def test_an_invalid_run_is_not_contrasted_and_rescoring_ends_as_it_ended(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def fallen_back(episode: Episode) -> Episode:
        rated = [replace(one.evaluation, obtained="rules_after_failure") for one in episode.exchanges]
        pairs = zip(episode.exchanges, rated, strict=True)
        return replace(episode, exchanges=tuple(replace(one, evaluation=how) for one, how in pairs))

    played = lived()
    for name, episodes in (("valid", played), ("invalid", list(map(fallen_back, played)))):
        file = a_file(tmp_path, *map(a_line, episodes))
        told = [str(patients), "--transcripts", str(file), "--judge", "rules", "--bare", "-o", str(tmp_path / name)]
        assert execute(["run", "confirmation", *told]) == (name == "invalid")
    capsys.readouterr()
    out = tmp_path / "out"
    assert execute(["contrast", str(tmp_path / "valid"), str(tmp_path / "invalid"), "-o", str(out)]) == 2
    said = capsys.readouterr()
    assert "an invalid run: the evaluator's answers could not be read" in " ".join(said.err.split())
    assert not said.out and not out.exists()
    assert execute(["rescore", str(tmp_path / "invalid"), "-o", str(out)]) == 1
    said = capsys.readouterr()
    assert "INVALID: the evaluator's answers" in " ".join(said.err.split())
    assert "Headline numbers" not in said.out and "numbers are identical" in said.out


def test_a_limit_counts_cases_by_id_as_for_dialogues_that_are_played(tmp_path: Path) -> None:
    from scripts.run.confirmation import _finished_dialogues

    lines = [a_line(one, person) for one in reversed(lived()) for person in ("P1", "P2")]
    people = read_transcripts(a_file(tmp_path, *lines), CASES)
    options = SimpleNamespace(limit=2, transcripts=tmp_path)
    found = _finished_dialogues("confirmation", options, people)  # type: ignore[arg-type]
    first = sorted({one.case_id for one in lived()})[:2]
    assert sorted(one.profile.case_id for one in found) == sorted([*first, *first])


def test_what_made_recorded_traces_is_not_what_the_command_names(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither policy nor evaluator is used, so none may stand in the record but those of the traces."""
    fitted = replace(PAPER, name="fitted", training={"evaluator": "gpt"})
    (tmp_path / "fitted.json").write_text(json.dumps(to_json(fitted)))
    episode = lived()[0]

    def score(digest: str | None, *more: str) -> int:
        models = {"patient": "gpt", "evaluator": "gpt"} | ({} if digest is None else {"policy": digest})
        told = ["--transcripts", str(a_file(tmp_path, a_line(episode, models=models))), "--judge", "rules", "--bare"]
        return execute(["run", "confirmation", str(patients), *told, "-o", str(tmp_path / "run"), *more])

    refused = {
        "--policy": "paper",
        "--overlap": "lexical",
        "--evaluator": "rules",
        "--turns": "20",
        "--epochs": "2",
        "--model-seed": "1",
    }
    for option, value in refused.items():
        assert score(DEFAULT.digest, option, value) == 2
        assert f"Error {option} found {value} expected none: " in " ".join(capsys.readouterr().err.split())
    for given, found in (("0.3", "no role"), ("judge=0.3", "role judge")):
        assert score(DEFAULT.digest, "--temperature", given) == 2
        told = f"Error --temperature found {found} expected none, as no model is asked"
        assert " ".join(capsys.readouterr().err.split()) == told
    by_hand = "the patient's weights are set by hand or fitted to stand-ins"
    file = ("--policy", str(tmp_path / "fitted.json"))
    assert score("0" * 64, *file) == 2
    for digest, name, overlap, stated in (
        (PAPER.digest, "paper", "lexical", PAPER.digest),
        (replace(DEFAULT, overlap="rated").digest, "bedside", "rated", replace(DEFAULT, overlap="rated").digest),
        ("0" * 64, None, None, "0" * 64),
        (None, None, None, None),
    ):
        assert score(digest) == 0
        record = read_run(tmp_path / "run")[0]
        assert [record.options[one] for one in ("policy", "policy_name", "overlap")] == [stated, name, overlap]
        assert by_hand in (record.stand_in or "")
    # Its digest is that of all it says, so the file that the traces name tells where the weights come from.
    assert score(fitted.digest, *file) == 0
    record = read_run(tmp_path / "run")[0]
    assert record.options["policy_name"] == "fitted" and by_hand not in (record.stand_in or "")
