"""Asks the assessor until its answer can be read, and reads which diagnosis the doctor gave, from its words alone.

The doctor's words come to the assessor as a JSON list of strings, so that nothing in them can pass for the end of an
instruction or for another speaker. What comes back is a list of names or "none", also within a short sentence or as a
Python list; an answer that is neither is asked for again (Appendix H.4, 3M-G23).
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, cast

from baselines.dialogue.game import Ask
from baselines.threemdbench.consultation.cleaning import scrub
from baselines.threemdbench.consultation.naming import read_names
from baselines.threemdbench.consultation.protocol import BEDSIDE, Protocol
from baselines.threemdbench.consultation.record import Extraction, Turn
from loaders.models.asking import Asked, ask_until, writable
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
    asked = await ask_until(
        asking,
        messages,
        lambda answer: read(scrub(answer)[0]),
        attempts=protocol.attempts if attempts is None else attempts,
        again=None,
    )
    return replace(asked, answer=writable(asked.answer[:_MAX_RAW]))


async def extract(turns: Sequence[Turn], ask: Ask, prompts: Prompts, protocol: Protocol = BEDSIDE) -> Extraction:
    """The diagnoses that the assessor finds in the doctor's words. Raises what `ask` raises."""
    messages = (
        Message("system", prompts.fill("extraction")),
        Message("user", doctors_words(turns, lower=protocol.lower)),
    )
    asked = await ask_assessor(messages, ask, read_names, protocol=protocol, attempts=protocol.extractions)
    return Extraction(asked.value or (), asked.answer, asked.attempts, asked.failure)


def doctors_words(turns: Sequence[Turn], *, lower: bool = False) -> str:
    """The doctor's utterances as a JSON list of strings, one per line; in lower case, as in the authors' code."""
    texts = [turn.text.lower() if lower else turn.text for turn in turns if turn.role == "doctor"]
    said = [json.dumps(text, ensure_ascii=False) for text in texts]
    return "[\n" + ",\n".join(said) + "\n]"
