"""The bench sees what it is there to see: else a campaign that finds nothing says nothing."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from loaders.errors import InputError
from tests.fuzz.bench import Bench
from tests.fuzz.trying import MODULES, Call


def well() -> None:
    raise InputError("x", found="an error of ours")


def wrong() -> None:
    raise KeyError("x")


def asleep() -> None:
    time.sleep(60)


def busy() -> None:
    while True:
        pass


def greedy() -> None:
    np.ones(300 << 20)  # 2.4 GB


def dead() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def curious() -> None:
    list(Path("/root").iterdir())


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "yard").mkdir()
        (folder / "yard" / MODULES).write_text("tests.fuzz.test_bench", encoding="utf-8")
        with Bench(folder / "yard") as opened:
            yield opened


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (wrong, "KeyError at tests/fuzz/test_bench.py"),
        (asleep, "HANG"),
        (busy, "HANG"),
        (greedy, "MEMORY"),
        (dead, "CRASH"),
        (curious, "PermissionError"),
    ],
)
def test_each_fault_is_reported_and_the_next_case_runs(function: Callable[[], None], told: str, bench: Bench) -> None:
    bench.deadline = 0.5 if told == "HANG" else 30.0
    assert (bench.fault(Call(function)) or "").startswith(told)
    bench.deadline = 30.0
    assert bench.fault(Call(well)) is None
