"""What the tests of rating tasks share, made once: a small release with photos, and a run over it."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.cli import execute
from tests.parts.played_consultations import write_cases


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cases(tmp_path_factory.mktemp("photos") / "release", 6)


@pytest.fixture(scope="session")
def run(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("played") / "run"
    agents = ("--doctor", "scripted/keyword", "--patient", "scripted/patient", "--assessor", "scripted/assessor")
    assert execute(["run", "consultation", str(photos), "-o", str(out), "--bare", "--resamples", "20", *agents]) == 0
    return out
