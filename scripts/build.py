"""`bedside build CORPUS`: from sources to a release folder. Each corpus is a command with its recipe's options."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from builders.pipeline.rows import BuildError
from builders.recipe import Options, Recipe, build, recipe_of
from builders.release.preview import Table as Counts
from loaders.errors import BedsideError, InputError
from loaders.files.bucket import Bucket, is_address
from loaders.files.disk import beside
from loaders.files.json_values import understood
from loaders.manifest import KEPT, Manifest
from scripts.terminal.console import errors, output, table, warn
from scripts.terminal.engines import Engines
from scripts.terminal.options_of import options_of
from scripts.terminal.progress import Bars
from scripts.terminal.tables import Table


@dataclass(frozen=True, kw_only=True)
class Place(Engines):
    """Where a release is built, and with what."""

    out: Annotated[Path, typer.Option(metavar="DIR", help="The release folder to write.")]
    work: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|s3://…|gs://…",
            help="Workspace for finished batches, paid answers and fetched files; as private as they are. With a "
            "bucket, machine-local files go to OUT.work. [OUT.work]",
        ),
    ] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing release in DIR.")] = False


def command_of(corpus: str) -> Callable[..., None]:
    """The command that builds a corpus, by its name."""
    return command_for(recipe_of(corpus))


def command_for(recipe: Recipe[Any]) -> Callable[..., None]:
    """The command that builds by a recipe: its options are those of the recipe."""

    @options_of(recipe.options, Place)
    def command(options: Options, place: Place) -> None:
        run(recipe, options, place)

    command.__doc__ = recipe.options.__doc__
    return command


def run(recipe: Recipe[Any], options: Options, place: Place) -> None:
    """Build a release, and report what it holds and what needs a person's attention."""
    waiting: list[str] = []
    store = Bucket(place.work) if place.work and is_address(place.work) else None
    try:
        with Bars() as progress, place.opened() as engine:
            build(
                recipe,
                options,
                place.out,
                workspace=Path(place.work) if place.work and not store else beside(place.out, "{}.work"),
                store=store,
                engine=engine,
                progress=progress.unless_quiet,
                overwrite=place.overwrite,
                tell=waiting.append,
            )
    except BedsideError:
        for sentence in waiting:  # such as why no row is left
            errors.print(sentence)
        raise
    except BuildError as error:
        raise _mistake(recipe, error) from error
    manifest = Manifest.read(place.out)  # as `info` shows it, in the order of the file
    summarise(recipe, place.out, manifest)
    for sentence in waiting:  # with --quiet as warnings: a withdrawn key that is mistyped leaves a person's row there
        (warn if output.quiet else output.print)(sentence)
    out = shlex.quote(str(place.out))
    output.print("Next:")
    output.print(f"  bedside verify {out}")
    output.print(f"  bedside preview {out} -o preview.html")
    if KEPT not in manifest.settings:
        tag = "vX.Y.Z" if "follows" in manifest.settings else "v1.0.0"  # what follows a release has a number after its
        output.print(f"  bedside publish {out} ORG/NAME --tag {tag} --dry-run")


def _mistake(recipe: Recipe[Any], error: BuildError) -> InputError:
    """A mistake in the code of a recipe, for whoever writes it: in a build from the command line that is the user."""
    where, told, found = str(error).partition(": found ")
    found, _, expected = (found if told else where).partition(", expected ")
    place = f"recipe of {recipe.corpus.name}" + f", {where}" * bool(told)
    do = "Repair the recipe, or report it to its authors, then run the same command again: finished batches are kept"
    return InputError(place, found=found, expected=expected, do=do)


def _shown(part: Counts) -> Table:
    shown = table(f"\n{part.title}", part.column, *part.splits, right=tuple(part.splits))
    for name, counts in part.lines:
        shown.add_row(name, *counts)
    return shown


def summarise(recipe: Recipe[Any], out: Path, manifest: Manifest) -> None:
    """What was built: rows by stage, then the recipe's own tables and sentences."""
    numbers = ("rows in", "rows out", "excluded")
    stages = table(f"{manifest.corpus}", "stage", *numbers, "why", right=numbers)
    for stage in manifest.stages:
        why = "; ".join(f"{reason} {count:,}" for reason, count in sorted(stage.excluded.items(), key=lambda i: -i[1]))
        stages.add_row(stage.name, stage.rows_in, stage.rows_out, sum(stage.excluded.values()), why)
    output.print(stages)
    with understood(
        out,
        expected="a release as `bedside build` wrote it",
        do=f"`bedside verify {shlex.quote(str(out))}` lists what is wrong",
    ):
        for part in recipe.summary(manifest):
            output.print(f"\n{part}" if isinstance(part, str) else _shown(part))
    output.print(f"Release: {out}   content {manifest.content_digest[:16]}…")
    if manifest.stand_in:
        output.print(f"stand-in: {manifest.stand_in}", style="yellow")
