"""What every corpus must satisfy, for its test: the sample is built, verified, shown and loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import datasets
import typer

from builders.recipe import Recipe
from builders.release.preview import write_preview
from builders.release.verify import verify
from loaders.errors import ReleaseError
from loaders.manifest import Manifest
from scripts.build import command_for


def conforms(recipe: Recipe[Any], folder: Path) -> Manifest:
    """Build the sample of a recipe twice, with one worker and with two, and check the release against the common rules.

    `folder` must be empty; everything is written into it. Raises: ReleaseError with the first rule that is broken.
    """
    app = typer.Typer(add_completion=False)
    app.command()(command_for(recipe))
    one, two = folder / "one", folder / "elsewhere" / "two"
    for out, workers in ((one, 1), (two, 2)):
        app([*recipe.sample, "--out", str(out), "--workers", str(workers)], standalone_mode=False)
    if files_of(one) != files_of(two):
        raise ReleaseError(two, found="other bytes than the first build", expected="the same, whatever the workers")
    for problem in verify(one, corpus=recipe.corpus, row_check=recipe.check_row, measure=recipe.measure):
        raise ReleaseError(problem.where, found=problem.found, expected=problem.expected)
    write_preview(one, folder / "preview.html", recipe.preview)
    manifest = Manifest.read(one)
    for config in manifest.named_configs():
        loaded = datasets.load_dataset(str(one), config.name, cache_dir=str(folder / "cache"))
        if {name: len(rows) for name, rows in loaded.items()} != {n: manifest.splits[n].rows for n in config.splits}:
            raise ReleaseError(one, found=f"config {config.name} is loaded with other rows", expected="its splits")
    return manifest


def files_of(folder: Path) -> dict[str, bytes]:
    """The content of every file below a folder, by its path there."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
