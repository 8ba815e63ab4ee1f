"""Who plays evaluator and patient when a study is tested: scripts, in this process or behind a server that is paid.

    players = {role: Acting(role) for role in ROLES}
    with PaidServer(seconds=0.3) as server:
        open_model("openai-api/bench/patient", base_url=server.base_url)
    server.received, server.paid        # 31, 30

The server speaks the OpenAI protocol and honours `Idempotency-Key`, as a provider may: a request with a known name
gets the earlier answer, or waits for it, and is not charged again. It finishes an answer even if the client is gone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Unpack

from baselines.medconceal.agents import plain_patient, rules_evaluator
from loaders.errors import ModelError
from loaders.models.messages import REQUEST, Answer, ChatModel, Decoding, Message
from tests.parts.chat_server import ChatServer, Reply, Request

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
            raise ModelError(self.name, found=f"does not answer: HTTP 503: {messages[-1].text}")  # some quote
        text = "No JSON." if self.nonsense else f"{self._script(messages)}"
        said = f" That is answer {self.asked}." if "patient" in self.name else ""
        return Answer(text + said, 100, 20, "stop")


class PaidServer(ChatServer):
    """Has its players take `seconds` an answer, and counts what it `received` and what it was `paid` for."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.received = self.paid = 0
        self._players = {role: Acting(role, seconds) for role in ROLES}
        self._known: dict[str, Future[Reply]] = {}

    def receive(self, request: Request) -> Reply:
        with self.lock:
            self.received += 1
            name = request.headers.get("idempotency-key") or f"nameless {self.received}"
            first = name not in self._known
            answer = self._known.setdefault(name, Future())
        if first:
            asked = [Message(one["role"], _text(one["content"])) for one in request.body["messages"]]
            said = asyncio.run(self._players[request.body["model"]].ask(asked, temperature=0, max_tokens=1))
            with self.lock:
                self.paid += 1
            answer.set_result(Reply(said.text))
        return answer.result()


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)
