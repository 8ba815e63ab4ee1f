"""`bedside sheet`: blank sheets for a human evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from baselines.medlaybench_v.ratings import write_sheets
from baselines.threemdbench.relevance_sheets import write_relevance_sheets
from builders.release.resolve import resolve
from loaders.corpus import load
from loaders.errors import InputError, how_many
from loaders.files.paths import is_file
from loaders.manifest import Manifest
from scripts.terminal.console import output
from scripts.terminal.options import LAST_SEED, base_of_sheets


def command(
    release: str = typer.Argument(
        ..., metavar="DIR|REPO[@TAG]|FILE", help="A release of MedLayBench-V or 3MDBench, or a table of caption pairs."
    ),
    out: Path = typer.Option(
        Path("sheet.csv"), "--out", "-o", metavar="FILE", help="Base name of the sheets.", callback=base_of_sheets
    ),
    pairs: int | None = typer.Option(None, min=2, metavar="N", help="Caption pairs to rate [100]."),
    raters: int | None = typer.Option(
        None, min=1, metavar="N", help="Number of raters; each gets a sheet in a different order [3]."
    ),
    seed: int = typer.Option(0, min=0, max=LAST_SEED, help="Random seed for sampling and ordering."),
    split: str = typer.Option("test", metavar="NAME", help="Split to draw from."),
) -> None:
    """Write blank sheets and instructions for a human evaluation.

    MedLayBench-V: caption pairs, rated on four criteria (Table 4). 3MDBench: one case per diagnosis with its photo,
    whose complaints physicians mark as relevant or not (Appendix C).

    Examples: `bedside sheet runs/mine -o study/sheet.csv`, `bedside sheet runs/3mdbench --raters 2 -o study/sheet.csv`
    """
    corpus, source = "medlaybench-v", Path(release)
    stand_in: str | None = None
    if not is_file(source):
        source = resolve(release)
        manifest = Manifest.read(source)
        corpus, stand_in = manifest.corpus, manifest.stand_in
    if corpus not in _WRITERS:
        raise InputError(release, found=f"a release of {corpus}", expected=f"one of {' or '.join(_WRITERS)}")
    rows = load(corpus, split, source=source)
    for path in _WRITERS[corpus](rows, out, pairs, raters=raters or 3, seed=seed, stand_in=stand_in):
        output.print(f"  {path}")


def _captions(rows: Any, out: Path, pairs: int | None, *, raters: int, seed: int, stand_in: str | None) -> list[Path]:
    pairs = pairs or 100
    texts = rows.remove_columns("image")
    written = write_sheets(texts, out, pairs=pairs, raters=raters, seed=seed, stand_in=stand_in)
    output.print(f"{how_many(pairs, 'pair')} for {how_many(raters, 'rater')}:")
    return written


def _complaints(rows: Any, out: Path, pairs: int | None, *, raters: int, seed: int, stand_in: str | None) -> list[Path]:
    from datasets import Image

    if pairs is not None:
        raise InputError("--pairs", found="a release of photos", expected="one case per diagnosis is drawn")
    photos = rows.cast_column("image", Image(decode=False))
    written = write_relevance_sheets(photos, out, raters=raters, seed=seed, stand_in=stand_in)
    output.print(f"complaints for {how_many(raters, 'rater')}, and the photos beside them:")
    return [path for path in written if path.parent == out.parent]


# The corpora for which a human evaluation is defined.
_WRITERS = {"medlaybench-v": _captions, "3mdbench": _complaints}
