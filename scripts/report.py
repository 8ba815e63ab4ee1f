"""`bedside report`: one page of results, to read, print and send."""

from __future__ import annotations

from pathlib import Path

import typer

from baselines.dialogue.played import kept_in_records
from baselines.medconceal.shared import CONCEALED
from baselines.report.page import write_report
from baselines.results.comparison import read_runs
from builders.publish.space import publish_page
from builders.release.resolve import resolve
from loaders.files.paths import resolved
from loaders.plugins import BASELINES, brought
from scripts.commands import RUN
from scripts.terminal.console import output
from scripts.terminal.finish import tell_absent, tell_half_known
from scripts.terminal.options import DifferentData, Page


def command(
    runs: list[Path] = typer.Argument(..., metavar="RUN…", help="Folders of finished runs."),
    out: Page = Path("report.html"),
    release: str | None = typer.Option(None, metavar="DIR|REPO[@TAG]", help="Show pairs of this release."),
    public: bool = typer.Option(
        False,
        "--public",
        help="Leave out photos and hidden concerns, also where somebody repeats five of their words in a row. "
        "A paraphrase cannot be recognised.",
    ),
    space: str | None = typer.Option(
        None, metavar="ORG/NAME", help="Also publish the page, made --public, as a static Space on the Hub."
    ),
    different_data: DifferentData = False,
) -> None:
    """Write one self-contained HTML page: tables beside the paper's, figures, run records, dialogues, captions.

    Dialogues, and the pairs of --release, can be searched, filtered and compared across runs. Every row and number has
    a link; every table can be sorted and copied as LaTeX, CSV or Markdown. The page loads nothing from the network.

    Example: `bedside report runs/language runs/retrieval --release runs/mine -o report.html`
    """
    folder = resolve(release) if release else None
    read = read_runs(runs, different_data=different_data)
    for run in runs:
        tell_absent(run)
    if public or space:
        # First: a Space is published in the same breath.
        kinds = [(run.folder, CONCEALED.get(run.record.baseline)) for run in read]
        tell_half_known(sum(kept_in_records(place, kind) for place, kind in kinds if kind is not None))
    plugins = {plugin.name: plugin for plugin in brought(BASELINES, RUN)[0]}
    page = write_report(read, out, release=folder, plugins=plugins, public=public or bool(space))
    output.print(f"report: {resolved(page)}")
    if space:
        output.print(f"Space: {publish_page(page, space)}")
