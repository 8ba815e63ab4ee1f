"""Asks the assessor until its answer can be read, four times at most (S2, 3M-G25)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from baselines.dialogue.game import Ask
from baselines.threemdbench.consultation.cleaning import scrub
from baselines.threemdbench.consultation.settings import ATTEMPTS, DECODING, RETRY_TEMPERATURE
from loaders.models.messages import Message

Read = TypeVar("Read")

_MAX_RAW = 2_000


async def ask_assessor(
    messages: Sequence[Message], ask: Ask, read: Callable[[str], Read], *, json_schema: Mapping[str, Any] | None = None
) -> tuple[Read | None, str, int, str | None]:
    """What `read` makes of the first answer that it takes, that answer, how many there were, and why none was taken.

    `read` raises ValueError for an answer that it does not take. What a reasoning model thinks, and tokens of chat
    templates, are taken off before. Raises what `ask` raises.
    """
    decoding = DECODING["assessor"]
    raw, failure = "", None
    for attempt in range(ATTEMPTS):
        answer = await ask(
            "assessor",
            messages,
            temperature=RETRY_TEMPERATURE if attempt else decoding.temperature,
            max_tokens=decoding.max_tokens,
            json_schema=json_schema,
            attempt=attempt,
        )
        raw = answer.text[:_MAX_RAW].encode(errors="replace").decode()  # a lone surrogate cannot be written to a file
        try:
            return read(scrub(answer)[0]), raw, attempt + 1, None
        except ValueError as problem:
            failure = str(problem)
    return None, raw, ATTEMPTS, failure
