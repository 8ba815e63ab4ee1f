"""`bedside preview`: look at a release before it is published."""

from __future__ import annotations

from pathlib import Path

import typer

from builders.recipe import recipe_of
from builders.release.preview import write_preview
from builders.release.resolve import resolve
from loaders.manifest import Manifest
from scripts.terminal.console import output
from scripts.terminal.options import LAST_SEED, Page


def command(
    source: str = typer.Argument(..., metavar="DIR|REPO[@TAG]", help="A release folder, or a dataset on the Hub."),
    out: Page = Path("preview.html"),
    rows: int = typer.Option(40, "--rows", "--pairs", min=0, help="Number of rows to show."),
    seed: int = typer.Option(0, min=0, max=LAST_SEED, help="Random seed for choosing rows."),
) -> None:
    """Write one self-contained HTML page: counts, exclusions, and a sample of the rows.

    Caption pairs are shown with their gates, photos with the patients' complaints. The names of photos' files and of
    their patients (`source_file`, `group_id`) are left out; the key of a row is shown.

    Example: `bedside preview runs/mine -o preview.html`
    """
    folder = resolve(source)
    recipe = recipe_of(Manifest.read(folder).corpus)
    page = write_preview(folder, out, recipe.preview, corpus=recipe.corpus, rows=rows, seed=seed)
    output.print(f"{page}")
