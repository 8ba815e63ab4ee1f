"""Converts messages, schemas and answers to and from inspect_ai's types."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from loaders.models.messages import Answer, Message, read_image

TOLD: ContextVar[dict[Message | bytes, Any] | None] = ContextVar("told", default=None)
"""What was sent in a dialogue, messages and images, in inspect_ai's form: empty at its start and its end."""

_MOST_TOKENS = 1_000_000_000
_LONGEST_NAME = 200


def forget() -> None:
    """Ends a dialogue: what was sent would else live as long as asyncio's timers, which keep the context of a request
    until the time that it was allowed is over."""
    if (told := TOLD.get()) is not None:
        told.clear()


def to_inspect(message: Message) -> Any:
    """The message in inspect_ai's form; within a dialogue always the same object, so that its log stores it once."""
    told = TOLD.get()
    if told is None or (message.images and any(isinstance(image, Path) for image in message.images)):
        return inspect_message(message)  # not cached, as a file may have changed
    known = told.get(message)
    if known is None:
        known = told[message] = inspect_message(message)
    return known


def inspect_message(message: Message) -> Any:
    """The message in inspect_ai's form, for a log; it contains images, never their paths. Raises InputError."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser, ContentImage, ContentText

    if message.role == "system":
        return ChatMessageSystem(content=message.text)
    if message.role == "assistant":
        return ChatMessageAssistant(content=message.text)
    if not message.images:
        return ChatMessageUser(content=message.text)
    content: list[Any] = [ContentText(text=message.text)]
    for image in message.images:
        content.append(ContentImage(image=_address(*read_image(image))))
    return ChatMessageUser(content=content)


def _address(image: bytes, kind: str) -> str:
    """The image as a data URL; within a dialogue always the same text, however many messages show it."""
    told = TOLD.get()
    if told is not None and image in told:
        return str(told[image])
    address = f"data:image/{kind};base64,{base64.b64encode(image).decode('ascii')}"
    if told is not None:
        told[image] = address
    return address


def response_schema(json_schema: Mapping[str, Any]) -> Any:
    """A JSON Schema in inspect_ai's form. Raises ValueError for keywords that it does not pass on to providers."""
    return _parsed_schema(json.dumps(json_schema))


@lru_cache(maxsize=64)
def _parsed_schema(text: str) -> Any:
    from inspect_ai.model import ResponseSchema
    from inspect_ai.util import JSONSchema

    json_schema = json.loads(text)
    schema = JSONSchema.model_validate(json_schema)
    if schema.model_dump(exclude_none=True) != json_schema:
        raise ValueError("json_schema holds keywords that inspect_ai does not pass on to providers")
    return _shared(ResponseSchema)(name="answer", json_schema=schema)


@cache
def _shared(kind: Any) -> Any:
    """The class, with copying disabled: inspect_ai copies a schema, which nobody changes, node by node for each
    request, which takes a seventh of its time per request."""
    return type(kind.__name__, (kind,), {"__module__": __name__, "__deepcopy__": lambda schema, memo: schema})


def answer_of(output: Any) -> Answer:
    """The answer in an output of inspect_ai."""
    stop = str(output.stop_reason)
    usage, read, written = output.usage, None, None
    if usage is None and stop in ("model_length", "content_filter"):
        return Answer("", None, None, stop)  # a rejected prompt: the text is the provider's error
    parts = output.message.content
    if isinstance(parts, list) and any(part.type == "text" and part.refusal for part in parts):
        stop = "content_filter"
    if usage is not None:
        cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
        read, written = counted(usage.input_tokens + cached), counted(usage.output_tokens)
    return Answer(output.completion, read, written, stop, _thought(output), served(output.model))


def counted(tokens: int) -> int | None:
    """Tokens as a server counts them; None if no request has so many: a bill made of them would be wrong, and a store
    cannot hold more than 64 bits."""
    return int(tokens) if 0 <= tokens <= _MOST_TOKENS else None


def served(said: str) -> str | None:
    """The model that a server says it asked; None for nothing, and for what can be no name."""
    return said if 0 < len(said) <= _LONGEST_NAME and said.isprintable() else None


def _thought(output: Any) -> str | None:
    """What the model thought, as far as the provider says; None if nothing suggests a thought."""
    content = output.message.content
    parts = [part for part in content if part.type == "reasoning"] if isinstance(content, list) else []
    if parts:
        return "\n".join(part.reasoning for part in parts if not part.redacted).strip()
    # All tokens are used up and no word was said: they went somewhere, even if the provider counts none of them.
    silent = not output.completion.strip() and str(output.stop_reason) == "max_tokens"
    return "" if silent or (output.usage and output.usage.reasoning_tokens) else None
