"""A chat server that turns requests away before it answers them, and what to turn away: for tests of builds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from builders import recipe as recipes
from tests.parts.chat_server import Answerer, ChatServer, Fault, Reply, Request, cut, status

TOO_LONG = status(400, message="maximum context length is 512 tokens", error="context_length_exceeded")
REFUSED_FOR_EVER = pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (status(400, message="not with us"), "refused the request or failed: HTTP 400: not with us"),
        (status(400, error="content_filter"), "refused the request or failed: the provider's filter stopped it"),
        (status(500, message="no idea"), "gave no answer in 6 tries; the last error: HTTP 500: no idea"),
        (TOO_LONG, "refused the request or failed: the question does not fit into the model's context"),
    ],
    ids=["policy", "filter", "500", "too long"],
)
"""What a server may always say to one row, and how a build gives the reason."""
AWAY = pytest.mark.parametrize("fault", [status(502), cut()], ids=["502", "no connection"])
"""What a server that is away, or its proxy, says to everybody."""


def when(met: Callable[[Request], bool], fault: Fault) -> Callable[[Request], Fault | None]:
    """Turns away the requests that are `met` by a condition, with this fault."""
    return lambda request: fault if met(request) else None


class FailingServer(ChatServer):
    """Replies; `turns_away` may give a fault first."""

    def __init__(self, reply: Answerer, turns_away: Callable[[Request], Fault | None] = lambda request: None) -> None:
        super().__init__(reply)
        self.turns_away = turns_away

    def receive(self, request: Request) -> Fault | Reply:
        outcome = super().receive(request)
        return self.turns_away(request) or outcome

    def sent(self) -> Counter[str]:
        """How often each request was sent."""
        return Counter(json.dumps(request.body["messages"]) for request in self.requests)


class Clock:
    """A clock that only the waiting for a model moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        opened: Any = recipes.open_model
        monkeypatch.setattr(recipes, "open_model", lambda name, **more: opened(name, sleep=self.wait, **more))

    async def wait(self, seconds: float) -> None:
        self.now += seconds
