"""`bedside curate`: quality, duplicates and leaks of a folder of images."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from scripts.terminal.console import output, table
from scripts.terminal.progress import Bars

if TYPE_CHECKING:
    from builders.curation.curate import Curation


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

    with Bars() as progress:
        curation = curate_folder(folder, out, table=listing, index=index, workers=workers, progress=progress)
    _print(curation)
    output.print(f"Report: {out / 'report.html'}", highlight=False, markup=False, soft_wrap=True)
    return 1 if fail_on_leaks and any(leak.boundary == "split" for leak in curation.leaks) else 0


def _print(curation: Curation) -> None:
    """Every file once, by what becomes of it and why; the flags; and the clusters that cross something."""
    kept = [decision.kept for decision in curation.decisions]
    reasons = Counter(decision.reason for decision in curation.decisions)
    broken = Counter(one.reason for one in curation.files if one.content is None)
    flags = [judgement.flags for judgement in curation.judgements if judgement]
    shown = table("", "what", "files", right=("files",))
    shown.add_row("files", f"{len(curation.files):,}")
    shown.add_row("kept", f"{sum(kept):,}")
    for reason in ("unique", "best_copy", "same_scene"):
        _add(shown, reason, reasons[reason])
    shown.add_row("left out as copies", f"{len(kept) - sum(kept) - reasons['unreadable']:,}")
    for reason in ("same_bytes", "same_pixels", "near_copy"):
        _add(shown, reason, reasons[reason])
    shown.add_row("left out as unreadable", f"{reasons['unreadable']:,}")
    for reason, count in sorted(broken.items()):
        _add(shown, reason, count)
    shown.add_row("with a quality flag", f"{sum(map(bool, flags)):,}")
    for flag, count in Counter(flag for several in flags for flag in several).most_common():
        _add(shown, flag, count)
    output.print(shown)
    if not curation.leaks:
        return
    columns = ("clusters", "files", "pictures, same bytes")
    shown = table("\nClusters that cross", "what", *columns, right=columns)
    for boundary in ("split", "label", "source"):
        if found := [leak for leak in curation.leaks if leak.boundary == boundary]:
            files, same = (sum(len(leak.files) for leak in found), sum(leak.same_bytes for leak in found))
            shown.add_row(f"{boundary}s", f"{len(found):,}", f"{files:,}", f"{same:,}")
    output.print(shown, style="yellow")


def _add(shown: Table, reason: str, count: int) -> None:
    if count:
        shown.add_row("  " + reason.replace("_", " "), f"{count:,}")
