"""Requests without inspect_ai in between: the same bytes, the same answers and errors, and who asks when."""

from __future__ import annotations

import asyncio
import gc
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loaders.errors import ModelError
from loaders.models import chat
from loaders.models.chat import open_model
from loaders.models.messages import REQUEST, Answer, ChatModel, Message
from tests.parts.chat_server import ChatServer, Reply, completion, raw, status

pytest.importorskip("inspect_ai", reason="the dialogue extra is not installed")
from inspect_ai.model import Model

PNG = b"\x89PNG\r\n\x1a\n" + b"rest of a picture"
HELLO = [Message("system", "You write for “patients”."), Message("user", 'Say "messages":[{} – \\u00e9, 3 \u2028cm.\n')]
TALK = [*HELLO, Message("assistant", "<think>hm</think> Well…"), Message("user", "Again: 😀")]
SCHEMA = {"type": "object", "properties": {"ü": {"type": "string"}}, "required": ["ü"]}
OWN = {"x-irid", "accept-encoding", "connection", "host"}
"""Headers that say which client sent a request, and its number."""


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOCAL_API_KEY", "OPENAI_API_KEY", "VLLM_API_KEY"):
        monkeypatch.setenv(name, "sk-local-0123456789")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    # Beside each failed request inspect_ai keeps its traceback in colours, which takes most of the time of these tests.
    monkeypatch.setattr("inspect_ai.model._model.format_traceback", lambda *_: ("", ""), raising=False)
    with ChatServer("A pocket of pus.") as server:
        yield server


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The last message of each request that inspect_ai made, sent or not."""
    made: list[str] = []
    generate = Model.generate

    async def counted(self: Model, input: Any, **given: Any) -> Any:
        made.append(input[-1].text)
        return await generate(self, input, **given)

    monkeypatch.setattr(Model, "generate", counted)
    return made


def opened(server: ChatServer, name: str = "openai-api/local/m", *, direct: bool = True, **given: Any) -> ChatModel:
    with pytest.MonkeyPatch.context() as patch:
        if not direct:
            patch.setattr(chat, "PROVIDERS", ())
        return open_model(name, base_url=server.base_url, max_retries=0, **given)


def ask(model: ChatModel, messages: list[Message] = HELLO, **given: Any) -> Answer:
    return asyncio.run(model.ask(messages, **({"temperature": 0, "max_tokens": 50} | given)))


def several(model: ChatModel, number: int = 4) -> set[str]:
    """What is said to questions that are asked at once."""

    async def asked() -> list[Answer]:
        talks = [[Message("user", f"question {each}")] for each in range(number)]
        return await asyncio.gather(*(model.ask(talk, temperature=0, max_tokens=5) for talk in talks))

    return {answer.text for answer in asyncio.run(asked())}


# What is sent


@pytest.mark.parametrize("name", ["openai-api/local/m", "openai/gpt-4o-mini", "vllm/meta/m"])
def test_bytes_are_those_of_inspect_ai(server: ChatServer, written: list[str], name: str) -> None:
    """Of every decoding, and of a talk that goes on, asked twice each: inspect_ai writes the first of its form."""
    decodings: list[dict[str, Any]] = [
        {},
        {"json_schema": SCHEMA},
        {"temperature": 0.3, "seed": 7, "top_p": 0.9, "max_tokens": 9},
        {"temperature": None, "reasoning_effort": "low"},
    ]
    ways = {}
    token = REQUEST.set("name")
    for direct in (False, True):
        model = opened(server, name, direct=direct)
        ask(model)  # vLLM's client appears as it is used first
        server.requests, written[:] = [], []
        asked = [(messages, decoding) for messages in (HELLO, TALK) for decoding in decodings]
        for messages, decoding in [*asked, (TALK[:3], {})]:  # vLLM is told to go on with what an assistant began
            assert [ask(model, messages, **decoding).text for _ in range(2)] == ["A pocket of pus."] * 2
        ways[direct] = [
            (request.path, request.sent, {name: text for name, text in request.headers.items() if name not in OWN})
            for request in server.requests
            if request.path.endswith("/chat/completions")  # and not where vLLM tells its context
        ]
        # All of them, or one of each form, of which one was known but for vLLM.
        assert len(written) == (18 if not direct else 9 if name.startswith("vllm") else 8)
    REQUEST.reset(token)
    assert ways[True] == ways[False] and len(ways[True]) == 18
    assert ways[True][0][2]["idempotency-key"] == "name-0-0" and ways[True][0][2]["openai-organization"] == "org-1"


def test_room_for_thoughts_is_another_form(server: ChatServer) -> None:
    server.reply = [Reply("", "length", "hm"), Reply("Pus.", reasoning="hm")]
    ways = []
    for direct in (False, True):
        model = opened(server, direct=direct)
        server.requests, server._served = [], 0
        answers = [ask(model, TALK) for _ in range(3)]
        ways.append((answers, [request.sent for request in server.requests]))
    assert ways[0] == ways[1] and len(ways[0][1]) == 4


# What comes back


def _reply(told: dict[str, Any] | None = None, **message: Any) -> str:
    """A completion with other fields, the message's among them."""
    body = completion({"model": "m", "messages": []}, Reply("One two."))
    body["choices"][0]["message"] |= message
    return json.dumps(body | (told or {}))


