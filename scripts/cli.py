"""The `bedside` command; `python -m scripts` is the same.

The commands are in `scripts.commands`. Users' errors end here: one message, no traceback, exit code 2. Ctrl-C, SIGTERM
and SIGHUP say what was kept and exit with 130, 143 and 129. How output is handled: `streams`.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from loaders import __version__
from loaders.errors import BedsideError, InputError
from loaders.plugins import Plugin, at_fault, brought
from scripts.commands import BEDSIDE, Group
from scripts.terminal import stopping
from scripts.terminal.helping import in_whole_words

# The class of every complaint about the command line itself. Newer releases of typer bundle their own copy of click, so
# it is reached through a name that typer exports.
_MISUSE: Any = typer.BadParameter.__mro__[2]

_STYLE: dict[str, Any] = {
    "rich_markup_mode": "markdown",
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}
# What the loader of the system says of a shared library for which there is no room.
_NO_ROOM = re.compile(r"failed to map segment|[Cc]annot allocate memory|cannot map zero-fill pages")
_BOXES = 100  # minimum columns to show help in boxes; with fewer, boxes cut the names of options
_BARS = 80  # minimum columns for a progress bar of `datasets`; with fewer its words are cut


class _Deferred(TyperCommand):
    """A command or group that is imported only when its arguments are parsed; until then it is a name and its help."""

    def __init__(self, name: str, help_line: str | None, load: Callable[[], Any], section: str | None = None) -> None:
        super().__init__(name=name, help=help_line, rich_help_panel=section)
        self.load = load

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        return self.load().make_context(info_name, args, parent=parent, **extra)


class _Command(TyperCommand):
    """A command that refuses a second value of an option that holds one, of which typer takes the last in silence."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given: list[Any] = self.make_parser(ctx).parse_args(args=list(args))[2]
        for option in given:
            if (times := given.count(option)) > 1 and not (option.multiple or option.is_flag or ctx.resilient_parsing):
                raise InputError(option.opts[0], found=f"given {times} times", expected="one value")
        return super().parse_args(ctx, args)


