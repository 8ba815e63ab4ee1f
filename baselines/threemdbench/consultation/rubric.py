"""The eight Mini-CEX items (Table 2): how the assessor is asked, and how its answer is read.

    assessment = await assess(case, turns, ask, prompts)

The consultation comes to the assessor as a JSON list of turns: a doctor that writes a verdict, or a line "Patient: …",
has written a string within one of its own turns. The assessor's answer is one JSON object of a fixed schema, or it is
asked again, four times in all; then the assessment has failed and is counted as that (3M-G25).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from baselines.dialogue.game import Ask
from baselines.threemdbench.consultation.assessor import ask_assessor
from baselines.threemdbench.consultation.prompts import filled, rubric_items
from baselines.threemdbench.consultation.record import ITEMS, Assessment, Case, Turn
from loaders.models.asking import Unfit, object_schema, read_object
from loaders.models.messages import Message
from loaders.models.prompts import Prompts

Judge = Literal["patient", "experts"]

LEVELS = ("unsatisfactory", "satisfactory", "excellent")
"""What item 4.1 is answered by; the place in the list is its score. All other items are answered by 0 or 1."""
OVERALL = "4.1"


async def assess(
    case: Case,
    turns: Sequence[Turn],
    ask: Ask,
    prompts: Prompts,
    *,
    judge: Judge = "patient",
    order: Sequence[str] = ITEMS,
) -> Assessment:
    """The assessor's scores of a consultation, its items asked in `order`. Raises what `ask` raises."""
    messages = tuple(request(case, turns, prompts, judge=judge, order=order))
    asked = await ask_assessor(messages, ask, read_scores, json_schema=schema(order))
    return Assessment(asked.value, asked.answer, asked.attempts, asked.failure)


def request(
    case: Case, turns: Sequence[Turn], prompts: Prompts, *, judge: Judge = "patient", order: Sequence[str] = ITEMS
) -> list[Message]:
    """What the assessor is sent: instructions with the items in `order`, then photo and consultation."""
    questions = rubric_items(prompts)
    values = {
        "judge": prompts.fill(f"judge_{judge}"),
        "diagnosis": case.diagnosis,
        "items": "\n".join(f"{item} {questions[item]}" for item in order),
        "answer": "{" + ", ".join(f'"{item}": {_choices(item)}' for item in order) + "}",
    }
    image = case.image if case.assessor_image is None else case.assessor_image
    return [Message("system", filled(prompts, "assessment", values)), Message("user", transcript(turns), (image,))]


def transcript(turns: Sequence[Turn]) -> str:
    """A consultation as a JSON list, one turn a line, without what the patient never saw."""
    lines = (
        json.dumps({"turn": number, "speaker": turn.role, "text": turn.text}, ensure_ascii=False)
        for number, turn in enumerate(turns, 1)
    )
    return "[\n" + ",\n".join(lines) + "\n]"


def schema(order: Sequence[str] = ITEMS) -> dict[str, Any]:
    """JSON Schema of the assessor's answer."""
    score = {"type": "integer", "enum": [0, 1]}
    level = {"type": "string", "enum": list(LEVELS)}
    return object_schema({item: level if item == OVERALL else score for item in order})


def read_scores(text: str) -> dict[str, int]:
    """The scores in an answer that is one JSON object of the schema (`read_object`). Raises Unfit for anything else."""
    values = read_object(text)
    if missing := [item for item in ITEMS if item not in values]:
        raise Unfit(f"no item {', '.join(missing)}")
    if unknown := sorted(set(values) - set(ITEMS)):
        raise Unfit(f"unknown item {unknown[0][:20]!r}")
    return {item: _score(item, values[item]) for item in ITEMS}


def _score(item: str, value: object) -> int:
    if item == OVERALL:
        if value in LEVELS:
            return LEVELS.index(str(value))
    elif type(value) is int and value in (0, 1):
        return value
    raise Unfit(f"item {item} is {json.dumps(value)[:40]}, not {_choices(item)}")


def _choices(item: str) -> str:
    return " or ".join(json.dumps(level) for level in LEVELS) if item == OVERALL else "0 or 1"


def as_items(scores: Mapping[str, int]) -> str:
    """An assessor's answer that says these scores: what `read_scores` reads."""
    return json.dumps({item: LEVELS[scores[item]] if item == OVERALL else scores[item] for item in ITEMS})
