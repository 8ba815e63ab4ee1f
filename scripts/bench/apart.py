"""Shared by benchmarks: what one tells; what takes how long by turns; a process of its own; a look at any process."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, TypeVar

from loaders.errors import BedsideError, MissingExtra

Result = TypeVar("Result")
ROOT = Path(__file__).parents[2]


class Row(NamedTuple):
    """What a benchmark says in a row of the README's table of speed."""

    name: str
    what: str
    against: str
    ratio: str


class Measured(NamedTuple):
    """The rows that a benchmark could measure, and whether all is as it should be."""

    rows: Sequence[Row]
    right: bool = True


def ended(main: Callable[[Sequence[str]], Measured]) -> NoReturn:
    """Ends the process as a benchmark does: with 1 if something is not as it should be, with 2 if nothing could be
    measured."""
    try:
        found = main(sys.argv[1:])
    except (BedsideError, ModuleNotFoundError) as error:
        if isinstance(error, ModuleNotFoundError):
            error = MissingExtra.named(str(error.name), extra="test", purpose="the comparison")
        print(error, file=sys.stderr)
        sys.exit(2)
    for row in found.rows:
        print(f"{row.what}: {row.ratio} ({row.against})")
    sys.exit(not found.right)


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


def best_apart(works: Mapping[str, Callable[[], Mapping[str, Any]]], rounds: int) -> dict[str, dict[str, Any]]:
    """What each work, by turns, says of itself: of all rounds the highest `peak`, and of all else the least."""
    said = [{name: work() for name, work in works.items()} for _ in range(rounds)]
    return {
        name: {key: (max if key == "peak" else min)(one[name][key] for one in said) for key in said[-1][name]}
        for name in works
    }


def commit() -> str:
    """The commit that is measured, with a plus where its code was changed since."""
    from builders.release.checkout import Checkout

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
