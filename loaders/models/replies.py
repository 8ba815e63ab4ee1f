"""Replies of servers that speak the protocol of OpenAI nearly, in the form in which inspect_ai reads them.

It fails on a count of tokens of which half is missing, although the answer is there and was paid for, and takes a
failure that is sent as a success for an answer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any


async def as_meant(response: Any) -> None:
    """A hook of the OpenAI client: changes a response to what its server means by it, where nobody else would."""
    if response.status_code == 301:
        response.status_code = 308  # the client would go to the new address without the question
    elif response.status_code == 200 and "json" in response.headers.get("content-type", ""):
        with suppress(ValueError, RecursionError):
            told = json.loads(await response.aread())
            if isinstance(told, dict) and (error := _failure(told)):
                code = error.get("code") if isinstance(error, dict) else None
                response.status_code = code if isinstance(code, int) and 400 <= code <= 599 else 502
                response._content = json.dumps({"error": error}).encode()
            elif isinstance(told, dict) and (read := _readable(told)) != told:
                response._content = json.dumps(read).encode()


def _failure(told: Mapping[str, Any]) -> Any:
    """The error that a gateway sends as a success, in place of the choices or, if it comes midway, in the first."""
    match told.get("choices"):
        case [{**choice}, *_] if choice.get("error") or choice.get("finish_reason") == "error":
            return choice.get("error") or "the generation failed"
        case [_, *_]:
            return None
    return told.get("error")


def _readable(told: Mapping[str, Any]) -> Mapping[str, Any]:
    """A chat completion without what inspect_ai cannot read: names that are none, half a count of tokens, a text in
    parts. Anything else as it is."""
    if not isinstance(told.get("choices"), list):
        return told
    names = {name: told[name] if isinstance(told.get(name), str) else "" for name in ("id", "model")}
    return {**told, **names, "choices": [_whole(choice) for choice in told["choices"]], "usage": _usage(told)}


def _whole(choice: Any) -> Any:
    match choice:
        case {"message": {"content": [*parts], **message}}:
            texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
            return {**choice, "message": {**message, "content": "".join(texts)}}
    return choice


def _usage(told: Mapping[str, Any]) -> Mapping[str, Any] | None:
    match told.get("usage"):
        case {"prompt_tokens": int() | float() as read, "completion_tokens": int() | float() as written, **others}:
            total = others.pop("total_tokens", None) or read + written
            return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": total, **others}
    return None
