"""Threads in this process, for work that releases the GIL: decoding, OpenCV, sums."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from loaders.engines.engine import Done, Task

_AHEAD = 4
"""Units submitted ahead for each thread, before the first result is requested."""


class Threads:
    """So many threads, or none if it is one; they share what the task holds, and nothing is sent anywhere."""

    def __init__(self, workers: int = 1) -> None:
        if workers < 1:
            raise ValueError(f"workers={workers}: they start at 1")
        self.slots = workers
        self.grain = 1
        self.spread = False
        self.machines: tuple[str, ...] = ()

    def narrowed(self, slots: int) -> AbstractContextManager[Threads]:
        """As `Engine.narrowed`."""
        return nullcontext(Threads(min(slots, self.slots)))

    def each(self, task: Task[Done], units: Iterable[tuple[str, Any]], *, where: str) -> Generator[tuple[str, Done]]:
        """As `Engine.each`. Closing it (or an interrupt) drops what has not been started."""
        if self.slots == 1:
            for name, unit in units:
                yield name, task(name, unit)
            return
        pool = ThreadPoolExecutor(self.slots)
        under_way: dict[Future[Done], str] = {}
        try:
            for name, unit in units:
                if len(under_way) >= _AHEAD * self.slots:
                    yield from finished(under_way)
                under_way[pool.submit(task, name, unit)] = name
            while under_way:
                yield from finished(under_way)
        finally:
            pool.shutdown(cancel_futures=True)


def finished(under_way: dict[Future[Done], str]) -> Iterator[tuple[str, Done]]:
    """Waits for the first of the pending futures, and yields all that have finished, removing them."""
    done, _ = wait(under_way, return_when=FIRST_COMPLETED)
    for future in done:
        yield under_way.pop(future), future.result()
