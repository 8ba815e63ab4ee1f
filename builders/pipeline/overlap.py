"""Runs several batches of a stage that asks a model at once, so that none waits for the last answer of another.

Each batch runs in a thread, and all requests in one event loop of the main thread, where Ctrl-C arrives: they share a
client, a limit and a store of answers. Requests are sent in the order in which they were made.

If more concurrent requests are wanted than `PER_PROCESS`, several processes take part (`asked_by`), one client each,
and share the limit. Processes on this machine also share the file of answers; on a cluster each unit of work has its
part (`loaders.models.answer_parts`), which the driver merges into the file.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, closing
from contextvars import ContextVar
from typing import Any, TypeVar

from builders.pipeline.stage import Stage
from builders.pipeline.work import Work
from builders.pipeline.workspace import Batch
from loaders.engines.engine import Engine, Unsendable
from loaders.engines.local import pickled
from loaders.models.answers import AnswerStore, gather_bounded

PER_PROCESS = 32
"""Concurrent requests that one process can handle: enough for servers that answer in a tenth of a second."""
AT_ONCE = 4
"""Concurrent batches: while one waits for its slowest answers, the others keep all connections busy."""

Opened = TypeVar("Opened")
Said = TypeVar("Said")
_shared: ContextVar[Overlap | None] = ContextVar("overlap", default=None)


class Overlap:
    """What concurrent batches share: the event loop, and resources opened in it by name. `batches` are there to do."""

    def __init__(self, processes: int, unit: str | None, batches: int) -> None:
        self.processes = processes
        self.unit = unit
        self._left, self._waiting = batches, 0
        self._news = asyncio.Condition()
        self._loop = asyncio.get_running_loop()
        self._things: dict[object, Any] = {}
        self._open = ExitStack()
        self._ended = False

    def opened(self, name: object, make: Callable[[ExitStack], Opened]) -> Opened:
        """What `make` returns, made once and closed at the end; call it in the event loop."""
        if name not in self._things:
            self._things[name] = make(self._open)
        thing: Opened = self._things[name]
        return thing

    def run(self, ask: Callable[[], Awaitable[Said]]) -> Said:
        """The result of `ask()` in the event loop, waited for in the thread of a batch; raises what it raises."""
        return asyncio.run_coroutine_threadsafe(self._run(ask), self._loop).result()

    async def _run(self, ask: Callable[[], Awaitable[Said]]) -> Said:
        if self._ended:
            raise asyncio.CancelledError
        return await ask()

    async def others(self, known: Callable[[], bool]) -> None:
        """Waits until something is known, or no other batch is at work: all of them wait here, or are done."""
        async with self._news:
            self._waiting += 1
            self._news.notify_all()
            await self._news.wait_for(lambda: known() or self._waiting >= min(AT_ONCE, self._left))
            self._waiting -= 1

    async def one_less(self) -> None:
        """Says that a batch is done."""
        async with self._news:
            self._left -= 1
            self._news.notify_all()

    async def end(self) -> None:
        """Cancels everything in flight, waits for it, and closes what was opened."""
        self._ended = True
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._open.close()


class Turns:
    """Limits concurrent requests, in order of arrival: use `async with` around each until its answer is stored.

    When one ends, the next is sent before the answer is processed, which takes longer than sending.
    """

    def __init__(self, number: int) -> None:
        self._free = asyncio.Semaphore(number)

    async def __aenter__(self) -> None:
        await self._free.acquire()

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        self._free.release()
        if error is None:
            # Of several answered at once, each wakes the next waiter in the first of these rounds of the event loop.
            await asyncio.sleep(0)
            await asyncio.sleep(0)


def under_way() -> Overlap | None:
    """What this batch shares with others; None if it runs alone."""
    return _shared.get()


def overlapped(
    work: Work,
    units: Sequence[tuple[str, Sequence[Batch]]],
    advance: Callable[[int], None],
    *,
    processes: int = 1,
    unit: str | None = None,
) -> None:
    """Works on the units, `AT_ONCE` at a time; `advance` is called with the rows of each as it finishes.

    Of several `processes` that do so, one that does not share the file of answers names the `unit` that it works on.

    Raises whatever the work raises, the first error; everything in flight is then cancelled, as by Ctrl-C.
    """

    async def every() -> None:
        overlap = Overlap(processes, unit, len(units))
        _shared.set(overlap)

        async def do(unit: tuple[str, Sequence[Batch]]) -> None:
            advance(await asyncio.to_thread(work, *unit))
            await overlap.one_less()

        try:
            await gather_bounded(do, units, limit=AT_ONCE)
        finally:
            await overlap.end()

    asyncio.run(every())


def asked_by(
    engine: Engine, work: Work, units: Sequence[tuple[str, Sequence[Batch]]], advance: Callable[[int], None]
) -> None:
    """Works on the units like `overlapped`, with as many of the `engine`'s processes as the requests justify; also
    raises BedsideError when a process died."""
    stage = work.stage
    most = min(engine.slots, stage.requests // PER_PROCESS, len(units) // AT_ONCE)
    most = most if engine.spread else min(most, os.cpu_count() or 1)
    asking = _Asking(work, most, engine.spread)
    try:
        sent = most > 1 and pickled(asking, "")
    except Unsendable:  # the model cannot be opened again in another process: it may be a user's own object
        sent = None
    if not sent:
        overlapped(work, units, advance)
        return
    size = min(4 * AT_ONCE, max(AT_ONCE, len(units) // (4 * most)))
    parts = [units[start : start + size] for start in range(0, len(units), size)]
    if engine.spread:
        _take_in(stage)  # what a killed build left; also so that nobody writes to the file while others read it
    with (
        engine.narrowed(most) as clients,
        closing(clients.each(asking, ((part[0][0], part) for part in parts), where=f"stage {stage.name}")) as done,
    ):
        for _, rows in done:
            advance(rows)
    if engine.spread:
        _take_in(stage)


def _take_in(stage: Stage) -> None:
    for path in stage.answers:
        AnswerStore(path).close()


class _Asking:
    """The task of one process of several: batches of a stage that asks a model."""

    paid = True

    def __init__(self, work: Work, processes: int, spread: bool) -> None:
        self.work, self.processes, self.spread = work, processes, spread
        self.packages, self.floats, self.anywhere = work.packages, work.floats, work.anywhere

    def __call__(self, name: str, unit: Sequence[tuple[str, Sequence[Batch]]]) -> int:
        left = [(each, batches) for each, batches in unit if self.work.store.load(each) is None]
        overlapped(self.work, left, lambda rows: None, processes=self.processes, unit=name if self.spread else None)
        return sum(batch.rows for _, batches in unit for batch in batches)

    def told(self, unit: Sequence[tuple[str, Sequence[Batch]]]) -> str:
        return self.work.told([batch for _, batches in unit for batch in batches])
