"""Asks the assessor until its answer can be read, four times at most (S2, 3M-G25)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from baselines.dialogue.game import Ask
from baselines.threemdbench.consultation.cleaning import scrub
from baselines.threemdbench.consultation.settings import ATTEMPTS, DECODING, RETRY_TEMPERATURE
from loaders.models.asking import Asked, ask_until, writable
from loaders.models.messages import Answer, Message

Value = TypeVar("Value")

_MAX_RAW = 2_000


async def ask_assessor(
    messages: Sequence[Message], ask: Ask, read: Callable[[str], Value], *, json_schema: Mapping[str, Any] | None = None
) -> Asked[Value]:
    """What `read` makes of the first answer that it takes; the answer is cut to what a record keeps of it.

    `read` raises Unfit for an answer that it does not take. What a reasoning model thinks, and tokens of chat
    templates, are taken off before. Raises what `ask` raises.
    """
    decoding = DECODING["assessor"]

    def once(messages: Sequence[Message], attempt: int) -> Awaitable[Answer]:
        return ask(
            "assessor",
            messages,
            temperature=RETRY_TEMPERATURE if attempt else decoding.temperature,
            max_tokens=decoding.max_tokens,
            json_schema=json_schema,
            attempt=attempt,
        )

    # S2: the benchmark asks the same again, only warmer. An assessor that was told of its mistake would be another one.
    asked = await ask_until(once, messages, lambda answer: read(scrub(answer)[0]), attempts=ATTEMPTS, again=None)
    return replace(asked, answer=writable(asked.answer[:_MAX_RAW]))
