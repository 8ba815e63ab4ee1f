"""The end of every run: its files are written, with what it took, and its numbers printed table by table.

Also what a command says about a finished run whose folder lacks files.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any, NoReturn

import typer

from baselines.dialogue.played import HIDDEN_PART, STORED
from baselines.results.comparison import fixed
from baselines.results.headline import headline
from baselines.results.published import named, published
from baselines.results.run import Result, absent_files, write_run
from loaders.errors import how_many
from loaders.files.disk import make_folder, write_whole
from loaders.files.paths import is_file
from loaders.files.places import command_line, without_places
from scripts.terminal.console import errors, output, table, warn
from scripts.terminal.tables import Number, Table

LONG = 24  # numbers that a terminal shows; if there are more, only the headline


def finish(
    out: Path,
    results: Sequence[Result],
    extra: Mapping[str, Any] | None = None,
    *,
    printed: bool = True,
    show: Callable[[], None] | None = None,
    instead: Mapping[str, str] | None = None,
) -> None:
    """Write the run with what it took, and print its numbers unless `printed` is False: all, or the headline if many,
    or what `show` prints of them.

    `extra` are further JSON files of its folder, by name; `instead` is that of `headline`.
    """
    record = results[0].record
    assert record is not None
    make_folder(out)
    # All at once, so that models of one name in different folders are told apart in every file.
    bare = [replace(result, record=None) for result in results]
    told, told_results, told_extra = without_places((record, bare, extra or {}), Path())
    command = command_line(sys.argv[1:], out)
    told = replace(told, command=command, wall_seconds=round(time.monotonic() - output.began, 2))
    told_results = [replace(result, record=told) for result in told_results]
    for name, content in told_extra.items():
        write_whole(out / name, json.dumps(content, ensure_ascii=False).encode())
    stored = [*told_extra, *(name for name in (*STORED, HIDDEN_PART) if is_file(out / name))]
    aside = write_run(out, told, told_results, stored=stored)
    output.tell(run_id=told.run_id, folder=str(out), results=[result.as_row() for result in told_results])
    if show is not None:
        show()
        output.print()
    elif printed and output.document is None:
        _print(told_results, out, instead)
    if record.stand_in:
        output.print(f"stand-in: {record.stand_in}", style="yellow")
    if aside:
        output.print(f"The files that were there are now in {aside}.")
    output.print(f"{out}: run {told.run_id}. Next:")
    if any(published(result.paper, result.table) for result in told_results):
        output.print(f"  bedside compare {quote(str(out))}")
    output.print(f"  bedside report {quote(str(out))} -o report.html")


def end_as_invalid(reasons: Sequence[str]) -> NoReturn:
    """Says why the numbers of a finished run cannot be trusted, and ends the command with code 1."""
    told = f"INVALID: {'; '.join(reasons)}. No headline numbers are printed."
    errors.print(told, style="bold red")
    raise typer.Exit(1)


def tell_absent(run: Path) -> None:
    """Say which files of a finished run are not in its folder, before something is made from the others."""
    if absent := absent_files(run):
        warn(f"{run} lacks {', '.join(absent)}, which the run stored: what is made from that is missing")


def tell_half_known(cases: int) -> None:
    """Say for how many cases of runs of early versions a search for what they hide could not find all of it."""
    if cases:
        played = f"{how_many(cases, 'case was', 'cases were')} played by an early version, which kept no cues"
        told = f"{played}: what repeats only a cue is not masked. Read what was said before you publish it"
        output.print(told, style="yellow")


def _print(results: Sequence[Result], out: Path, instead: Mapping[str, str] | None) -> None:
    if len(results) <= LONG:
        for shown in tables_of(results):
            output.print(shown)
            output.print()
        return
    first = headline(results, instead)
    output.print(headline_table("Headline numbers", [(_name(result), result) for result in first]))
    output.print(f"{how_many(len(results) - len(first), 'more number')}: {out / 'results.csv'}\n")


def _name(result: Result) -> str:
    return ", ".join(part for part in (result.row, result.setting, result.split_or_group) if part)


def headline_table(title: str, numbers: Sequence[tuple[str, Result]]) -> Table:
    """One number per line, with its interval; the first line says what it is about."""
    shown = table(title, "of", "number", "value", "95 %", "n", right=("value", "95 %", "n"))
    before = ""
    for name, result in numbers:
        interval = "" if result.ci95 is None else " to ".join(_shown(result, bound) for bound in result.ci95)
        shown.add_row("" if name == before else name, named(result.column), _number(result), interval, result.n)
        before = name
    return shown


def tables_of(results: Sequence[Result]) -> list[Table]:
    """A table for each table of the paper and group of rows: models and registers down, columns across; one number per
    line if most of its cells would be empty."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.table, result.split_or_group), []).append(result)
    made = []
    for (name, group), cells in groups.items():
        columns = list(dict.fromkeys(cell.column for cell in cells))
        rows = list(dict.fromkeys((cell.row, cell.setting) for cell in cells))
        values = {(cell.row, cell.setting, cell.column): cell for cell in cells}
        title = f"{name}, {group}" if group else name
        if len(cells) < len(columns) * len(rows) / 2:  # mostly gaps, which no screen is wide enough for
            named_cells = [(f"{cell.row}, {cell.setting}" if cell.setting else cell.row, cell) for cell in cells]
            made.append(headline_table(title, named_cells))
            continue
        heads = [named(column) for column in columns]
        shown = table(title, "of", "setting", *heads, right=heads)
        for row, setting in rows:
            found = (values.get((row, setting, column)) for column in columns)
            shown.add_row(row, setting, *(None if one is None else _number(one) for one in found))
        made.append(shown)
    return made


def _number(result: Result) -> Number:
    return Number(result.value, _shown(result, result.value))


def _shown(result: Result, value: float | None) -> str:
    if value is None:
        return "not computed"
    if result.unit == "p":
        return f"{value:.3g}"
    if result.unit in ("words", "pairs", "types") and (value >= 100 or value.is_integer()):
        return f"{value:,.0f}"
    return fixed(value, 3 if result.unit == "proportion" else 2)
