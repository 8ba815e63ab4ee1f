"""Who plays evaluator and patient where a study is tried: scripts, in this process or behind a server that is paid.

    players = {role: Acting(role) for role in ROLES}
    with paid_server(seconds=0.3) as (address, told):
        open_model("openai-api/bench/patient", base_url=address)
    told()                        # {"received": 31, "paid": 30}

The server speaks the OpenAI protocol and honours `Idempotency-Key`, as a provider may: a request of a name that it
knows is answered as before, or waited for, and not paid again. It goes on with an answer when who asked is gone.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Unpack

from baselines.medconceal.agents import plain_patient, rules_evaluator
from loaders.errors import ModelError
from loaders.models.messages import REQUEST, Answer, ChatModel, Decoding, Message

ROLES = ("patient", "evaluator")


class Acting(ChatModel):
    """A model that is a script: it can be slow, fail, or talk nonsense.

    `asked` counts what it was asked, `names` are those of the requests.
    """

    stand_in = True

    def __init__(self, role: str, seconds: float = 0.0) -> None:
        self.name = f"acting/{role}"
        self._script = {"evaluator": rules_evaluator, "patient": plain_patient}[role](None)
        self.asked = 0
        self.names: list[str] = []
        self.failing = False
        self.nonsense = False
        self.seconds = seconds

    @property
    def identity(self) -> dict[str, str]:
        return {"name": self.name}

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None = None,
        **decoding: Unpack[Decoding],
    ) -> Answer:
        self.asked += 1
        self.names.append(REQUEST.get())
        await asyncio.sleep(self.seconds)
        if self.failing:
            raise ModelError(self.name, found="does not answer")
        text = "No JSON." if self.nonsense else f"{self._script(messages)}"
        said = f" That is answer {self.asked}." if "patient" in self.name else ""
        return Answer(text + said, 100, 20, "stop")


@contextmanager
def paid_server(seconds: float) -> Iterator[tuple[str, Callable[[], dict[str, int]]]]:
    """The address of a server in a process of its own, which takes `seconds` an answer, and what it has counted."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, seconds), daemon=True)
    process.start()

    def told() -> dict[str, int]:
        ours.send(None)
        counted: dict[str, int] = ours.recv()
        return counted

    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1", told
    finally:
        process.kill()
        process.join()


def _serve(line: Any, seconds: float) -> None:
    import socket

    import uvicorn

    counts = {"received": 0, "paid": 0}
    players = {role: Acting(role, seconds) for role in ROLES}
    known: dict[str, asyncio.Task[bytes]] = {}

    async def paid(body: Any) -> bytes:
        asked = [Message(one["role"], _text(one["content"])) for one in body["messages"]]
        answer = await players[body["model"]].ask(asked, temperature=0, max_tokens=1)
        counts["paid"] += 1
        return _completion(body["model"], answer)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        body, more = b"", True
        while more:
            part = await receive()
            body, more = body + part.get("body", b""), part.get("more_body", False)
        counts["received"] += 1
        name = dict(scope["headers"]).get(b"idempotency-key", b"").decode() or f"nameless {counts['received']}"
        if name not in known:
            known[name] = asyncio.create_task(paid(json.loads(body)))
        answer = await asyncio.shield(known[name])
        kind = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": 200, "headers": kind})
        await send({"type": "http.response.body", "body": answer})

    async def run() -> None:
        listening = socket.create_server(("127.0.0.1", 0), backlog=512)
        asyncio.get_running_loop().add_reader(line.fileno(), lambda: (line.recv(), line.send(dict(counts))))
        line.send(listening.getsockname()[1])
        server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="critical", access_log=False))
        await server.serve(sockets=[listening])

    asyncio.run(run())


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _completion(model: str, answer: Answer) -> bytes:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": answer.text}}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    told = {"id": "1", "object": "chat.completion", "created": 0, "model": model, "choices": [choice], "usage": usage}
    return json.dumps(told).encode()
