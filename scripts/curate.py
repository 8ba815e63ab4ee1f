"""`bedside curate`: quality, duplicates and leaks of a folder of images."""

from __future__ import annotations

import os
from pathlib import Path

import typer

from builders.progress import bars
from scripts.console import errors, output, table


def command(
    folder: Path = typer.Argument(..., metavar="DIR", help="A folder of images, with any folders in it."),
    out: Path = typer.Option(..., "--out", "-o", metavar="REPORT", help="The folder to write the report into."),
    listing: Path | None = typer.Option(
        None,
        "--table",
        metavar="FILE",
        help="CSV or TSV with the columns file, split, label, source; else folder names tell.",
    ),
    index: Path | None = typer.Option(
        None, metavar="FILE", help="Where to remember what was measured; by default index.sqlite in REPORT."
    ),
    workers: int = typer.Option(min(16, os.cpu_count() or 1), min=1, help="Threads."),
    fail_on_leaks: bool = typer.Option(
        False, "--fail-on-leaks", help="End with exit code 1 when a cluster crosses splits."
    ),
) -> int:
    """Look through a folder of images: what is blurred, what is a copy of what, what leaks between splits.

    Writes report.html, clusters.parquet, quality.parquet, pairs.parquet and leaks.parquet. Images are only read.

    Example: `bedside curate photos -o runs/photos`
    """
    from builders.curation.output import curate_folder  # here, as it needs the extra `curation`

    with bars(errors) as progress:
        curation = curate_folder(folder, out, table=listing, index=index, workers=workers, progress=progress)
    unreadable = sum(one.content is None for one in curation.files)
    kept = sum(decision.kept for decision in curation.decisions)
    flagged = sum(bool(judgement and judgement.flags) for judgement in curation.judgements)
    shown = table("", "what", "files", right=("files",))
    shown.add_row("files", f"{len(curation.files):,}")
    shown.add_row("  unreadable", f"{unreadable:,}")
    shown.add_row("  copies", f"{len(curation.files) - unreadable - kept:,}")
    shown.add_row("  kept", f"{kept:,}")
    shown.add_row("with a quality flag", f"{flagged:,}")
    output.print(shown)
    crossing = [leak for leak in curation.leaks if leak.boundary == "split"]
    for boundary in ("split", "label", "source"):
        found = [leak for leak in curation.leaks if leak.boundary == boundary]
        if found:
            exact = sum(leak.exact for leak in found)
            output.print(f"{len(found):,} cluster(s) cross {boundary}s, {exact:,} by the same bytes", style="yellow")
    output.print(f"Report: {out / 'report.html'}", highlight=False, markup=False, soft_wrap=True)
    return 1 if fail_on_leaks and crossing else 0
