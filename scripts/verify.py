"""`bedside verify`: is a release what its manifest and its card say it is?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from builders.recipe import recipe_of
from builders.release.resolve import resolve
from builders.release.verify import made_by, verify
from loaders.errors import how_many
from loaders.manifest import Manifest, Problem
from scripts.terminal.console import output, print_json, table, warn


def command(
    source: str = typer.Argument(..., metavar="DIR|REPO[@TAG]", help="A release folder, or a dataset on the Hub."),
    as_json: bool = typer.Option(False, "--json", help="Print problems as JSON."),
) -> int:
    """Check a release: files and digests, schema, counts, rows, exclusions, statistics and card.

    Every gate runs again on every row, unless another version of the gates made the release: then verify says so, and
    checks the release against its manifest. Exit code 0 if all checks pass, 1 if a problem is found.

    Example: `bedside verify runs/mine`, `bedside verify org/name@v1.0.0`
    """
    folder = resolve(source)
    manifest = Manifest.read(folder)
    problems, older = problems_of(folder, manifest)
    if older:
        warn(f"{source}: {older}")
    if as_json:
        print_json(list(map(asdict, problems)))
        return 1 if problems else 0
    if problems:
        shown = table(f"{how_many(len(problems), 'problem')} in {source}", "where", "found", "expected")
        for problem in problems:
            shown.add_row(problem.where, problem.found, problem.expected)
        output.print(shown, fault=True)
        return 1
    rows = ", ".join(f"{name} {split.rows:,}" for name, split in manifest.splits.items())
    sound = "sound by its manifest; gates and scans were not run" if older else "sound"
    output.print(
        f"{source}: {sound}. {manifest.corpus}; rows: {rows}; {how_many(len(manifest.files), 'file')}; "
        f"content {manifest.content_digest[:16]}…"
    )
    return 0


def problems_of(folder: Path, manifest: Manifest) -> tuple[list[Problem], str]:
    """What is wrong with a release by the rules of its corpus, and a remark if another version of them made it."""
    recipe = recipe_of(manifest.corpus)
    problems = verify(
        folder,
        corpus=recipe.corpus,
        row_check=recipe.check_row,
        measure=recipe.measure,
        rules=recipe.rules,
        licence_check=recipe.check_licence,
    )
    return problems, made_by(manifest, recipe.rules)
