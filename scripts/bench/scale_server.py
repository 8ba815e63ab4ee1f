"""A server that answers chat requests after a delay, and a client that only sends them: asyncio streams, no more.

The server is a thread, and counts its requests in flight; whoever asks is another process, so that neither takes the
other's time.
It can be told that something is being killed: what is asked again later must have been in flight then, or was lost.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from anyio.from_thread import start_blocking_portal

_SAID = json.dumps({"layman_caption": "The scan shows what the report says."})
_DRAFT = re.compile("<draft>(.*?)</draft>", re.DOTALL)
BEFORE = 1.0
"""Seconds for which an answer counts as in flight after it was read: a process that waits for a processor has not kept
it yet."""


@dataclass
class Counts:
    """What the server has seen: `most` requests in flight at once; `repeated` are requests that had come before, `lost`
    those of them that were in flight while nobody was killed, `struck` all that were in flight while somebody was."""

    requests: int = 0
    flying: int = 0
    most: int = 0
    repeated: int = 0
    lost: int = 0
    struck: int = 0
    first: float = 0.0
    last: float = 0.0
    held: dict[int, float] = field(default_factory=dict)
    """Seconds for which so many requests were in flight."""
    changed: float = 0.0
    lives: dict[bytes, tuple[float, float]] = field(default_factory=dict)
    """Of each request, by its digest: when it was asked last, and when its connection told that the answer was read, by
    the next request or its end: a process that waits for a processor leaves answers unread for seconds."""
    kills: list[tuple[float, float]] = field(default_factory=list)

    def asked(self, request: bytes) -> None:
        now = time.perf_counter()
        if request in self.lives:
            asked, read = self.lives[request]
            self.repeated += 1
            self.lost += not any(asked <= end and read >= start for start, end in self.kills)
        self.lives[request] = now, math.inf
        self.first = self.first or now
        self._fly(now, 1)
        self.most = max(self.most, self.flying)

    def answered(self) -> None:
        self.last = time.perf_counter()
        self._fly(self.last, -1)
        self.requests += 1

    def _fly(self, now: float, more: int) -> None:
        self.held[self.flying] = self.held.get(self.flying, 0.0) + now - (self.changed or now)
        self.flying, self.changed = self.flying + more, now

    def read(self, request: bytes) -> None:
        if request in self.lives:
            self.lives[request] = self.lives[request][0], time.perf_counter()

    def kill(self) -> None:
        self.kills.append((time.perf_counter() - BEFORE, math.inf))

    def killed(self) -> None:
        start, end = self.kills[-1][0], time.perf_counter()
        self.kills[-1] = start, end
        self.struck += sum(asked <= end and read >= start for asked, read in list(self.lives.values()))

    def full(self, number: int) -> float:
        """Share of the time, from the first request to the last answer, in which so many were in flight or more."""
        return sum(seconds for flying, seconds in self.held.items() if flying >= number) / (self.last - self.first)

    @property
    def rate(self) -> float:
        """Requests a second, from the first that came to the last that was answered."""
        return self.requests / (self.last - self.first)


class Server:
    """A server that runs; `counts` is what it has seen since the last `forget`. One that is an `echo` says what the
    draft in a request says."""

    def __init__(self, latency: float, echo: bool) -> None:
        self.latency, self.echo, self.port = latency, echo, 0
        self.counts = Counts()

    def forget(self) -> None:
        """Count anew."""
        self.counts = Counts()

    @contextmanager
    def killing(self) -> Iterator[None]:
        """Around a kill, until all processes that were to die are gone."""
        self.counts.kill()
        yield
        self.counts.killed()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The requests of one connection, until it ends."""
        before = b""
        try:
            while True:
                body = await _body(reader)
                self.counts.read(before)
                before = hashlib.blake2b(body, digest_size=16).digest()
                self.counts.asked(before)
                await asyncio.sleep(self.latency)
                self.counts.answered()
                writer.write(_answer(echoed(json.loads(body)["messages"][-1]["content"])) if self.echo else _ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            self.counts.read(before)
            writer.close()


@contextmanager
def serving(latency: float, *, echo: bool = False) -> Iterator[Server]:
    """The server, in a thread until the end of the block."""
    server = Server(latency, echo)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(_listening(server)):
        yield server


@asynccontextmanager
async def _listening(server: Server) -> AsyncIterator[None]:
    listening = await asyncio.start_server(server.answer, "127.0.0.1", 0, backlog=4096)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield
    finally:
        listening.close()


def plain(port: int, requests: int, concurrency: int) -> float:
    """Requests a second of a client that does nothing else."""
    return asyncio.run(_plain(port, requests, concurrency))


async def _plain(port: int, requests: int, concurrency: int) -> float:
    body = json.dumps({"model": "stand-in", "messages": [{"role": "user", "content": "caption " * 300}]}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    left = iter(range(requests))

    async def connection() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in left:
            writer.write(head + body)
            json.loads(await _body(reader))
        writer.close()

    started = time.perf_counter()
    await asyncio.gather(*(connection() for _ in range(concurrency)))
    return requests / (time.perf_counter() - started)


async def _body(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    return await reader.readexactly(int(length.partition(b":")[2]))


def echoed(asked: str) -> str:
    """What an echo says to the last message of a request."""
    found = _DRAFT.search(asked)
    return json.dumps({"layman_caption": found[1]}) if found else _SAID


def _answer(content: str) -> bytes:
    message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    usage = {"prompt_tokens": 300, "completion_tokens": 10, "total_tokens": 310}
    told = {"id": "1", "object": "chat.completion", "created": 0, "model": "stand-in", "choices": [message]}
    body = json.dumps(told | {"usage": usage}).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


_ANSWER = _answer(_SAID)
