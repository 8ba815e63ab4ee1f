"""The `bedside` command; `python -m scripts` is the same.

The commands are in `scripts.commands`. Errors of the user end here: one message, no traceback, exit code 2; Ctrl-C
says what was kept and ends with 130.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from loaders import __version__
from loaders.errors import BedsideError
from scripts.commands import COMMANDS, Command, Group

# The class of every complaint about the command line itself. Newer releases of typer bring their own copy of click, so
# it is reached through a name that typer exports.
_MISUSE: Any = typer.BadParameter.__mro__[2]

_STYLE: dict[str, Any] = {
    "add_completion": False,
    "rich_markup_mode": "markdown",
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Deferred(TyperCommand):
    """A command, or a group, that is imported when its arguments are read; until then it is a name and its help."""

    def __init__(self, name: str, entry: Command | Group) -> None:
        super().__init__(name=name, help=entry.help)
        self.entry = entry

    def load(self) -> Any:
        """The command itself, as typer makes it."""
        assert self.name is not None
        if isinstance(self.entry, Group):
            return _group(self.name, self.entry.help, self.entry.commands, lambda: None)
        from scripts.terminal.console import interruptible

        app = typer.Typer(**_STYLE)
        app.command(self.name)(interruptible(_function(self.entry.target)))
        return typer.main.get_command(app)

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return self.load().make_context(info_name, args, parent=parent, **extra)


def _function(target: str) -> Callable[..., Any]:
    module, _, function = target.partition(":")
    command: Callable[..., Any] = getattr(import_module(module), function or "command")
    return command


def _group(
    name: str, help_text: str, entries: Mapping[str, Command | Group], callback: Callable[..., None]
) -> TyperGroup:
    app = typer.Typer(name=name, help=help_text, callback=callback, no_args_is_help=True, **_STYLE)
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    group.commands.update({name: _Deferred(name, entry) for name, entry in entries.items()})
    return group


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"bedside {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", is_eager=True, callback=_print_version, help="Print the version and stop."
    ),
) -> None:
    pass


def root() -> TyperGroup:
    """The whole command line."""
    about = "Build, publish, load and evaluate three corpora on how medicine is said to patients."
    return _group("bedside", about, COMMANDS, _options)


def find(words: Sequence[str]) -> tuple[Any, Sequence[str]]:
    """The command that a line begins with, imported, and the rest of the line. Raises KeyError where there is none."""
    command: Any = root()
    while isinstance(command, TyperGroup):
        deferred: Any = command.commands[words[0]]
        command, words = deferred.load(), words[1:]
    return command, words


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    sys.exit(execute(arguments))


def execute(arguments: list[str] | None = None) -> int:
    """Run the command line; the exit code: 0 done, 1 a check found problems, 2 an error of input, 130 interrupted."""
    try:
        code = root().main(arguments, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except _MISUSE as error:
        error.show()
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BedsideError as error:
        from scripts.terminal.console import errors

        errors.print("Error", style="bold red", end=" ")
        errors.print(error.where, style="bold", highlight=False, markup=False, soft_wrap=True)
        for label, text in (("found", error.found), ("expected", error.expected), ("do", error.do)):
            if text:
                errors.print(f"  {label:<9}{text}", highlight=False, markup=False, soft_wrap=True)
        return 2


if __name__ == "__main__":
    main()
