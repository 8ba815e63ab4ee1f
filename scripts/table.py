"""`bedside table`: the paper's tables with the numbers of runs in them, for a paper of one's own."""

from __future__ import annotations

from pathlib import Path

import typer

from baselines.report.printed import csv, latex, markdown, printed
from baselines.report.tables import tables
from baselines.results.comparison import read_runs
from baselines.results.published import of_tables
from loaders.errors import how_many
from loaders.files.disk import write_whole
from loaders.files.opening import refuse_other
from scripts.terminal.console import warn
from scripts.terminal.options import DifferentData, file_outside_releases, one_of

_FORMATS = ("latex", "md", "csv")
_BEGINS = (b"% \\usepackage{booktabs", b"**", b"paper,table,row,column,source,run,")
"""How the output of this command begins, in each format, so that no other kind of file is replaced."""


def command(
    runs: list[Path] = typer.Argument(..., metavar="RUN…", help="Folders of finished runs."),
    written: str = typer.Option("md", "--format", metavar="latex|md|csv", help="Output format."),
    paper: bool = typer.Option(False, "--paper", help="Add the paper's rows beside yours."),
    only: list[str] = typer.Option(
        [], "--table", metavar="NAME", help='Only this table, as "Table 3". May be repeated.'
    ),
    out: Path | None = typer.Option(
        None,
        "--out",
        "-o",
        metavar="FILE",
        help="Write to this file instead of printing.",
        callback=file_outside_releases,
    ),
    different_data: DifferentData = False,
) -> None:
    """Write the paper's tables with your runs' numbers and intervals: LaTeX, Markdown or CSV.

    † marks a number that is no reproduction, with the conditions that differ; ‡ marks a stand-in. LaTeX needs booktabs
    and graphicx, and for names in other scripts than Latin and Greek LuaLaTeX or XeLaTeX. CSV holds every number, one
    per line, including those without a place in the paper's tables.

    Example: `bedside table runs/language --paper --format latex -o tables.tex`
    """
    format_ = one_of("--format", written, _FORMATS)
    views = tables(read_runs(runs, different_data=different_data))
    chosen = of_tables(only, views, lambda view: view.table)
    if format_ == "csv":
        text = csv(chosen, paper=paper)
    else:
        made = [printed(view, paper=paper) for view in chosen if view.rows]
        text = latex(made) if format_ == "latex" else markdown(made)
        if left := sum(len(pairs) for view in chosen for pairs in view.others.values()):
            of_others = how_many(left, "number has", "numbers have")
            warn(f"{of_others} no place in the paper's tables; --format csv includes them")
    if out is None:
        typer.echo(text, nl=False)
    else:
        refuse_other(out, _BEGINS, what="table of this command")
        write_whole(out, text.encode())
