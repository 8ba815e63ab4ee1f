"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

import typer

from loaders.errors import InputError

EMBEDDINGS = Path("runs/embeddings")
Word = TypeVar("Word")

Data = Annotated[
    str, typer.Argument(metavar="DATA", help="medlaybench-v[@TAG], official, a release folder, or REPO[@TAG].")
]
Out = Annotated[
    Path, typer.Option("--out", "-o", metavar="RUN", help="Folder for results.jsonl, results.csv and run.json.")
]
Seed = Annotated[int, typer.Option(help="Seed of the bootstrap.")]
Resamples = Annotated[int, typer.Option(min=10, help="Bootstrap resamples.")]
Cache = Annotated[Path, typer.Option(metavar="DIR", help="Embeddings, kept for the next run.")]
Device = Annotated[str | None, typer.Option(metavar="NAME", help="cpu, cuda:0, … [a GPU where there is one]")]
Prompts = Annotated[Path | None, typer.Option(metavar="DIR", help="Prompt texts of your own.")]


def one_of(option: str, given: str, known: tuple[Word, ...]) -> Word:
    """The known word that the option is. Raises InputError for any other."""
    for word in known:
        if word == given:
            return word
    raise InputError(option, found=repr(given), expected=" or ".join(map(str, known)))
