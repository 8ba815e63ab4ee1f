"""`bedside plan`: what a run would take and what it could show, before anything is paid."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence

import typer

from baselines.dialogue.decoding import with_decoding
from baselines.dialogue.planned import CHARACTERS, FEW, estimate
from baselines.dialogue.played import Spent
from baselines.results.power import ALPHA, POWER, cases_needed, smallest_difference
from loaders.errors import InputError
from scripts.cli import find
from scripts.run.play import Planned, planning
from scripts.terminal.console import output, table
from scripts.terminal.tables import Number, Table

_CAN = "run confirmation, run intervention, run consultation or run recheck, with its arguments"
_SPREADS = (0.3, 0.5, 0.7)


def command(
    words: list[str] = typer.Argument(..., metavar="run NAME …", help="The run, as it would be typed."),
    detect: float = typer.Option(0.05, min=0.0001, help="A difference that is to be shown, in the unit of the score."),
    speed: float = typer.Option(50.0, min=0.1, help="Tokens a second that a model writes, for the hours."),
    latency: float = typer.Option(1.0, min=0.0, help="Seconds before it begins to."),
) -> None:
    """What a run would take, by role, and what difference its cases can show; nobody is asked.

    Three of its cases are played with scripted words through the real prompts. Dollars need `--price MODEL=IN,OUT`.

    Example: `bedside plan run confirmation runs/patients --clinician openai/gpt-4o-mini --patient M --evaluator M
    --judge M --price openai/gpt-4o-mini=0.15,0.6 --detect .05`
    """
    planned = _planned(words)
    options, cases = planned.options, planned.cases
    taken = estimate(with_decoding(planned.game, planned.roles.decoding), cases, planned.agents, epochs=options.epochs)
    names = planned.names
    played = f"{len(cases):,} cases" + (f", {options.epochs} times" if options.epochs > 1 else "")
    output.print(_spending(f"{played}: about", taken, names, planned, speed, latency))
    output.print(
        f"From {min(FEW, len(cases))} cases with scripted words; {CHARACTERS} characters a token. Models that think "
        f"or say more take more. Hours: {speed:g} tokens a second, {latency:g} s a request, {options.concurrency} "
        "dialogues at a time.",
        style="dim",
        highlight=False,
    )
    output.print()
    output.print(_showing(len(cases), detect))
    output.print(
        f"Paired over cases, two-sided, alpha {ALPHA}, power {POWER}. Spread: the standard deviation of the "
        "difference, case by case; 0.5 where two systems disagree in a fourth of cases that are right or wrong.",
        style="dim",
        highlight=False,
    )


def _planned(words: Sequence[str]) -> Planned:
    """The run as its command would begin it. Raises InputError for a command that plays nothing, and what it raises."""
    if list(words[:1]) != ["run"] or len(words) < 2:
        raise InputError("plan", found=" ".join(words[:2]), expected=_CAN)
    with tempfile.TemporaryDirectory() as scratch, planning():
        given = list(words[2:])
        if not {"-o", "--out"} & set(given):
            given += ["-o", scratch]
        try:
            known, _ = find(words[:2])
        except KeyError:
            raise InputError("plan", found=" ".join(words[:2]), expected=_CAN) from None
        try:
            with known.make_context(words[1], given) as context:
                known.invoke(context)
        except Planned as planned:
            return planned
    raise InputError("plan", found=" ".join(words[:2]), expected=_CAN)


def _spending(
    title: str, taken: Mapping[str, Spent], names: Mapping[str, str], planned: Planned, speed: float, latency: float
) -> Table:
    right = ("requests", "tokens in", "tokens out", "US$", "hours")
    shown = table(title, "role", "model", *right, right=right)
    prices = planned.roles.prices
    whole: dict[str, float] = {"requests": 0, "in": 0, "out": 0, "dollars": 0.0, "hours": 0.0}
    known = True
    for role, spent in taken.items():
        name = names[role]
        free = name.startswith("scripted/")
        price = (0.0, 0.0) if free else prices.get(name)
        dollars = None if price is None else (spent.input_tokens * price[0] + spent.output_tokens * price[1]) / 1e6
        seconds = 0.0 if free else spent.requests * latency + spent.output_tokens / speed
        hours = seconds / min(planned.options.concurrency, len(planned.cases)) / 3600
        cells = (spent.requests, spent.input_tokens, spent.output_tokens)
        shown.add_row(role, name, *cells, _dollars(dollars), Number(hours, f"{hours:.2f}"))
        known = known and dollars is not None
        for part, value in zip(whole, (*cells, dollars or 0.0, hours), strict=True):
            whole[part] += value
    total = _dollars(whole["dollars"] if known else None)
    counts = (int(whole[part]) for part in ("requests", "in", "out"))
    shown.add_row("in all", "", *counts, total, Number(whole["hours"], f"{whole['hours']:.2f}"), style="bold")
    return shown


def _dollars(value: float | None) -> Number | str:
    return "no --price" if value is None else Number(value, f"{value:,.2f}")


def _showing(cases: int, detect: float) -> Table:
    """What so many cases can show, by the spread of the difference."""
    wanted = f"cases to show {detect:g}"
    shown = table(
        "What the number of cases can show", "spread", "smallest difference", wanted, right=("spread", wanted)
    )
    for spread in _SPREADS:
        smallest = smallest_difference(cases, spread) if cases > 1 else None
        text = "none" if smallest is None else f"{smallest:.3f}"
        shown.add_row(Number(spread, f"{spread:g}"), Number(smallest, text), cases_needed(detect, spread))
    return shown
