"""Scripted candidates, doctor and judge for the selection of a patient model: offline, and all of them stand-ins."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial

from baselines.dialogue.game import Script, ScriptedAgent, agent_named
from baselines.threemdbench.consultation.record import Case
from loaders.models.messages import Message

REFUSAL = "I don't know that. Please ask me about something else."
_DIAGNOSIS = "This is"
_QUESTIONS = (
    "How long has this been going on?",
    "What else have you noticed?",
    "Does anything make it worse?",
    "Have you had anything like it before?",
)


def _patient(case: Case, *, at_once: int) -> Script:
    """Opens with the first fact, then tells the others in order, so many per answer; BREAK once it has a diagnosis."""
    facts = (case.basic, *case.additional)

    def script(messages: Sequence[Message]) -> str:
        answered = sum(message.role == "assistant" for message in messages)
        if not answered:
            return facts[0]
        if _DIAGNOSIS in messages[-1].text:
            return "BREAK"
        start = 1 + (answered - 1) * at_once
        return " ".join(facts[start : start + at_once]) or REFUSAL

    return script


honest, hasty = partial(_patient, at_once=1), partial(_patient, at_once=2)  # hasty against its instructions


def inventor(case: Case) -> Script:
    """Tells things that are not in its instructions, and never ends."""

    def script(messages: Sequence[Message]) -> str:
        answered = sum(message.role == "assistant" for message in messages)
        return case.basic if not answered else f"My cousin in Lisbon had number {answered} of these on a ship."

    return script


def doctor(case: Case) -> Script:
    """Asks its questions in order and is confident after the fourth answer, always of the same diagnosis."""

    def script(messages: Sequence[Message]) -> str:
        turns = json.loads(messages[-1].text)
        asked = sum(turn["speaker"] == "doctor" for turn in turns)
        if "CONFIDENCE LEVEL" in messages[0].text:
            return f"CONFIDENCE LEVEL: {'Confident' if asked >= len(_QUESTIONS) else 'Neutral'}"
        settled = "Name exactly one diagnosis" in messages[0].text
        return f"{_DIAGNOSIS} eczema. Use a rich cream." if settled else _QUESTIONS[asked % len(_QUESTIONS)]

    return script


def judge(case: Case) -> Script:
    """By rule: an answer is to the point unless it refuses; following loses a point for every kind of slip."""
    facts = (case.basic, *case.additional)

    def script(messages: Sequence[Message]) -> str:
        said = [turn["text"] for turn in json.loads(messages[-1].text) if turn["speaker"] == "patient"]
        if "<instructions>" not in messages[0].text:
            return str(int(said[-1] != REFUSAL))
        several = any(sum(fact in text for fact in facts) > 1 for text in said)
        invented = any(text not in (REFUSAL, "BREAK") and not any(fact in text for fact in facts) for text in said)
        return str(5 - several - 2 * invented - (said[-1] != "BREAK"))

    return script


BY_ROLE: dict[str, dict[str, ScriptedAgent]] = {
    "patient": {"honest": honest, "hasty": hasty, "inventor": inventor},
    "doctor": {"doctor": doctor},
    "judge": {"judge": judge},
}

scripted_agent = partial(agent_named, BY_ROLE)
