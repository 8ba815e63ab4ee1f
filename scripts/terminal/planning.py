"""Tables of a plan: what models would take, and what a number of cases can show."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from baselines.dialogue.budget import dollars
from baselines.dialogue.played import Spent
from baselines.dialogue.run import Prices
from baselines.results.power import cases_needed, smallest_difference
from scripts.terminal.console import table
from scripts.terminal.tables import Number, Table

SPEED, LATENCY = 50.0, 1.0
SPREADS = (0.3, 0.5, 0.7)


def spending(
    title: str,
    taken: Mapping[str, Spent],
    names: Mapping[str, str],
    prices: Prices,
    *,
    at_once: int,
    speed: float = SPEED,
    latency: float = LATENCY,
    most: Mapping[str, Spent] | None = None,
) -> Table:
    """What each role takes: its model (`names`), requests, tokens, dollars if it has a price, and hours with
    `at_once` dialogues at a time, `speed` tokens per second and `latency` seconds before each answer. With `most`, also
    the requests and dollars of dialogues that all go on to their limit."""
    limits = ("requests at most", "US$ at most") if most else ()
    right = ("requests", "tokens in", "tokens out", "US$", "hours", *limits)
    shown = table(title, "role", "model", *right, right=right)
    whole = dict.fromkeys(("requests", "in", "out", "dollars", "hours", "most requests", "most dollars"), 0.0)
    known = True
    for role, spent in taken.items():
        name = names[role]
        free = name.startswith("scripted/")
        price = (0.0, 0.0) if free else prices.get(name)
        longest = spent if most is None else _more(spent, most[role])
        cost, dearest = (
            None if price is None else dollars(price, each.input_tokens, each.output_tokens)
            for each in (spent, longest)
        )
        seconds = 0.0 if free else spent.requests * latency + spent.output_tokens / speed
        hours = seconds / at_once / 3600
        cells = (spent.requests, spent.input_tokens, spent.output_tokens)
        ends = (longest.requests, _dollars(dearest)) if most else ()
        shown.add_row(role, name, *cells, _dollars(cost), Number(hours, f"{hours:.2f}"), *ends)
        known = known and cost is not None
        values = (*cells, cost or 0.0, hours, longest.requests, dearest or 0.0)
        for part, value in zip(whole, values, strict=True):
            whole[part] += value
    total, at_most = (_dollars(whole[part] if known else None) for part in ("dollars", "most dollars"))
    counts = (int(whole[part]) for part in ("requests", "in", "out"))
    ends = (int(whole["most requests"]), at_most) if most else ()
    shown.add_row("in all", "", *counts, total, Number(whole["hours"], f"{whole['hours']:.2f}"), *ends, style="bold")
    return shown


def _more(spent: Spent, longest: Spent) -> Spent:
    """The longer dialogues, unless they take a role less: nobody rates what was never said."""
    return max(spent, longest, key=lambda one: one.input_tokens + one.output_tokens)


def _dollars(value: float | None) -> Number | str:
    return "no --price" if value is None else Number(value, f"{value:,.2f}")


def showing(cases: int, detect: float, *, each: float = 1.0, cases_for: Callable[[int], int | None] = int) -> Table:
    """What so many cases can show, by the spread of the difference; a case counts as `each` independent ones, and
    `cases_for` says how many cases count as so many, None if no number does."""
    wanted = f"cases to show {detect:g}"
    shown = table(
        "Differences that this number of cases can detect",
        "spread",
        "smallest difference",
        wanted,
        right=("spread", wanted),
    )
    for spread in SPREADS:
        count = int(cases * each)
        smallest = smallest_difference(count, spread) if count > 1 else None
        if smallest is not None and smallest > 1:  # a score lies between 0 and 1, and so do differences
            smallest = None
        least = Number(smallest, "none" if smallest is None else f"{smallest:.3f}")
        enough = cases_for(cases_needed(detect, spread))
        shown.add_row(Number(spread, f"{spread:g}"), least, Number(enough, "none" if enough is None else f"{enough:,}"))
    return shown
