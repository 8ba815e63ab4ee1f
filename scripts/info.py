"""`bedside info`: what a corpus is, or what a release holds."""

from __future__ import annotations

from pathlib import Path

import typer

from builders.recipe import recipe_of
from builders.release.resolve import resolve
from loaders.corpus import Corpus, corpus
from loaders.errors import InputError, ReleaseError
from loaders.manifest import Manifest
from loaders.registry import corpora
from scripts.build import summarise
from scripts.terminal.console import output, table
from scripts.terminal.tables import short_digests


def command(
    name: str | None = typer.Argument(None, metavar="[CORPUS|DIR|REPO[@TAG]]", help="Corpus or release. [all corpora]"),
) -> None:
    """Describe a corpus and its columns, or a release by its manifest; without a name, list all corpora.

    Examples: `bedside info`, `bedside info medlaybench-v`, `bedside info runs/sample`
    """
    if name is None:
        _list(corpora())
        return
    if name in corpora():
        _describe(corpus(name))
        return
    try:
        folder = resolve(name)
    except ReleaseError as error:
        error.expected = f"a corpus ({', '.join(corpora())}), {error.expected}"
        raise
    manifest = Manifest.read(folder)
    summarise(recipe_of(manifest.corpus), Path(name), manifest)
    sources = table("\nSources", "source", "rows", "licence", "digest (SHA-256)", right=("rows",))
    for source in manifest.sources:
        sources.add_row(source.name, source.rows, source.licence, short_digests(source.digest))
    output.print(sources)
    settings = table("\nSettings", "name", "value")
    for key, value in sorted(manifest.settings.items()):
        settings.add_row(key, _setting(value))
    for package, version in sorted(manifest.versions.items()):
        settings.add_row(package, version)
    output.print(settings)


def _setting(value: object) -> str:
    """A setting in words: a digest is shortened, like those of the sources; the manifest has it in full."""
    if value is None or value == [] or value == {}:
        return "none"
    return short_digests(str(value))


def _list(names: list[str]) -> None:
    """One line per corpus: what its builder makes of which sample, and what its authors published."""
    right = ("columns", "rows of the sample")
    shown = table("", "corpus", "what it is", *right, "authors' release", right=right)
    for name in names:
        try:
            known = corpus(name)
            recipe = recipe_of(name) if known.recipe else None
        except InputError as error:  # in another package: the others are described all the same
            output.print(f"{error}\n", style="yellow")
            continue
        what = (
            (recipe.options.__doc__ or "").partition("\n")[0].partition(": ")[2].rstrip(".")
            if recipe
            else "loaded, not built"
        )
        rows = recipe.sample_rows if recipe else None
        shown.add_row(name, what, len(known.columns), rows, known.official_repo)
    output.print(shown)
    output.print(
        "\nThe bundled samples are CC0-1.0; a release states the licence of each row. `bedside info CORPUS` "
        "lists the columns, `bedside build CORPUS --help` the sources."
    )


def _describe(known: Corpus) -> None:
    shown = table(known.name, "column", "type")
    for column, feature in known.features.items():
        shown.add_row(column, _type(feature))
    output.print(shown)
    for column, feature in known.features.items():
        if names := getattr(feature, "names", None):
            output.print(f"{column}, 0 to {len(names) - 1}: {', '.join(names)}\n")
    rows = ", ".join(f"{split} {count:,}" for split, count in known.official_rows.items())
    official = f"{known.official_repo} ({rows or 'splits not documented'})" if known.official_repo else "none"
    output.print(f"authors' release: {official}\n")


def _type(feature: object) -> str:
    if isinstance(feature, dict):
        return "{" + ", ".join(feature) + "}"
    if (inner := getattr(feature, "feature", None)) is not None:
        return f"list of {_type(inner)}"
    dtype = getattr(feature, "dtype", None)
    return type(feature).__name__.lower() if dtype in (None, "PIL.Image.Image") else str(dtype)
