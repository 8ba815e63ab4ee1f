"""A web server on the loopback interface (standard library only): the Hub, and what tests have of chats and photos."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self


class Loopback:
    """Listens on a free port between `__enter__` and `__exit__`; `stopping` is set when it ends."""

    def __init__(self, handler: type[Handler], port: int = 0) -> None:
        self.stopping = threading.Event()
        self.lock = threading.RLock()
        self._server = _Server(("127.0.0.1", port), handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def address(self) -> tuple[str, int]:
        return "127.0.0.1", self._server.server_address[1]

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


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # many clients may connect at once without being refused
    owner: Any

    def handle_error(self, request: object, client_address: object) -> None:
        """A client may hang up."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    @property
    def owner(self) -> Any:
        return self.server.owner

    def request_body(self) -> bytes:
        """The body of the request, chunked or not."""
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def head(self, code: int, headers: Mapping[str, object]) -> None:
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()

    def send(self, code: int, body: bytes, headers: Mapping[str, object]) -> None:
        self.head(code, {"Content-Length": len(body), **headers})
        if self.command != "HEAD":
            self.send_body(body)

    def send_body(self, body: bytes) -> None:
        self.wfile.write(body)

    def reset(self) -> None:
        """Reset the connection."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()

    def log_message(self, *_: object) -> None:
        """Silent: what keeps a log has its own."""
