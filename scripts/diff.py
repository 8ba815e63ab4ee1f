"""`bedside diff`: what changed from one release to another?"""

from __future__ import annotations

import json

import typer

from builders.release.diff import diff
from builders.release.verify import resolve
from loaders.files.records import to_json
from scripts.terminal.console import output


def command(
    before: str = typer.Argument(..., metavar="A", help="The older release: a folder, or REPO[@TAG]."),
    after: str = typer.Argument(..., metavar="B", help="The newer release."),
    examples: int = typer.Option(3, min=0, help="Keys to show for each kind of change."),
    as_json: bool = typer.Option(False, "--json", help="Print the difference as JSON."),
) -> int:
    """Compare two releases: rows added, removed, changed (by column), moved between splits, and exclusions that moved.

    Exit code 0 when the contents are equal, 1 when they differ.

    Example: `bedside diff org/name@v1.0.0 runs/mine`
    """
    difference = diff(resolve(before), resolve(after), examples=examples)
    if as_json:
        typer.echo(json.dumps({"equal": difference.equal, **to_json(difference)}, indent=1, ensure_ascii=False))
    else:
        output.print(difference.render())
    return 0 if difference.equal else 1
