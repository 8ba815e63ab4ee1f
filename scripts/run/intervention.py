"""`bedside run intervention`: MedConceal's second task (Tables 3, 4 and 6, Figure 2)."""

from __future__ import annotations

from scripts.run.confirmation import Talks, rescore, run_task
from scripts.terminal.options_of import options_of

__all__ = ["command", "rescore"]


@options_of(Talks)
def command(options: Talks) -> None:
    """Task 2: find the main concern, deal with it, and win the patient for the plan (Tables 3, 4 and 6).

    The clinician sees the chart, what the patient wants at first, and the target plan; the dialogue ends when the
    concern is addressed, after 8 or 20 turns at most. Resuming and models are as in `bedside run confirmation`.

    Try it without a model: `bedside run intervention runs/medconceal --clinician scripted/expert --patient template
    --evaluator rules --judge rules -o runs/expert-2`
    """
    run_task("intervention", options)
