"""The server of the loopback Hub, and the variables with which a process talks to it."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

from scripts.loopback_hub.routes import Reply, Routes
from scripts.loopback_hub.store import Store


class Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: object, client_address: object) -> None:
        """A client may hang up."""


def request_body(handler: BaseHTTPRequestHandler) -> bytes:
    """The body of a request, chunked or not."""
    if "chunked" not in handler.headers.get("Transfer-Encoding", "").lower():
        return handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    body = b""
    while size := int(handler.rfile.readline().split(b";")[0], 16):
        body += handler.rfile.read(size)
        handler.rfile.readline()
    handler.rfile.readline()
    return body


class Handler(BaseHTTPRequestHandler):
    loopback: LoopbackHub
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def respond(self) -> None:
        """Read a request and answer it."""
        self.send(self.answer(request_body(self)))

    def answer(self, body: bytes) -> Reply:
        """What the Hub says to the request with this body."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.loopback.lock:
            return self.loopback.routes.answer(self.command, self.path, headers, body)

    def send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.send_body(reply.body)

    def send_body(self, body: bytes) -> None:
        self.wfile.write(body)

    def _serve(self) -> None:
        self.respond()

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 (names that http.server looks for)

    def log_message(self, *_: object) -> None:
        """Quiet."""


class LoopbackHub:
    """The Hub: its `url`, a `token` that may write, and its `store`."""

    token = "hf_loopback_write"
    handler: type[Handler] = Handler
    answering: type[Routes] = Routes

    def __init__(self) -> None:
        self.store = Store()
        self.lock = threading.RLock()
        self.server = Server(("127.0.0.1", 0), type("BoundHandler", (self.handler,), {"loopback": self}))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.routes = self.answering(self.store, self.url)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def environment(self, home: Path) -> dict[str, str]:
        """Variables with which a fresh process uses this Hub and no other, with an empty cache under `home`."""
        return {
            "HF_ENDPOINT": self.url,
            "HF_TOKEN": self.token,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "HF_HUB_OFFLINE": "0",
            "NO_PROXY": "127.0.0.1",
        }
