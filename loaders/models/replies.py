"""Replies of servers that speak the protocol of OpenAI nearly, in the form in which inspect_ai reads them.

It fails on a count of tokens of which half is missing, although the answer is there and was paid for; it takes a
failure that is sent as a success for an answer, and a thought within the text for a part of it, unless it is marked
with `<think>`.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

# The marks of gpt-oss, MedGemma, Gemma 4, Command A, Seed-OSS, Magistral, Kimi-VL and HuatuoGPT-o1, in that order.
_BEGUN = (
    r"<\|channel\|>analysis<\|message\|>|<unused94>(?:thought\n)?|<\|channel>thought\n|<\|START_THINKING\|>|<seed:think>"
    r"|\[THINK\]|◁think▷|## Thinking\n(?=.*\n## Final Response\n)"
)
_FINAL = r"(?:<\|end\|>)?(?:<\|start\|>assistant)?<\|channel\|>final(?:<\|constrain\|>|[^<])*<\|message\|>"
_ENDED = (
    rf"{_FINAL}|<unused95>|<channel\|>"
    r"|<\|END_THINKING\|>(?:<\|START_RESPONSE\|>)?|</seed:think>|\[/THINK\]|◁/think▷|\n## Final Response\n"
)
_THOUGHT = re.compile(rf"\A\s*(?:{_BEGUN})(.*?)(?:({_ENDED})|\Z)", re.DOTALL)
_UNTHOUGHT = re.compile(rf"\A\s*{_FINAL}")
_LAST = re.compile(r"<\|(?:end|return|END_RESPONSE)\|>\s*\Z")


async def as_meant(response: Any) -> None:
    """A hook of the OpenAI client: changes a response to what its server means by it, where nobody else would."""
    if response.status_code == 301:
        response.status_code = 308  # the client would go to the new address without the question
    if response.status_code != 200 or "json" not in response.headers.get("content-type", ""):
        return
    with suppress(ValueError, RecursionError):
        told = json.loads(await response.aread())
        if isinstance(told, dict):
            response.status_code, meant = _meant(told)
            response._content = json.dumps(meant).encode()


def _meant(told: dict[str, Any]) -> tuple[int, Any]:
    """The status and the body that a reply with status 200 should have had."""
    match told:
        case {"choices": [{**first}, *_]} if first.get("error") or first.get("finish_reason") == "error":
            error = first.get("error") or "the generation failed"
        case {"choices": [_, *_] as choices}:
            names = {name: told[name] if isinstance(told.get(name), str) else "" for name in ("id", "model")}
            return 200, {**told, **names, "choices": [*map(_whole, choices)], "usage": _usage(told.get("usage"))}
        case _ if not (error := told.get("error")):
            return 200, told
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code <= 599 else 502, {"error": error}


def _whole(choice: Any) -> Any:
    """A choice whose text, if it comes in parts, is one text, with the marks of a thought that everybody knows."""
    match choice:
        case {"message": {"content": [*parts], **message}}:
            texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
            return _whole({**choice, "message": {**message, "content": "".join(texts)}})
        case {"message": {"content": str(text), **message}}:
            return {**choice, "message": {**message, "content": marked(text)}}
    return choice


def marked(text: str) -> str:
    """A text whose thought is marked with `<think>`, whatever its model marks it with; the text itself if with nothing,
    and the answer alone of a model that marks only that.

    >>> marked("<unused94>thought\\nHm.<unused95>A pocket of pus."), marked("[THINK]Hm")
    ('<think>Hm.</think>A pocket of pus.', '<think>Hm')
    """
    if found := _UNTHOUGHT.match(text):
        return _LAST.sub("", text[found.end() :])
    if (found := _THOUGHT.match(text)) is None:
        return text
    return f"<think>{found[1]}" + f"</think>{_LAST.sub('', text[found.end() :])}" * (found[2] is not None)


def _usage(told: Any) -> Any:
    """A count of tokens, with its total; none if half of it is missing."""
    match told:
        case {"prompt_tokens": int() | float() as read, "completion_tokens": int() | float() as written}:
            return told | {"total_tokens": told.get("total_tokens") or read + written}
    return None
