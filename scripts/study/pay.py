"""`bedside study pay`: what people have earned."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from baselines.results.sheets import table_bytes, write_new
from baselines.study.pay import COLUMNS, outside, table
from loaders.errors import how_many
from scripts.study.folder import Database, Folder, opened
from scripts.terminal.console import errors, output


def command(
    study: Folder,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Write to this file instead of printing.")
    ] = None,
    identities: Annotated[
        bool, typer.Option("--identities", help="Include Prolific's ids, for payment: keep that file private.")
    ] = False,
    database: Database = None,
) -> None:
    """Print what each person has earned, as CSV: welcome, finished, broken-off and partly finished cases.

    Example: `bedside study pay study/ > pay.csv`
    """
    with opened(study, database) as (read, store, keys), store.reading() as connection:
        rows = table(connection, read.design)
        known = outside(connection, keys) if identities else {}
    columns = (*COLUMNS, "prolific") if identities else COLUMNS
    content = table_bytes(columns, ({**row, "prolific": known.get(row["person"], "")} for row in rows))
    if out is None:
        sys.stdout.write(content.decode())
    else:
        write_new({out: content})
    total = sum(float(row["amount"]) for row in rows)
    if not output.quiet:
        errors.print(f"{how_many(len(rows), 'person', 'people')}, {total:,.2f} {read.design.pay.currency} in all")
