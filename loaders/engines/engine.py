"""Engines run tasks in parallel: they send out the names of what to read and return the result of each.

    with opened(EngineName.LOCAL, workers=4) as engine:                       # loaders.engines.choice
        for name, done in engine.each(task, units, where="stage images"):
            ...

A worker reads its unit itself and writes the result itself: an engine moves names, never rows. Units finish in any
order, and one that seems lost may run twice. So a task is either a pure function or stores its result under a name
derived from everything it depends on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

Done = TypeVar("Done")
DoneBy = TypeVar("DoneBy", covariant=True)


class Unsendable(Exception):
    """A mistake in code: a task holds something that cannot be sent to another process."""


class Task(Protocol[DoneBy]):
    """Work of one kind. Picklable; opened once in each process that takes part, and kept there.

    A task that costs money has a true attribute `paid`, and is never started twice just because it takes long. A task
    that is `anywhere` also runs on machines that do not see the command's folder.
    """

    @property
    def packages(self) -> Sequence[str]:
        """The packages whose versions can change the result."""

    @property
    def floats(self) -> bool:
        """Whether the CPU and its BLAS can, too: floating-point numbers may differ in their last bits."""

    def __call__(self, name: str, unit: Any) -> DoneBy:
        """Work on one unit."""

    def told(self, unit: Any) -> str:
        """The unit in words, for an error message."""


class Engine(ABC):
    """A way to run units of a task in parallel. Open it as a context manager, for any number of tasks."""

    slots: int
    """Number of units that run at once."""
    grain = 1
    """How many small items (a file, a pair) are best sent as one unit, if there are many."""
    machines: Sequence[str] = ()
    """The kinds of machine (CPU and BLAS) that have worked for tasks with floating point, in order."""
    spread = False
    """Whether other machines take part."""

    @abstractmethod
    def narrowed(self, slots: int) -> AbstractContextManager[Engine]:
        """The same engine, temporarily limited to so many slots."""

    @abstractmethod
    def each(self, task: Task[Done], units: Iterable[tuple[str, Any]], *, where: str) -> Generator[tuple[str, Done]]:
        """Run the units, each under its name; yields the name and the result of each as it finishes, in any order.

        Raises: what the task raises, the first error; BedsideError, with `where`, if a process died too often;
        Unsendable for a task that cannot be pickled. Units not sent by then are no longer sent; those sent may continue
        until the engine is closed.
        """
