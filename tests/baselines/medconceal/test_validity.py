"""A run says when it is not valid: a patient or an evaluator that gave way, each named, and no headline."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from baselines.medconceal.acceptance import play_scripted
from baselines.medconceal.agents import plain_patient, rules_evaluator
from baselines.medconceal.clinician import DECIDE, SUBMIT
from baselines.medconceal.clinician_attackers import _RATING
from baselines.medconceal.clinician_scripted import CLINICIANS
from baselines.medconceal.game import Rules, task_game
from baselines.medconceal.judgement import JudgedEpisode, Judgement
from baselines.medconceal.metrics import measures
from baselines.medconceal.policy import BEDSIDE, Logistic
from baselines.medconceal.record import FEATURES, INTENTS, Episode, Features, TurnEvaluation
from baselines.medconceal.validity import checks, contradicts, reasons, stated
from builders.samples.medconceal.cases import profiles
from loaders.models.messages import Answer, Message

CASES = profiles()[:4]
EAGER = replace(BEDSIDE, reveal=Logistic((3.0, *[0.0] * 11)))  # everything comes due

Reply = Callable[[Sequence[Message]], str]


def good_patient(messages: Sequence[Message]) -> str:
    """Says what it is told to say, and an ordinary sentence where there is nothing."""
    said = [line for line in messages[0].text.splitlines() if "going beyond it:" in line]
    due = [line.partition("going beyond it:")[2].split(" / ")[0].strip() for line in said]
    return " ".join(due) or "I do not know what to make of it, to tell you the truth."


def echo(messages: Sequence[Message]) -> str:
    return messages[-1].text.replace("<doctor>", "").replace("</doctor>", "").strip()


def played(patient: Reply = good_patient, evaluator: Reply | None = None) -> list[Episode]:
    game = task_game(Rules("confirmation", policy=EAGER))
    rate = evaluator or rules_evaluator(None)

    async def ask(role: str, messages: Sequence[Message], **more: Any) -> Answer:
        by_role = {"patient": patient, "evaluator": rate, "clinician": talk}
        return Answer(by_role[role](messages), 1, 1, "stop")

    async def every() -> list[Episode]:
        return [await game.play(case, ask) for case in CASES]

    return asyncio.run(every())


def talk(messages: Sequence[Message]) -> str:
    if messages[-1].text.endswith((DECIDE, SUBMIT)):
        return '{"findings": []}'
    return CLINICIANS["expert"](None)(messages)


def at_random(*, sure: bool, seed: int = 0) -> Reply:
    """Valid JSON with nothing behind it: every number by dice; `sure` of its intent, or not even that."""
    dice = random.Random(seed)

    def rate(messages: Sequence[Message]) -> str:
        intent = dice.choice(list(INTENTS))
        chances = {intent: 1.0} if sure else {name: dice.random() for name in INTENTS}
        told = {"intent": intent, "intent_probabilities": chances, "pending_covered": dice.random() < 0.5}
        return json.dumps(told | {"empathy": dice.random(), "features": {key: dice.random() for key in FEATURES}})

    return rate


def test_a_run_in_which_both_did_their_part_is_valid() -> None:
    episodes = played()
    assert reasons(episodes) == [] and stated(episodes)["valid"] is True
    assert all(one.voiced == one.revealed for episode in episodes for one in episode.exchanges)
    assert any(state for episode in episodes for state in episode.states)


GIVES_WAY = {
    "patient, echo": (echo, "out of its role"),
    "patient, silent": (lambda messages: "", "out of its role"),
    "patient, garbage": (lambda messages: "qzx wvk plo mnr tts ghe bbo vvi xxa", "out of its role"),
    "patient, assistant": (lambda messages: "As an AI language model I cannot feel pain.", "out of its role"),
    "patient, never says it": (plain_patient(None), "did not say what it revealed"),
    "evaluator, echo": (echo, "the rules rated in its place"),
    "evaluator, silent": (lambda messages: "", "the rules rated in its place"),
    "evaluator, garbage": (lambda messages: "{{{", "the rules rated in its place"),
    "evaluator, alike": (lambda messages: _RATING, "every turn the same features"),
    "evaluator, dice": (at_random(sure=False), "names one intent and rates another"),
    "evaluator, sure dice": (at_random(sure=True), "names one intent and rates another"),
    "evaluator, dice again": (at_random(sure=True, seed=1), "rates the same turn, after the same words, otherwise"),
}


@pytest.mark.parametrize("case", GIVES_WAY)
def test_a_patient_or_an_evaluator_that_gives_way_is_named(case: str) -> None:
    reply, named = GIVES_WAY[case]
    found = reasons(played(**{case.partition(",")[0]: reply}))
    assert any(named in reason for reason in found), found


def test_a_rating_contradicts_itself_where_its_intent_is_rated_low() -> None:
    for rated, found in ((0.5, False), (0.25, True)):
        chances = {"open_elicitation": 1.0}
        one = TurnEvaluation("open_elicitation", chances, Features(CE=rated), None, 0.0, False, "model", 1)
        assert contradicts(one) == found


def test_a_share_of_nothing_is_not_measured() -> None:
    """A run by rules and template printed 0.0 for what its evaluator and its patient's model never did."""
    game = task_game(Rules("confirmation", evaluator="rules", patient="template"))
    episodes = play_scripted(game, profiles()[:2], CLINICIANS["silent"])
    unread = Judgement((), None, None, None, None, {}, by_rules=True)
    numbers = {one.name: one for one in measures([JudgedEpisode(episode, unread) for episode in episodes])}
    told = stated(episodes)
    of_clinician = {"Empty turns": 1, "Refused turns": 0, "Findings not read": 1}
    assert {name: share for name, share in told["shares"].items() if share is not None} == of_clinician
    found = {check.name: numbers[check.name].value for check in checks(episodes) if check.by_case}
    assert {name: value for name, value in found.items() if value is not None} == of_clinician


