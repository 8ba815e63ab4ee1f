"""Threads in this process, for work that releases the GIL: decoding, OpenCV, sums."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Any

from loaders.engines.engine import Done, Engine, Task

_AHEAD = 4
"""Units submitted ahead for each slot, before the first result is requested."""


class Threads(Engine):
    """So many threads, or none if it is one; they share what the task holds, and nothing is sent anywhere."""

    def __init__(self, workers: int = 1) -> None:
        self.slots = workers

    def narrowed(self, slots: int) -> AbstractContextManager[Threads]:
        return nullcontext(Threads(min(slots, self.slots)))

    def each(self, task: Task[Done], units: Iterable[tuple[str, Any]], *, where: str) -> Generator[tuple[str, Done]]:
        """As `Engine.each`. Closing it (or an interrupt) drops what has not been started."""
        if self.slots == 1:
            for name, unit in units:
                yield name, task(name, unit)
            return
        pool = ThreadPoolExecutor(self.slots)
        try:
            yield from finished(lambda name, unit: pool.submit(task, name, unit), units, self.slots)
        finally:
            pool.shutdown(cancel_futures=True)


def finished(
    submit: Callable[[str, Any], Future[Done]], units: Iterable[tuple[str, Any]], slots: int
) -> Iterator[tuple[str, Done]]:
    """Submits the units, a few more than there are slots, and yields the name and the result of each as it is done."""
    under_way: dict[Future[Done], str] = {}
    left = iter(units)
    while True:
        for name, unit in islice(left, _AHEAD * slots - len(under_way)):
            under_way[submit(name, unit)] = name
        if not under_way:
            return
        for future in wait(under_way, return_when=FIRST_COMPLETED).done:
            yield under_way.pop(future), future.result()
