"""`bedside ratings`: from filled-in sheets of a human evaluation to the papers' tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import typer

from baselines.medlaybench_v.ratings import CRITERIA, PAPER, TABLE, Ratings, evaluate, possible, read_sheets
from baselines.results.published import Published, counterpart, published
from baselines.results.run import Result
from baselines.results.sheets import read_sheet
from baselines.threemdbench.relevance_sheets import MARK, evaluate_relevance, read_relevance_sheets
from loaders.errors import how_many
from scripts.terminal.console import output, table
from scripts.terminal.finish import finish
from scripts.terminal.options import Seed, outside_releases
from scripts.terminal.tables import Table

_AGREEMENT = ("kappa", "alpha")
PAIRS = 100  # that each rater of the paper rated


def command(
    sheets: list[Path] = typer.Argument(..., metavar="SHEET…", help="Filled-in sheets of all raters."),
    out: Path | None = typer.Option(
        None, "--out", "-o", metavar="RUN", help="Also save the results as a run.", callback=outside_releases
    ),
    seed: Seed = 0,
) -> None:
    """Score filled-in sheets: the paper's table beside yours, and inter-rater agreement.

    For captions: Table 4, mean ± SD, and whether each is possible. For complaints: Appendix C, the shares rated
    relevant.

    Example: `bedside ratings study/sheet-R*.csv -o runs/ratings`
    """
    if any(MARK in row for _, row in read_sheet(sheets[0], ())):
        relevance = read_relevance_sheets(sheets)
        results = evaluate_relevance(relevance, seed=seed)
        _finish(results, relevance.stand_in, out, lambda: _print_relevance(results))
        return
    read = read_sheets(sheets)
    results = evaluate(read, seed=seed)
    _finish(results, read.stand_in, out, lambda: _print_pairs(read, results))


def _print_pairs(read: Ratings, results: list[Result]) -> None:
    """Table 4 of the raters beside the paper's; then agreement."""
    cells = {(result.row, result.column): result for result in results}
    count = len(read.pairs)
    shown = table(
        f"{TABLE}: {how_many(count, 'pair')}, ratings 1 to 5", "rater", *CRITERIA.values(), "mean and SD possible"
    )
    _add_raters(shown, [result for result in results if result.unit not in _AGREEMENT], count)
    _add_raters(shown, published(PAPER, TABLE), PAIRS, before="paper: ", style="dim")
    output.print(shown)
    criteria = tuple(CRITERIA.values())
    title = "\nInter-rater agreement: quadratic weighted kappa, Krippendorff's alpha (interval)"
    agreement = table(title, "raters", *criteria, right=criteria)
    for row in dict.fromkeys(result.row for result in results if result.unit in _AGREEMENT):
        kind = "Krippendorff alpha" if row == "All raters" else "weighted kappa"
        found = (cells[row, f"{name} ({kind})"] for name in CRITERIA.values())
        agreement.add_row(row, *(_agreement(result) for result in found))
    if len(read.raters) > 1:
        output.print(agreement)


def _finish(results: list[Result], stand_in: str | None, out: Path | None, show: Callable[[], None]) -> None:
    if out:
        finish(out, results, show=show)
        return
    show()
    output.tell(results=[result.as_row() for result in results])
    if stand_in:
        output.print(f"\nstand-in: {stand_in}", style="yellow")


def _print_relevance(results: list[Result]) -> None:
    """Appendix C: what was found relevant, by whom, beside the paper; then agreement."""
    shown = table(
        "Relevant complaints (Appendix C)", "rater", "complaints", "relevant", "paper", right=("relevant", "paper")
    )
    agreement = table("\nAgreement", "raters", "measure", "value", right=("value",))
    for result in results:
        if result.unit != "percent":
            agreement.add_row(result.row, result.column, _agreement(result))
            continue
        assert result.value is not None and result.ci95 is not None
        low, high = result.ci95
        number = counterpart(result)
        shown.add_row(
            result.row,
            result.column,
            f"{result.value:.1f} % ({low:.1f} to {high:.1f}), {result.numerator:.0f} of {result.n}",
            f"{number.printed} %" if number else "",
        )
    output.print(shown)
    if agreement.rows:
        output.print(agreement)


def _add_raters(
    shown: Table, numbers: Iterable[Result | Published], count: int, before: str = "", style: str | None = None
) -> None:
    """A row for each rater: mean ± SD of each criterion, and whether ratings of so many pairs can have these."""
    known = {(number.row, number.column): number.value for number in numbers if number.value is not None}
    for rater in dict.fromkeys(row for row, _ in known):
        means = {name: known[rater, f"{name} (mean)"] for name in CRITERIA.values()}
        deviations = {name: known[rater, f"{name} (SD)"] for name in means if (rater, f"{name} (SD)") in known}
        wrong = [name for name, deviation in deviations.items() if not possible(means[name], deviation, count)]
        spread = {name: f" ± {deviation:.2f}" for name, deviation in deviations.items()}
        texts = [f"{mean:.2f}{spread.get(name, '')}" for name, mean in means.items()]
        checked = f"no: {', '.join(wrong)}" if wrong else "yes" if deviations else ""
        shown.add_row(f"{before}{rater}", *texts, checked, style=style)


def _agreement(result: Result) -> str:
    if result.value is None:
        return "undefined"
    return f"{result.value:.2f}" + (f" ({result.ci95[0]:.2f} to {result.ci95[1]:.2f})" if result.ci95 else "")
