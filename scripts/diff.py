"""`bedside diff`: what changed from one release to another?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import typer
from pydantic import JsonValue

from builders.release.diff import Change, Diff, Keys, diff
from builders.release.resolve import resolve
from loaders.errors import how_many
from loaders.files.records import to_json
from loaders.manifest import Manifest, as_text
from scripts.terminal.console import output, print_json, table
from scripts.terminal.options import All
from scripts.terminal.tables import Table, short_digests

_FOLLOWS = ("stages", "statistics")  # facts that change with the rows
_CONFIG = re.compile(r"\Aconfigs\.([^.]+)\Z")
_MOST = 6  # schema, settings and the like that are shown without --all
_LONGEST = 60  # letters of a value without --all


def command(
    before: str = typer.Argument(..., metavar="A", help="Older release: a folder, or REPO[@TAG]."),
    after: str = typer.Argument(..., metavar="B", help="Newer release."),
    examples: int = typer.Option(3, min=0, help="Keys to show per kind of change."),
    everything: All = False,
    as_json: bool = typer.Option(False, "--json", help="Print the differences as JSON."),
) -> int:
    """Compare two releases: rows added, removed, changed (by column) or moved between splits, and exclusions.

    Without --all, print a summary of the changes and what they mean for users of A. Exit code 0 if rows,
    exclusions and the facts of the manifests are equal, 1 if they differ.

    Example: `bedside diff org/name@v1.0.0 runs/mine`
    """
    releases = resolve(before), resolve(after)
    for folder in releases:
        Manifest.read(folder).require(folder)
    difference = diff(*releases, examples=examples)
    if as_json:
        print_json({"equal": difference.equal, **to_json(difference)})
    else:
        for part in shown(difference, everything=everything):
            output.print(part)
    return 0 if difference.equal else 1


def shown(found: Diff, *, everything: bool = True) -> Iterator[str | Table]:
    """The differences as tables, or on one screen with what they mean; a sentence if there are none."""
    if found.equal:
        yield f"The releases are equal: {how_many(found.rows_a, 'row')}, content digest {found.content_a}"
        return
    title = f"Rows: {found.rows_a:,} in A, {found.rows_b:,} in B"
    rows = {"added": found.added, "removed": found.removed, "changed": found.changed}
    if not everything:
        yield from _on_a_screen(found, title, rows)
        return
    rows |= {f"changed in {column}": keys for column, keys in found.columns.items()}
    rows |= {f"moved {splits}": keys for splits, keys in found.moved.items()}
    yield from _keys(title, rows)
    yield from _keys("Exclusions", found.exclusions)
    yield from _changes("Schema", found.schema)
    yield from _changes("Facts", found.facts)
    if found.reordered:
        yield f"Same rows in a different order: {', '.join(found.reordered)}"


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
    return "–" if value is None else as_text(value)


# --- Without --all ----------------------------------------------------------------------------------------------------


def _on_a_screen(found: Diff, title: str, rows: Mapping[str, Keys]) -> Iterator[str | Table]:
    yield from _keys(title, rows)
    if not any(keys.count for keys in rows.values()):
        yield title
    for what, groups in (("Changed in", found.columns), ("Moved", found.moved), ("Exclusions", found.exclusions)):
        if groups:
            most_first = sorted(groups.items(), key=lambda group: -group[1].count)
            yield f"{what}: {', '.join(f'{name} {keys.count:,}' for name, keys in most_first)}"
    follows = [change for change in found.facts if change.where.startswith(_FOLLOWS)]
    facts = [change for change in found.facts if change not in follows]
    for head, changes in (("Schema", found.schema), ("Facts", facts or follows)):
        if changes:
            yield head
        for change in changes[:_MOST]:
            yield f"  {change.where}: {_brief(change.a)}, now {_brief(change.b)}"
        if len(changes) > _MOST:
            yield f"  and {len(changes) - _MOST:,} more"
    yield "\nWhat it means"
    for sentence in meaning(found):
        yield f"  {sentence}"
    counts = (
        f"{how_many(len(follows), 'count that follows', 'counts that follow')} from these rows, "
        if follows and facts
        else ""
    )
    yield f"\nNot shown: {counts}examples by column, full values (--all, --json)"


def _brief(value: JsonValue) -> str:
    """A value in a few words; an object by the names of what it holds."""
    if isinstance(value, dict):
        value = ", ".join(f"{name} {_shown(one)}" for name, one in value.items() if one is not None)
    text = short_digests("none" if value is None else _shown(value))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def meaning(found: Diff) -> Iterator[str]:
    """What the differences mean to somebody who uses A, in sentences."""
    absent = [f"split {split}" for split in found.lost_splits]
    absent += [f"config {name}" for change in found.facts if change.b is None for name in _CONFIG.findall(change.where)]
    if gone := [change.where for change in found.schema if change.a is not None]:
        yield f"Code that reads A may fail on B: {', '.join(gone)} missing or of another type."
    elif found.schema and not absent:
        yield "Code that reads A also reads B, which has more columns."
    if absent:
        yield f"Code that reads A may fail on B, which has no {_and(absent)}."
    if measured := [split for split in found.touched if split not in found.new_splits]:
        yield f"What was measured on {_and(measured)} of A does not hold for B: the rows differ."
    elif lost := [change.where for change in found.schema if change.b is None and "." not in change.where]:
        yield f"What was measured on A holds for B, but for {_and(lost)}: every other column is the same in every row."
    else:
        yield "What was measured on A holds for B: the content of every row of A is the same."
    if found.new_splits:
        yield f"A has no {_and(found.new_splits)}; B does."
    if found.reordered:
        yield f"Same rows in a different order: {', '.join(found.reordered)}."
    if "licence" in found.columns:
        other = how_many(found.columns["licence"].count, "row has", "rows have")
        yield f"{other} another licence, which may allow less, or the same spelled otherwise."
    for change in found.facts:
        if change.where == "stand_in":
            yield "; ".join(f"{name} is a stand-in: {why}" for name, why in (("A", change.a), ("B", change.b)) if why)


def _and(names: Sequence[str]) -> str:
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)