class _Group(TyperGroup):
    """A group that takes the help of plug-ins from the plug-ins themselves when it lists commands."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for command in self.commands.values():
            if command.help is None and isinstance(command, _Deferred):
                try:
                    command.help = command.load().help
                except BedsideError as error:
                    command.help = f"{error.where}: {error.found}"
        super().format_help(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The list without boxes, in which typer would cut each help text after one line."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            command = self.commands[name]
            heading = getattr(command, "rich_help_panel", None) or "Commands"
            found.setdefault(heading, []).append((name, command.help or ""))
        width = max(len(name) for name in self.commands)  # one column of names across all headings
        for heading, lines in found.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), text) for name, text in lines])


def _narrow() -> dict[str, Any]:
    """The style of help for a terminal too narrow for boxes."""
    return {"rich_markup_mode": None} if shutil.get_terminal_size().columns < _BOXES else {}


def _command(plugin: Plugin, maker: str, passes_on: bool = False, tables: bool = True, ends: str = "") -> Any:
    """A command as a typer object, imported; `maker` and `ends` as in `Group`, the others as in `Command`."""
    from scripts.terminal.console import interruptible
    from scripts.terminal.hub_waits import say_hub_waits_once
    from scripts.terminal.options import of_text
    from scripts.terminal.saying import saying

    say_hub_waits_once()
    app = typer.Typer(add_completion=False, **_STYLE | _narrow())
    try:
        function = Plugin(plugin.name, maker).load("")(plugin.name) if maker else plugin.load("command")
        context = {"ignore_unknown_options": True} if passes_on else None
        made = interruptible(saying(of_text(function), tables=tables))
        app.command(plugin.name, cls=_Command, context_settings=context, epilog=ends or None)(made)
        return in_whole_words(typer.main.get_command(app))
    except BedsideError:
        raise
    except Exception as error:  # not a function, or one with parameters that cannot be options
        if not plugin.package:
            raise
        raise plugin.broken(error) from error


def _group(name: str, group: Group, callback: Callable[..., None] = lambda: None) -> TyperGroup:
    """A group of commands, none of them imported. Commands of other packages that are refused are reported."""
    style = {**_STYLE, **_narrow(), "add_completion": group is BEDSIDE}
    app = typer.Typer(
        cls=_Group,
        name=name,
        help=group.help,
        callback=callback,
        no_args_is_help=True,
        epilog=group.ends or None,
        **style,
    )
    made = in_whole_words(typer.main.get_command(app))
    assert isinstance(made, TyperGroup)
    headings = {word: heading for heading, names in group.sections.items() for word in names.split()}
    placed = list(headings)
    ends = "" if group is BEDSIDE else group.ends
    for word in sorted(group.commands, key=lambda word: placed.index(word) if word in placed else -1):
        entry, section = group.commands[word], headings.get(word)
        if isinstance(entry, Group):
            made.add_command(_Deferred(word, entry.help, partial(_group, word, entry), section))
        else:
            load = partial(_command, Plugin(word, entry.place), group.maker, entry.passes_on, entry.tables, ends)
            made.add_command(_Deferred(word, entry.help, load, section))
    if group.plugins:
        plugins, refused = brought(group.plugins, group.commands)
        for plugin in plugins:
            made.add_command(_Deferred(plugin.name, None, partial(_command, plugin, group.maker, ends=ends)))
        for sentence in refused:
            typer.secho(sentence, fg=None if os.environ.get("NO_COLOR") else "yellow", err=True)
    return made


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
    return _group("bedside", BEDSIDE, _options)


def find(words: Sequence[str]) -> tuple[Any, Sequence[str]]:
    """The command that a line begins with, imported, and the rest of the line. Raises KeyError if there is none."""
    command: Any = root()
    while isinstance(command, TyperGroup):
        deferred: Any = command.commands[words[0]]
        command, words = deferred.load(), words[1:]
    return command, words


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    keep_bars_from_logs()
    # Answers and cells that are read as Python may be odd Python, which nobody here wrote and can mend.
    warnings.filterwarnings("ignore", category=SyntaxWarning, module="<unknown>")
    stopping.end_as_by_ctrl_c()
    sys.exit(execute(arguments))


def keep_bars_from_logs() -> None:
    """Let `datasets`, which a command imports later, draw its bars only if a terminal has room: logs are for lines."""
    if not sys.stderr.isatty() or shutil.get_terminal_size().columns < _BARS:
        os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")


def execute(arguments: list[str] | None = None) -> int:
    """Run the command line and return the exit code: 0 success, 1 a check found problems, 2 an error in the input, 130
    interrupted (143 by SIGTERM, 129 by SIGHUP)."""
    try:
        code = root().main(arguments, prog_name="bedside", standalone_mode=False)
        sys.stdout.flush()
        if stopping.asked() is not None or code == 128 + signal.SIGINT:  # typer caught it before the command ran
            return stopping.code()
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        return stopping.code()
    except Exception as error:
        if stopping.asked() is not None:  # a library that was being imported has wrapped it
            return stopping.code()
        return _failed(error)


def _failed(error: Exception) -> int:
    """Say what a user has to fix; any other error, unless a plug-in raised it, is a bug of ours, and gets a
    traceback."""
    if isinstance(error, _MISUSE):
        _misused(error)
    elif isinstance(error, BedsideError):
        if not error.do and error.__cause__ and (mistake := at_fault(error.__cause__)):
            # What reads a release cannot know which of the two is broken.
            error.do = f"If the release is sound (bedside verify), {mistake.where} is not: {mistake.found}"
        _tell(error)
    elif isinstance(error, ImportError) and _NO_ROOM.search(said := str(error).rstrip().rpartition("\n")[2]):
        do = "Give the process more (ulimit -v, or the limit of the job or container), and run the same command again"
        _tell(InputError("memory of this process", found=said, expected="room for the libraries it uses", do=do))
    elif isinstance(error, OSError):  # one that no reader or writer has turned into an error of ours
        found = error.strerror or str(error) or type(error).__name__
        _tell(InputError(error.filename or "this machine", found=found, expected="a path that can be used"))
    elif mistake := at_fault(error):
        _tell(mistake)
    else:
        raise error
    return 2


def _misused(error: Any) -> None:
    from scripts.terminal.console import errors

    said = io.StringIO()
    error.show(file=said)
    # Typer checks choices by pydantic, whose name for the kind of error says nothing to a user.
    errors.print(said.getvalue().rstrip("\n").replace(": Value error, ", ": "))


def _tell(error: BedsideError) -> None:
    from scripts.terminal.console import errors

    errors.print("Error", style="bold red", end=" ")
    errors.print(error.where, style="bold")
    for line in error.lines():
        errors.print(line)


if __name__ == "__main__":
    main()
