"""Where commands write: results to standard output, progress and errors to standard error.

Lines are broken only between words: `Terminal` wraps to the width of a terminal, and not at all when it writes into a
pipe (unless `COLUMNS` sets a width). `NO_COLOR` turns colours off.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from loaders.errors import printable
from scripts.terminal import stopping
from scripts.terminal.tables import Table, wrapped


class Terminal(Console):
    """A console that breaks lines only between words. Brackets are ordinary text, never markup: names of files, cells
    of tables and answers of models may contain them. Numbers are not coloured."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False)
        self.document: dict[str, Any] | None = None  # collected for `--json` instead of being printed
        self.began = time.monotonic()  # when the command did

    @property
    def room(self) -> int | None:
        """Cells per line; None if unlimited."""
        given = os.environ.get("COLUMNS", "")
        return self.width if self.is_terminal else int(given) if given.isdecimal() and int(given) else None

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Within it, what a command prints does not go into the surrounding document."""
        document, self.document = self.document, None
        try:
            yield
        finally:
            self.document = document

    def tell(self, **facts: Any) -> None:
        """Adds facts that are not tables to the document of `--json`."""
        if self.document is not None:
            self.document |= facts

    def print(self, *objects: Any, fault: bool = False, **options: Any) -> None:
        """Like rich's, except for texts and tables, which rich would fold. What a check finds wrong is a `fault`, which
        `--quiet` sends to standard error and does not leave out."""
        if fault and self.quiet and self.document is None:
            errors.print(*objects, **options)
            return
        if not all(isinstance(each, str | Table) for each in objects):
            super().print(*objects, **options)
            return
        options |= {"soft_wrap": True}
        for each in objects or ("",):
            if isinstance(each, str):  # a caption or a model's answer may hold what moves the cursor
                each = printable(each)
            if self.document is not None:
                if isinstance(each, Table):
                    self.document.setdefault("tables", []).append(each.as_json())
                elif each.strip() and (fault or not self.quiet):
                    errors.print(each, **options)
            elif isinstance(each, Table):
                super().print(_lines(each, self.room), **options)
            else:
                indent = " " * (len(each) - len(each.lstrip(" ")) + 2)
                super().print("\n".join(wrapped(each, self.room, indent)), **options)


def _lines(table: Table, room: int | None) -> Text:
    return Text("\n").join(Text(line.text, style=line.style or "") for line in table.lines(room))


output = Terminal()
errors = Terminal(stderr=True)


def warn(text: str) -> None:
    """Prints a warning to standard error."""
    errors.print(text, style="yellow")


def print_json(value: object) -> None:
    """Prints JSON to standard output, which may not be able to show every character."""
    shows_all = "utf" in (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
    typer.echo(json.dumps(value, indent=1, ensure_ascii=not shows_all))


def table(title: str, *columns: str, right: Sequence[str] = ()) -> Table:
    """An empty table; the columns named in `right` hold numbers."""
    return Table(title, columns, tuple(right))


_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")


def interruptible(command: Callable[_Given, _Returned]) -> Callable[_Given, _Returned]:
    """A command that, on Ctrl-C, SIGTERM and SIGHUP, ends with what the work underneath says about how to continue."""

    @wraps(command)
    def run(*arguments: _Given.args, **options: _Given.kwargs) -> _Returned:
        output.began = time.monotonic()
        try:
            returned = command(*arguments, **options)
            if stopping.asked() is None:
                return returned
            said = ""  # somebody dropped the interrupt, or it came too late
        except BaseException as stop:
            # Also for other errors: a library may have wrapped the interrupt into one of its own, a signal to a whole
            # group ends helper processes too, and when a terminal closes, so does the output.
            if not isinstance(stop, KeyboardInterrupt) and stopping.asked() is None:
                raise
            said = str(stop) if isinstance(stop, KeyboardInterrupt) else ""
        with suppress(OSError):
            warn(f"\n{said or 'Stopped. Run the same command again: what it has stored is not done again'}")
        raise typer.Exit(stopping.code())

    return run
