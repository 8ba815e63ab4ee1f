"""What may be called reproduced: every stated condition of the paper's table, each of which can bar it alone."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from baselines.results import conformance
from baselines.results.comparison import conditions
from baselines.results.conformance import CONDITIONS, apart, judge, spread
from baselines.results.published import published, same
from baselines.results.run import PROVIDER, WEIGHTS, DataUsed, ModelUsed, Result, RunRecord, read_run, write_run
from baselines.threemdbench.consultation.prompts import read_prompts
from loaders.errors import InputError
from tests.parts.papers import states

# One fact a condition, of a paper that was made up; of the seed it states nothing.
PAPER = """\
Made up,Table 1,,,,,data,data.content_digest,d0,
Made up,Table 1,,,,,split,data.split,test,
Made up,Table 1,encoder A,,,,models,models.encoder,encoder A,
Made up,Table 1,encoder A,,,,models,models.encoder.revision,r1,
Made up,Table 1,,,,,prompts,prompts.ask,p0 | p1,
Made up,Table 1,,,,,protocol,options.protocol,plain,
Made up,Table 1,,,,,decoding,options.decoding.temperature,0.6,
Made up,Table 1,,,,,decoding,seeds.model,,
Made up,Table 1,,,,,rounds,options.rounds,3,
Made up,Table 1,,,Recall | Precision,,metric,own.column,Recall | Precision,
"""
RECORD = RunRecord(
    baseline="made-up",
    data=DataUsed("corpus", "test", None, "d0"),
    models=(ModelUsed("encoder", "encoder A", "r1"),),
    options={"protocol": "plain", "decoding": {"temperature": 0.6}, "rounds": 3},
    prompts={"ask": "p1"},
    seeds={"model": 5},
)


def cell(record: RunRecord = RECORD, **changes: Any) -> Result:
    content: dict[str, Any] = {
        "paper": "Made up", "table": "Table 1", "row": "encoder A", "setting": "", "column": "Recall",
        "split_or_group": "test", "value": 1.0, "unit": "percent", "record": record,
    }  # fmt: skip
    return Result(**content | changes)


def options(**changes: Any) -> dict[str, Any]:
    return {"options": {**RECORD.options, **changes}}


def test_a_number_whose_conditions_all_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    states(monkeypatch, PAPER)
    assert cell().provenance == "reproduced" and cell(column="precision").provenance == "reproduced"
    assert [entry.state for entry in cell().conformance.entries].count("not stated") == 1  # the seed
    assert cell(table="Table 2").provenance == "own"  # of no paper's table


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({"data": DataUsed("corpus", "test", None, "d1")}, "own (data)"),
        ({"data": DataUsed("corpus", "train", None, "d0")}, "own (split)"),
        ({"models": (ModelUsed("encoder", "encoder B", "r1"),)}, "own (models)"),
        ({"models": (ModelUsed("encoder", "encoder A", "r2"),)}, "own (models)"),
        ({"models": (ModelUsed("encoder", "encoder A"),)}, "own (models)"),
        ({"models": ()}, "own (models)"),
        ({"prompts": {"ask": "p2"}}, "own (prompts)"),
        ({"prompts": {}}, "own (prompts)"),
        (options(protocol="other"), "own (protocol)"),
        (options(protocol=None), "own (protocol)"),
        (options(decoding={"temperature": 0.7}), "own (decoding)"),
        (options(decoding={"temperature": "0.6 or so"}), "own (decoding)"),
        (options(decoding={}), "own (decoding)"),
        (options(rounds=4), "own (rounds)"),
        (options(rounds=True), "own (rounds)"),
        (options(rounds=4, protocol="other"), "own (protocol, rounds)"),
        ({"seeds": {"model": 7}}, "reproduced"),
        ({"stand_in": "scripted"}, "stand-in"),
        ({"judged": False}, "unknown"),
    ],
)
def test_one_condition_at_a_time(monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], label: str) -> None:
    states(monkeypatch, PAPER)
    assert cell(replace(RECORD, **changes)).provenance == label


@pytest.mark.parametrize(
    ("stated", "here", "label"),
    [
        ("*", "other", "reproduced"),
        ("*", None, "own (protocol)"),
        ("null", None, "reproduced"),
        ("null", "x", "own (protocol)"),
        ("true", True, "reproduced"),
        ("true", 1, "own (protocol)"),
        ("1", True, "own (protocol)"),
    ],
)
def test_anything_and_nothing_may_be_stated(
    monkeypatch: pytest.MonkeyPatch, stated: str, here: str | int | None, label: str
) -> None:
    states(monkeypatch, PAPER.replace("options.protocol,plain", f"options.protocol,{stated}"))
    assert cell(replace(RECORD, **options(protocol=here))).provenance == label


def test_two_models_of_one_role_have_no_revision_in_common(monkeypatch: pytest.MonkeyPatch) -> None:
    states(monkeypatch, PAPER.replace("models.encoder,encoder A", "models.encoder,encoder A + encoder B"))
    two = replace(RECORD, models=(*RECORD.models, ModelUsed("encoder", "encoder B", "r2")))
    found = cell(two).conformance
    assert [entry.state for entry in found.entries if entry.condition == "models"] == ["equal", "unknown"]


def test_a_run_that_recorded_no_conditions_has_none_to_show(monkeypatch: pytest.MonkeyPatch) -> None:
    states(monkeypatch, PAPER)
    assert conditions([cell()]) and conditions([cell(replace(RECORD, judged=False))]) == []


def test_what_the_papers_table_does_not_have(monkeypatch: pytest.MonkeyPatch) -> None:
    states(monkeypatch, PAPER)
    assert cell(column="F1").provenance == "own (metric)"
    assert cell(row="encoder Z").provenance == "own (models)"


def test_what_differs_and_what_is_unknown_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    states(monkeypatch, PAPER)
    found = cell(replace(RECORD, prompts={}, **options(rounds=9))).conformance
    assert (found.state("prompts"), found.state("rounds"), found.state("data")) == ("unknown", "differs", "equal")
    (entry,) = [entry for entry in found.entries if entry.condition == "rounds"]
    assert (entry.paper, entry.here) == ("3", "9")


def test_a_table_edited_in_the_file_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    states(monkeypatch, PAPER)
    own = replace(RECORD, **options(rounds=4))
    write_run(tmp_path, own, [cell(own)])
    run = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    (told,) = run["conformance"]["tables"]
    assert [row["condition"] for row in told["conditions"] if row["state"] == "differs"] == ["rounds"]
    assert {row["state"] for row in told["conditions"]} == {"equal", "differs", "not stated"}
    assert read_run(tmp_path)[1][0].provenance == "own (rounds)"
    next(row for row in told["conditions"] if row["condition"] == "rounds")["state"] = "equal"
    (tmp_path / "run.json").write_text(json.dumps(run), encoding="utf-8")
    with pytest.raises(InputError, match="conformance table that its own facts do not make"):
        read_run(tmp_path)
    # Of another version: its table is not believed either, the facts are judged anew.
    run["conformance"]["decided_by"] = "another version"
    (tmp_path / "run.json").write_text(json.dumps(run), encoding="utf-8")
    assert read_run(tmp_path)[1][0].provenance == "own (rounds)"
    del run["conformance"]
    (tmp_path / "run.json").write_text(json.dumps(run), encoding="utf-8")
    assert read_run(tmp_path)[1][0].provenance == "unknown"


# --- The three papers -------------------------------------------------------------------------------------------------


def test_the_conditions_speak_of_tables_that_exist() -> None:
    """A name that no published number has would be a line that bars nothing, and nobody would know."""
    text = (files("baselines.results") / "conditions.csv").read_text(encoding="utf-8")
    for line, row in zip(conformance.read_lines(text), csv.DictReader(text.splitlines()), strict=True):
        numbers = [number for table in line.tables for number in published(line.paper, table)]
        # Some figures print no number: their keys are ours.
        drawn = any(not published(line.paper, table) for table in line.tables)
        assert numbers or drawn, row
        for at, part in enumerate(("row", "setting", "column", "split_or_group")):
            known = {getattr(number, part).casefold() for number in numbers}
            assert drawn or "figure" in row["tables"].casefold() or set(line.parts[at]) <= known, (part, row)
    assert {line.condition for line in conformance.read_lines(text)} == set(CONDITIONS)
    with pytest.raises(ValueError, match="condition 'taste'"):
        conformance.read_lines(
            "paper,tables,row,setting,column,group,condition,fact,stated,where\nP,T,,,,,taste,x,y,\n"
        )


def test_every_published_table_of_the_baselines_has_conditions() -> None:
    named = {"MedLayBench-V": ("1", "2", "3", "5", "A1", "A2", "A3", "A4", "A5"), "3MDBench": "34568"}
    for paper, tables in {**named, "MedConceal": ("1", "2", "3", "4", "6", "7", "8", "9", "10", "11")}.items():
        for table in tables:
            number = published(paper, f"Table {table}")[0]
            assert same(number.paper, paper)
            assert judge(number.key, {}).state("data") == "unknown", (paper, table)


CONSULTED = RunRecord(
    baseline="consultation",
    data=DataUsed(
        "3mdbench", "test", "official", "d0", "https://huggingface.co/datasets/univanxx/3mdbench", "c0", pinned=True
    ),
    models=(
        ModelUsed("patient", "vllm/meta-llama/Meta-Llama-3-8B-Instruct"),
        ModelUsed("doctor", "openai/gpt-4o-mini", source=PROVIDER),
        ModelUsed("assessor", "vllm/llava-hf/llava-onevision-qwen2-72b-ov-chat-hf"),
    ),
    options={
        "setting": "dialogue+image", "cases": 2996, "unplayable": 0, "judge": "patient", "cap_mode": "paper",
        "decoding": {
            "patient": {"temperature": 0.6, "max_tokens": 256}, "doctor": {"temperature": 0.6, "max_tokens": 512},
            "assessor": {"temperature": 1e-6, "max_tokens": 512},
        },
    },
    words={
        **read_prompts().words,
        "patient": "2c738bc9691cfe27932b4d0f7f23ef3753d4aa147e26479cdebab4d733fa4a04",
        "temperaments": "334bf025f960b5deebfb98cfa419509ccddaf2c81a6a4b271d8248b737ce4e87",
        "extraction": "e97dac8c60b8c4802bb84d595f1936628e2407f1357060c733010db18769c010",
        "assessment": "f82f3a547765403333a75165e8e971689bd4a061f3cf4c84c27f16fd5a32b855",
        "doctor_dialogue": "64dd665b4a6ef9646a29a56338e02283f86c44a4ae5392eceee808b7711b10f4",
    },
)  # fmt: skip
TABLE_5 = ("3MDBench", "Table 5", "GPT-4o-mini", "dialogue + image", "F1", "test (2996 cases)")


@pytest.mark.parametrize(
    ("changes", "label"),
    [
        ({}, "reproduced"),
        ({"data": replace(CONSULTED.data, pinned=False)}, "own (data)"),
        ({"data": replace(CONSULTED.data, repository="https://mirror/datasets/univanxx/3mdbench")}, "own (data)"),
        ({"options": {**CONSULTED.options, "cases": 100}}, "own (split)"),
        ({"models": CONSULTED.models[:2]}, "own (models)"),
        ({"models": (*CONSULTED.models[:1], ModelUsed("doctor", "openai/gpt-4o-mini", source="another server"),
                     *CONSULTED.models[2:])}, "own (models)"),
        ({"words": {**CONSULTED.words, "patient": "our own"}}, "own (prompts)"),
        ({"words": {name: text for name, text in CONSULTED.words.items() if name != "temperaments"}}, "own (prompts)"),
        *(({"words": {**CONSULTED.words, name: "our own"}}, "own (prompts)")
          for name in ("patient_opening", "judge_patient", "judge_experts", "rubric", "doctor_image")),
        ({"words": {**CONSULTED.words, "doctor_cues": "in no prompt of this setting"}}, "reproduced"),
        ({"options": {**CONSULTED.options, "judge": "nobody"}}, "own (protocol)"),
        ({"options": {**CONSULTED.options, "decoding": {}}}, "own (decoding)"),
        ({"options": {**CONSULTED.options, "cap_mode": "ours"}}, "own (rounds)"),
    ],
)  # fmt: skip
def test_table_5_of_3mdbench(changes: dict[str, Any], label: str) -> None:
    assert judge(TABLE_5, replace(CONSULTED, **changes).facts).label == label


@pytest.mark.parametrize(
    ("row", "doctor", "label"),
    [
        ("GPT-4o-mini", "openai/gpt-4o-mini", "reproduced"),  # the authors' code sends it none
        ("Gemma-3-27B", "vllm/google/gemma-3-27b-it", "own (decoding)"),
    ],
)
def test_a_temperature_that_is_not_sent(row: str, doctor: str, label: str) -> None:
    patient, _, assessor = CONSULTED.models
    decoding = {**CONSULTED.options["decoding"], "doctor": {"temperature": None, "max_tokens": 512}}
    models = (patient, ModelUsed("doctor", doctor, source=PROVIDER), assessor)
    record = replace(CONSULTED, models=models, options={**CONSULTED.options, "decoding": decoding})
    assert judge((*TABLE_5[:2], row, *TABLE_5[3:]), record.facts).label == label


def test_other_rows_of_table_5() -> None:
    facts = CONSULTED.facts
    assert judge((*TABLE_5[:4], "F1 (strict)", TABLE_5[5]), facts).label == "own (metric)"
    assert judge((*TABLE_5[:2], "Qwen2-VL", *TABLE_5[3:]), facts).label == "own (models)"
    # The row is of 7B, as the authors' code and the abstracts have it; Section 3.5 says 72B.
    patient, _, assessor = CONSULTED.models
    for size, label in (("7B", "reproduced"), ("72B", "own (models)")):
        doctor = ModelUsed("doctor", f"vllm/Qwen/Qwen2-VL-{size}-Instruct", source=PROVIDER)
        facts = replace(CONSULTED, models=(patient, doctor, assessor)).facts
        assert judge((*TABLE_5[:2], "Qwen2-VL", *TABLE_5[3:]), facts).label == label
    assert "models" in judge((*TABLE_5[:2], "my doctor", *TABLE_5[3:]), facts).barred


def test_table_3_of_medlaybench() -> None:
    """Encoders that Bedside opens; vectors made elsewhere are not known to be theirs, whatever they are called."""
    data = DataUsed(
        "medlaybench-v", "test", "official", "d0", "https://huggingface.co/datasets/hanjang/MedLayBench-V", "c0", True
    )
    group = "test; caption says four modalities (X-Ray, CT, MRI, Ultrasound)"
    key = ("MedLayBench-V", "Table 3", "BiomedCLIP", "Expert", "I2T Recall@1", group)
    encoder = ModelUsed("encoder", "BiomedCLIP", "key", WEIGHTS)
    record = RunRecord(baseline="retrieval", data=data, models=(encoder, ModelUsed("encoder", "other", "key", WEIGHTS)))
    assert judge(key, record.facts).label == "reproduced"
    elsewhere = replace(record, models=(replace(encoder, source="vectors made elsewhere"),))
    assert judge(key, elsewhere.facts).label == "own (models)"
    assert judge((*key[:5], "test; one pool"), record.facts).label == "own (protocol)"
    assert judge(("MedLayBench-V", "Table A4", "BiomedCLIP", "LLM Only", "Average R@1 (I2T and T2I)", "test"),
                 replace(record, options={"method": "LLM Only"}).facts).label == "own (data)"  # fmt: skip


def test_figure_a3_of_medlaybench_is_of_weights_only() -> None:
    data = DataUsed(
        "medlaybench-v", "test", "official", "d0", "https://huggingface.co/datasets/hanjang/MedLayBench-V", "c0", True
    )
    key = ("MedLayBench-V", "Figure A3 (caption)", "All models", "", "Expert-Layman embedding cosine similarity", "")
    named = tuple(ModelUsed("encoder", name, "key", WEIGHTS) for name in ("OpenAI-CLIP-Base", "BiomedCLIP", "PMC-CLIP"))
    record = RunRecord(baseline="embedding-space", data=data, models=named)
    assert judge(key, record.facts).label == "reproduced"
    own = ModelUsed("encoder", "CoCa-Large", "key", "vectors made elsewhere")
    assert judge(key, replace(record, models=(*named, own)).facts).label == "own (models)"


@pytest.mark.parametrize(
    ("paper", "table", "row", "options"),
    [
        ("MedLayBench-V", "Table 4", "the paper's three raters", {"raters": ["the paper's three raters"]}),
        ("3MDBench", "Table 7", "the paper's four physicians", {"sheets": "d1", "cases": 34}),
        ("MedConceal", "Table 8", "the paper's clinicians, case by case", {"runs": ["r1", "r2"]}),
    ],
)
def test_people_are_not_the_papers_by_their_name(paper: str, table: str, row: str, options: dict[str, Any]) -> None:
    """A sheet may name its rater in any words."""
    repository = next(
        line.stated[0]
        for line in conformance._lines()[paper.casefold(), table.casefold()]["data"]
        if line.fact == "data.repository"
    )
    data = DataUsed(paper.casefold(), "test", "official", "d0", repository, "c0", pinned=True)
    column = published(paper, table)[0].column
    record = RunRecord(baseline="made-up", data=data, options=options)
    assert judge((paper, table, row, "", column, ""), record.facts).label == "own (models)"


def test_no_run_of_medconceal_has_the_papers_patient() -> None:
    """Its weights are not printed: whatever else holds, the protocol differs."""
    data = DataUsed(
        "medconceal", "test", "official", "d0", "https://huggingface.co/datasets/Eclipse42/MedConceal", "c0", True
    )
    clinician = ModelUsed("clinician", "anthropic/claude-sonnet-4-5", source=PROVIDER)
    settings = {"cases": 300, "policy": "ab" * 32, "evaluator": "model", "turns": 8}
    record = RunRecord(baseline="confirmation", data=data, models=(clinician,), options=settings)
    group = "Task 1 confirmation, 300 cases"
    key = ("MedConceal", "Table 1", "Claude Sonnet 4.5", "8-turn", "Fine F1", group)
    assert judge(key, record.facts).label == "own (protocol)"
    assert judge(key, {**record.facts, "options.turns": 20}).label == "own (protocol, rounds)"


def test_a_table_says_each_fact_once_and_of_what(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fact of one column names that column, and nothing that all numbers share."""
    states(monkeypatch, PAPER + "Made up,Table 1,,,Recall,,metric,options.words,*,\n")
    keys = [cell(column=name).key for name in ("Recall", "Precision")]
    (told,) = conformance.tables(keys, RECORD.facts)
    facts = [(row["fact"], row["of"]) for row in told["conditions"]]
    assert len(facts) == len(set(facts)) == 11
    assert [(row["paper"], row["state"], row["of"]) for row in told["conditions"] if row["condition"] == "metric"] == [
        ("Recall | Precision", "equal", ""), ("not null", "unknown", "Recall"),
    ]  # fmt: skip


def test_a_split_of_a_language_run_is_that_split_whatever_else_was_read() -> None:
    facts = RunRecord(baseline="language", data=DataUsed("medlaybench-v", "train+validation", None, "d0")).facts
    key = ("MedLayBench-V", "Table 1", "MedLayBench-V captions", "Expert", "FKGL", "Train")
    assert judge(key, facts).state("split") == "equal"
    assert judge((*key[:5], "Overall"), facts).state("split") == "differs"


def test_a_part_of_a_key_that_is_empty_names_nothing() -> None:
    every = [cell(row=row, setting=setting, split_or_group="").key for row, setting in (("A", "x"), ("All", ""))]
    different = spread(every)
    assert [apart(some, different) for some in (every[1:], every[:1], every)] == ["All", "A; x", ""]
