"""`bedside run BASELINE DATA`: evaluate captions or models, and keep what was run beside the numbers."""

from __future__ import annotations

import typer

from scripts.run import (
    ablation,
    captioning,
    classifier,
    concealment,
    concepts,
    consultation,
    embedding_space,
    language,
    recheck,
    retrieval,
)
from scripts.terminal.console import interruptible

app = typer.Typer(
    help="Run a baseline on a corpus: the paper's tables for your captions and models.", no_args_is_help=True
)


@app.callback()
def _group() -> None:
    """Run a baseline on a corpus."""


for module in (language, retrieval, captioning, embedding_space, concepts, ablation, classifier, consultation, recheck):
    name = module.__name__.rpartition(".")[2].replace("_", "-")
    app.command(name=name)(interruptible(module.command))
for task in (concealment.confirmation, concealment.intervention):
    app.command(name=task.__name__)(interruptible(task))
