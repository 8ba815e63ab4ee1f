"""`bedside study export`: what people did, in the files that the baselines read."""

from __future__ import annotations

from pathlib import Path

import typer

from baselines.study.export import export
from loaders.errors import how_many
from scripts.study.folder import Database, Folder, opened
from scripts.terminal.console import output, warn
from scripts.terminal.options import outside_releases


def command(
    study: Folder,
    out: Path = typer.Option(..., "--out", "-o", metavar="RUN", help="New folder to write.", callback=outside_releases),
    database: Database = None,
) -> None:
    """Export a study's data: dialogues for `--transcripts`, sheets for `ratings` and `select`, people and times.

    Works while the study is being served. People appear under pseudonyms; erased people appear in no file.

    Example: `bedside study export study/ -o runs/people`, then `bedside run confirmation DATA --transcripts
    runs/people/confirmation.jsonl --judge M -o runs/confirmation`
    """
    with opened(study, database) as (read, store, keys):
        exported = export(read, store, keys, out)
    for path in exported.files:
        output.print(f"  {path}")
    left = ", ".join(f"{count:,} {reason}" for reason, count in exported.left_out.items())
    output.print(how_many(exported.items, "item") + (f"; left out: {left}" if left else ""))
    output.tell(items=exported.items, left_out=dict(exported.left_out), stand_in=exported.stand_in)
    if exported.stand_in:
        warn(f"stand-in, no result: {exported.stand_in}")