def _choice(**fields: Any) -> str:
    body = completion({"model": "m", "messages": []}, Reply("One two."))
    body["choices"][0] |= fields
    return json.dumps(body)


def _without(*path: Any) -> str:
    body = inner = completion({"model": "m", "messages": []}, Reply("One two."))
    for step in path[:-1]:
        inner = inner[step]
    del inner[path[-1]]
    return json.dumps(body)


USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
REPLIES = {
    "plain": _reply(),
    "cut off": _choice(finish_reason="length"),
    "nulls": _reply({"system_fingerprint": None}, refusal=None, tool_calls=[], reasoning_content=None),
    "cached": _reply({"usage": USAGE | {"prompt_tokens_details": {"cached_tokens": 4}}}),
    "other end": _choice(finish_reason="eos"),
    "no end": _choice(finish_reason=None),
    "filtered": _choice(finish_reason="content_filter"),
    "tool": _choice(finish_reason="tool_calls"),
    "refusal": _reply(refusal="I will not."),
    "reasoning": _reply(reasoning="hm"),
    "reasoning tokens": _reply({"usage": USAGE | {"completion_tokens_details": {"reasoning_tokens": 4}}}),
    "think": _reply(content="<think>hm</think>One two."),
    "half a think": _reply(content="hm</think>One two."),
    "blank": _reply(content=" \n"),
    "null": _reply(content=None),
    "parts": _reply(content=[{"type": "text", "text": "One"}]),
    "half a character": _reply(content="One \ud83d two."),
    "all characters": _reply(content='\u2028 "é" 😀 \x00 </s>'),
    "spaces": _reply(content="  One two. \n"),
    "log": _choice(logprobs={"content": []}),
    "no usage": _without("usage"),
    "usage of true": _reply({"usage": USAGE | {"prompt_tokens": True, "completion_tokens": False}}),
    "usage below none": _reply({"usage": USAGE | {"prompt_tokens": -7, "completion_tokens": -5}}),
    "usage beyond all": _reply({"usage": USAGE | {"prompt_tokens": 1 << 63, "completion_tokens": 10**30}}),
    "half a usage": _without("usage", "total_tokens"),
    "no id": _without("id"),
    "no model": _without("model"),
    "dated model": _reply({"model": "m-2026-05-01"}),
    "half a character as model": _reply({"model": "m \ud83d"}),
    "no index": _without("choices", 0, "index"),
    "no role": _without("choices", 0, "message", "role"),
    "two": _reply({"choices": json.loads(_reply())["choices"] * 2}),
    "none": _reply({"choices": []}),
    "an error": _reply({"error": {"message": "upstream"}}),
    "only an error": '{"error": {"message": "upstream", "code": 502}}',
    "no JSON": '{"id": "x", "choices": [{',
    "list": "[]",
    "deep": "[" * 5000,
}


def test_replies_mean_what_inspect_ai_says(server: ChatServer, written: list[str]) -> None:
    ways = [opened(server, direct=direct) for direct in (False, True)]
    for model in ways:
        several(model)
        model._thinks = False  # type: ignore[attr-defined]  # what is cut off is not asked for again

    def said(model: ChatModel, fault: Any) -> Answer | str:
        server.faults += [fault]
        try:
            return ask(model)
        except ModelError as error:
            return str(error)
        finally:
            assert not server.faults

    faults = {name: raw(200, body) for name, body in REPLIES.items()}
    faults |= {"text": raw(200, _reply(), "text/plain"), "created": raw(201, _reply()), "long": status(413)}
    for name, fault in faults.items():
        expected, found = (said(model, fault) for model in ways)
        assert found == expected, name
    written.clear()
    assert isinstance(said(ways[1], raw(200, _reply(), "application/json; charset=utf-8")), Answer)
    assert said(ways[1], raw(200, REPLIES["dated model"])) == Answer("One two.", 0, 2, "stop", None, "m-2026-05-01")
    assert said(ways[1], raw(200, REPLIES["half a character as model"])) == Answer("One two.", 0, 2, "stop")
    for plain in ("plain", "cut off", "nulls", "cached", "half a think", "all characters", "spaces"):
        assert isinstance(said(ways[1], raw(200, REPLIES[plain])), Answer)
    assert written == []


