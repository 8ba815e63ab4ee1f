"""The end of every run: written with what it took, and printed table by table."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from baselines.results.run import DataUsed, Result, write_run
from loaders.files.disk import make_folder, write_whole
from loaders.files.places import command_line, without_places
from loaders.opened import Opened
from scripts.terminal.console import output, table

WIDE = 10  # columns of a table that a terminal shows side by side


def used(opened: Opened) -> DataUsed:
    """What a record says of the data."""
    return DataUsed.of(opened)


def because(*reasons: str | None) -> str | None:
    """Why numbers are no results, as a record states it; None where there is no reason."""
    return "; ".join(reason for reason in reasons if reason) or None


def finish(
    out: Path,
    results: Sequence[Result],
    started: float,
    extra: Mapping[str, Any] | None = None,
    *,
    printed: bool = True,
) -> None:
    """Write the run with what it took, and print its numbers unless `printed` is False.

    `extra` are further JSON files of its folder, by name.
    """
    record = results[0].record
    assert record is not None
    make_folder(out)
    told = without_places(record, out)
    command = command_line(sys.argv[1:], out)
    told = replace(told, command=command, wall_seconds=round(time.monotonic() - started, 2))
    told_results = [replace(without_places(replace(result, record=None), out), record=told) for result in results]
    for name, content in (extra or {}).items():
        write_whole(out / name, json.dumps(without_places(content, out), ensure_ascii=False).encode())
    write_run(out, told, told_results)
    if printed:
        _print(told_results)
    if record.stand_in:
        output.print(f"stand-in: {record.stand_in}", style="yellow", highlight=False)
    output.print(
        f"{out}: run {told.run_id}. Next: bedside compare {out}; bedside report {out} -o report.html", highlight=False
    )


def print_values(results: Sequence[Result], setting: str, decimals: int) -> None:
    """The numbers of one row of the paper's tables, one under another, with their intervals."""
    first = results[0]
    shown = table(f"{first.row}, {setting}: {first.split_or_group}", "", "value", "95 %", right=("value", "95 %"))
    for result in results:
        value = "not computed" if result.value is None else f"{result.value:.{decimals}f}"
        interval = "" if result.ci95 is None else f"{result.ci95[0]:.{decimals}f} to {result.ci95[1]:.{decimals}f}"
        shown.add_row(result.column, value, interval)
    output.print(shown)


def _print(results: Sequence[Result]) -> None:
    """A table for each table of the paper and group of rows: models and registers down, columns across."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        groups.setdefault((result.table, result.split_or_group), []).append(result)
    for (name, group), cells in groups.items():
        columns = list(dict.fromkeys(cell.column for cell in cells))
        rows = list(dict.fromkeys((cell.row, cell.setting) for cell in cells))
        values = {(cell.row, cell.setting, cell.column): _shown(cell) for cell in cells}
        title = f"{name}, {group}" if group else name
        if len(columns) <= WIDE:
            shown = table(title, "", " ", *columns, right=tuple(columns))
            for row, setting in rows:
                shown.add_row(row, setting, *(values.get((row, setting, column), "") for column in columns))
        else:
            heads = tuple(f"{row}\n{setting}" for row, setting in rows)
            shown = table(title, "", *heads, right=heads)
            for column in columns:
                shown.add_row(column, *(values.get((row, setting, column), "") for row, setting in rows))
        output.print(shown)
        output.print()


def _shown(result: Result) -> str:
    if result.value is None:
        return "not computed"
    if result.unit == "p":
        return f"{result.value:.3g}"
    return (
        f"{result.value:,.0f}" if result.unit in ("words", "pairs") and result.value >= 100 else f"{result.value:.2f}"
    )
