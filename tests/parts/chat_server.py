"""A chat server on the loopback interface that speaks the OpenAI protocol (standard library only).

    with ChatServer(reply="Hello.") as server:
        model = open_model("openai-api/local/anything", base_url=server.base_url)  # with LOCAL_API_KEY set

`reply` is a text, a list of texts (one a request, the last for ever) or a function of the request's body, which may
also give a fault. Faults are ordered beforehand, each for one request, before any reply: `server.faults +=
[status(429, retry_after=2), cut()]`.
`server.requests` is the log of all requests, those that met a fault included.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scripts.loopback_hub.server import Handler, Loopback

Body = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """One request as received: header names in lower case, the body as JSON and as it was sent."""

    path: str
    headers: dict[str, str]
    body: Body
    sent: bytes = b""


@dataclass(frozen=True)
class Reply:
    """A reply with its finish reason (stop, length, content_filter); text None is JSON's null.

    `reasoning` is what a reasoning model's server separates from the text; its words count as tokens. `model` is what
    the server says it asked, if that is not what it was asked for.
    """

    text: str | None
    finish_reason: str = "stop"
    reasoning: str | None = None
    model: str | None = None


Fault = Callable[["_Handler"], None]
Answerer = Callable[[Body], str | Reply | Fault | None]


def status(
    code: int, *, retry_after: float | None = None, message: str = "out of order", error: str = "error"
) -> Fault:
    """An error of that HTTP status, in OpenAI's form; `error` is its code."""
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    body = json.dumps({"error": {"message": message, "type": "error", "code": error, "param": None}})
    return lambda handler: handler.answer(code, body, headers)


def raw(code: int, body: str, content_type: str = "application/json") -> Fault:
    """Any bytes as the body: broken JSON, a proxy's HTML page, another server's idea of an error."""
    return lambda handler: handler.answer(code, body, {"Content-Type": content_type})


def hang(seconds: float = 60) -> Fault:
    """No answer for that long (or until the server stops), then a closed connection."""

    def fault(handler: _Handler) -> None:
        handler.owner.stopping.wait(seconds)
        handler.close_connection = True

    return fault


def cut(*, after_bytes: int = 0) -> Fault:
    """The connection is reset, before any byte of the answer or in the middle of its body."""

    def fault(handler: _Handler) -> None:
        if after_bytes:
            handler.head(200, {"Content-Type": "application/json", "Content-Length": 1000})
            handler.wfile.write(b"{" + b" " * (after_bytes - 1))
            handler.wfile.flush()
        handler.reset()

    return fault


class ChatServer(Loopback):
    def __init__(self, reply: str | Sequence[str | Reply | None] | Answerer | None = "ok", *, port: int = 0) -> None:
        super().__init__(_Handler, port)
        self.reply = reply
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self._served = 0

    @property
    def base_url(self) -> str:
        return "http://{}:{}/v1".format(*self.address)

    def receive(self, request: Request) -> Fault | Reply:
        """Logs a request and decides what happens to it."""
        with self.lock:
            self.requests.append(request)
            if self.faults:
                return self.faults.pop(0)
            if callable(self.reply):
                answer = self.reply(request.body)
            elif self.reply is None or isinstance(self.reply, str):
                answer = self.reply
            else:
                answer = self.reply[min(self._served, len(self.reply) - 1)]
            self._served += 1
        return answer if isinstance(answer, Reply) or callable(answer) else Reply(answer)


class _Handler(Handler):
    def do_POST(self) -> None:  # noqa: N802
        sent = self.request_body()
        body: Body = json.loads(sent)
        headers = {name.lower(): value for name, value in self.headers.items()}
        outcome = self.owner.receive(Request(self.path, headers, body, sent))
        if not isinstance(outcome, Reply):
            outcome(self)
        elif not self.path.endswith("/chat/completions"):
            self.answer(404, json.dumps({"error": {"message": f"no route {self.path}"}}))
        else:
            self.answer(200, json.dumps(completion(body, outcome)))

    def answer(self, code: int, body: str, headers: Mapping[str, str] | None = None) -> None:
        self.send(code, body.encode(), {"Content-Type": "application/json", **(headers or {})})


def completion(body: Body, reply: Reply) -> Body:
    """The answer's JSON. A token is a word, so that expected counts can be checked by eye."""
    prompt = " ".join(text for message in body["messages"] for text in _texts(message["content"]))
    said = f"{reply.text or ''} {reply.reasoning or ''}"
    used = {"prompt_tokens": len(prompt.split()), "completion_tokens": len(said.split())}
    message = {"role": "assistant", "content": reply.text}
    if reply.reasoning is not None:
        message["reasoning_content"] = reply.reasoning
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 0,
        "model": reply.model or body["model"],
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": reply.finish_reason,
            }
        ],
        "usage": used | {"total_tokens": sum(used.values())},
    }


def _texts(content: str | list[Body] | None) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or [] if part["type"] == "text"]
