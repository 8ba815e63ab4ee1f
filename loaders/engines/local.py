"""Processes on this machine, or this process alone.

Workers are spawned, so nothing leaks into them from this process. Each holds the reading end of a pipe whose
writing end only this process has: when that is closed, or this process is killed, the workers end at once.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Self

from loaders.engines.engine import Done, Engine, Task, Unsendable
from loaders.engines.threads import finished
from loaders.errors import BedsideError
from loaders.files.disk import scratch, writing

GRAIN = 64


class Local(Engine):
    """So many worker processes, started on demand and kept from one task to the next; one means this process."""

    grain = GRAIN

    def __init__(self, workers: int = 1) -> None:
        self.slots = workers
        self._pool: ProcessPoolExecutor | None = None
        self._lifeline: Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._end(now=kind is not None and issubclass(kind, KeyboardInterrupt))

    def _end(self, *, now: bool) -> None:
        """Shut the workers down `now`, or once the units in flight are done."""
        pool, lifeline, self._pool, self._lifeline = self._pool, self._lifeline, None, None
        if pool is None or lifeline is None:
            return
        if now:
            lifeline.close()
        pool.shutdown(cancel_futures=True)
        lifeline.close()

    def narrowed(self, slots: int) -> Local:
        """As `Engine.narrowed`; it has processes of its own."""
        return Local(min(slots, self.slots))

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._reader, self._lifeline = context.Pipe(duplex=False)
            self._pool = ProcessPoolExecutor(
                self.slots, mp_context=context, initializer=_start, initargs=(self._reader,)
            )
        return self._pool

    def each(self, task: Task[Done], units: Iterable[tuple[str, Any]], *, where: str) -> Generator[tuple[str, Done]]:
        if self.slots == 1:
            for name, unit in units:
                yield name, task(name, unit)
            return

        def submit(name: str, unit: Any) -> Future[Done]:
            with _interrupts_held():  # a unit that finds no free worker starts one
                return self._started().submit(_do, stage, name, unit)

        try:
            with scratch() as folder:
                stage = _kept(task, folder, where)
                yield from finished(submit, units, self.slots)
        except BrokenProcessPool:
            self._end(now=True)
            found = "a worker process ended before its batch was done (killed, or out of memory)"
            do = "Run the same command again, with fewer workers if it repeats: finished batches are kept"
            raise BedsideError(where, found=found, do=do) from None
        # Units still in flight when the caller stops iterating are cancelled by the pool as it shuts down. In Python
        # 3.11, a pool whose workers have died crashes on futures that somebody else cancelled.


def pickled(task: Task[Any], where: str) -> bytes:
    """The task in the form in which it is sent. Raises: Unsendable."""
    try:
        return pickle.dumps(task)
    except Exception as error:
        raise Unsendable(f"{where}: cannot be sent to a worker: {error}; its factory must be picklable") from error


def _kept(task: Task[Any], folder: Path, where: str) -> Path:
    """The task in a file, never sent through a pipe: data longer than the pipe's buffer waits for its reader, and
    forever if the worker was killed before it read (its reading end is open here too)."""
    stage = folder / "stage.pickle"
    with writing(stage):
        stage.write_bytes(pickled(task, where))
    return stage


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Start processes with Ctrl-C and SIGHUP blocked, which they inherit: a terminal sends these to all processes, but
    shutting down is our part. SIGTERM stays open: the pool uses it to end the remaining workers when one has died."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(lifeline: Connection) -> None:
    def end() -> None:
        lifeline.poll(None)  # nothing is ever sent: it returns when the other end is closed
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


_opened: dict[Path, Task[Any]] = {}  # in a worker process only: the task that it works on


def _do(stage: Path, name: str, unit: Any) -> Any:
    if stage not in _opened:
        _opened.clear()
        _opened[stage] = pickle.loads(stage.read_bytes())
    return _opened[stage](name, unit)
