"""Where commands write: results to standard output, progress and errors to standard error."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.table import Table

output = Console()
errors = Console(stderr=True)


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
    """A command that Ctrl-C ends with exit code 130 and with what the work underneath says about how to go on."""

    @wraps(command)
    def run(*arguments: _Given.args, **options: _Given.kwargs) -> _Returned:
        try:
            return command(*arguments, **options)
        except KeyboardInterrupt as stop:
            errors.print(f"\n{str(stop) or 'Stopped.'}", style="yellow", highlight=False, markup=False)
            raise typer.Exit(130) from None

    return run
