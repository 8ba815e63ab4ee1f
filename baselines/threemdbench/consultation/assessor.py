"""The assessor, asked until its answer can be read: which diagnosis the doctor gave, and the eight Mini-CEX items.

    extraction = await extract(turns, ask, prompts)
    assessment = await assess(case, turns, ask, prompts)

The doctor's words, or the whole consultation, come to the assessor as a JSON list: a doctor that writes a verdict, or a
line "Patient: …", has written a string within one of its own turns. An answer is read in any form that has one reading
(`naming`, `reading`), or it is asked for again, four times in all; then the assessment has failed and is counted as
that (Appendix H.4, Table 2, 3M-G23, 3M-G25).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar, cast

from baselines.dialogue.game import Ask
from baselines.threemdbench.consultation.cleaning import scrub
from baselines.threemdbench.consultation.naming import read_names
from baselines.threemdbench.consultation.prompts import filled, has_place, rubric_items
from baselines.threemdbench.consultation.protocol import BEDSIDE, Protocol
from baselines.threemdbench.consultation.reading import LEVELS, OVERALL, choices, holds_scores, scores_in
from baselines.threemdbench.consultation.record import ITEMS, Assessment, Case, Extraction, Turn
from loaders.models.asking import Asked, ask_until, object_schema, writable
from loaders.models.messages import Answer, Decoding, Message
from loaders.models.prompts import Prompts

Value = TypeVar("Value")

_MAX_RAW = 4_000  # characters, more than 512 tokens have: the authors score the answer as it is


async def ask_assessor(
    messages: Sequence[Message],
    ask: Ask,
    read: Callable[[str], Value],
    *,
    protocol: Protocol = BEDSIDE,
    role: str = "assessor",
    decoding: Decoding | None = None,
    attempts: int | None = None,
    json_schema: Mapping[str, Any] | None = None,
    first: int = 0,
) -> Asked[Value]:
    """What `read` returns for the first answer that it accepts, within the protocol's number of attempts, which are
    counted from `first`.

    `read` raises Unfit for an answer that it rejects. A reasoning model's thoughts and tokens of chat templates are
    removed before; the answer is cut to what a record keeps of it. Raises what `ask` raises.
    """
    once = protocol.decoding["assessor"] if decoding is None else decoding
    warmer = cast(Decoding, {**once, **protocol.retry})

    def asking(messages: Sequence[Message], attempt: int) -> Awaitable[Answer]:
        drawn = warmer if attempt else once
        return ask(role, messages, json_schema=json_schema, attempt=first + attempt, **drawn)

    # S2: the benchmark repeats the same request, only warmer. An assessor told of its mistake would be a different one.
    most = protocol.attempts if attempts is None else attempts
    asked = await ask_until(asking, messages, lambda answer: read(scrub(answer)[0]), attempts=most, again=None)
    return replace(asked, answer=writable(asked.answer[:_MAX_RAW]))


async def extract(turns: Sequence[Turn], ask: Ask, prompts: Prompts, protocol: Protocol = BEDSIDE) -> Extraction:
    """The diagnoses that the assessor finds in the doctor's words. Raises what `ask` raises."""
    words = doctors_words(turns, lower=protocol.lower)
    messages = (Message("system", prompts.fill("extraction")), Message("user", words))
    asked = await ask_assessor(messages, ask, read_names, protocol=protocol, attempts=protocol.extractions)
    return Extraction(asked.value or (), asked.answer, asked.attempts, asked.failure)


def doctors_words(turns: Sequence[Turn], *, lower: bool = False) -> str:
    """The doctor's utterances as a JSON list of strings, one per line; in lower case, as in the authors' code."""
    texts = [turn.text for turn in turns if turn.role == "doctor"]
    return _list(text.lower() if lower else text for text in texts)


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
    return _list({"turn": number, "speaker": turn.role, "text": turn.text} for number, turn in enumerate(turns, 1))


def _list(items: Iterable[Any]) -> str:
    return "[\n" + ",\n".join(json.dumps(item, ensure_ascii=False) for item in items) + "\n]"


def schema(order: Sequence[str] = ITEMS) -> dict[str, Any]:
    """JSON Schema of the assessor's answer."""
    return object_schema({item: tuple(LEVELS) if item == OVERALL else (0, 1) for item in order})


def as_items(scores: Mapping[str, int]) -> str:
    """An assessor's answer that gives these scores, in a form that `scores_in` reads."""
    return json.dumps({item: LEVELS[scores[item]] if item == OVERALL else scores[item] for item in ITEMS})
