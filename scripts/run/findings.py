"""`bedside run findings`: what a model writes from dialogues that people had (MedConceal Table 1, "Claude summary")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from baselines.medconceal.transcripts import WRITER
from loaders.errors import InputError
from scripts.run.confirmation import Scored, run_task
from scripts.terminal.options_of import options_of


@dataclass(frozen=True, kw_only=True)
class Summaries(Scored):
    """Options of findings written from finished dialogues."""

    writer: Annotated[
        str, typer.Option(metavar="MODEL", help="Model that writes the findings; it sees only chart and dialogue.")
    ]

    @property
    def names(self) -> dict[str, str | None]:
        """Role -> its model; the writer is measured."""
        return {WRITER: self.writer, **super().names}

    def check(self) -> None:
        """Raises InputError without dialogues."""
        if self.transcripts is None:
            do = "Pass --transcripts FILE, such as the confirmation.jsonl that `bedside study export` writes"
            raise InputError("--transcripts", found="no file", expected="dialogues of people", do=do)


@options_of(Summaries)
def command(options: Summaries) -> None:
    """Have a model write findings from people's dialogues, and score them (Table 1, "Claude summary").

    Dialogues and traces come from `--transcripts`, so Reveal Rate is the people's own; the model writes the findings,
    with the prompt that clinician models answer after their own dialogues. `bedside contrast` compares them with the
    people's findings.

    Example: `bedside run findings runs/patients --transcripts people.jsonl --writer anthropic/claude-sonnet-4-5 --judge
    M -o runs/summaries`
    """
    run_task("confirmation", options)