def test_a_turn_is_asked_again_only_after_the_same_words_of_the_patient() -> None:
    episode = played()[0]
    other = replace(episode.exchanges[0], patient="Something else.")
    for exchanges, again in ((episode.exchanges, 8), ((other, *episode.exchanges[1:]), 1)):
        found = {one.name: one for one in checks([episode, replace(episode, exchanges=exchanges)])}
        assert found["Turns rated otherwise when asked again"].under == again


@pytest.mark.parametrize("evaluator", [lambda messages: _RATING, at_random(sure=True, seed=1)], ids=["alike", "dice"])
def test_what_only_a_run_can_show_is_no_number_of_its_cases(evaluator: Reply) -> None:
    """No dialogue alone says that turns were rated alike, or otherwise when asked again: 0 would be wrong."""
    episodes = played(evaluator=evaluator)
    unread = Judgement((), None, None, None, None, {}, by_rules=True)
    numbers = {one.name: one for one in measures([JudgedEpisode(episode, unread) for episode in episodes])}
    for check in checks(episodes):
        if check.name.startswith("Turns rated"):
            assert check.name not in numbers and check.name in stated(episodes)["shares"]
        else:
            assert numbers[check.name].value == check.value


def test_a_concern_is_revealed_in_the_turn_in_which_it_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    from baselines.medconceal import patient_template

    # No reply says it: not the model's, and not the template's either, which speaks of something else.
    monkeypatch.setattr(patient_template, "reply", lambda view: "I would rather talk about the garden today.")
    episodes = played(plain_patient(None))
    assert not any(state for episode in episodes for state in episode.states)
    assert all(turn is None for episode in episodes for turn in episode.reveal_turns)
    unsaid = next(check for check in checks(episodes) if check.name == "Reveals never voiced")
    assert unsaid.value == 1 and not unsaid.passed
    assert any("no reply put into words" in reason for reason in reasons(episodes))
