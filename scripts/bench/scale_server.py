"""A server that answers chat requests after a while, and a client that only sends them: asyncio streams, no more.

The server runs in a process of its own, so that neither takes the other's time, and counts what it has in flight.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

_SAID = json.dumps({"layman_caption": "The scan shows what the report says."})


@dataclass
class Server:
    """A server that runs; what it has counted since the last `forget`."""

    port: int
    _line: Connection

    def forget(self) -> None:
        """Count anew."""
        self._line.send("forget")
        self._line.recv()

    def _told(self) -> dict[str, Any]:
        self._line.send("tell")
        told: dict[str, Any] = self._line.recv()
        return told

    @property
    def requests(self) -> int:
        return int(self._told()["requests"])

    @property
    def most(self) -> int:
        """Requests in flight at most."""
        return int(self._told()["most"])

    @property
    def rate(self) -> float:
        """Requests a second, from the first that came to the last that was answered."""
        told = self._told()
        return float(told["requests"] / (told["last"] - told["first"]))


@asynccontextmanager
async def serving(latency: float) -> AsyncIterator[Server]:
    """The server, until the end of the block."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, latency), daemon=True)
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


def _serve(line: Connection, latency: float) -> None:
    asyncio.run(_serving(line, latency))


async def _serving(line: Connection, latency: float) -> None:
    counts: dict[str, float] = {}

    def forget() -> None:
        counts.update(requests=0, flying=0, most=0, first=0.0, last=0.0)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await _body(reader)
                counts["first"] = counts["first"] or time.perf_counter()
                counts["flying"] += 1
                counts["most"] = max(counts["most"], counts["flying"])
                await asyncio.sleep(latency)
                counts["flying"] -= 1
                counts["requests"] += 1
                writer.write(_ANSWER)
                await writer.drain()
                counts["last"] = time.perf_counter()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def asked() -> None:
        if line.recv() == "forget":
            forget()
        line.send(dict(counts))

    forget()
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=4096)
    asyncio.get_running_loop().add_reader(line.fileno(), asked)
    line.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()


def _answered() -> bytes:
    message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": _SAID}}
    usage = {"prompt_tokens": 300, "completion_tokens": 10, "total_tokens": 310}
    body = json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "stand-in",
            "choices": [message],
            "usage": usage,
        }
    ).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


_ANSWER = _answered()
