"""A Hub that does not answer is told of in one line, and all else that its library says as it says it."""

from __future__ import annotations

import logging

import pytest

from scripts.terminal.hub_waits import say_hub_waits_once


def test_tries_are_reported_once_and_in_our_words(monkeypatch: pytest.MonkeyPatch) -> None:
    asking = logging.getLogger("huggingface_hub.utils._http")
    said: list[str] = []
    handler = logging.Handler()
    monkeypatch.setattr(handler, "emit", lambda record: said.append(record.getMessage()))
    monkeypatch.setattr(asking, "filters", [])
    monkeypatch.setattr(asking, "handlers", [handler])
    for _ in range(2):
        say_hub_waits_once()
    for number in (1, 2):
        asking.warning("'[Errno -2] Name or service not known' thrown while requesting HEAD https://hub/a.json")
        asking.warning(f"Retrying in {number}s [Retry {number}/5].")
    asking.warning("Rate limited. Waiting 121s before retry [Retry 1/5].")
    assert said == [
        "The Hub does not answer; retrying for half a minute",
        "Rate limited. Waiting 121s before retry [Retry 1/5].",
    ]
