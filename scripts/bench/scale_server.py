"""A server that answers chat requests after a delay, and a client that only sends them: asyncio streams, no more.

The server runs in a process of its own, so that neither takes the other's time, and counts its requests in flight. It
can be told that something is being killed: what is asked again later must have been in flight then, or was lost.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import multiprocessing
import re
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection

_SAID = json.dumps({"layman_caption": "The scan shows what the report says."})
_DRAFT = re.compile("<draft>(.*?)</draft>", re.DOTALL)
BEFORE = 1.0
"""Seconds for which an answer counts as in flight after it was read: a process that waits for a processor has not kept
it yet."""


@dataclass
class Server:
    """A server that runs; `told` is what it has counted since the last `forget`."""

    port: int
    _line: Connection

    def forget(self) -> None:
        """Count anew."""
        self._asked("forget")

    def told(self) -> Counts:
        """All counts."""
        return self._asked("tell")

    @contextmanager
    def killing(self) -> Iterator[None]:
        """Around a kill, until all processes that were to die are gone."""
        self._asked("kill")
        yield
        self._asked("killed")

    def _asked(self, what: str) -> Counts:
        self._line.send(what)
        told: Counts = self._line.recv()
        return told


@asynccontextmanager
async def serving(latency: float, *, echo: bool = False) -> AsyncIterator[Server]:
    """The server, until the end of the block; one that is an `echo` says what the draft in a request says."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, latency, echo), daemon=True)
    process.start()
    try:
        yield Server(await asyncio.to_thread(ours.recv), ours)
    finally:
        process.kill()
        process.join()


async def plain(port: int, *, requests: int, concurrency: int) -> float:
    """Requests a second of a client that does nothing else."""
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


def _serve(line: Connection, latency: float, echo: bool) -> None:
    asyncio.run(_serving(line, latency, echo))


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
        self.lives[request] = self.lives[request][0], time.perf_counter()

    def kill(self) -> None:
        self.kills.append((time.perf_counter() - BEFORE, math.inf))

    def killed(self) -> None:
        start, end = self.kills[-1][0], time.perf_counter()
        self.kills[-1] = start, end
        self.struck += sum(asked <= end and read >= start for asked, read in self.lives.values())

    def full(self, number: int) -> float:
        """Share of the time, from the first request to the last answer, in which so many were in flight or more."""
        return sum(seconds for flying, seconds in self.held.items() if flying >= number) / (self.last - self.first)

    @property
    def rate(self) -> float:
        """Requests a second, from the first that came to the last that was answered."""
        return self.requests / (self.last - self.first)


async def _serving(line: Connection, latency: float, echo: bool) -> None:
    counts = Counts()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        before = b""
        try:
            while True:
                body = await _body(reader)
                if before in counts.lives:
                    counts.read(before)
                before = hashlib.blake2b(body, digest_size=16).digest()
                counts.asked(before)
                await asyncio.sleep(latency)
                counts.answered()
                writer.write(_answer(echoed(json.loads(body)["messages"][-1]["content"])) if echo else _ANSWER)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            if before in counts.lives:
                counts.read(before)
            writer.close()

    def told() -> None:
        nonlocal counts
        what = line.recv()
        if what == "forget":
            counts = Counts()
        elif what in ("kill", "killed"):
            getattr(counts, what)()
        line.send(replace(counts, lives={}, kills=[]))  # of these there are many

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=4096)
    asyncio.get_running_loop().add_reader(line.fileno(), told)
    line.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


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
