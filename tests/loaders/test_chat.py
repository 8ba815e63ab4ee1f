"""Chat models: what is sent, what comes back, and every way to fail, through the real client library."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import logging
import pickle
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextvars import Context
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from loaders.errors import InputError, MissingExtra, ModelError, ModelRefused
from loaders.models import chat, tries
from loaders.models.answers import AnswerStore, gather_bounded
from loaders.models.chat import THOUGHTS, InspectModel, open_model
from loaders.models.messages import PATIENCE, REQUEST, Answer, ChatModel, Message
from loaders.models.scripted_chat import scripted
from loaders.models.waiting import waiting, watched
from tests.parts.chat_server import Body, ChatServer, Fault, Reply, completion, cut, hang, raw, status
from tests.parts.tiny_chat import MISSING, tiny_chat_server

RATE_LIMIT = PATIENCE.get()
KEY = "sk-local-0123456789"
PNG = b"\x89PNG\r\n\x1a\n" + b"rest of a picture"
PROMPT = "Say in plain words: abscess of 3 cm in the left lobe of the liver."
HELLO = [Message("system", "You write for patients."), Message("user", PROMPT)]


both_ways = pytest.mark.parametrize("server", ["directly", "by inspect_ai"], indirect=True)
"""How the server is asked; what it is sent and what is made of its replies is compared in test_direct."""


class Calm:
    """Stands in for sleeping between tries, and keeps what it was asked to wait."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.waits.append(seconds)


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOCAL_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, KEY)
    for name in ("OPENAI_BASE_URL", "LOCAL_BASE_URL", "INSPECT_EVAL_MODEL_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def calm() -> Calm:
    return Calm()


@pytest.fixture
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    pytest.importorskip("inspect_ai", reason="the dialogue extra is not installed")
    # Beside each failed request inspect_ai keeps its traceback in colours, which takes most of the time of these tests.
    monkeypatch.setattr("inspect_ai.model._model.format_traceback", lambda *_: ("", ""), raising=False)
    if getattr(request, "param", "directly") == "by inspect_ai":
        monkeypatch.setattr(chat, "PROVIDERS", ())
    with ChatServer("A pocket of pus.") as server:
        yield server


def opened(server: ChatServer, calm: Calm, *, retries: int = 2, timeout: float = 30) -> ChatModel:
    return open_model(
        "openai-api/local/some-model", base_url=server.base_url, max_retries=retries, timeout=timeout, sleep=calm
    )


def ask(model: ChatModel, messages: list[Message] = HELLO) -> Answer:
    return asyncio.run(model.ask(messages, temperature=0, max_tokens=50))


def refused(model: ChatModel, messages: list[Message] = HELLO) -> str:
    with pytest.raises(ModelError) as caught:
        ask(model, messages)
    return str(caught.value)


# What is sent and what comes back


def test_one_question_one_answer(server: ChatServer, calm: Calm) -> None:
    model = opened(server, calm)
    # Tokens of this server are words: 4 + 15 in, 4 out.
    assert ask(model) == Answer("A pocket of pus.", input_tokens=19, output_tokens=4, stop="stop", served="some-model")
    [request] = server.requests
    assert request.body == {
        "model": "some-model",
        "messages": [
            {"role": "system", "content": "You write for patients."},
            {"role": "user", "content": PROMPT},
        ],
        "max_tokens": 50,
        "temperature": 0.0,
    }
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert (model.name, model.stand_in, calm.waits) == ("openai-api/local/some-model", False, [])


def test_history_seed_schema_and_image_are_passed_on(server: ChatServer, calm: Calm, tmp_path: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(PNG)
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    history = [
        Message("user", "What is this?", (picture, b"\xff\xd8\xff of a JPEG")),
        Message("assistant", "A liver."),
        Message("user", "Sure?"),
    ]
    model = opened(server, calm)
    asyncio.run(model.ask(history, temperature=0.7, max_tokens=9, seed=5, json_schema=schema))
    body = server.requests[0].body
    assert (body["temperature"], body["seed"]) == (0.7, 5)
    assert body["response_format"]["json_schema"]["schema"] == schema
    question, answer, doubt = body["messages"]
    assert [part["type"] for part in question["content"]] == ["text", "image_url", "image_url"]
    urls = [part["image_url"]["url"] for part in question["content"][1:]]
    assert urls[0] == "data:image/png;base64," + base64.b64encode(PNG).decode()
    assert urls[1].startswith("data:image/jpeg;base64,")
    assert (answer["content"], doubt["content"]) == ("A liver.", "Sure?")


def test_openai_itself_goes_through_the_same_door(server: ChatServer, calm: Calm) -> None:
    server.faults += [status(502)] * 9
    chat = open_model("openai/gpt-4o-mini", base_url=server.base_url, max_retries=1, sleep=calm)
    assert "gave no answer in 2 tries" in refused(chat)
    assert len(server.requests) == 2
    # A reasoning model speaks another protocol, which this server lacks; inspect_ai would send a paid probe before.
    server.faults.clear()
    reasoner = open_model("openai/gpt-5", base_url=server.base_url, max_retries=0, sleep=calm)
    assert "is not there: HTTP 404" in refused(reasoner)
    assert [request.path for request in server.requests[2:]] == ["/v1/responses"]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (Reply(""), Answer("", 19, 0, "stop", served="some-model")),
        (Reply(None), Answer("", 19, 0, "stop", served="some-model")),
        (Reply("{'not': JSON"), Answer("{'not': JSON", 19, 2, "stop", served="some-model")),
        (Reply("A pocket of", "length"), Answer("A pocket of", 19, 3, "max_tokens", served="some-model")),
        (Reply("", "content_filter"), Answer("", 19, 0, "content_filter", served="some-model")),
    ],
)
def test_garbage_and_silence_are_answers(server: ChatServer, calm: Calm, reply: Reply, answer: Answer) -> None:
    server.reply = [reply]
    assert ask(opened(server, calm)) == answer
    assert len(server.requests) == (2 if answer.stop == "max_tokens" else 1), "what is cut off may be a thought"


@both_ways
def test_an_address_that_moved_is_followed_with_the_question(server: ChatServer, calm: Calm) -> None:
    with ChatServer("Here.") as there:
        headers = {"Location": f"{there.base_url}/chat/completions"}
        server.faults += [lambda handler: handler.answer(301, "", headers)] * 2
        assert ask(opened(server, calm)).text == "Here."
        assert there.requests[0].body["messages"][-1]["content"] == HELLO[-1].text


@both_ways
def test_a_refusal_in_its_own_field_is_told_from_an_answer(server: ChatServer, calm: Calm) -> None:
    body = completion({"model": "some-model", "messages": []}, Reply(None))
    body["choices"][0]["message"]["refusal"] = "I cannot."
    server.faults += [raw(200, json.dumps(body))]
    answer = ask(opened(server, calm))
    assert (answer.text, answer.stop) == ("I cannot.", "content_filter")


