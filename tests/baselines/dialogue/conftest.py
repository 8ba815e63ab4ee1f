"""A chat server that plays all roles of the game, each under its own name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.parts.chat_server import ChatServer
from tests.parts.puzzles import Crowd


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("LOCAL_API_KEY", "not-a-secret")
    with ChatServer(Crowd()) as running:
        monkeypatch.setenv("LOCAL_BASE_URL", running.base_url)
        yield running
