"""Where commands write: results to standard output, progress and errors to standard error.

Nothing is broken but between words: `Terminal` wraps what it prints to the width of a terminal, and not at all where
it writes into a pipe (`COLUMNS` gives that a width). `NO_COLOR` takes the colours away.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from scripts.terminal import stopping
from scripts.terminal.tables import Table, wrapped


class Terminal(Console):
    """A console that breaks lines between words alone. What stands in brackets is text: names of files, cells of tables
    and answers of models may hold any."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False)
        self.document: dict[str, Any] | None = None  # what is collected for `--json` instead of being printed

    @property
    def room(self) -> int | None:
        """Cells of a line; None where nothing bounds them."""
        given = os.environ.get("COLUMNS", "")
        return self.width if self.is_terminal else int(given) if given.isdecimal() and int(given) else None

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What commands print within it stands in no document but their own."""
        document, self.document = self.document, None
        try:
            yield
        finally:
            self.document = document

    def tell(self, **facts: Any) -> None:
        """Puts facts that are no table into the document of `--json`."""
        if self.document is not None:
            self.document |= facts

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich prints, but for texts and tables, which it would fold."""
        if not all(isinstance(each, str | Table) for each in objects):
            super().print(*objects, **options)
            return
        options |= {"soft_wrap": True}
        for each in objects or ("",):
            if self.document is not None:
                if isinstance(each, Table):
                    self.document.setdefault("tables", []).append(each.as_json())
                elif each.strip():
                    errors.print(each, **options)
            elif isinstance(each, Table):
                super().print(_lines(each, self.room), **options | {"highlight": False})
            else:
                indent = " " * (len(each) - len(each.lstrip(" ")) + 2)
                super().print("\n".join(wrapped(each, self.room, indent)), **options)


def _lines(table: Table, room: int | None) -> Text:
    return Text("\n").join(Text(line.text, style=line.style or "") for line in table.lines(room))


output = Terminal()
errors = Terminal(stderr=True)


def table(title: str, *columns: str, right: Sequence[str] = ()) -> Table:
    """An empty table; the columns named in `right` hold numbers."""
    return Table(title, columns, tuple(right))


_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")


def interruptible(command: Callable[_Given, _Returned]) -> Callable[_Given, _Returned]:
    """A command that Ctrl-C, SIGTERM and SIGHUP end with what the work underneath says about how to go on."""

    @wraps(command)
    def run(*arguments: _Given.args, **options: _Given.kwargs) -> _Returned:
        try:
            returned = command(*arguments, **options)
            if stopping.asked() is None:
                return returned
            said = ""  # somebody dropped the interrupt, or it came too late
        except BaseException as stop:
            # Also an error: a library may have wrapped the interrupt into one of its own, a signal to a whole group
            # ends helpers too, and with a terminal goes what was printed to.
            if not isinstance(stop, KeyboardInterrupt) and stopping.asked() is None:
                raise
            said = str(stop) if isinstance(stop, KeyboardInterrupt) else ""
        with suppress(OSError):
            errors.print(f"\n{said or 'Stopped.'}", style="yellow", highlight=False, markup=False)
        raise typer.Exit(stopping.code())

    return run
