"""An HTTP proxy on the loopback interface, with names of its own: what it does not know, it does not reach.

with Proxy({"photos.example": photos.address}, login="ann:s%20cret") as proxy:
    ...  # under proxy.environment
"""

from __future__ import annotations

import base64
import http.client
import selectors
import socket
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import unquote, urlsplit

from tests.hub import request_body

Address = tuple[str, int]


class Proxy:
    """Forwards http and tunnels https to `names`. `asked` lists what it was asked for; `status` refuses all of it."""

    def __init__(self, names: Mapping[str, Address], *, login: str = "", status: int = 0) -> None:
        self.names = names
        self.login = login
        self.status = status
        self.asked: list[str] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.proxy = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://{self.login + '@' if self.login else ''}127.0.0.1:{self._server.server_address[1]}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a machine that has no other way out."""
        return {"HTTP_PROXY": self.url, "HTTPS_PROXY": self.url, "http_proxy": self.url, "https_proxy": self.url}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    proxy: Proxy

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that give up are part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def _place(self, host: str | None) -> Address | None:
        """Where a name leads; None after the refusal was sent."""
        proxy = self.server.proxy
        proxy.asked.append(f"{self.command} {self.path}")
        wanted = "Basic " + base64.b64encode(unquote(proxy.login).encode()).decode()
        if proxy.login and self.headers.get("Proxy-Authorization") != wanted:
            self.send_error(407)
        elif proxy.status or host not in proxy.names:
            self.send_error(proxy.status or 502)
        else:
            return proxy.names[host]
        return None

    def _forward(self) -> None:
        place = urlsplit(self.path)
        address = self._place(place.hostname)
        if address is None:
            return
        upstream = http.client.HTTPConnection(*address, timeout=30)
        kept = {n: v for n, v in self.headers.items() if not n.lower().startswith(("proxy-", "transfer-enc"))}
        target = place._replace(scheme="", netloc="").geturl()
        upstream.request(self.command, target, request_body(self), kept)
        answer = upstream.getresponse()
        body = answer.read()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        size = answer.headers["Content-Length"] if self.command == "HEAD" else str(len(body))
        self.send_header("Content-Length", size or "0")
        self.end_headers()
        self.wfile.write(body)

    def do_CONNECT(self) -> None:
        address = self._place(self.path.rpartition(":")[0])
        if address is None:
            return
        with socket.create_connection(address) as upstream, selectors.DefaultSelector() as ready:
            self.send_response_only(200)
            self.end_headers()
            ready.register(self.connection, selectors.EVENT_READ, upstream)
            ready.register(upstream, selectors.EVENT_READ, self.connection)
            while True:
                for key, _ in ready.select():
                    assert isinstance(key.fileobj, socket.socket)
                    data = key.fileobj.recv(65536)
                    if not data:
                        return
                    key.data.sendall(data)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = _forward  # noqa: N815 (names that http.server looks for)

    def log_message(self, *_: object) -> None:
        """Quiet: `Proxy.asked` is the log."""
