"""`bedside sheet` and `bedside ratings`: human evaluation, from blank sheets to Table 4."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.table import Table

from baselines.published import published
from baselines.ratings import CRITERIA, PAPER, TABLE, evaluate, possible, read_sheets, write_sheets
from baselines.results import Result, write_run
from builders.verify import resolve
from loaders.corpus import load
from loaders.manifest import Manifest
from scripts.console import output, table


def command(
    release: str = typer.Argument(..., metavar="DIR|REPO[@TAG]", help="A release of MedLayBench-V."),
    out: Path = typer.Option(Path("sheet.csv"), "--out", "-o", metavar="FILE", help="Name of the sheets."),
    pairs: int = typer.Option(100, min=2, metavar="N", help="Pairs to rate."),
    raters: int = typer.Option(
        3, min=1, metavar="N", help="Raters; each gets a sheet, with the pairs in another order."
    ),
    seed: int = typer.Option(0, help="Which pairs, and in which order."),
    split: str = typer.Option("test", metavar="NAME", help="Split to draw from."),
) -> None:
    """Write blank rating sheets and instructions for a human evaluation (Table 4).

    Example: `bedside sheet runs/mine -o study/sheet.csv`
    """
    folder = resolve(release)
    manifest = Manifest.read(folder)
    rows = load("medlaybench-v", split, source=folder).remove_columns("image")
    written = write_sheets(rows, out, pairs=pairs, raters=raters, seed=seed, stand_in=manifest.stand_in)
    output.print(f"{pairs} pairs for {raters} raters:", highlight=False)
    for path in written:
        output.print(f"  {path}", highlight=False, soft_wrap=True)


def ratings(
    sheets: list[Path] = typer.Argument(..., metavar="SHEET…", help="Filled sheets of all raters."),
    out: Path | None = typer.Option(None, "--out", "-o", metavar="RUN", help="Also write the results as a run."),
    seed: int = typer.Option(0, help="Seed of the bootstrap."),
) -> None:
    """Print Table 4 of filled rating sheets: mean ± SD, agreement, and whether the paper's own values are possible.

    Example: `bedside ratings study/sheet-R*.csv -o runs/ratings`
    """
    read = read_sheets(sheets)
    results = evaluate(read, seed=seed)
    cells = {(result.row, result.column): result for result in results}
    count = len(read.pairs)
    shown = table(f"{TABLE}: {count} pairs, ratings from 1 to 5", "rater", *CRITERIA.values(), "mean and SD possible")
    for rater in read.raters:
        shown.add_row(
            rater, *(_mean_sd(cells, rater, name) for name in CRITERIA.values()), _checked(cells, rater, count)
        )
    for row in dict.fromkeys(result.row for result in results if result.row.startswith("Average")):
        shown.add_row(row, *(f"{cells[row, f'{name} (mean)'].value:.2f}" for name in CRITERIA.values()), "")
    _add_published(shown)
    output.print(shown, highlight=False)
    agreement = table("\nAgreement: kappa with quadratic weights, Krippendorff's alpha", "raters", *CRITERIA.values())
    for row in dict.fromkeys(result.row for result in results if result.unit in ("kappa", "alpha")):
        kind = "Krippendorff alpha" if row == "All raters" else "weighted kappa"
        found = (cells[row, f"{name} ({kind})"] for name in CRITERIA.values())
        agreement.add_row(row, *(_agreement(result) for result in found))
    if len(read.raters) > 1:
        output.print(agreement, highlight=False)
    if read.stand_in:
        output.print(f"\nstand-in, no reproduction: {read.stand_in}", style="yellow", highlight=False)
    if out:
        record = results[0].record
        assert record is not None
        write_run(out, record, results)
        output.print(f"\nrun: {out}", highlight=False)


def _mean_sd(cells: dict[tuple[str, str], Result], rater: str, name: str) -> str:
    return f"{cells[rater, f'{name} (mean)'].value:.2f} ± {cells[rater, f'{name} (SD)'].value:.2f}"


def _checked(cells: dict[tuple[str, str], Result], rater: str, count: int) -> str:
    wrong = []
    for name in CRITERIA.values():
        mean, deviation = cells[rater, f"{name} (mean)"].value, cells[rater, f"{name} (SD)"].value
        assert mean is not None and deviation is not None
        if not possible(mean, deviation, count):
            wrong.append(name)
    return f"no: {', '.join(wrong)}" if wrong else "yes"


def _add_published(shown: Table) -> None:
    numbers = {(number.row, number.column): number.value for number in published(PAPER, TABLE)}
    for rater in dict.fromkeys(row for row, _ in numbers):
        texts, wrong = [], []
        for name in CRITERIA.values():
            mean, deviation = numbers[rater, f"{name} (mean)"], numbers.get((rater, f"{name} (SD)"))
            texts.append(f"{mean:.2f}" if deviation is None else f"{mean:.2f} ± {deviation:.2f}")
            if deviation is not None and not possible(mean, deviation, 100):
                wrong.append(name)
        checked = f"no: {', '.join(wrong)}" if wrong else ("yes" if (rater, "Fluency (SD)") in numbers else "")
        shown.add_row(f"paper: {rater}", *texts, checked, style="dim")


def _agreement(result: Result) -> str:
    if result.value is None:
        return "undefined"
    return f"{result.value:.2f}" + (f" ({result.ci95[0]:.2f} to {result.ci95[1]:.2f})" if result.ci95 else "")
