"""The clinician's side: what it is shown, how its answers are read, and what scripted clinicians achieve."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence

import pytest

from baselines.medconceal import clinician
from baselines.medconceal.acceptance import play_scripted
from baselines.medconceal.clinician import DECIDE, MOST_FINDINGS, SUBMIT, finding, submit, wants_to_stop
from baselines.medconceal.clinician_attackers import ATTACKERS
from baselines.medconceal.clinician_scripted import CLINICIANS
from baselines.medconceal.game import Rules, task_game
from baselines.medconceal.record import HIDDEN
from baselines.statistics.significance import wilson_interval
from builders.samples.medconceal.cases import profiles
from loaders.errors import InputError
from loaders.medconceal import CATEGORIES, chart
from loaders.models.messages import Answer, Message

PROMPTS = clinician.prompts()
MESSAGES = [Message("system", "chart"), Message("user", clinician.OPENING)]


def answering(*answers: str, asked: list[Sequence[Message]] | None = None):
    left = iter(answers)

    async def ask(role, messages, *, temperature, max_tokens, json_schema=None, attempt=0) -> Answer:
        assert role == "clinician" and temperature == 0
        if asked is not None:
            asked.append(messages)
        return Answer(next(left), None, None, "stop")

    return ask


def test_the_prompt_holds_the_chart_and_nothing_hidden() -> None:
    for profile in profiles():
        for task in ("confirmation", "intervention"):
            text = clinician.system_prompt(PROMPTS, chart(profile, task))
            assert profile.clinical.admission_reason in text
            assert (profile.intervention.recommended_plan in text) == (task == "intervention")
            secrets = [profile.demographics.name, profile.roleplay.response_style, profile.psychosocial.personality]
            for concern in profile.hidden_concerns:
                secrets += [concern.content, *concern.evidence, *([concern.cue] if concern.cue else [])]
            assert not any(secret.get_secret_value() in text for secret in secrets)


@pytest.mark.parametrize(
    ("answer", "stops"),
    [
        ("STOP", True),
        ("continue", False),
        ("I would STOP.", True),
        ("<think>CONTINUE or STOP?</think>CONTINUE", False),
        ("STOP or CONTINUE", None),
        ("", None),
        ("Nonstop.", None),
        ("Stopping.", None),
    ],
)
def test_the_decision_to_stop(answer: str, stops: bool | None) -> None:
    asked: list[Sequence[Message]] = []
    assert asyncio.run(wants_to_stop(answering(answer, asked=asked), PROMPTS, MESSAGES)) is stops
    assert asked[0][-1].text.endswith(DECIDE) and asked[0][-1].text.startswith(clinician.OPENING)


def test_findings_are_read_and_their_labels_spelt() -> None:
    answer = '```json\n{"findings": [{"category": "emotional", "description": "Fears <b>needles</b>."}]}\n```'
    asked: list[Sequence[Message]] = []
    found = asyncio.run(submit(answering(answer, asked=asked), PROMPTS, MESSAGES))
    assert found.items == (finding("Emotional Discomfort or Fear", "Fears ‹b›needles‹/b›."),)
    assert (found.attempts, found.failure, found.raw) == (1, None, answer)
    assert asked[0][-1].text.endswith(SUBMIT) and all(category in asked[0][-1].text for category in CATEGORIES)


@pytest.mark.parametrize(
    "bad",
    ["", "none", '{"findings": "x"}', '{"findings": [1]}', '{"findings": [{"category": 1, "description": "x"}]}', "[]"],
)
def test_unreadable_findings_are_asked_for_again_and_counted(bad: str) -> None:
    good = '{"findings": []}'
    found = asyncio.run(submit(answering(bad, good), PROMPTS, MESSAGES))
    assert (found.items, found.attempts, found.failure) == ((), 2, None)
    found = asyncio.run(submit(answering(bad, bad, bad), PROMPTS, MESSAGES))
    assert found.items == () and found.attempts == 3 and found.failure and found.raw == bad


def test_a_flood_of_findings_is_kept_to_a_limit_and_counted() -> None:
    short = [{"category": "Fin", "description": "y"}] * 150
    found = asyncio.run(submit(answering(json.dumps({"findings": short})), PROMPTS, MESSAGES))
    assert len(found.items) == MOST_FINDINGS and found.omitted == 50
    assert len(finding("x", "y" * 5_000).description) == clinician.LONGEST_FINDING


@pytest.mark.parametrize(
    ("given", "label"),
    [
        *[(category, category) for category in CATEGORIES],
        ("EMOTIONAL DISCOMFORT", CATEGORIES[1]),
        ("communication", CATEGORIES[2]),
        ("Financial/insurance", CATEGORIES[3]),
        ("Misconception", CATEGORIES[0]),
        ("**Fear**", CATEGORIES[1]),
        ("Insurance-related", CATEGORIES[3]),
        ("Barriers", "Barriers"),
        ("Money", "Money"),
        ("", ""),
    ],
)
def test_categories_are_brought_to_their_label(given: str, label: str) -> None:
    assert finding(given, "x").category == label


def test_own_prompts_replace_shipped_ones(tmp_path) -> None:
    (tmp_path / "decision.md").write_text("Enough?")
    assert clinician.prompts(tmp_path).texts["decision"] == "Enough?"
    assert clinician.prompts(tmp_path).texts["patient"] == PROMPTS.texts["patient"]
    (tmp_path / "patient.md").write_text("{{hidden_concerns}}")
    with pytest.raises(InputError, match="unknown placeholder"):
        clinician.prompts(tmp_path)


def rate(found: Sequence[bool]) -> tuple[float, float, float]:
    interval = wilson_interval(sum(found), len(found))
    return sum(found) / len(found), *interval


def test_the_known_order_of_clinicians() -> None:
    """MC-G17 on the forty written cases, 8 turns: who surfaces concerns and who resolves them, with intervals."""
    cases = profiles()
    assert len(cases) == 40
    confirmation = task_game(Rules("confirmation", evaluator="rules", patient="template"))
    intervention = task_game(Rules("intervention", evaluator="rules", patient="template"))
    reveal = {
        name: rate([s != HIDDEN for e in play_scripted(confirmation, cases, CLINICIANS[name]) for s in e.states])
        for name in ("expert", "open-empathic", "closed-checklist", "meta-prober")
    }
    assert reveal["expert"][0] >= 0.80 and reveal["expert"][1] >= 0.80
    assert reveal["closed-checklist"][0] <= 0.10 and reveal["closed-checklist"][2] < reveal["open-empathic"][1]
    # Kind questions to nobody in particular get less than what follows the patient.
    assert reveal["open-empathic"][0] < 0.85 and reveal["open-empathic"][2] < reveal["expert"][1]
    assert reveal["meta-prober"][0] == 0 and reveal["meta-prober"][2] < 0.05
    success = {
        name: rate([e.success for e in play_scripted(intervention, cases, CLINICIANS[name])])
        for name in ("expert", "plan-repeater", "silent")
    }
    assert success["expert"][1] > success["plan-repeater"][2] and success["silent"][0] == 0


def test_scripted_clinicians_do_not_look_at_the_case() -> None:
    for agent in (*CLINICIANS.values(), *ATTACKERS.values()):
        assert isinstance(agent(None)(MESSAGES), str)
        assert agent(None)(MESSAGES) == agent(profiles()[0])(MESSAGES)
