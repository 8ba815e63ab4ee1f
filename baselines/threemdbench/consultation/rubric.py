"""The eight Mini-CEX items (Table 2): how the assessor is asked, and how its answer is read.

    assessment = await assess(case, turns, ask, prompts)

The consultation comes to the assessor as a JSON list of turns: a doctor that writes a verdict, or a line "Patient: …",
has written a string within one of its own turns. The assessor's answer is read in any form that has one reading
(`reading`), or it is asked again, four times in all; then the assessment has failed and is counted as that (3M-G25).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from baselines.dialogue.game import Ask
from baselines.threemdbench.consultation.assessor import ask_assessor
from baselines.threemdbench.consultation.prompts import filled, has_place, rubric_items
from baselines.threemdbench.consultation.protocol import BEDSIDE, Protocol
from baselines.threemdbench.consultation.reading import LEVELS, OVERALL, choices, holds_scores, scores_in
from baselines.threemdbench.consultation.record import ITEMS, Assessment, Case, Turn
from loaders.models.asking import object_schema
from loaders.models.messages import Message
from loaders.models.prompts import Prompts


async def assess(
    case: Case,
    turns: Sequence[Turn],
    ask: Ask,
    prompts: Prompts,
    *,
    protocol: Protocol = BEDSIDE,
    order: Sequence[str] = ITEMS,
) -> Assessment:
    """The assessor's scores of a consultation, with its items asked in `order`. Raises what `ask` raises."""
    messages = tuple(request(case, turns, prompts, protocol=protocol, order=order))
    # A doctor that writes scores may be quoted.
    read = partial(scores_in, whole=any(holds_scores(turn.text) for turn in turns if turn.role == "doctor"))
    # A text that states its own form is not given another one.
    json_schema = schema(order) if protocol.schema and has_place(prompts, "assessment", "answer") else None
    asked = await ask_assessor(messages, ask, read, protocol=protocol, json_schema=json_schema)
    return Assessment(asked.value, asked.answer, asked.attempts, asked.failure)


def request(
    case: Case, turns: Sequence[Turn], prompts: Prompts, *, protocol: Protocol = BEDSIDE, order: Sequence[str] = ITEMS
) -> list[Message]:
    """What the assessor is sent: instructions with the items in `order`, then photo and consultation."""
    questions = rubric_items(prompts)
    values = {
        "judge": prompts.fill(f"judge_{protocol.judge}"),
        "diagnosis": case.diagnosis,
        "items": "\n".join(f"{item} {questions[item]}" for item in order),
        "answer": "{" + ", ".join(f'"{item}": {choices(item)}' for item in order) + "}",
    }
    image = case.image if case.assessor_image is None else case.assessor_image
    text = filled(prompts, "assessment", values)
    if not has_place(prompts, "assessment", "diagnosis"):
        text += f"\n\nGround truth diagnosis: {case.diagnosis}"
    return [Message("system", text), Message("user", transcript(turns), (image,))]


def transcript(turns: Sequence[Turn]) -> str:
    """A consultation as a JSON list, one turn per line, without what the patient never saw."""
    lines = (
        json.dumps({"turn": number, "speaker": turn.role, "text": turn.text}, ensure_ascii=False)
        for number, turn in enumerate(turns, 1)
    )
    return "[\n" + ",\n".join(lines) + "\n]"


def schema(order: Sequence[str] = ITEMS) -> dict[str, Any]:
    """JSON Schema of the assessor's answer."""
    return object_schema({item: tuple(LEVELS) if item == OVERALL else (0, 1) for item in order})


def as_items(scores: Mapping[str, int]) -> str:
    """An assessor's answer that gives these scores, in a form that `scores_in` reads."""
    return json.dumps({item: LEVELS[scores[item]] if item == OVERALL else scores[item] for item in ITEMS})
