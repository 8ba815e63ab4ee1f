"""`bedside publish`: a release folder to the Hub, in one commit, tagged last."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, cast

import typer

from builders.publish.plan import DEADLINE
from builders.publish.run import publish
from loaders.manifest import Manifest, Problem
from scripts.terminal.console import errors, output, warn


def command(
    folder: Path = typer.Argument(..., metavar="DIR", help="Release folder written by `bedside build`."),
    repo: str = typer.Argument(..., metavar="REPO", help="Dataset repository, such as org/name."),
    tag: str = typer.Option(..., metavar="vX.Y.Z", help="Version tag. A published tag never moves."),
    private: bool = typer.Option(False, help="Create a private repository."),
    gated: str | None = typer.Option(None, metavar="auto|manual", help="Require readers to request access."),
    replace: list[str] = typer.Option(
        [],
        metavar="NAME",
        help="Allow deleting this file (or folder/) from main although this corpus did not put it there.",
    ),
    own: bool = typer.Option(
        False, "--own", help="Allow publishing your own patients (`--source cases=FILE`), which is otherwise refused."
    ),
    date: str = typer.Option("", metavar="YYYY-MM-DD", help="Publication date for croissant.json."),
    verify: bool = typer.Option(True, "--verify/--no-verify", help="Check all that `bedside verify` checks first."),
    dry_run: bool = typer.Option(False, "--dry-run", help="Show the plan without uploading."),
    endpoint: str | None = typer.Option(None, metavar="URL", help="Hub other than huggingface.co."),
    deadline: float = typer.Option(DEADLINE / 60, metavar="MINUTES", help="Give up this long after the check."),
) -> None:
    """Publish a release as a tag of a dataset repository.

    The folder is checked as by `bedside verify`, uploaded in one commit, read back, and tagged last, so readers never
    see half a release. Publishing the same release again changes nothing. If it is interrupted, run the same command
    again to resume. A repository that holds another corpus is refused, and so is deleting files that others put there,
    unless you name each.

    Needs a token with write permission (`hf auth login`, or HF_TOKEN).

    Example: `bedside publish runs/mine org/name --tag v1.0.0 --dry-run`
    """
    if not verify:
        warn(f"{folder}: digests are checked, rows are not (--no-verify)")
    published = publish(
        folder,
        repo,
        tag=tag,
        private=private,
        gated=cast(Literal["auto", "manual"] | None, gated),
        replace=replace,
        own=own,
        check=_problems_in if verify else None,
        date=date,
        dry_run=dry_run,
        deadline=deadline * 60,
        endpoint=endpoint,
        report=lambda line: errors.print(line),
        quietly=output.quiet,
    )
    if dry_run:
        output.print("Nothing was uploaded (--dry-run).")
    else:
        output.print(f"{published.url}  (commit {published.commit[:12]}, tag {published.tag})")


def _problems_in(folder: Path) -> list[Problem]:
    from scripts.verify import problems_of  # brings the recipes, which --help has no need of

    problems, older = problems_of(folder, Manifest.read(folder))
    if older:
        warn(f"{folder}: {older}")
    return problems
