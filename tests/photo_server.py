"""A web server on the loopback interface that hands out photos, and misbehaves in every way photos' hosts do."""

from __future__ import annotations

import gzip
import socket
import ssl
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Self

import numpy as np
from PIL import Image

Behaviour = Callable[["_Handler"], None]


def picture(seed: int = 1, size: int = 48, form: str = "JPEG") -> bytes:
    """A small picture that no other seed gives."""
    pixels = np.random.RandomState(seed).randint(0, 255, (6, 6, 3)).astype(np.uint8)
    buffer = BytesIO()
    Image.fromarray(pixels).resize((size, size), Image.Resampling.BICUBIC).save(buffer, form)
    return buffer.getvalue()


def sends(body: bytes, *, kind: str = "image/jpeg", status: int = 200, **headers: str) -> Behaviour:
    """An answer with a body; keyword arguments are further headers (`Retry_After`)."""

    def behave(handler: _Handler) -> None:
        handler.send_response(status)
        if kind:
            handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return behave


def redirects(target: str, status: int = 302) -> Behaviour:
    return sends(b"", kind="text/html", status=status, Location=target)


def hangs(handler: _Handler) -> None:
    """No byte of an answer until the server stops."""
    handler.owner.stopping.wait(30)
    handler.close_connection = True


def drips(handler: _Handler) -> None:
    """One byte now and then, for ever: every single step is in time."""
    handler.send_response(200)
    handler.send_header("Content-Type", "image/jpeg")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    while not handler.owner.stopping.is_set():
        handler.wfile.write(b"\xff")
        handler.wfile.flush()
        time.sleep(0.05)


def drips_head(handler: _Handler) -> None:
    """As `drips`, with a head that does not end."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while not handler.owner.stopping.is_set():
        handler.wfile.write(b"z")
        handler.wfile.flush()
        time.sleep(0.05)


def wanders(handler: _Handler) -> None:
    """A redirect that always leads on, to an address that nobody has seen before."""
    redirects(f"{handler.path}/on")(handler)


@cache
def _bomb() -> bytes:
    return gzip.compress(bytes(16 << 20))


def bombs(handler: _Handler) -> None:
    """Little that unpacks to much, though nobody asked for it packed."""
    sends(_bomb(), Content_Encoding="gzip")(handler)


def floods(handler: _Handler) -> None:
    """A body without a length that does not end."""
    handler.send_response(200)
    handler.send_header("Content-Type", "image/jpeg")
    handler.send_header("Connection", "close")
    handler.end_headers()
    while not handler.owner.stopping.is_set():
        handler.wfile.write(b"\xff" * 65536)
    handler.close_connection = True


def cuts(handler: _Handler) -> None:
    """Half of what was announced, then a closed connection."""
    handler.send_response(200)
    handler.send_header("Content-Type", "image/jpeg")
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b"\xff" * 500)
    handler.close_connection = True


def resets(handler: _Handler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.close_connection = True
    handler.connection.close()


def garbles(handler: _Handler) -> None:
    """Something that is no HTTP."""
    handler.connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")
    handler.close_connection = True


class PhotoServer:
    """Serves `pages` by path ("*" any other); a list of behaviours is gone through, the last one for ever.

    `asked` counts requests by path, but for robots.txt, which `robots` counts.
    """

    def __init__(self, pages: dict[str, Behaviour | list[Behaviour]]) -> None:
        self.pages = pages
        self.asked: Counter[str] = Counter()
        self.robots = 0
        self.agents: set[str] = set()
        self.stopping = threading.Event()
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self._server.server_address[1]

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.address[1]}{path}"

    def secure(self, certificate: Path, key: Path) -> None:
        """Speak TLS from now on."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def behaviour(self, path: str, agent: str) -> Behaviour:
        with self._lock:
            if path == "/robots.txt":
                number = self.robots
                self.robots += 1
            else:
                number = self.asked[path]
                self.asked[path] += 1
            self.agents.add(agent)
        page = self.pages.get(path) or self.pages.get("*") or sends(b"gone", kind="text/plain", status=404)
        return page[min(number, len(page) - 1)] if isinstance(page, list) else page


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    owner: PhotoServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that give up are part of the tests: no traceback."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    @property
    def owner(self) -> PhotoServer:
        return self.server.owner

    def do_GET(self) -> None:
        self.owner.behaviour(self.path, self.headers.get("User-Agent", ""))(self)

    def log_message(self, format: str, *args: object) -> None:
        """Silent: `PhotoServer.asked` is the log."""
