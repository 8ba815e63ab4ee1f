"""An HTTP proxy on the loopback interface, with names of its own: what it does not know, it does not reach.

with Proxy({"photos.example": photos.address}, login="ann:s%20cret") as proxy:
    ...  # under proxy.environment
"""

from __future__ import annotations

import base64
import http.client
import selectors
import socket
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from scripts.loopback_hub.server import Handler, Loopback

Address = tuple[str, int]


class Proxy(Loopback):
    """Forwards http and tunnels https to `names`. `asked` lists the requests; `status`, if set, refuses all of them."""

    def __init__(self, names: Mapping[str, Address], *, login: str = "", status: int = 0) -> None:
        super().__init__(_Handler)
        self.names = names
        self.login = login
        self.status = status
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://{self.login + '@' if self.login else ''}127.0.0.1:{self.address[1]}"

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of a machine whose only way out is this proxy."""
        ways = {"HTTP_PROXY": self.url, "HTTPS_PROXY": self.url, "ALL_PROXY": "", "NO_PROXY": ""}
        return ways | {name.lower(): value for name, value in ways.items()}


class _Handler(Handler):
    def _place(self, host: str | None) -> Address | None:
        """The address of a name; None after the refusal was sent."""
        proxy: Proxy = self.owner
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
        upstream.request(self.command, target, self.request_body(), kept)
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

    def do_CONNECT(self) -> None:  # noqa: N802 (a name that http.server looks for)
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
