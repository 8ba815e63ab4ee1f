"""`bedside run ablation`: Tables 5 and A4."""

from __future__ import annotations

from pathlib import Path

import typer

from baselines.medlaybench_v.ablation import evaluate
from baselines.results.comparison import read_runs
from scripts.terminal.finish import finish
from scripts.terminal.options import Out, refuse_itself


def command(
    runs: list[Path] = typer.Argument(..., metavar="RUN…", help="Finished retrieval runs, one or more per condition."),
    *,
    out: Out,
) -> None:
    """Compare retrieval runs over releases of different conditions (Tables 5 and A4).

    Example: `bedside run ablation runs/llm runs/llm-cui runs/scgr -o runs/ablation`
    """
    refuse_itself(out, runs)
    finish(out, evaluate(read_runs(runs, different_data=True)))
