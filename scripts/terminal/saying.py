"""How much a command prints, the same for all: `--quiet`, and `--json` if it prints tables.

With `--json`, standard output holds one JSON document, {"tables": […]} plus {"results": […]} for a run, and all
sentences go to standard error. A command that has its own `--json` prints its own document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, signature
from typing import Annotated, Any, TypeVar, get_args

import typer
from typer.models import ParameterInfo

from scripts.terminal.console import output, print_json

_Returned = TypeVar("_Returned")

_JSON = typer.Option("--json", help="Print tables as JSON, and everything else to standard error.")
_QUIET = typer.Option("--quiet", help="Print only errors and warnings.")


def saying(command: Callable[..., _Returned], *, tables: bool = True) -> Callable[..., _Returned]:
    """The command with `--quiet`, and with `--json` if it prints `tables`; an option that it defines itself is kept."""
    own = signature(command, eval_str=True)
    taken = {word for each in own.parameters.values() for word in _words(each)}
    asks_itself = "as_json" in own.parameters
    added = {"quietly": _QUIET} | ({"in_json": _JSON} if tables else {})
    added = {name: option for name, option in added.items() if option.default not in taken}

    @wraps(command)
    def run(**given: Any) -> _Returned:
        quietly, in_json = given.pop("quietly", False), given.pop("in_json", False)
        before, output.quiet = output.quiet, output.quiet or quietly
        try:
            with _document(in_json or (asks_itself and given["as_json"]), printed=in_json):
                return command(**given)
        finally:
            output.quiet = before

    marks = {name: Annotated[bool, option] for name, option in added.items()}
    shown = [Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=mark) for name, mark in marks.items()]
    run.__signature__ = own.replace(parameters=[*own.parameters.values(), *shown])  # type: ignore[attr-defined]
    run.__annotations__ = {**command.__annotations__, **marks}
    return run


@contextmanager
def _document(wanted: bool, *, printed: bool) -> Iterator[None]:
    """Collects what is printed, if `wanted`; at the end, prints the document, if `printed`."""
    if not wanted:
        yield
        return
    output.document = {}
    ended: typer.Exit | None = None
    try:
        yield
    except typer.Exit as end:  # a check that found something still prints its findings
        ended = end
        raise
    finally:
        document, output.document = output.document, None
        if printed and (ended is not None or document):
            print_json(document)


def _words(parameter: Parameter) -> set[str]:
    """The words with which an option is given."""
    marks = [*get_args(parameter.annotation), parameter.default]
    given = [mark for mark in marks if isinstance(mark, ParameterInfo)]
    words = {word for mark in given for word in mark.param_decls or ()}
    # In an annotation, what typer takes for the default is really the first of the words.
    words |= {mark.default for mark in given if isinstance(mark.default, str)}
    return {*words, f"--{parameter.name.replace('_', '-')}"}
