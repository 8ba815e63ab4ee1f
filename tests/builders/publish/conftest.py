"""A release, and who publishes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.parts.faulty_hub import FaultyHub
from tests.parts.publisher import Publisher, make_release


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return make_release(tmp_path / "release")


@pytest.fixture
def publisher(hub: FaultyHub) -> Publisher:
    return Publisher(hub)


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client library waits between its own attempts (up to 23 s each time)."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
