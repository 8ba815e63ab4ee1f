"""Runs several batches of a stage that asks a model at once, so that none waits for the last answer of another.

    overlapped(work, units, advance)        # as `work(*unit)` one after the other, but for the waiting
    overlap = under_way()                   # within a batch: what it shares with the others, or None when it is alone

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
"""Requests at a time that one process is for: it is as fast as servers that answer in a tenth of a second."""
AT_ONCE = 4
"""Batches under way: while the slowest answers of one are waited for, the others keep all connections busy."""

Opened = TypeVar("Opened")
Said = TypeVar("Said")
_shared: ContextVar[Overlap | None] = ContextVar("overlap", default=None)


class Overlap:
    """What batches that are under way at once share: the event loop, and what is opened in it by name."""

    def __init__(self, processes: int, unit: str | None) -> None:
        self.processes = processes
        self.unit = unit
        self._loop = asyncio.get_running_loop()
        self._things: dict[object, Any] = {}
        self._open = ExitStack()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._ended = False

    def opened(self, name: object, make: Callable[[ExitStack], Opened]) -> Opened:
        """What `make` gives, made once and closed at the end; to be called in the event loop."""
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
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            return await ask()
        finally:
            self._tasks.discard(task)

    async def end(self) -> None:
        """Cancels what is under way, waits for it, and closes what was opened."""
        self._ended = True
        under_way = list(self._tasks)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        self._open.close()


class Turns:
    """So many requests at a time, in the order in which they come: `async with` around each until its answer is kept.

    As one ends, another is sent before its answer is looked into, which takes longer than sending.
    """

    def __init__(self, number: int) -> None:
        self._free = asyncio.Semaphore(number)

    async def __aenter__(self) -> None:
        await self._free.acquire()

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        self._free.release()
        if error is None:
            # Of all that are answered at once, each wakes the next one in the first of these rounds of the event loop.
            await asyncio.sleep(0)
            await asyncio.sleep(0)


def under_way() -> Overlap | None:
    """What this batch shares with others; None for one that is alone."""
    return _shared.get()


def overlapped(
    work: Work,
    units: Sequence[tuple[str, Sequence[Batch]]],
    advance: Callable[[int], None],
    *,
    processes: int = 1,
    unit: str | None = None,
) -> None:
    """Does the units, `AT_ONCE` of them at a time; `advance` is told the rows of each as it is finished.

    So many `processes` do the same, and share the limit of requests; one that shares no file of answers names the
    `unit` that it does.

    Raises whatever the work raises, the first error; what is under way then is cancelled, as it is by Ctrl-C.
    """
    work.open()

    async def every() -> None:
        overlap = Overlap(processes, unit)
        _shared.set(overlap)

        async def do(unit: tuple[str, Sequence[Batch]]) -> None:
            advance(await asyncio.to_thread(work, *unit))

        try:
            await gather_bounded(do, units, limit=AT_ONCE)
        finally:
            await overlap.end()

    asyncio.run(every())


def asked_by(
    engine: Engine, work: Work, units: Sequence[tuple[str, Sequence[Batch]]], advance: Callable[[int], None]
) -> None:
    """Does the units as `overlapped`, by as many processes as their requests are worth, of those that `engine` has.

    Raises: as `overlapped`; BedsideError when a process died.
    """
    stage = work.stage
    most = min(engine.slots, stage.requests // PER_PROCESS, len(units) // AT_ONCE)
    most = most if engine.spread else min(most, os.cpu_count() or 1)
    asking = _Asking(work, most, engine.spread)
    if most < 2 or not _sendable(asking):
        overlapped(work, units, advance)
        return
    size = min(4 * AT_ONCE, max(AT_ONCE, len(units) // (4 * most)))
    parts = [units[start : start + size] for start in range(0, len(units), size)]
    if engine.spread:
        _take_in(stage)  # what a killed build left; and so nobody writes to the file while others read it
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
    """Several batches of a stage that asks a model, as a task of one process of several."""

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


def _sendable(asking: _Asking) -> bool:
    """Whether its model can be opened again elsewhere; one that a user wrote need not."""
    try:
        pickled(asking, "")
    except Unsendable:
        return False
    return True
