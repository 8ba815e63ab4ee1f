"""Replies of servers that speak the protocol of OpenAI nearly, in the form in which inspect_ai reads them.

It fails on a count of tokens of which half is missing, although the answer is there and was paid for, and on a stream
that it did not ask for. It takes a failure that is sent as a success for an answer, and a thought within the text for a
part of it, unless it is marked with `<think>`. It knows only OpenAI's words for why a text ends, and for a question
that is too long or unwanted.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

from loaders.models.failures import said_in

STREAM = "text/event-stream"
"""What a request accepts whose answer is to come in pieces, and be joined here."""

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

# Of a text of which only a part is there: vLLM, Zhipu, DeepSeek.
_FAILED = ("error", "abort", "network_error", "insufficient_system_resource")
_ENDS = {  # OpenAI's reason -> those of Gemini, Zhipu and Anthropic
    "content_filter": re.compile(
        r"content.?filter|safety|sensitive|recitation|blocklist|prohibited|spii|refusal|model_armor", re.I
    ),
    "length": re.compile(r"max_tokens|context_window", re.I),
}
# OpenAI's code -> the words of vLLM, SGLang, llama.cpp, Ollama, Anthropic, Gemini, TGI and Moonshot; and of OpenAI and
# Groq for a question of more tokens than the account has in a minute, however long one waits.
_TURNED_AWAY = {
    "context_length_exceeded": re.compile(
        r"\bmaximum (?:context|model|prompt) length\b"
        r"|\b(?:exceed\w*|(?:long|great)er)\b.{0,40}\bcontext (?:size|length|window)\b"
        r"|\bprompt is too long\b|\binput token count\b|`inputs`.{0,40}\bmust\b|\bmodel token limit\b"
        r"|\brequest too large for\b",
        re.IGNORECASE,
    ),
    "content_filter": re.compile(r"\binappropriate content\b", re.I),  # DashScope
}


async def as_meant(response: Any) -> None:
    """A hook of the OpenAI client: changes a response to what its server means by it, where nobody else would."""
    if response.status_code == 301:
        response.status_code = 308  # the client would go to the new address without the question
    kind, request = response.headers.get("content-type", ""), response.request
    stream = kind.startswith(STREAM) and request.url.path.endswith("/chat/completions")
    if "json" not in kind and not stream:
        return
    with suppress(ValueError, TypeError, AttributeError, RecursionError):
        data = await response.aread()
        told = _joined(data.decode()) if stream else json.loads(data)
        if response.status_code in (400, 413, 422, 429, 500) and (turned_away := _turned_away(told)):
            response.status_code, told = 400, turned_away
        elif response.status_code == 200 and isinstance(told, dict):
            response.status_code, told = _meant(told)
        theirs = stream and request.headers.get("accept") != STREAM and json.loads(request.content).get("stream")
        if not theirs or response.status_code != 200:  # else inspect_ai has asked for a stream, and joins it
            response.headers["content-type"] = "application/json"
            response._content = json.dumps(told).encode()


def _turned_away(told: Any) -> Any:
    """An error that says that the question is too long or unwanted, in OpenAI's form; None for any other."""
    said = said_in(told)
    code = next((code for code, words in _TURNED_AWAY.items() if words.search(said)), None)
    return code and {"error": {"message": said, "code": code}}


def _joined(stream: str) -> Any:
    """The completion that a stream of its chunks amounts to, or the error in it, such as that it broke off."""
    whole: dict[str, Any] = {"choices": []}
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    choice: dict[str, Any] = {"index": 0, "message": message}
    for line in stream.split("\n"):
        if not line.startswith("data:"):
            continue
        event = line.removeprefix("data:").strip()
        if event == "[DONE]":
            choice.setdefault("finish_reason", None)
            break
        chunk = json.loads(event)
        if chunk.get("error"):
            return chunk
        whole |= {name: chunk[name] for name in ("id", "created", "model", "usage") if chunk.get(name)}
        for part in chunk.get("choices") or ():
            for name, told in (part.get("delta") or {}).items():
                text = _text(told) if isinstance(told, list) else told
                if name != "role" and text and isinstance(text, str):
                    message[name] = message.get(name, "") + text
            choice |= {"finish_reason": part["finish_reason"]} if part.get("finish_reason") else {}
    if "finish_reason" not in choice:
        return {"error": {"message": "the stream broke off"}}
    return whole | {"object": "chat.completion", "choices": [choice]}


def _meant(told: dict[str, Any]) -> tuple[int, Any]:
    """The status and the body that a reply with status 200 should have had."""
    match told:
        case {"choices": [{**first}, *_]} if first.get("error") or first.get("finish_reason") in _FAILED:
            error = first.get("error") or "the generation failed"
        case {"choices": [_, *_] as choices}:
            names = {name: told[name] if isinstance(told.get(name), str) else "" for name in ("id", "model")}
            return 200, {**told, **names, "choices": [*map(_whole, choices)], "usage": _usage(told.get("usage"))}
        case _ if not (error := told.get("error")):
            return 200, told
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, int) and 400 <= code <= 599 else 502, {"error": error}


def _whole(choice: Any) -> Any:
    """A choice whose text, if it comes in parts, is one text, with the marks of a thought that everybody knows, and
    OpenAI's reason for its end."""
    match choice:
        case {"message": {"content": str() | [*_] as told, **message}}:
            text = marked(told if isinstance(told, str) else _text(told))
            choice = {**choice, "message": {**message, "content": text}}
    match choice:
        case {"finish_reason": str(end)}:
            return {**choice, "finish_reason": next((one for one, names in _ENDS.items() if names.search(end)), end)}
    return choice


def _text(parts: list[Any]) -> str:
    return "".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


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
    """A count of tokens, with its total; none if half of it is missing. What only the total counts was written too: the
    thoughts of Gemini and Grok, which cost as much."""
    match told:
        case {"prompt_tokens": int() | float() as read, "completion_tokens": int() | float() as written}:
            total = told.get("total_tokens") or read + written
        case {"prompt_tokens": int() | float() as read, "total_tokens": int() | float() as total}:
            written = total - read
        case _:
            return None
    if isinstance(total, int | float) and total > read + written and min(read, written) >= 0:
        written = total - read
    return told | {"completion_tokens": written, "total_tokens": total}
