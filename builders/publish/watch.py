"""One deadline, and signs of life, for work whose single steps have neither.

An upload by Xet says nothing while it waits, the library waits between its own attempts, and a Hub may accept a
connection and never answer. So the work runs in a thread of its own, while the calling thread watches the clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from threading import Thread
from typing import TypeVar

T = TypeVar("T")

HEARTBEAT = 10.0  # seconds of silence after which a line says that the work goes on


class DeadlinePassed(Exception):
    """The work did not end in time."""


class Watch:
    """Keeps the deadline of one piece of work. `step` is what it is doing now, `trouble` what went wrong last.

    `report` is told what went wrong and, unless `quietly`, what was done.
    """

    def __init__(self, seconds: float, report: Callable[[str], object], quietly: bool = False) -> None:
        self.seconds = seconds
        self.step = ""
        self.trouble = ""
        self._report = report
        self._quietly = quietly
        self._end = time.monotonic() + seconds
        self._said = self._entered = time.monotonic()
        self._stopped = False

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self._end - time.monotonic()

    def say(self, line: str) -> None:
        self._said = time.monotonic()
        self._report(line)

    def note(self, line: str) -> None:
        """Report what is or was done, if somebody wants to hear it."""
        if self._quietly:
            self._said = time.monotonic()
        else:
            self.say(line)

    def enter(self, step: str) -> None:
        """Begin a step. Raises: DeadlinePassed when the time is up, or nobody waits for the work any more."""
        if self._stopped or self.left <= 0:
            raise DeadlinePassed
        self.step, self._entered = step, time.monotonic()

    def run(self, work: Callable[[], T]) -> T:
        """The result of `work`; when the time is up or Ctrl-C comes, it is abandoned at its next step.

        Raises: DeadlinePassed, or what `work` raises.
        """
        future: Future[T] = Future()

        def task() -> None:
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)

        Thread(target=task, name="publishing", daemon=True).start()
        try:
            while not wait([future], max(0.0, min(self.left, self._said + HEARTBEAT - time.monotonic()))).done:
                if self.left <= 0:
                    raise DeadlinePassed
                if time.monotonic() - self._said >= HEARTBEAT:
                    going = f"still running after {time.monotonic() - self._entered:.0f} s"
                    self.note(f"{self.step}: {going}; {in_minutes(self.left)} to the deadline")
            return future.result()
        finally:
            self._stopped = True


def in_minutes(seconds: float) -> str:
    """
    >>> in_minutes(90), in_minutes(21600)
    ('90 s', '360 min')
    """
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
