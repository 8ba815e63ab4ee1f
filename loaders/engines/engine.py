"""Engines run tasks in parallel: they send out the names of what to read and return the result of each.

    with opened(EngineName.LOCAL, workers=4) as engine:                       # loaders.engines.choice
        for name, done in engine.each(task, units, where="stage images"):
            ...

A worker reads its unit itself and writes the result itself: an engine moves names, never rows. Units finish in any
order, and one that seems lost may run twice. So a task is either a pure function or stores its result under a name
derived from everything it depends on.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

Done = TypeVar("Done")
DoneBy = TypeVar("DoneBy", covariant=True)


class Unsendable(Exception):
    """A mistake in code: a task that holds what cannot be sent to another process."""


class Task(Protocol[DoneBy]):
    """Work of one kind. Picklable; opened once in each process that takes part, and kept there.

    One that costs money has an attribute `paid` that is true, and is never started twice only because it takes long.
    One that is `anywhere` is also done on machines that do not see the folder of the command.
    """

    @property
    def packages(self) -> Sequence[str]:
        """Whose versions can change what is made."""

    @property
    def floats(self) -> bool:
        """Whether the CPU and its BLAS can, too: numbers with a point may differ in their last bits."""

    def __call__(self, name: str, unit: Any) -> DoneBy:
        """Work on one unit."""

    def told(self, unit: Any) -> str:
        """The unit in words, for an error."""


class Engine(Protocol):
    """A way to do units of a task side by side. A context manager opens it, for as many tasks as come."""

    @property
    def slots(self) -> int:
        """Units that are worked on at once."""

    @property
    def grain(self) -> int:
        """Small things (a file, a pair) that are best sent as one unit, where there are many."""

    @property
    def machines(self) -> Sequence[str]:
        """The kinds of machine (CPU and BLAS) that have worked for tasks with floating point, in order."""

    @property
    def spread(self) -> bool:
        """Whether other machines take part."""

    def narrowed(self, slots: int) -> AbstractContextManager[Engine]:
        """The same with so many slots at most, for a while."""

    def each(self, task: Task[Done], units: Iterable[tuple[str, Any]], *, where: str) -> Generator[tuple[str, Done]]:
        """Do the units, each under its name; the name and what came of it as each is finished, in any order.

        Raises: what the task raises, the first error; BedsideError, with `where`, when a process died too often;
        Unsendable for a task that cannot be pickled. What was not sent then is not sent any more; what was may go on
        until the engine is closed.
        """
