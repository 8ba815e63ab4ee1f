"""`bedside run intervention`: MedConceal's second task (Tables 3, 4 and 6, Figure 2)."""

from __future__ import annotations

from scripts.run.confirmation import Talks, rescore, run_task
from scripts.terminal.options_of import options_of

__all__ = ["command", "rescore"]


@options_of(Talks)
def command(options: Talks) -> None:
    """Task 2: find the main concern, address it, and gain agreement to the plan (Tables 3, 4 and 6).

    The clinician sees the chart, the patient's initial preference and the target plan. The dialogue ends when the
    concern is addressed, or after 8 or 20 turns. Models and resuming work as in `bedside run confirmation`.

    Try it without a model: `bedside run intervention runs/medconceal --clinician scripted/expert --patient template
    --evaluator rules --judge rules -o runs/expert-2`
    """
    run_task("intervention", options)
