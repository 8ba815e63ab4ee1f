"""The `bedside` command; `python -m scripts` is the same.

Each command is a module of this package. Errors of the user end here: one message, no traceback, exit code 2; Ctrl-C
says what was kept and ends with 130.
"""

from __future__ import annotations

import sys
from typing import Any

import typer

from loaders import __version__
from loaders.errors import BedsideError
from scripts import (
    audit,
    build,
    compare,
    contrast,
    curate,
    demo,
    diff,
    fit_policy,
    info,
    preview,
    publish,
    report,
    review,
    run,
    sheet,
    verify,
)
from scripts import select_agents as choose
from scripts.terminal.console import errors, interruptible

app = typer.Typer(
    name="bedside",
    help="Build, publish, load and evaluate three corpora on how medicine is said to patients.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(build.app, name="build")
app.add_typer(run.app, name="run")
app.add_typer(choose.app, name="select")
for module in (
    verify,
    preview,
    diff,
    publish,
    audit,
    info,
    compare,
    contrast,
    report,
    sheet,
    curate,
    review,
    demo,
):
    app.command(name=module.__name__.rpartition(".")[2])(interruptible(module.command))
app.command(name="ratings")(interruptible(sheet.ratings))
app.command(name="fit-policy")(interruptible(fit_policy.command))

# The class of every complaint about the command line itself. Newer releases of typer bring their own copy of click, so
# it is reached through a name that typer exports.
_MISUSE: Any = typer.BadParameter.__mro__[2]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bedside {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", is_eager=True, callback=_print_version, help="Print the version and stop."
    ),
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    sys.exit(execute(arguments))


def execute(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code: 0 done, 1 a check found problems, 2 an error of input, 130 interrupted."""
    try:
        code = app(arguments, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except _MISUSE as error:
        error.show()
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BedsideError as error:
        errors.print("Error", style="bold red", end=" ")
        errors.print(error.where, style="bold", highlight=False, markup=False, soft_wrap=True)
        for label, text in (("found", error.found), ("expected", error.expected), ("do", error.do)):
            if text:
                errors.print(f"  {label:<9}{text}", highlight=False, markup=False, soft_wrap=True)
        return 2


if __name__ == "__main__":
    main()
