"""`bedside run confirmation | intervention` from a release to the report, without a model."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import pytest

from baselines.medconceal import judge_rules
from baselines.medconceal.judgement import Judgement
from baselines.medconceal.record import Episode
from baselines.report.page import write_report
from baselines.results.comparison import read_runs
from baselines.results.run import read_run
from loaders.errors import InputError
from loaders.models.asking import Unfit
from scripts.cli import execute
from tests.parts.chat_server import ChatServer, Fault, Reply, status

AGENTS = ("--patient", "template", "--evaluator", "rules", "--judge", "rules")


def run(task: str, release: Path, out: Path, *more: str) -> int:
    return execute(["run", task, str(release), "-o", str(out), *more])


def values(folder: Path) -> dict[str, float | None]:
    return {result.column: result.value for result in read_run(folder)[1]}


def test_an_expert_surfaces_more_than_a_checklist_and_the_page_shows_how(patients: Path, tmp_path: Path) -> None:
    expert, checklist, second = tmp_path / "expert", tmp_path / "checklist", tmp_path / "intervention"
    assert run("confirmation", patients, expert, "--clinician", "scripted/expert", "--limit", "4", *AGENTS) == 0
    asked = ("--clinician", "scripted/closed-checklist", "--limit", "4", "--bare")
    assert run("confirmation", patients, checklist, *asked, *AGENTS) == 0
    assert (values(expert)["Reveal Rate"] or 0) >= 0.75
    assert (values(checklist)["Reveal Rate"] or 0) <= 0.10
    assert (values(expert)["Fine F1"] or 0) > 0 == values(checklist)["Fine F1"]
    record, results = read_run(expert)
    assert record.stand_in and "scripted clinician" in record.stand_in and "judge" in record.stand_in
    assert {result.table for result in results} == {"Table 1", "Table 2", "Table 6"}
    assert list((expert / "private/logs").glob("*.eval"))

    asked = ("--clinician", "scripted/expert", "--limit", "4", "--bare")
    assert run("intervention", patients, second, *asked, *AGENTS) == 0
    assert (values(second)["Success"] or 0) >= 0.5
    page = write_report(read_runs([expert, checklist, second]), tmp_path / "report.html").read_text()
    assert page.count('class="plot trace"') >= 4 + 4 + 4
    hidden = json.loads((expert / "hidden.jsonl").read_text().splitlines()[0])["texts"][1]
    # What was hidden is on the page, for the reader of a stand-in run, but folded away.
    before = page[: page.index(re.sub(r"'", "&#39;", hidden))]
    assert before.rindex("What was hidden") > before.rindex("</details>")


def test_the_same_command_replays_and_leaves_the_same_bytes(patients: Path, tmp_path: Path) -> None:
    asked = ("--clinician", "scripted/open-empathic", "--limit", "2", "--turns", "20", "--bare")
    assert run("confirmation", patients, tmp_path / "a", *asked, *AGENTS) == 0
    before = (tmp_path / "a" / "dialogues.jsonl").read_bytes()
    assert run("confirmation", patients, tmp_path / "a", *asked, *AGENTS) == 0
    assert run("confirmation", patients, tmp_path / "b", *asked, "--concurrency", "1", *AGENTS) == 0
    assert (tmp_path / "a" / "dialogues.jsonl").read_bytes() == before
    assert (tmp_path / "b" / "dialogues.jsonl").read_bytes() == before


def test_dialogues_of_people_are_scored_like_those_of_models(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from loaders.corpus import load
    from loaders.medconceal import cases

    profile = cases(load("medconceal", "test", source=patients))[0]
    concern = profile.primary_concern
    dialogue = {
        "case": profile.case_id,
        "participant": "P1",
        "encounter": "E1",
        "task": "confirmation",
        "turns": [
            {"clinician": "What worries you most about all this?", "patient": concern.evidence[0].get_secret_value()}
        ],
        "findings": [{"category": concern.category, "description": concern.content.get_secret_value()}],
    }
    file = tmp_path / "people.jsonl"
    file.write_text(json.dumps(dialogue))
    judged = ("--transcripts", str(file), "--evaluator", "rules", "--judge", "rules", "--bare")
    assert run("confirmation", patients, tmp_path / "people", *judged) == 0
    assert "tokens in" not in capsys.readouterr().out  # no model was asked, so there is no table of them
    numbers = {one.column: one for one in read_run(tmp_path / "people")[1]}
    result = numbers["Fine Precision"]
    assert (result.row, result.setting, result.value) == ("Human clinicians", "Human summary", 1)
    # Wherever the number is copied to, it says that these patients did not answer by this trace.
    assert numbers["Reveal Rate"].note == "the trace of 1 of 1 dialogue is computed from its turns"
    # Other dialogues, as many, are another run: the first one's numbers are set aside.
    file.write_text(json.dumps(dialogue | {"findings": []}))
    assert run("confirmation", patients, tmp_path / "people", *judged) == 0
    assert (tmp_path / "people" / "earlier" / str(result.run_id) / "results.csv").is_file()


def test_runs_are_contrasted_case_by_case(patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first two differ in a seed only, and their folders have one name: they are told apart all the same."""
    folders = [tmp_path / "a" / "run", tmp_path / "b" / "run", tmp_path / "prober"]
    for folder, clinician, seed in zip(folders, ("expert", "expert", "meta-prober"), ("0", "1", "0"), strict=True):
        asked = ("--clinician", f"scripted/{clinician}", "--limit", "6", "--seed", seed, "--bare")
        assert run("intervention", patients, folder, *asked, *AGENTS) == 0
    capsys.readouterr()
    assert execute(["contrast", str(folders[0]), str(folders[1]), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {(one["difference"], one["p"]) for one in found} == {(0, 1)}
    named = {(one["reference_name"], one["other_name"]) for one in found}  # of one clinician, told apart by its folder
    assert len(named) == 1 and all("expert" in name for name in min(named)) and len(set(min(named))) == 2
    assert execute(["contrast", *map(str, folders), "-o", str(tmp_path / "out")]) == 0
    numbers = {one.column: one for one in read_run(tmp_path / "out")[1]}
    assert numbers["Success delta Ref-AI"].table == "Table 11" and numbers["Success delta Ref-AI"].value == 0
    assert "best of several" in numbers["Success delta Ref-AI"].note  # of the other expert and the prober
    fewer = tmp_path / "fewer"  # as where a case was invalid, or people had only some
    agents = ("--clinician", "scripted/expert", "--limit", "4", "--bare", *AGENTS)
    assert run("intervention", patients, fewer, *agents) == 0
    capsys.readouterr()
    assert execute(["contrast", str(folders[0]), str(fewer), "--json"]) == 0
    said = capsys.readouterr()
    assert {one["n"] for one in json.loads(said.out)} == {4} and "(6, 4): they are compared on the 4" in said.err
    assert "differs also" not in said.err
    longer, out = tmp_path / "longer", tmp_path / "other rules"
    agents = ("--clinician", "scripted/expert", "--limit", "4", "--turns", "20", "--policy", "paper", "--bare", *AGENTS)
    assert run("intervention", patients, longer, *agents) == 0
    assert execute(["contrast", str(fewer), str(longer), "-o", str(out)]) == 0
    also = "differs also in: policy (bedside / paper), turns (8 / 20), overlap (topics / lexical)"
    assert also in " ".join(capsys.readouterr().err.split())
    assert {one.note.rpartition("; ")[2] for one in read_run(out)[1]} == {also}
    assert execute(["contrast", str(folders[0])]) == 2
    assert "two or more" in " ".join(capsys.readouterr().err.split())


def test_findings_that_were_not_judged_are_left_out_and_that_is_said(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unread(episode: Episode) -> Judgement:
        found = by_rules(episode)
        return replace(found, pairs=None) if episode.case_id == first else found

    by_rules, folders = judge_rules.judge, [tmp_path / "all", tmp_path / "some"]
    asked = ("--clinician", "scripted/expert", "--limit", "5", "--bare", *AGENTS)
    assert run("confirmation", patients, folders[0], *asked) == 0
    first = json.loads((folders[0] / "dialogues.jsonl").read_text().splitlines()[0])["case"]
    assert "left out" not in capsys.readouterr().err
    monkeypatch.setattr(judge_rules, "judge", unread)
    assert run("confirmation", patients, folders[1], *asked, "--seed", "1") == 0  # else it would be a repetition
    left_out = "1 of 5 dialogues without a judgement are left out of Process-grounded Fine F1, Fine Precision"
    assert left_out in " ".join(capsys.readouterr().err.split())
    assert execute(["rescore", str(folders[1]), "-o", str(tmp_path / "again")]) == 0
    assert left_out in " ".join(capsys.readouterr().err.split())
    assert execute(["contrast", *map(str, folders)]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "Of 5 cases, those whose findings were not judged are left out: Fine Precision over 4, Fine Recall" in told
    page = write_report(read_runs([folders[1]]), tmp_path / "report.html").read_text()
    assert "revealed, findings not judged" in page and "(not judged)" in page


def test_findings_that_cannot_be_read_are_told_by_the_run_by_rescore_and_by_the_report(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unread(answer: Any) -> NoReturn:
        raise Unfit("the answer is no list of findings")

    monkeypatch.setattr("baselines.medconceal.clinician._listed", unread)
    asked = ("--clinician", "scripted/expert", "--limit", "3", "--bare", *AGENTS)
    told = "3 of 3 answers with findings cannot be read, and count as no finding"
    invalid = "INVALID: answers with findings could not be read and count as no finding (3 of 3, limit 10%)"
    assert run("confirmation", patients, tmp_path / "run", *asked) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert told in said and invalid in said
    assert execute(["rescore", str(tmp_path / "run"), "-o", str(tmp_path / "again")]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert told in said and invalid in said
    numbers = values(tmp_path / "run")
    assert (numbers["Findings not read"], numbers["Fine F1"], numbers["Reveal Rate"]) == (1, None, None)
    page = write_report(read_runs([tmp_path / "run"]), tmp_path / "report.html").read_text()
    assert "with problems: findings cannot be read 3" in page


MODEL = ("--clinician", "openai-api/local/m", "--limit", "3", "--bare", *AGENTS)


def table_of(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    name = "Table 1" if read_run(folder)[0].baseline == "confirmation" else "Table 3"
    assert execute(["table", str(folder), "--paper", "--table", name]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("task", ["confirmation", "intervention"])
def test_a_clinician_that_never_answers_has_no_score_of_0(
    task: str,
    patients: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its provider refused everything, and the run was valid, with a Reveal Rate of 0."""
    monkeypatch.setenv("LOCAL_API_KEY", "not-a-secret")
    with ChatServer(lambda body: Reply("", "content_filter")) as server:
        assert run(task, patients, tmp_path / "run", *MODEL, "--base-url", server.base_url) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "INVALID: the clinician said nothing (24 of 24, limit 10%); the clinician's provider refused" in said
    assert execute(["rescore", str(tmp_path / "run"), "-o", str(tmp_path / "again")]) == 1
    for folder in (tmp_path / "run", tmp_path / "again"):
        numbers = values(folder)
        assert (numbers["Empty turns"], numbers["Refused turns"], numbers["Truncated turns"]) == (1, 1, 0)
        assert numbers["Findings not read"] == (1 if task == "confirmation" else None)
        assert numbers["Reveal Rate"] is None and numbers["Fine F1" if task == "confirmation" else "Success"] is None
    assert "Empty turns: 24 of 24" in table_of(tmp_path / "run", capsys)


def test_answers_that_are_cut_off_are_counted_and_the_option_is_named(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "not-a-secret")
    with ChatServer(lambda body: Reply("What worries you the most about", "length")) as server:
        assert run("intervention", patients, tmp_path / "run", *MODEL, "--base-url", server.base_url) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "answers were cut off at the token limit; --max-tokens clinician=N allows longer ones" in said
    assert (values(tmp_path / "run")["Truncated turns"], values(tmp_path / "run")["Empty turns"]) == (1, 0)
    assert "Truncated turns:" in table_of(tmp_path / "run", capsys)


@pytest.mark.parametrize("task", ["confirmation", "intervention"])
def test_dialogues_that_a_models_failure_ended_are_counted(
    task: str, patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(body: dict[str, Any]) -> str | Fault:
        system = body["messages"][0]["content"]
        return status(400, message="not this") if system == failing.setdefault("system", system) else '{"findings": []}'

    failing: dict[str, str] = {}
    monkeypatch.setenv("LOCAL_API_KEY", "not-a-secret")
    with ChatServer(reply) as server:
        asked = (*MODEL, "--max-invalid", "0.5", "--base-url", server.base_url)
        assert run(task, patients, tmp_path / "run", *asked) == 0
    assert execute(["rescore", str(tmp_path / "run"), "-o", str(tmp_path / "again")]) == 0
    for folder in (tmp_path / "run", tmp_path / "again"):
        (lost,) = (one for one in read_run(folder)[1] if one.column == "Not played")
        assert (lost.numerator, lost.denominator, lost.n) == (1, 3, 3)
        assert lost.note == "a model failed; these cases are in no other number"
    assert "Not played: 1 of 3" in table_of(tmp_path / "run", capsys)


def test_the_shape_of_the_patients_is_a_figure_of_the_report(patients: Path, tmp_path: Path) -> None:
    """Two tasks, three kinds of patient: what is open comes out sooner, and the better a turn the more."""
    assert execute(["run", "patients", str(patients), "-o", str(tmp_path / "shape")]) == 0
    numbers = {(one.row, one.column): one.value or 0 for one in read_run(tmp_path / "shape")[1]}
    good = [
        numbers[f"{kind} patients", "Reveal Rate, turns of quality 0.5"] for kind in ("open", "guarded", "reserved")
    ]
    assert good == sorted(good, reverse=True) and good[0] > good[2]
    page = write_report(read_runs([tmp_path / "shape"]), tmp_path / "report.html").read_text()
    figures = re.findall(r'<figure class="curves">.*?</figure>', page, re.S)
    assert len(figures) == 2 and [figure.count("<polyline") for figure in figures] == [3, 3]
    assert "Quality 0.5: open" in figures[0] and "addressed" in figures[1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--patient", "template"), "--clinician"),
        (("--clinician", "scripted/expert"), "--patient"),
        (("--clinician", "scripted/nobody", "--patient", "template"), "scripted/expert"),
        (("--clinician", "rules", "--patient", "template"), "not the name of a chat model"),
        (("--clinician", "scripted/expert", "--patient", "template", "--turns", "9"), "8 or 20"),
        (("--clinician", "scripted/expert", "--patient", "template", "--overlap", "rated"), "a model that rates"),
        (("--clinician", "scripted/expert", "--transcripts", "x.json"), "dialogues of --transcripts are finished"),
        (("--clinician", "scripted/expert", "--patient", "template", "--policy", "nowhere.json"), "nowhere.json"),
        (("--clinician", "scripted/expert", "--patient", "template", "--prompts", "nowhere"), "it does not exist"),
    ],
)
def test_a_mistake_is_one_clear_error(
    patients: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str
) -> None:
    judged = ("--evaluator", "rules", "--judge", "rules")
    assert run("confirmation", patients, tmp_path / "x", *arguments, *judged) == 2
    assert told in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("task", ["confirmation", "intervention"])
def test_inspect_eval_plays_the_same_dialogues(patients: Path, tmp_path: Path, task: str) -> None:
    pytest.importorskip("inspect_ai")
    from inspect_ai import eval as inspect_eval

    import scripts.inspect_tasks  # noqa: F401 - as the entry point does

    args = {"data": str(patients), "patient": "template", "evaluator": "rules", "judge": "rules"}
    roles = {"clinician": "scripted/expert"}
    more: dict[str, Any] = {"model_roles": roles, "log_dir": str(tmp_path / "logs"), "display": "none", "limit": 2}
    (log,) = inspect_eval(f"bedside/{task}", task_args=args, model=None, **more)
    assert log.status == "success" and log.eval.task == task, log.error
    assert (
        run(task, patients, tmp_path / "run", "--bare", "--clinician", "scripted/expert", "--limit", "2", *AGENTS) == 0
    )
    played = [json.loads(line) for line in (tmp_path / "run" / "dialogues.jsonl").read_text().splitlines()]
    logged = [sample.metadata["outcome"]["record"]["episode"] for sample in log.samples or []]
    wanted = [row["record"]["episode"] for row in played]
    # The run's file hides what is hidden; the log, which is its owner's alone, does not.
    said, expected = (
        {one["case_id"]: [one[name] for name in ("states", "reveal_turns", "address_turns")] for one in episodes}
        for episodes in (logged, wanted)
    )
    assert len(said) == 2 and said == expected
    with pytest.raises(InputError, match="--model-role evaluator="):
        inspect_eval(f"bedside/{task}", task_args=args | {"evaluator": "gpt"}, model=None, **more)
