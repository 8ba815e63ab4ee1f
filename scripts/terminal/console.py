"""Where commands write: results to standard output, progress and errors to standard error."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from loaders.errors import BedsideError
from scripts.terminal import stopping

# What stands in brackets is text: names of files, cells of tables and answers of models may hold any.
output = Console(markup=False, emoji=False)
errors = Console(stderr=True, markup=False, emoji=False)


def table(title: str, *columns: str, right: tuple[str, ...] = ()) -> Table:
    """An empty table; the columns named in `right` hold numbers."""
    made = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=None,
        pad_edge=False,
        min_width=len(title),  # else a narrow table breaks its title
    )
    for column in columns:
        made.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return made


_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")


def interruptible(command: Callable[_Given, _Returned]) -> Callable[_Given, _Returned]:
    """A command that Ctrl-C, SIGTERM and SIGHUP end with what the work underneath says about how to go on."""

    @wraps(command)
    def run(*arguments: _Given.args, **options: _Given.kwargs) -> _Returned:
        try:
            return command(*arguments, **options)
        except (KeyboardInterrupt, BedsideError, OSError) as stop:
            # A signal to a whole group ends helpers too, and with a terminal goes what was printed to: no errors then.
            interrupted = isinstance(stop, KeyboardInterrupt)
            if not interrupted and stopping.asked() is None:
                raise
            said = str(stop) if interrupted else ""
            with suppress(OSError):
                errors.print(f"\n{said or 'Stopped.'}", style="yellow", highlight=False, markup=False)
            raise typer.Exit(stopping.code()) from None

    return run