# Who asks


def test_inspect_ai_writes_one_request_of_many(server: ChatServer, written: list[str]) -> None:
    assert several(opened(server), 20) == {"A pocket of pus."}
    assert (len(written), len(server.requests)) == (1, 20)


def test_pictures_are_asked_about_by_inspect_ai(server: ChatServer, written: list[str]) -> None:
    model = opened(server)
    several(model)
    assert ask(model, [Message("user", "What is it?", (PNG,))]).text == "A pocket of pus."
    assert written[1:] == ["What is it?"]


def test_half_a_character_is_met_by_inspect_ai_and_spoils_no_other_request(server: ChatServer) -> None:
    model = opened(server)
    for _ in range(2):
        with pytest.raises(ModelError):
            ask(model, [Message("user", "\ud83d")])
        assert several(model) == {"A pocket of pus."}
    assert len(server.requests) == 8


def test_a_role_in_an_evaluation_is_played_by_inspect_ai(server: ChatServer, written: list[str]) -> None:
    model = opened(server)
    several(model)
    playing, _ = model.in_role("doctor")
    assert ask(playing).text == ask(playing).text and len(written) == 3


def test_a_proxy_is_used_except_for_hosts_that_need_none(
    server: ChatServer, written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ChatServer("By proxy.") as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.base_url.removesuffix("/v1"))
        assert several(opened(server)) == {"By proxy."}
        monkeypatch.setenv("NO_PROXY", "example.org,127.0.0.1")
        written.clear()
        assert several(opened(server)) == {"A pocket of pus."} and len(written) == 1
        assert (len(proxy.requests), len(server.requests)) == (4, 4)


@pytest.mark.parametrize("setting", ["INSPECT_HTTP_CONNECT_TIMEOUT", "INSPECT_DISABLE_MODEL_API"])
def test_settings_of_inspect_ai_are_its_own(
    server: ChatServer, written: list[str], monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    monkeypatch.setenv(setting, "7")
    model = opened(server)
    if "DISABLE" in setting:
        with pytest.raises(ModelError):
            several(model)
    else:
        several(model)
        assert len(written) > 4


def test_certificates_are_checked_against_those_of_the_environment(
    server: ChatServer, written: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout {key} -out {certificate}"
    name = "-subj /CN=here -addext subjectAltName=IP:127.0.0.1"
    subprocess.run(f"{made} {name}".split(), check=True, capture_output=True)
    with ChatServer("Secure.") as secure:
        secure.secure(certificate, key)
        monkeypatch.setattr(ChatServer, "base_url", secure.base_url.replace("http:", "https:"))
        with pytest.raises(ModelError, match="certificate verify failed.*SSL_CERT_FILE"):
            several(opened(secure))
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        written.clear()
        assert several(opened(secure)) == {"Secure."} and len(written) == 1


# Connections


def test_connections_end_with_their_loop(server: ChatServer, caplog: pytest.LogCaptureFixture) -> None:
    model = opened(server)
    for _ in range(3):
        several(model)
    loop = asyncio.new_event_loop()  # whoever runs one by hand
    loop.run_until_complete(model.ask(HELLO, temperature=0, max_tokens=5))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
    assert len(model.direct._lines) == 1  # type: ignore[attr-defined]
    del model
    gc.collect()
    assert "Unclosed" not in caplog.text


def test_a_connection_is_used_again(server: ChatServer) -> None:
    opened_by: list[Any] = []
    process = server._server.process_request
    server._server.process_request = lambda *given: (opened_by.append(given), process(*given))[1]  # type: ignore[method-assign]
    model = opened(server)

    async def asked() -> None:
        for _ in range(5):
            await model.ask(HELLO, temperature=0, max_tokens=5)

    asyncio.run(asked())
    assert (len(server.requests), len(opened_by)) == (5, 1)
