"""Progress bars for long work; elsewhere than on a terminal a plain line a minute, for the log of a job."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from time import monotonic
from types import TracebackType
from typing import Self

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from loaders.models.waiting import watched
from scripts.terminal.console import errors, output
from scripts.terminal.tables import wrapped

_EVERY = 60.0
"""Seconds between two plain lines."""


class Bars(Progress):
    """Progress bars, to be used as a context manager; silent with `quiet`. A console that is no terminal gets lines.

    with Bars() as bars:
        work(photos, progress=bars.count("photos", len(photos)))
    """

    def __init__(self, console: Console = errors, *, quiet: bool = False) -> None:
        super().__init__(
            TextColumn("{task.description}", markup=False, table_column=Column()),
            BarColumn(),
            MofNCompleteColumn(table_column=_whole()),
            TimeElapsedColumn(table_column=_whole()),
            TimeRemainingColumn(table_column=_whole()),
            console=console,
            disable=quiet or output.quiet or not console.is_terminal,
        )
        self._quiet = quiet or output.quiet
        self._printed = monotonic()
        self._named: dict[str, TaskID] = {}
        self._watching = ExitStack()

    def __enter__(self) -> Self:
        self._watching.enter_context(watched(self.tell))
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._watching.close()
        super().__exit__(kind, error, trace)

    @property
    def unless_quiet(self) -> Self | None:
        """For stages that print plain lines where there is no terminal (`builders.pipeline.progress`)."""
        return None if self._quiet else self

    def count(self, what: str, total: int) -> Callable[[int, int], None]:
        """A new bar at zero; returns the function (done, total) that moves it."""
        self.show(what, 0, total)
        return partial(self.show, what)

    def show(self, what: str, done: int, total: int | None = None, status: str | None = None) -> None:
        """Moves the bar of this name, created when first mentioned; a `total` or
        `status` of None leaves them unchanged."""
        if what not in self._named:
            self._named[what] = self.add_task(what, total=total)
        self.update(self._named[what], completed=done, total=total)
        if status is not None:
            self.update(self._named[what], status=status)
        self._line(f"{what}: {done:,}" + (f" of {total:,}" if total is not None else ""))

    def tell(self, status: str) -> None:
        """Shows below the bars what the work is waiting for, such as `waiting 30 s: rate limit`; an empty text ends it.

        Waits of requests to models are reported automatically.
        """
        for task in self.task_ids:
            self.update(task, status=status)
        self._line(status)

    def _line(self, text: str) -> None:
        """Prints a line where no bar can be, if there was none for a while."""
        if text and not self._quiet and not self.console.is_terminal and monotonic() - self._printed >= _EVERY:
            self._printed = monotonic()
            self.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def get_renderables(self) -> Iterable[RenderableType]:
        """The bars, and below them what they wait for, if a narrow terminal has room for it."""
        yield self.make_tasks_table(self.tasks)
        for status in dict.fromkeys(str(task.fields.get("status") or "") for task in self.tasks):
            if status:
                yield Text("\n".join(wrapped(status, self.console.width, "  ")), style="yellow")


def _whole() -> Column:
    """A column whose numbers a narrow terminal does not cut: the bar gets shorter, and names are wrapped."""
    return Column(no_wrap=True)
