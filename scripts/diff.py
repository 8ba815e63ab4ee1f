"""`bedside diff`: what changed from one release to another?"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

import typer
from pydantic import JsonValue

from builders.release.diff import Change, Diff, Keys, diff
from builders.release.verify import resolve
from loaders.files.records import to_json
from scripts.terminal.console import output, table
from scripts.terminal.tables import Table


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
        for part in shown(difference):
            output.print(part, highlight=False)
    return 0 if difference.equal else 1


def shown(found: Diff) -> Iterator[str | Table]:
    """The differences as tables, and a sentence where there is none."""
    if found.equal:
        yield f"The releases are equal: {found.rows_a:,} rows, content digest {found.content_a}"
        return
    rows = {"added": found.added, "removed": found.removed, "changed": found.changed}
    rows |= {f"changed in {column}": keys for column, keys in found.columns.items()}
    rows |= {f"moved {splits}": keys for splits, keys in found.moved.items()}
    yield from _keys(f"Rows: {found.rows_a:,} in A, {found.rows_b:,} in B", rows)
    yield from _keys("Exclusions", found.exclusions)
    yield from _changes("Schema", found.schema)
    yield from _changes("Facts", found.facts)
    if found.reordered:
        yield f"Same rows in another order: {', '.join(found.reordered)}"


def _keys(title: str, groups: Mapping[str, Keys]) -> Iterator[Table]:
    made = table(title, "what", "rows", "for example", right=("rows",))
    for name, keys in groups.items():
        if keys.count:
            more = ", …" if keys.count > len(keys.examples) else ""
            made.add_row(name, keys.count, ", ".join(keys.examples) + more)
    if made.rows:
        yield made


def _changes(title: str, changes: Sequence[Change]) -> Iterator[Table]:
    made = table(title, "what", "A", "B")
    for change in changes:
        made.add_row(change.where, _shown(change.a), _shown(change.b))
    if made.rows:
        yield made


def _shown(value: JsonValue) -> str:
    if value is None:
        return "–"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