@both_ways
@pytest.mark.parametrize(
    ("told", "counts"),
    [((-7, 5), (None, 5)), ((7, 1 << 63), (7, None)), ((10**30, -1), (None, None)), ((True, False), (1, 0))],
)
def test_tokens_that_no_request_has_are_not_counted(
    server: ChatServer, calm: Calm, tmp_path: Path, told: tuple[int, int], counts: tuple[int | None, int | None]
) -> None:
    """Such an answer is stored and found again; a bill would be wrong by such numbers, or negative."""
    body = completion({"model": "some-model", "messages": []}, Reply("A pocket of pus."))
    body["usage"] = {"prompt_tokens": told[0], "completion_tokens": told[1], "total_tokens": sum(told)}
    server.faults += [raw(200, json.dumps(body))]
    model = opened(server, calm)
    for _ in range(2):
        with AnswerStore(tmp_path / "answers.sqlite") as store:
            answer = asyncio.run(store.ask(model, HELLO, temperature=0, max_tokens=50))
        assert (answer.text, answer.input_tokens, answer.output_tokens) == ("A pocket of pus.", *counts)
    assert len(server.requests) == 1


def test_an_answer_without_an_end_is_none(server: ChatServer, calm: Calm, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that knows no limit of tokens; asked once more it would write as much again."""
    monkeypatch.setattr(tries, "LONGEST_ANSWER", 10)
    assert "its answer has no end (expected a text of at most 10 characters)" in refused(opened(server, calm))
    assert len(server.requests) == 1


def _error(text: str) -> str:
    return json.dumps({"error": {"message": text, "code": 400}})


TURNED_AWAY: list[tuple[str, Fault, str]] = [
    ("OpenAI", status(400, message="Not for us", error="context_length_exceeded"), "model_length"),
    ("OpenAI's filter", status(400, message="Not for us", error="content_filter"), "content_filter"),
    ("vLLM", raw(400, _error("This model's maximum context length is 4096 tokens. However, ...")), "model_length"),
    ("SGLang", raw(400, '{"message": "The input is longer than the model\'s context length"}'), "model_length"),
    ("llama.cpp", raw(500, _error("the request exceeds the available context size")), "model_length"),
    ("TGI", raw(422, '{"error": "`inputs` tokens + `max_new_tokens` must be <= 4096"}'), "model_length"),
    ("Anthropic", raw(400, _error("prompt is too long: 210000 tokens > 200000 maximum")), "model_length"),
    ("Gemini", raw(400, f"[{_error('The input token count (12) exceeds the maximum number')}]"), "model_length"),
    ("Groq", raw(413, _error("Request too large for model `m` on tokens per minute: Limit 6000")), "model_length"),
    ("an account", status(429, message="Request too large for m on tokens per min (TPM): Limit 9"), "model_length"),
    ("DashScope", raw(400, _error("Input text data may contain inappropriate content.")), "content_filter"),
]


@both_ways
@pytest.mark.parametrize(("fault", "stop"), [one[1:] for one in TURNED_AWAY], ids=[one[0] for one in TURNED_AWAY])
def test_a_rejected_prompt_is_an_answer_without_text(server: ChatServer, calm: Calm, fault: Fault, stop: str) -> None:
    # The provider's words must not pass for the model's.
    server.faults += [fault]
    assert ask(opened(server, calm)) == Answer("", None, None, stop)


@pytest.mark.parametrize(
    ("end", "stop"),
    [
        ("SAFETY", "content_filter"),
        ("content_filter: RECITATION", "content_filter"),
        ("sensitive", "content_filter"),
        ("MAX_TOKENS", "max_tokens"),
        ("model_context_window_exceeded", "max_tokens"),
        ("eos_token", "unknown"),
    ],
)
def test_why_a_text_ends_may_be_said_in_other_words(server: ChatServer, calm: Calm, end: str, stop: str) -> None:
    server.reply = [Reply("A pocket", end)]
    assert ask(opened(server, calm)).stop == stop


@both_ways
@pytest.mark.parametrize("counts", [{"prompt_tokens": 20, "completion_tokens": 9}, {"prompt_tokens": 20}])
def test_thoughts_that_only_the_total_counts_are_paid_too(
    server: ChatServer, calm: Calm, counts: dict[str, int]
) -> None:
    """Gemini and Grok count the text alone, and Gemini none if there was no text."""
    body = completion({"model": "some-model", "messages": []}, Reply("Pus."))
    server.faults += [raw(200, json.dumps(body | {"usage": {**counts, "total_tokens": 135}}))]
    answer = ask(opened(server, calm))
    assert (answer.input_tokens, answer.output_tokens) == (20, 115)


# Failures that pass, and failures that do not


HALF = 'data: {"id": "x", "model": "m", "choices": [{"index": 0, "delta": {"content": "Half"}}]}\n\n'

PASSING: list[tuple[Fault, str]] = [
    (status(408), "HTTP 408: out of order"),
    (status(500), "HTTP 500: out of order"),
    (raw(502, "<html>Bad gateway</html>", "text/html"), "HTTP 502"),
    (cut(), "Connection reset by peer"),
    (cut(after_bytes=40), "Connection error. ("),
    (raw(200, '{"id": "x", "choices": [{'), "a reply that is no chat completion"),
    (raw(200, '{"error": {"code": 504, "message": "upstream"}}'), "HTTP 504: upstream"),
    (raw(200, '{"error": "upstream", "choices": []}'), "HTTP 502: upstream"),
    (raw(200, '{"choices": null}'), "a reply that is no chat completion. Check"),
    (raw(200, '{"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": []}'), "no choice"),
    (raw(200, "[]"), "a reply that is no chat completion. Check the base URL"),
    (raw(200, "<html>Sign in</html>", "text/html"), "a reply that is no chat completion. Check the base URL"),
    (raw(200, HALF, "text/event-stream"), "HTTP 502: the stream broke off"),
    (raw(200, 'data: {"error": {"code": 504, "message": "late"}}\n\n', "text/event-stream"), "HTTP 504: late"),
    (
        raw(200, '{"choices": [{"finish_reason": "error", "error": {"code": 504, "message": "late"}}]}'),
        "HTTP 504: late",
    ),
    (raw(200, '{"choices": [{"finish_reason": "error", "message": {"content": "Half"}}]}'), "HTTP 502: the generation"),
    (raw(200, '{"choices": [{"finish_reason": "network_error", "message": {"content": "Ha"}}]}'), "HTTP 502: the gen"),
    (lambda handler: handler.send(200, b'{"id": "\xe9"}', {"Content-Type": "application/json"}), "can't decode byte"),
]


@both_ways
@pytest.mark.parametrize(("fault", "text"), PASSING)
def test_passing_failures_are_retried_and_bounded(server: ChatServer, calm: Calm, fault: Fault, text: str) -> None:
    model = opened(server, calm, retries=2)
    server.faults += [fault, fault]
    assert ask(model).text == "A pocket of pus."
    assert len(server.requests) == 3
    assert calm.waits == [1, 2]
    server.faults += [fault] * 9
    message = refused(model)
    assert message.startswith("openai-api/local/some-model: gave no answer in 3 tries; the last error: ")
    assert text in message
    assert len(server.requests) == 6


@pytest.mark.parametrize("code", [429, 503, 529], ids=["rate limit", "the model loads", "overloaded"])
@pytest.mark.parametrize(("retries", "waits"), [(2, [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]), (0, [])])
def test_a_busy_server_is_waited_for_but_not_forever(
    server: ChatServer, calm: Calm, retries: int, waits: list[float], code: int
) -> None:
    model = opened(server, calm, retries=retries)
    server.faults += [status(code)] * 30
    assert f"in {len(waits) + 1} tr" in refused(model)
    assert calm.waits == waits and (not waits or RATE_LIMIT <= sum(waits) < RATE_LIMIT + 60)


@both_ways
def test_a_limit_of_the_day_is_not_waited_for(server: ChatServer, calm: Calm) -> None:
    server.faults += [status(429, message="Rate limit exceeded: free-models-per-day")]
    assert "gave no answer in 1 try; the last error: HTTP 429: Rate limit exceeded" in refused(opened(server, calm))
    server.faults += [status(429, message="Limit 200 requests per day", retry_after=9)]
    assert ask(opened(server, calm)).text == "A pocket of pus." and calm.waits == [9]


@both_ways
def test_a_rate_limit_uses_up_no_retry_and_a_failure_none_of_its_time(server: ChatServer, calm: Calm) -> None:
    server.faults += [status(429)] * 3 + [status(500)]
    assert ask(opened(server, calm, retries=1)).text == "A pocket of pus."
    assert calm.waits == [1, 2, 4, 8]
    server.faults += [status(500, retry_after=RATE_LIMIT), status(429), status(500)] + [status(429)] * 99
    assert "gave no answer in 3 tries; the last error: HTTP 500" in refused(opened(server, calm, retries=1))


@both_ways
def test_a_request_keeps_its_name_until_it_is_answered(server: ChatServer, calm: Calm) -> None:
    """What nobody answered is sent again under the same name, which a provider may know; an error is an answer."""

    def named(*faults: Fault) -> list[str | None]:
        server.faults += faults
        ask(opened(server, calm, retries=4))
        sent, server.requests = server.requests, []
        return [request.headers.get("idempotency-key") for request in sent]

    assert named(cut()) == [None, None]
    token = REQUEST.set("N")
    try:
        assert named(cut(), status(503), raw(200, "<html>"), cut()) == ["N-0-0", "N-0-0", "N-0-1", "N-0-2", "N-0-2"]
    finally:
        REQUEST.reset(token)


@both_ways
def test_a_hanging_model_is_given_up(server: ChatServer, calm: Calm) -> None:
    server.faults += [hang()] * 9
    message = refused(opened(server, calm, retries=1, timeout=0.5))
    assert "gave no answer in 2 tries; the last error: no answer within 1 s" in message
    assert "--timeout" in message and "--concurrency" in message, "it is there, but slow"
    # Tries are counted where they are made: on a busy machine one is given up before the server has read it.
    assert len(calm.waits) == 1 and len(server.requests) <= 2


@both_ways
def test_nothing_listens(server: ChatServer, calm: Calm) -> None:
    model = opened(server, calm, retries=3)
    server.__exit__()
    message = refused(model)
    assert "gave no answer in 4 tries" in message
    assert "Connect call failed" in message
    assert calm.waits == [1, 2, 4]


@both_ways
def test_an_address_with_tls_where_none_is_spoken(server: ChatServer, calm: Calm) -> None:
    address = server.base_url.replace("http://", "https://")
    model = open_model("openai-api/local/some-model", base_url=address, max_retries=0, sleep=calm)
    assert "Begin the base URL with http://" in refused(model)


@both_ways
def test_a_host_that_cannot_be_named_has_not_replied(server: ChatServer, calm: Calm) -> None:
    model = open_model("openai-api/local/some-model", base_url="http://a..b/v1", max_retries=0, sleep=calm)
    assert "the last error: Connection error. (" in refused(model)


@both_ways
def test_waits_are_reported_while_they_last_without_anything_that_was_said(server: ChatServer) -> None:
    told: list[str] = []
    server.faults += [status(503, message=PROMPT), cut(), raw(200, PROMPT), status(429, retry_after=7)]

    async def sleep(seconds: float) -> None:
        assert told[-1].startswith("waiting ")

    model = open_model("openai-api/local/some-model", base_url=server.base_url, max_retries=4, sleep=sleep)
    with watched(told.append), waiting("another request", 60):
        ask(model)
        assert told[1::2] == [
            "waiting 1 s: server error 503",
            "waiting 2 s: no connection",
            "waiting 4 s: a reply that is no chat completion",
            "waiting 8 s: rate limit",
        ]
        assert set(told[::2]) == {"waiting 60 s: another request"}
    assert told[-1] == ""


def test_waits_grow_to_a_minute_and_no_more(server: ChatServer, calm: Calm) -> None:
    server.faults += [status(502)] * 9
    refused(opened(server, calm, retries=8))
    assert calm.waits == [1, 2, 4, 8, 16, 32, 60, 60]


@both_ways
def test_the_server_says_how_long_to_wait(server: ChatServer, calm: Calm) -> None:
    server.faults += [status(429, retry_after=7), status(429, retry_after=0.5)]
    told: list[str] = []
    with watched(told.append):
        assert ask(opened(server, calm)).text == "A pocket of pus."
    assert calm.waits == [7, 2]
    assert told == ["waiting 7 s: rate limit", "", "waiting 2 s: rate limit", ""]
    server.faults += [status(429, retry_after=3600)]
    message = refused(opened(server, calm))
    assert "gave no answer in 1 try" in message
    assert "it asks to wait 3600 s" in message


@both_ways
@pytest.mark.parametrize(
    ("code", "text"),
    [
        (400, "refused the request or failed: HTTP 400: out of order"),
        (401, "refused the API key: HTTP 401: out of order. Check the key"),
        (402, "wants to be paid: HTTP 402: out of order. Pay for more there"),
        (403, "refused the API key"),
        (404, "is not there: HTTP 404: out of order. Check the model's name and the base URL, then run again"),
        (405, "is not there: HTTP 405"),
        (410, "is not there: HTTP 410"),
        (422, "refused the request or failed: HTTP 422"),
    ],
)
def test_lasting_failures_are_not_retried(server: ChatServer, calm: Calm, code: int, text: str) -> None:
    server.faults += [status(code)]
    assert text in refused(opened(server, calm))
    assert len(server.requests) == 1


@both_ways
@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (status(429, error="insufficient_quota"), "wants to be paid: HTTP 429"),
        (status(429, error="budget_exceeded"), "wants to be paid: HTTP 429"),
        (raw(429, '{"error": {"message": "suspended", "type": "exceeded_current_quota_error"}}'), "wants to be paid"),
        (status(400, error="Arrearage"), "wants to be paid: HTTP 400"),
        (status(400, message="Your credit balance is too low to access the API."), "wants to be paid: HTTP 400"),
        (status(400, message="Enable billing on this project."), "wants to be paid: HTTP 400"),
        (status(400, message="API key not valid. Please pass a valid API key."), "refused the API key: HTTP 400"),
        (status(400, message="Model Not Exist"), "is not there: HTTP 400"),
        (status(400, message="Invalid model name passed in model=gpt-x."), "is not there: HTTP 400"),
        (status(400, message="The requested model 'org/gpt-4.x' does not exist"), "is not there: HTTP 400"),
        (status(400, message="openai/gpt-x is not a valid model ID"), "is not there: HTTP 400"),
        (status(400, message="Unknown model: gpt-x"), "is not there: HTTP 400"),
        (status(500, message="image input is not supported - you may need the mmproj"), "takes no pictures: HTTP 500"),
        (status(500, message="this model is missing data required for image input"), "takes no pictures: HTTP 500"),
        (status(404, message="No endpoints found that support image input"), "takes no pictures: HTTP 404"),
        (status(400, message="org/model is not a multimodal model"), "takes no pictures: HTTP 400"),
        (status(400, message="image_url is only supported by certain models."), "takes no pictures: HTTP 400"),
        (status(400, message="messages[1].content must be a string"), "takes no pictures: HTTP 400"),
        (status(400, message="unknown variant `image_url`, expected `text`"), "takes no pictures: HTTP 400"),
        (status(400, message="Image input modality is not enabled for models/x"), "takes no pictures: HTTP 400"),
        (
            raw(422, '{"detail": [{"loc": ["body", "messages", 1, "content"], "msg": "It should be a valid string"}]}'),
            "takes no pictures: HTTP 422",
        ),
    ],
)
def test_what_is_no_fault_of_a_request_ends_the_work(server: ChatServer, calm: Calm, fault: Fault, text: str) -> None:
    """Whatever status a provider has chosen for it."""
    server.faults += [fault]
    with pytest.raises(ModelRefused, match=text):
        ask(opened(server, calm))
    assert len(server.requests) == 1


@both_ways
def test_a_flagged_question_is_no_fault_of_the_key(server: ChatServer, calm: Calm) -> None:
    server.faults += [status(403, message="It requires moderation. Your input was flagged.")]
    with pytest.raises(ModelError, match="refused the request or failed: HTTP 403") as caught:
        ask(opened(server, calm))
    assert not isinstance(caught.value, ModelRefused)


# What a server does not take

SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


TAKES_NOT: list[tuple[Callable[[dict[str, Any]], bool], str]] = [
    (lambda body: "response_format" in body, "This response_format type is unavailable now"),
    (lambda body: "seed" in body, 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'),
    (lambda body: "max_tokens" in body, "'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
    (
        lambda body: body["messages"][0]["role"] == "system",
        "Only user, assistant and tool roles are supported, got system.",
    ),
    (
        lambda body: body["messages"][0]["role"] == "system",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
    ),
]


@both_ways
@pytest.mark.parametrize("code", [400, 500], ids=["refused", "by llama.cpp"])
@pytest.mark.parametrize(("held", "message"), TAKES_NOT, ids=["schema", "seed", "max_tokens", "system", "role"])
def test_what_a_server_does_not_take_is_left_out_from_then_on(
    server: ChatServer, calm: Calm, held: Callable[[dict[str, Any]], bool], message: str, code: int
) -> None:
    server.reply = lambda body: status(code, message=message) if held(body) else Reply("A pocket of pus.")
    model = opened(server, calm, retries=0)

    async def twice() -> list[Answer]:
        return [await model.ask(HELLO, temperature=0, max_tokens=50, seed=1, json_schema=SCHEMA) for _ in range(2)]

    assert [answer.text for answer in asyncio.run(twice())] == ["A pocket of pus."] * 2
    bodies = [request.body for request in server.requests]
    assert [held(body) for body in bodies] == [True, False, False] and bodies[1] == bodies[2]
    last = {**bodies[2], "max_tokens": 50} if "max_completion_tokens" in bodies[2] else bodies[2]
    assert last["max_tokens"] == 50 and HELLO[0].text in last["messages"][0]["content"]
    assert HELLO[1].text in last["messages"][-1]["content"]


STREAM = "".join(
    f"data: {event}\r\n\r\n"
    for event in [
        '{"id": "x", "model": "some-model", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}',
        '{"choices": [{"index": 0, "delta": {"reasoning_content": "hm"}}]}\r\n\r\n: still there',
        '{"choices": [{"index": 0, "delta": {"content": "A pocket\u2028"}, "finish_reason": null}], "usage": null}',
        '{"choices": [{"index": 0, "delta": {"content": "of pus."}, "finish_reason": "stop"}]}',
        '{"choices": [], "usage": {"prompt_tokens": 19, "completion_tokens": 5, "total_tokens": 24}}',
        "[DONE]",
    ]
)


@both_ways
@pytest.mark.parametrize(
    "message",
    [
        "This model only support stream mode, please enable the stream parameter to access the model.",
        "parameter.enable_thinking must be set to false for non-streaming calls",
        "Stream must be set to true",
        "",
    ],
)
def test_an_answer_in_pieces_is_the_same_answer(server: ChatServer, calm: Calm, message: str) -> None:
    """Of a server that answers only so, or whatever it is asked."""

    def reply(body: Body) -> Fault:
        if message and not body.get("stream"):
            return status(400, message=message)
        return raw(200, STREAM, "text/event-stream")

    server.reply = reply
    model = opened(server, calm)
    for _ in range(2):
        assert ask(model) == Answer("A pocket\u2028of pus.", 19, 5, "stop", "hm", "some-model")
    streams = [request.body.get("stream_options") for request in server.requests]
    assert streams == ([None, {"include_usage": True}, {"include_usage": True}] if message else [None, None])


def test_a_stream_that_breaks_off_is_no_answer_of_any_provider(
    server: ChatServer, calm: Calm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """inspect_ai streams of some by itself, and took half an answer for all of it."""
    monkeypatch.setenv("HF_TOKEN", KEY)
    server.reply = lambda body: raw(200, STREAM, "text/event-stream")
    server.faults += [raw(200, HALF, "text/event-stream")]
    answer = ask(open_model("hf-inference-providers/m", base_url=server.base_url, sleep=calm))
    assert (answer.text, calm.waits) == ("A pocket\u2028of pus.", [1])


def test_a_stream_that_inspect_ai_is_told_to_ask_for_is_its_own(server: ChatServer) -> None:
    """As for a role of an evaluation with `-M stream=true`."""
    from inspect_ai.model import get_model

    server.reply = lambda body: raw(200, STREAM, "text/event-stream")
    model = get_model("openai-api/local/some-model", base_url=server.base_url, stream=True, memoize=False)
    assert ask(InspectModel(model)) == Answer("A pocket\u2028of pus.", 19, 5, "stop", "hm", "some-model")
    assert server.requests[0].body["stream"] is True


def test_an_answer_says_what_its_request_lacked(server: ChatServer, calm: Calm) -> None:
    server.reply = lambda body: status(400, message="no seed here") if "seed" in body else Reply("A pocket of pus.")
    model = opened(server, calm)
    for seed, lacked in ((1, "seed"), (1, "seed"), (None, None)):
        assert asyncio.run(model.ask(HELLO, temperature=0, max_tokens=50, seed=seed)).refused == lacked
    assert len(server.requests) == 4


def test_the_name_of_a_model_names_no_part_of_a_request(server: ChatServer, calm: Calm) -> None:
    server.reply = lambda body: status(400, message="bytedance/doubao-seed-1-6: not with us")
    with pytest.raises(ModelError, match="not with us"):
        asyncio.run(opened(server, calm).ask(HELLO, temperature=0, max_tokens=50, seed=1))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("size", "kind", "fault", "sent"),
    [
        (
            (2000, 1000),
            "PNG",
            status(400, message="image.source.base64: image exceeds 5 MB maximum: 5242881 bytes > 5242880 bytes"),
            (1568, 784),
        ),
        ((1600, 40), "PNG", status(400, message="At least one of the image dimensions exceed max: 8000"), (1568, 39)),
        ((2000, 1000), "PNG", raw(413, "<html>413 Request Entity Too Large</html>", "text/html"), (1568, 784)),
        ((64, 48), "WEBP", raw(400, json.dumps({"error": "'url' field must be a base64 encoded image."})), (64, 48)),
        ((64, 48), "WEBP", status(400, message="Failed to load image or audio file"), (64, 48)),
        ((64, 48), "WEBP", status(400, message="invalid image input"), (64, 48)),
        ((64, 48), "GIF", raw(400, '[{"error": {"message": "Unsupported MIME type: image/gif"}}]'), (64, 48)),
        ((50, 25), "PNG", status(400, message="height:25 and width:50 must be larger than factor:28"), (64, 32)),
    ],
    ids=["5 MB", "8000 px", "413", "LM Studio", "llama.cpp", "Ollama", "Gemini", "Qwen-VL"],
)
def test_a_picture_that_a_server_refuses_is_sent_in_a_form_that_it_takes(
    server: ChatServer, calm: Calm, size: tuple[int, int], kind: str, fault: Fault, sent: tuple[int, int]
) -> None:
    shown: list[tuple[str | None, tuple[int, int]]] = []

    def reply(body: Body) -> Reply | Fault:
        *_, part = body["messages"][0]["content"]
        picture = Image.open(io.BytesIO(base64.b64decode(part["image_url"]["url"].partition(",")[2])))
        shown.append((picture.format, picture.size))
        return fault if picture.format == kind else Reply("A rash.")

    server.reply = reply
    model = opened(server, calm)
    for image in (drawn(size, kind), drawn(size, kind), drawn((40, 40), "JPEG")):
        ask(model, [Message("user", "What is this?", (image,))])
    # the next time at once; another picture, which the server takes, stays as it is
    assert shown == [(kind, size), ("JPEG", sent), ("JPEG", sent), ("JPEG", (40, 40))]


def test_a_picture_that_a_server_refuses_in_every_form_is_refused(server: ChatServer, calm: Calm) -> None:
    server.reply = lambda body: status(400, message="Could not process image")
    assert "refused the request or failed: HTTP 400: Could not" in refused(
        opened(server, calm), [Message("user", "What is this?", (drawn((40, 40), "PNG"),))]
    )
    assert len(server.requests) == 2


def drawn(size: tuple[int, int], kind: str) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "pink").save(file, kind)
    return file.getvalue()


def test_a_field_that_a_validator_names_is_left_out(server: ChatServer, calm: Calm) -> None:
    told = '{"message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Not permitted"}]}}'
    server.reply = lambda body: raw(422, told) if "seed" in body else Reply("A pocket of pus.")
    asked = opened(server, calm).ask(HELLO, temperature=0, max_tokens=50, seed=1)
    assert asyncio.run(asked).text == "A pocket of pus."


@both_ways
def test_an_error_of_one_question_changes_no_other(server: ChatServer, calm: Calm) -> None:
    """It names a part of the request, and is not about it: it stays without that part."""
    about = "Our system found this question unsafe, which is not allowed."
    server.reply = lambda body: status(400, message=about) if "heroin" in str(body) else Reply("A pocket of pus.")
    model = opened(server, calm)
    asked = model.ask([HELLO[0], Message("user", "Where is heroin?")], temperature=0, max_tokens=50, seed=1)
    with pytest.raises(ModelError, match="not allowed"):
        asyncio.run(asked)
    ask(model)
    assert [said["role"] for said in server.requests[-1].body["messages"]] == ["system", "user"]


def test_a_model_that_is_called_seed_keeps_its_seed(server: ChatServer, calm: Calm) -> None:
    server.faults += [status(502, message="bytedance/seed-oss is down")] * 9
    with pytest.raises(ModelError, match="is down"):
        asyncio.run(opened(server, calm, retries=0).ask(HELLO, temperature=0, max_tokens=50, seed=1))
    assert len(server.requests) == 1


def test_a_temperature_of_a_patient_is_none_of_a_request(server: ChatServer, calm: Calm) -> None:
    server.reply = lambda body: status(400, message="Not with us: a temperature of 39")
    lenient = open_model(opened(server, calm).name, base_url=server.base_url, any_temperature=True, sleep=calm)
    assert "Not with us" in refused(lenient) and len(server.requests) == 1


def test_a_temperature_is_left_out_only_if_nobody_records_it(server: ChatServer, calm: Calm) -> None:
    message = "Unsupported value: 'temperature' does not support 0 with this model."
    server.reply = lambda body: status(400, message=message) if "temperature" in body else Reply("A pocket of pus.")
    assert message.rstrip(".") in refused(opened(server, calm))
    lenient = open_model(opened(server, calm).name, base_url=server.base_url, any_temperature=True, sleep=calm)
    assert ask(lenient).text == ask(pickle.loads(pickle.dumps(lenient))).text == "A pocket of pus."


# What must never be shown


@both_ways
def test_keys_and_prompts_stay_out_of_errors_and_logs(
    server: ChatServer,
    calm: Calm,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ACME_TOKEN", "of-another-service")
    told = f"key {KEY} or Bearer abcdef or sk-proj-unknown99 or of-another-service is wrong, in: {PROMPT}"
    server.faults += [status(500, message=told), status(401, message=told)]
    message = refused(opened(server, calm))
    assert "HTTP 401: key *** or Bearer *** or *** or *** is wrong, in: [prompt]" in message
    server.faults += [raw(422, '{"detail": [{"loc": "messages", "input": "abscess"}]}')]
    assert refused(opened(server, calm)).endswith("HTTP 422")
    for body in ('{"detail": "no such sampler"}', '[{"error": {"message": "no such sampler"}}]', "no such sampler"):
        server.faults += [raw(422, body)]
        assert refused(opened(server, calm)).endswith("HTTP 422: no such sampler")
    own = "\n".join(record.getMessage() for record in caplog.records if record.name == "loaders.models.tries")
    assert "HTTP 500: key ***" in own
    assert "abscess" not in own
    printed = capsys.readouterr()
    for text in (caplog.text, printed.out, printed.err):
        assert KEY not in text


@both_ways
def test_passwords_in_an_address_stay_out(server: ChatServer, calm: Calm) -> None:
    address = server.base_url.replace("http://", "http://someone:hunter2hunter2@") + "?token=1"
    model = open_model("openai-api/local/m", base_url=address, max_retries=0, sleep=calm)
    assert model.identity["base_url"] == server.base_url
    server.faults += [status(500, message="password hunter2hunter2 for someone")]
    assert "password *** for someone" in refused(model)


def test_long_errors_are_cut_to_one_line(server: ChatServer, calm: Calm) -> None:
    server.faults += [status(400, message="first\n\n  second " + "x" * 5000)]
    message = refused(opened(server, calm))
    assert "first second xxx" in message
    assert len(message) < 400


# Event loops


@both_ways
def test_one_model_serves_many_event_loops(server: ChatServer, calm: Calm) -> None:
    model = opened(server, calm, retries=0)

    async def crowd(model: ChatModel) -> list[Answer]:
        questions = [[Message("user", f"question {number}")] for number in range(12)]
        return await asyncio.gather(*(model.ask(each, temperature=0, max_tokens=5) for each in questions))

    for _ in range(3):
        assert len(asyncio.run(crowd(model))) == 12
    assert len(asyncio.run(crowd(opened(server, calm, retries=0)))) == 12
    assert len(server.requests) == 48


def test_as_many_requests_are_in_flight_as_are_asked(server: ChatServer, calm: Calm) -> None:
    everybody = threading.Barrier(256)

    def reply(body: Body) -> Fault:
        def wait(handler: Any) -> None:
            everybody.wait(120)  # no request is answered before all have come
            handler.answer(200, json.dumps(completion(body, Reply("Here."))))

        return wait

    server.reply = reply
    model = opened(server, calm, retries=0, timeout=120)

    async def asked(number: int) -> str:
        return (await model.ask([Message("user", f"question {number}")], temperature=0, max_tokens=5)).text

    assert asyncio.run(gather_bounded(asked, range(256), limit=256)) == ["Here."] * 256


@both_ways
def test_a_cancelled_request_leaves_the_model_usable(server: ChatServer, calm: Calm) -> None:
    model = opened(server, calm)
    server.faults += [hang()]

    async def impatient() -> None:
        asking = asyncio.create_task(model.ask(HELLO, temperature=0, max_tokens=5))
        while not server.requests:
            await asyncio.sleep(0.001)
        asking.cancel()
        await asking

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(impatient())
    assert ask(model).text == "A pocket of pus."


@both_ways
def test_prompts_do_not_pile_up_in_memory(server: ChatServer, calm: Calm) -> None:
    from inspect_ai.log import transcript

    model = opened(server, calm)

    async def several() -> int:
        for _ in range(5):
            await model.ask(HELLO, temperature=0, max_tokens=5)
        return len(transcript().events)

    # Not in this context: an evaluation that ran here before may have left its transcript.
    assert Context().run(asyncio.run, several()) == 0


# Names, keys, packages


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("", "is not the name of a chat model"),
        ("gpt-4o", "is not the name of a chat model (expected provider/model)"),
        ("openai/", "is not the name of a chat model"),
        ("acme/one", "not recognized. Providers: https://"),
        ("mockllm/model", "Use scripted/... instead"),
        ("scripted/parrot", "is not a scripted model (expected one of scripted/echo, scripted/silent"),
        ("openai-api/one", "must include a service prefix"),
        ("openai-api/nobody/one", "No NOBODY_API_KEY defined in the environment. Set it there"),
        (
            "openai-api/local/one",
            "No LOCAL_BASE_URL defined in the environment. Name the address of the model's server",
        ),
    ],
)
def test_wrong_names_fail_when_opened(name: str, text: str) -> None:
    pytest.importorskip("inspect_ai", reason="the dialogue extra is not installed")
    with pytest.raises(ModelError) as caught:
        open_model(name)
    assert text in str(caught.value)
    assert "[bold]" not in str(caught.value)


def test_no_key_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai", reason="the dialogue extra is not installed")
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        open_model("openai/gpt-4o-mini")
    for key in (f"{KEY}\n", f"{KEY}–"):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        with pytest.raises(ModelError, match="line break or other character") as caught:
            open_model("openai/gpt-4o-mini")
        assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "localhost:8000",
        "ftp://host/v1",
        "http://",
        "http://[::1",
        "http://a[b",
        "http://a:99999/v1",
        "http://a:b",
        "http://a b/v1",
    ],
)
def test_an_invalid_address(address: str) -> None:
    with pytest.raises(ModelError, match="base URL"):
        open_model("openai-api/local/one", base_url=address)


@pytest.mark.parametrize("address", ["http://[::1]:8000/v1", "https://[2001:db8::1]/v1", "http://[::ffff:127.0.0.1]"])
def test_an_address_may_be_of_ipv6(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    assert open_model("openai-api/local/one", base_url=address).identity["base_url"] == address


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai", reason="the dialogue extra is not installed")
    monkeypatch.setitem(sys.modules, "groq", None)  # None makes an import fail
    with pytest.raises(MissingExtra, match="pip install --upgrade groq"):
        open_model("groq/one")
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    with pytest.raises(MissingExtra, match=r"\[dialogue\]"):
        open_model("openai/one")


def test_images_that_cannot_be_sent(server: ChatServer, calm: Calm, tmp_path: Path) -> None:
    text = tmp_path / "text.jpg"
    text.write_text("not a picture")
    model = opened(server, calm)
    unusable: list[tuple[Path | bytes, str]] = [
        (text, "is not an image"),
        (b"", "is not an image"),
        (b"RIFF\x24\0\0\0WAVEfmt ", "is not an image"),
        (tmp_path / "none.png", "does not exist"),
    ]
    for image, found in unusable:
        with pytest.raises(InputError, match=found):
            ask(model, [Message("user", "Look.", (image,))])
    assert server.requests == []


def test_messages_that_make_no_sense() -> None:
    with pytest.raises(ValueError, match="role"):
        Message("doctor", "hello")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="images"):
        Message("assistant", "hello", (PNG,))


# Scripted models


@pytest.mark.parametrize(
    ("name", "text"), [("echo", PROMPT), ("silent", ""), ("prose", "Of course!"), ("broken-json", '{"answer":')]
)
def test_scripted_models_need_nothing(name: str, text: str) -> None:
    model = open_model(f"scripted/{name}")
    answer = ask(model, [*HELLO, Message("assistant", "later")])
    assert text in answer.text
    assert (answer.input_tokens, answer.output_tokens, answer.stop) == (None, None, "stop")
    assert (model.name, model.stand_in, model.identity["provider"]) == (f"scripted/{name}", True, "scripted")


def test_scripted_down_is_a_model_that_cannot_be_reached() -> None:
    assert "gave no answer" in refused(open_model("scripted/down"))


def test_a_function_is_a_model() -> None:
    model = scripted(lambda messages: f"{len(messages)} messages", name="counter")
    assert ask(model).text == "2 messages"
    assert (model.name, model.stand_in) == ("scripted/counter", True)


# A real model


@pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
def test_a_real_model_served_and_in_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai", reason="the dialogue extra is not installed")
    monkeypatch.setenv("TINY_API_KEY", "none")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    question = [Message("system", "Be kind."), Message("user", "The chest radiograph shows a fracture.")]

    async def both(model: ChatModel) -> list[Answer]:
        return [await model.ask(question, temperature=0, max_tokens=12) for _ in range(2)]

    with tiny_chat_server(tmp_path) as (base_url, name):
        served = open_model(f"openai-api/tiny/{name}", base_url=base_url)
        first, again = asyncio.run(both(served))
        wrong = open_model("openai-api/tiny/other", base_url=base_url)
        assert "Server is pinned to 'tiny'" in refused(wrong)
    assert first == again
    assert first.text
    assert (first.output_tokens, first.stop) == (12, "max_tokens")
    # The same weights in this process: transformers refuses to sample at temperature 0.
    local = open_model(f"hf/{tmp_path / name}")
    answer, repeated = asyncio.run(both(local))
    assert answer == repeated
    assert (answer.input_tokens, answer.output_tokens) == (first.input_tokens, 12)
    sampled = asyncio.run(local.ask(question, temperature=1.0, max_tokens=12))
    assert sampled.input_tokens == first.input_tokens


# Models that think


def test_thoughts_have_room_of_their_own_and_are_separated(server: ChatServer, calm: Calm) -> None:
    def reply(body: dict[str, Any]) -> Reply:
        return (
            Reply("", "length", "hm " * 50) if body["max_tokens"] == 50 else Reply("A pocket of pus.", reasoning="hm")
        )

    server.reply = reply
    model = opened(server, calm)
    # The first answer shows that it thinks, and is cut off by that.
    assert ask(model) == Answer("A pocket of pus.", 19, 5, "stop", "hm", "some-model")
    assert ask(model) == Answer("A pocket of pus.", 19, 5, "stop", "hm", "some-model")
    assert [request.body["max_tokens"] for request in server.requests] == [50, 50 + THOUGHTS, 50 + THOUGHTS]


@both_ways
def test_tokens_that_went_nowhere_were_thoughts(server: ChatServer, calm: Calm) -> None:
    """Gemini's endpoint counts no token of a thought that uses them all up, and others count nothing."""
    usage: list[dict[str, int]] = [{"prompt_tokens": 9, "completion_tokens": 0, "total_tokens": 59}]

    def reply(body: dict[str, Any]) -> Fault:
        text, stop = ("A pocket of pus.", "stop") if body["max_tokens"] > 50 else (None, "length")
        told = {"id": "x", "object": "chat.completion", "created": 0, "model": "dated"}
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": stop}
        return raw(200, json.dumps({**told, "choices": [choice], **({"usage": usage[0]} if usage else {})}))

    server.reply = reply
    assert ask(opened(server, calm)) == Answer("A pocket of pus.", 9, 50, "stop", None, "dated")
    usage.clear()
    assert ask(opened(server, calm)) == Answer("A pocket of pus.", None, None, "stop", None, "dated")


MARKED = {
    "gpt-oss": "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Pus.<|return|>",
    "gpt-oss, in JSON": "<|channel|>analysis<|message|>Hm.<|end|><|channel|>final <|constrain|>json<|message|>Pus.",
    "MedGemma": "<unused94>thought\nHm.<unused95>Pus.",
    "Gemma 4": "<|channel>thought\nHm.<channel|>Pus.",
    "Command A": "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Pus.<|END_RESPONSE|>",
    "Seed-OSS": "<seed:think>Hm.</seed:think>Pus.",
    "Magistral": "[THINK]Hm.[/THINK]Pus.",
    "Kimi-VL": "◁think▷Hm.◁/think▷Pus.",
    "HuatuoGPT-o1": "## Thinking\n\nHm.\n\n## Final Response\n\nPus.",
}


@both_ways
@pytest.mark.parametrize("text", MARKED.values(), ids=MARKED)
def test_a_thought_is_told_from_the_answer_whatever_marks_it(server: ChatServer, calm: Calm, text: str) -> None:
    in_parts = completion({"model": "some-model", "messages": []}, Reply(None))
    in_parts["choices"][0]["message"]["content"] = [{"type": "text", "text": part} for part in (text[:9], text[9:])]
    for server.reply in (text, lambda body: raw(200, json.dumps(in_parts))):
        answer = ask(opened(server, calm))
        assert (answer.text, answer.thought) == ("Pus.", "Hm.")


def test_the_first_answers_of_a_model_of_vllm_are_read_like_all_others(server: ChatServer, calm: Calm) -> None:
    """Its client is created as it is used first, by as many requests as are sent together."""
    server.reply = MARKED["MedGemma"]
    model = open_model("vllm/some-model", base_url=server.base_url, sleep=calm)

    async def together() -> list[Answer]:
        return await asyncio.gather(*(model.ask(HELLO, temperature=0, max_tokens=50) for _ in range(3)))

    assert [(answer.text, answer.thought) for answer in asyncio.run(together())] == [("Pus.", "Hm.")] * 3


@both_ways
def test_the_marks_of_an_answer_without_a_thought_are_none_of_it(server: ChatServer, calm: Calm) -> None:
    server.reply = "<|channel|>final<|message|>Pus.<|return|>"
    answer = ask(opened(server, calm))
    assert (answer.text, answer.thought) == ("Pus.", None)


@pytest.mark.parametrize("text", ["<think>hm hm", "Hm, hm.</think>\nA pocket of", "Hm, hm, hm"])
def test_a_thought_within_the_text_is_one_too(server: ChatServer, calm: Calm, text: str) -> None:
    # The start of a thought may stand in the model's template, so that only its end is in the text.
    server.reply = [Reply(text, "length"), Reply("Hm, hm.</think>A pocket of pus.")]
    model = opened(server, calm)
    assert [ask(model).text for _ in range(2)] == ["Hm, hm.</think>A pocket of pus."] * 2
    assert [request.body["max_tokens"] for request in server.requests] == [50, 50 + THOUGHTS, 50 + THOUGHTS]


def test_a_plain_answer_that_is_cut_off_stays_cut_off(server: ChatServer, calm: Calm) -> None:
    server.reply = lambda body: Reply("A pocket of" + " pus" * (body["max_tokens"] > 50), "length")
    model = opened(server, calm)
    assert [ask(model) for _ in range(3)] == [Answer("A pocket of", 19, 3, "max_tokens", None, "some-model")] * 3
    # Whether it thinks is found out once.
    assert [request.body["max_tokens"] for request in server.requests] == [50, 50 + THOUGHTS, 50, 50]


def test_a_thinking_model_that_is_down_is_down(server: ChatServer, calm: Calm) -> None:
    server.reply = "<think>hm</think>A pocket of pus."
    model = opened(server, calm)
    ask(model)
    server.faults += [status(502)] * 9
    assert "gave no answer in 3 tries" in refused(model)
    assert len(server.requests) == 1 + 3


@pytest.mark.parametrize(
    "too_long", [status(400, message="max_tokens is too large"), status(400, error="context_length_exceeded")]
)
def test_a_server_without_that_room_gives_what_it_can(server: ChatServer, calm: Calm, too_long: Fault) -> None:
    def reply(body: dict[str, Any]) -> Reply | Fault:
        return too_long if body["max_tokens"] > 50 else Reply("A pocket", "length", "hm")

    server.reply = reply
    model = opened(server, calm)
    for _ in range(2):
        assert ask(model) == Answer("A pocket", 19, 3, "max_tokens", "hm", "some-model")
    assert [request.body["max_tokens"] for request in server.requests] == [50, 50 + THOUGHTS, 50 + THOUGHTS, 50]


def test_what_is_not_given_is_not_sent(server: ChatServer, calm: Calm) -> None:
    model = opened(server, calm)
    asyncio.run(model.ask(HELLO, temperature=None, max_tokens=9))
    asyncio.run(model.ask(HELLO, temperature=0.2, max_tokens=9, top_p=0.9, reasoning_effort="low", seed=None))
    bare, full = (request.body for request in server.requests)
    assert not {"temperature", "top_p", "reasoning_effort", "seed"} & set(bare)
    assert (full["temperature"], full["top_p"], full["reasoning_effort"]) == (0.2, 0.9, "low") and "seed" not in full


# Several servers


def test_conversations_are_shared_and_move_on_where_a_server_fails(server: ChatServer, calm: Calm) -> None:
    with ChatServer("A pocket of pus.") as second:
        addresses = [server.base_url, second.base_url, server.base_url]
        model = open_model("openai-api/local/some-model", base_url=addresses, max_retries=0, sleep=calm)
        talks = [[Message("system", "Be kind."), Message("user", f"Case {number}")] for number in range(20)]

        def all_asked() -> list[int]:
            before = [len(one.requests) for one in (server, second)]
            assert {ask(model, talk).text for talk in talks} == {"A pocket of pus."}
            return [len(one.requests) - had for one, had in zip((server, second), before, strict=True)]

        first = all_asked()
        assert sum(first) == 20 and min(first) > 3
        longer = [[*talk, Message("assistant", "Yes?"), Message("user", "Why?")] for talk in talks]
        for talk, turn in zip(talks, longer, strict=True):
            asked = [len(one.requests) for one in (server, second)]
            ask(model, talk), ask(model, turn)
            grown = [len(one.requests) - had for one, had in zip((server, second), asked, strict=True)]
            assert sorted(grown) == [0, 2], "a conversation stays with its server"
        server.faults += [status(500)] * 30
        assert all_asked() == [1, 20], "one that failed is asked last from then on"
        second.faults += [status(500)] * 30
        assert "gave no answer" in refused(model)
        assert model.identity["name"] == "openai-api/local/some-model"
        server.faults.clear()
        assert all_asked() == [20, 1], "after all have failed, each is taken for well again"


def test_a_busy_server_is_waited_for_only_if_no_other_answers(server: ChatServer, calm: Calm) -> None:
    with ChatServer("Pus.") as second:
        model = open_model("openai-api/local/m", base_url=[server.base_url, second.base_url], sleep=calm, max_retries=2)
        first, other = (server, second) if ask(model).text == "A pocket of pus." else (second, server)
        first.faults += [status(503)] * 99
        assert ask(model).text == ("Pus." if other is second else "A pocket of pus.")
        assert calm.waits == [1, 2] and ask(model) and calm.waits == [1, 2]
        first.faults[:] = [status(503)] * 5
        other.faults += [status(429)] * 3
        assert ask(model) and calm.waits[2:] == [1, 2, 1, 2, 4, 8, 16], "none is left but the one that is waited for"


def test_a_server_that_asks_to_wait_is_left_for_another(server: ChatServer, calm: Calm) -> None:
    with ChatServer() as second:
        model = open_model("openai-api/local/m", base_url=[server.base_url, second.base_url], sleep=calm)
        for one in (server, second):
            one.faults += [status(429, retry_after=9)]
        assert ask(model) and calm.waits == [9], "the last one is waited for"
        assert sorted((len(server.requests), len(second.requests))) == [1, 2]


def test_each_server_of_a_model_of_vllm_is_asked(
    server: ChatServer, calm: Calm, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", KEY)
    with ChatServer("Pus.") as second:
        model = open_model("vllm/some/model", base_url=[server.base_url, second.base_url], sleep=calm)
        talks = [[Message("user", f"Case {number}")] for number in range(20)]
        assert {ask(model, talk).text for talk in talks} == {"A pocket of pus.", "Pus."}
        # A server that moved: the same model again, at another address.
        assert ask(open_model("vllm/some/model", base_url=second.base_url, sleep=calm)).text == "Pus."


def test_a_vllm_of_this_machine_that_starts_again_is_waited_for(
    calm: Calm, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VLLM_API_KEY", KEY)
    with ChatServer() as gone:
        address = gone.base_url
    message = refused(open_model("vllm/some/model", base_url=address, max_retries=2, sleep=calm))
    assert "gave no answer in 3 tries; the last error: Connection error." in message and calm.waits == [1, 2]
    assert "Check that the model can be reached" in message
    assert "unreachable" not in capfd.readouterr().err


def test_a_key_that_one_server_refuses_ends_it(server: ChatServer, calm: Calm) -> None:
    with ChatServer() as second:
        model = open_model("openai-api/local/m", base_url=[server.base_url, second.base_url], sleep=calm)
        for one in (server, second):
            one.faults += [status(401)]
        assert "refused the API key" in refused(model)
        assert len(server.requests) + len(second.requests) == 1


@pytest.mark.parametrize("content", [None, b"", b"no certificate"])
def test_a_file_of_certificates_that_holds_none_is_named(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    with pytest.raises(ModelError, match=rf"SSL_CERT_FILE={re.escape(str(file))}: .*expected a file of certificates"):
        open_model("openai-api/local/x", base_url="http://localhost:1/v1")
