"""Shared by benchmarks: what takes how long by turns; a function in a process of its own; a look at any process."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from builders.release.checkout import Checkout

Result = TypeVar("Result")
ROOT = Path(__file__).parents[2]


def apart(work: Callable[..., Result], *arguments: Any) -> Result:
    """What a function gives in a fresh process, which has no memory, caches and threads of this one."""
    with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
        return fresh.submit(work, *arguments).result()


def fastest(
    works: Mapping[str, Callable[[], object]], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, float]:
    """Seconds of the fastest run of each, by turns: what else the machine did slows the others."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            gc.collect()  # what one left is not looked through in the time of the next
            started = clock()
            work()
            times[name].append(clock() - started)
    return {name: min(taken) for name, taken in times.items()}


def commit() -> str:
    """The commit that is measured, with a plus where its code was changed since."""
    code = Checkout.opened(ROOT).code()
    return f"{code.commit[:7]}{'+' * code.changed}" if code else ""


def processes() -> Iterator[int]:
    """All that run on this machine."""
    return (int(place.name) for place in Path("/proc").glob("[0-9]*"))


def stat_of(process: int) -> list[str]:
    """State, parent, group, session and more of a process, as Linux tells them; empty for one that has ended."""
    fields = _told(process, "stat").decode("utf-8", "replace").rpartition(")")[2].split()
    return [] if fields[:1] == ["Z"] else fields


def command_line(process: int) -> bytes:
    """Empty for a process that has ended."""
    return _told(process, "cmdline")


def _told(process: int, what: str) -> bytes:
    try:
        return Path(f"/proc/{process}/{what}").read_bytes()
    except OSError:
        return b""
