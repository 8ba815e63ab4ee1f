"""A chat server on the loopback interface that speaks the OpenAI protocol (standard library only).

    with ChatServer(reply="Hello.") as server:
        model = open_model("openai-api/local/anything", base_url=server.base_url)  # with LOCAL_API_KEY set

`reply` is a text, a list of texts (one a request, the last for ever) or a function of the request's body. Faults are
ordered beforehand, each for one request, before any reply: `server.faults += [status(429, retry_after=2), cut()]`.
`server.requests` is the log of all requests, those that met a fault included.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Body = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """One request as it came: header names in lower case, the body as JSON."""

    path: str
    headers: dict[str, str]
    body: Body


@dataclass(frozen=True)
class Reply:
    """A reply with its finish reason (stop, length, content_filter); text None is JSON's null."""

    text: str | None
    finish_reason: str = "stop"


Answerer = Callable[[Body], str | Reply | None]
Fault = Callable[["_Handler"], None]


def status(
    code: int, *, retry_after: float | None = None, message: str = "out of order", error: str = "error"
) -> Fault:
    """An error of that HTTP status, in OpenAI's form; `error` is its code."""
    headers = {} if retry_after is None else {"Retry-After": f"{retry_after:g}"}
    body = json.dumps({"error": {"message": message, "type": "error", "code": error, "param": None}})
    return lambda handler: handler.send(code, body, headers)


def raw(code: int, body: str, content_type: str = "application/json") -> Fault:
    """Any bytes as the body: broken JSON, an HTML page of a proxy, another server's idea of an error."""
    return lambda handler: handler.send(code, body, {}, content_type)


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
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            handler.wfile.write(b"{" + b" " * (after_bytes - 1))
            handler.wfile.flush()
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.close_connection = True
        handler.connection.close()

    return fault


class ChatServer:
    """The server; it listens on a free port between `__enter__` and `__exit__`."""

    def __init__(self, reply: str | Sequence[str | Reply | None] | Answerer | None = "ok", *, port: int = 0) -> None:
        self.reply = reply
        self.faults: list[Fault] = []
        self.requests: list[Request] = []
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._served = 0
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def receive(self, request: Request) -> Fault | Reply:
        """Notes a request and decides what happens to it."""
        with self._lock:
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
        return answer if isinstance(answer, Reply) else Reply(answer)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # a crowd that connects at once is not turned away
    owner: ChatServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that give up are part of the tests: no traceback."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    @property
    def owner(self) -> ChatServer:
        return self.server.owner

    def do_POST(self) -> None:
        body: Body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        outcome = self.owner.receive(Request(self.path, headers, body))
        if not isinstance(outcome, Reply):
            outcome(self)
        elif not self.path.endswith("/chat/completions"):
            self.send(404, json.dumps({"error": {"message": f"no route {self.path}"}}), {})
        else:
            self.send(200, json.dumps(_completion(body, outcome)), {})

    def send(self, code: int, body: str, headers: dict[str, str], content_type: str = "application/json") -> None:
        data = body.encode()
        self.send_response(code)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Silent: `ChatServer.requests` is the log."""


def _completion(body: Body, reply: Reply) -> Body:
    """The answer's JSON. A token is a word, so that expected counts can be told by eye."""
    prompt = " ".join(text for message in body["messages"] for text in _texts(message["content"]))
    used = {"prompt_tokens": len(prompt.split()), "completion_tokens": len((reply.text or "").split())}
    return {
        "id": "chat-1",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply.text},
                "finish_reason": reply.finish_reason,
            }
        ],
        "usage": used | {"total_tokens": sum(used.values())},
    }


def _texts(content: str | list[Body] | None) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [part["text"] for part in content or [] if part["type"] == "text"]
