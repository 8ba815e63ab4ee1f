"""`bedside study new`: the files of a study, ready to edit."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import typer

from baselines.study.design import TASKS, write_study
from scripts.terminal.console import output
from scripts.terminal.options import one_of


def command(
    task: str = typer.Argument(..., metavar="TASK", help=f"First task: {', '.join(TASKS)}."),
    out: Path = typer.Option(..., "--out", "-o", metavar="STUDY", help="New folder to write."),
) -> None:
    """Create study.yaml, consent.md and instructions.md for a new study, ready to edit.

    Example: `bedside study new confirmation -o study/`
    """
    for path in write_study(out, one_of("task", task, TASKS)):
        output.print(f"  {path}")
    output.print(f"\nReplace every TODO, then run: bedside study check {quote(str(out))}")
