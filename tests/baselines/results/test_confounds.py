"""What runs differ in besides the system: roles, settings and prompts, but neither what came out nor the system."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from baselines.results.confounds import also_differing
from baselines.results.run import ELSEWHERE, DataUsed, ModelUsed, RunRecord


def record(baseline: str, *models: ModelUsed, prompts: dict[str, str] | None = None, **options: Any) -> RunRecord:
    return RunRecord(
        baseline=baseline, data=DataUsed("c", "test", None, "0"), models=models, options=options, prompts=prompts or {}
    )


def differing(*records: RunRecord) -> str:
    return also_differing(records)


def test_clinicians_are_told_from_what_stands_around_them() -> None:
    shared: dict[str, Any] = {"policy": "1" * 64, "policy_name": "bedside", "turns": 8, "evaluator": "rules"}
    one = record(
        "confirmation", ModelUsed("clinician", "a"), **shared, cases=9, patient="template", judge="rules",
        decoding={"clinician": {"temperature": 0}}, prompts={"judge_match": "2", "patient": "3"},
    )  # fmt: skip
    other = record(
        "confirmation", ModelUsed("clinician", "b"), **shared, cases=8, patient="template", judge="rules",
        validity={"valid": True}, decoding={"clinician": {"temperature": 1}}, prompts={"judge_match": "2"},
    )  # fmt: skip
    assert differing(one, other) == ""
    judged = record(
        "confirmation", ModelUsed("clinician", "a"), ModelUsed("judge", "gpt", None, ELSEWHERE, "seed"),
        **(shared | {"policy": "4" * 64, "turns": 20}), patient="template", judge={"judge_match": "5"},
        prompts={"judge_match": "5"},
    )  # fmt: skip
    assert differing(one, other, judged) == (
        "judge (rules / rules / gpt, another server, refuses seed), "
        f"policy bedside ({'1' * 64} / {'1' * 64} / {'4' * 64}), turns (8 / 8 / 20), prompts (judge_match)"
    )
    people = record("confirmation", evaluator=None, judge="rules", policy=None, transcripts=True, traces_made_by={
        "patient": ["template"], "evaluator": ["gpt"], "policy": ["1" * 64]})  # fmt: skip
    assert differing(one, people) == "evaluator (rules / gpt)"


def test_doctors_are_told_from_assessor_patient_and_protocol() -> None:
    def consulted(doctor: str, assessor: str, judge: str, heat: float, **more: Any) -> RunRecord:
        decoding = {"doctor": {"temperature": heat}, "patient": {"temperature": heat}}
        players = (ModelUsed("doctor", doctor), ModelUsed("assessor", assessor))
        return record("consultation", *players, judge=judge, decoding=decoding, **more)

    told = differing(
        consulted("a", "c", "patient", 0.6, setting="dialogue"), consulted("b", "d", "experts", 0.2, setting="image")
    )
    assert told == "assessor (c / d), patient's temperature (0.6 / 0.2), judge (patient / experts)"
    told = differing(*(consulted("a", "c", "patient", heat, setting="dialogue") for heat in (0.6, 0.2)))
    assert told == "doctor's temperature (0.6 / 0.2), patient's temperature (0.6 / 0.2)"


def test_a_seed_and_a_version_may_differ_but_for_that_of_the_intervals() -> None:
    one, other = (
        replace(record("retrieval"), seeds={"order": seed, "bootstrap": seed}, versions={"torch": f"2.{seed}"})
        for seed in (0, 1)
    )
    assert differing(one, other) == "version of torch (2.0 / 2.1), seed of order (0 / 1)"


def test_captions_are_told_from_the_measures() -> None:
    told = differing(
        record("language", ModelUsed("bertscore", "m", "1"), wordnet="3.0", resamples=9),
        record("language", ModelUsed("bertscore", "m", "2"), wordnet="3.1", resamples=8),
    )
    assert told == "bertscore (m, 1 / m, 2), wordnet (3.0 / 3.1)"
