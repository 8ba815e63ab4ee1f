"""A web server on the loopback interface that hands out photos, and misbehaves in every way photos' hosts do."""

from __future__ import annotations

import gzip
import time
from collections import Counter
from collections.abc import Callable
from functools import cache
from io import BytesIO

import numpy as np
from PIL import Image

from scripts.loopback_hub.server import Handler, Loopback

Behaviour = Callable[["_Handler"], None]


def picture(seed: int = 1, size: int = 48, form: str = "JPEG") -> bytes:
    """A small picture, different for each seed."""
    pixels = np.random.RandomState(seed).randint(0, 255, (6, 6, 3)).astype(np.uint8)
    buffer = BytesIO()
    Image.fromarray(pixels).resize((size, size), Image.Resampling.BICUBIC).save(buffer, form)
    return buffer.getvalue()


def sends(body: bytes, *, kind: str = "image/jpeg", status: int = 200, **headers: str) -> Behaviour:
    """An answer with a body; keyword arguments are further headers (`Retry_After`)."""
    more = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.send(status, body, ({"Content-Type": kind} if kind else {}) | more)


def redirects(target: str, status: int = 302) -> Behaviour:
    return sends(b"", kind="text/html", status=status, Location=target)


def hangs(handler: _Handler) -> None:
    """No byte of an answer until the server stops."""
    handler.owner.stopping.wait(30)
    handler.close_connection = True


def drips(handler: _Handler) -> None:
    """One byte now and then, forever: every single step is in time."""
    handler.head(200, {"Content-Type": "image/jpeg", "Content-Length": 100000})
    while not handler.owner.stopping.is_set():
        handler.wfile.write(b"\xff")
        handler.wfile.flush()
        time.sleep(0.05)


def drips_head(handler: _Handler) -> None:
    """Like `drips`, with a header that never ends."""
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
    return gzip.compress(bytes(16 << 20), 1)  # fast to make: a slow answer is another fault


def bombs(handler: _Handler) -> None:
    """A small compressed body that unpacks to a lot, although nobody asked for compression."""
    sends(_bomb(), Content_Encoding="gzip")(handler)


def floods(handler: _Handler) -> None:
    """A body without a length that does not end."""
    handler.head(200, {"Content-Type": "image/jpeg", "Connection": "close"})
    while not handler.owner.stopping.is_set():
        handler.wfile.write(b"\xff" * 65536)
    handler.close_connection = True


def cuts(handler: _Handler) -> None:
    """Half of the announced body, then a closed connection."""
    handler.head(200, {"Content-Type": "image/jpeg", "Content-Length": 1000})
    handler.wfile.write(b"\xff" * 500)
    handler.close_connection = True


def cuts_unseen(handler: _Handler) -> None:
    """Half of a photo, and a closed connection, in an answer that did not say how long it would be."""
    handler.head(200, {"Content-Type": "image/jpeg", "Connection": "close"})
    handler.wfile.write(picture()[:500])
    handler.close_connection = True


def resets(handler: _Handler) -> None:
    handler.reset()


def garbles(handler: _Handler) -> None:
    """Something that is not HTTP."""
    handler.connection.sendall(b"SSH-2.0-OpenSSH_9.6\r\n")
    handler.close_connection = True


class PhotoServer(Loopback):
    """Serves `pages` by path ("*" for any other); behaviours in a list are used in turn, the last one forever.

    `asked` counts requests by path, except for robots.txt, which `robots` counts.
    """

    def __init__(self, pages: dict[str, Behaviour | list[Behaviour]]) -> None:
        super().__init__(_Handler)
        self.pages = pages
        self.asked: Counter[str] = Counter()
        self.robots = 0
        self.agents: set[str] = set()

    def url(self, path: str) -> str:
        return "http://{}:{}{}".format(*self.address, path)

    def behaviour(self, path: str, agent: str) -> Behaviour:
        with self.lock:
            if path == "/robots.txt":
                number = self.robots
                self.robots += 1
            else:
                number = self.asked[path]
                self.asked[path] += 1
            self.agents.add(agent)
        page = self.pages.get(path) or self.pages.get("*") or sends(b"gone", kind="text/plain", status=404)
        return page[min(number, len(page) - 1)] if isinstance(page, list) else page


class _Handler(Handler):
    def do_GET(self) -> None:  # noqa: N802
        self.owner.behaviour(self.path, self.headers.get("User-Agent", ""))(self)
