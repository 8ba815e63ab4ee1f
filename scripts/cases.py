"""`bedside cases new`: a team's own patient, for `bedside build medconceal --source cases=FILE`."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from shlex import quote
from typing import Any

import typer

from builders.medconceal.own import add, as_yaml, asked, read_filled, template
from loaders.errors import NAME_ANOTHER, InputError
from loaders.files.disk import write_whole
from loaders.files.paths import is_there
from scripts.terminal.console import output


def command(
    file: Path = typer.Argument(..., metavar="FILE.yaml", help="File of cases: created, or added to."),
    filled: Path | None = typer.Option(
        None, "--from", metavar="TEMPLATE", help="Read the answers from a filled-in template instead of asking."
    ),
    blank: bool = typer.Option(False, "--template", help="Write an empty template to FILE.yaml."),
) -> None:
    """Add your own patient for MedConceal, by answering questions or from a filled-in template.

    A case is refused, with every reason, if it is incomplete, if its chart gives a concern away, or if it holds an
    identifier. The build writes a sheet on which a clinician judges whether each case is plausible (`--decisions`
    applies it). A release of your own cases is published only with `bedside publish --own`.

    Example: `bedside cases new ours.yaml`
    """
    if file.suffix.casefold() not in (".yaml", ".yml"):
        raise InputError(file, found=f"ends in {file.suffix!r}", expected="a file of YAML: .yaml", do=NAME_ANOTHER)
    if blank and filled is not None:
        raise InputError("--template, --from", found="both", expected="one of them")
    if blank:
        if is_there(file):
            expected = "a file name that does not exist yet"
            raise InputError(file, found="already exists", expected=expected, do=NAME_ANOTHER)
        write_whole(file, template().encode(), private=True)  # what patients hide goes into it
        output.print(f"Fill it in, then: bedside cases new CASES.yaml --from {quote(str(file))}")
        return
    if filled is None and not sys.stdin.isatty():
        raise InputError(
            "--from",
            found="standard input is not a terminal",
            expected="a terminal, or --from with a filled-in template (--template writes one)",
        )
    cases = read_filled(filled) if filled else [{}]
    if filled:
        add(file, *cases, template=filled)
    else:
        _answer(file, cases[0])
    output.print(f"{len(cases):,} added to {file}. Next:")
    output.print(f"  bedside build medconceal --source {quote(f'cases={file}')} --out runs/ours")


def _answer(file: Path, case: dict[str, Any]) -> None:
    """Ask for a case and add it to the file. Answers to some fifty questions are not lost with a mistake in one of
    them, or half-way: they stay in a draft beside the file."""
    try:
        add(file, asked(_ask, case))
    except (InputError, typer.Abort, KeyboardInterrupt) as stop:
        if not case:
            raise
        drafts = (file.with_name(f"{file.stem}-draft-{number}.yaml") for number in count(1))
        draft = next(path for path in drafts if not is_there(path))
        write_whole(draft, as_yaml([case]).encode(), private=True)
        again = f"bedside cases new {quote(str(file))} --from {quote(str(draft))}"
        do = f"The answers are in {draft}. Complete it, then: {again}"
        if not isinstance(stop, InputError):
            raise KeyboardInterrupt(do) from None
        stop.do = do
        raise


def _ask(question: str) -> str:
    """The answer to a question, which is printed above it without breaking words; empty if there is none."""
    output.print(question)
    return str(typer.prompt("", default="", show_default=False, prompt_suffix="> "))
