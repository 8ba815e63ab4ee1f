"""`bedside plan`: what a run would take and what it could show, before anything is paid for."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

import typer

from baselines.dialogue.budget import CHARACTERS, FEW, estimate
from baselines.dialogue.game import with_decoding
from baselines.results.power import ALPHA, POWER
from loaders.errors import InputError, how_many
from scripts.cli import find
from scripts.run.play import Planned, planning
from scripts.terminal.console import output
from scripts.terminal.planning import LATENCY, SPEED, showing, spending

_PLAYED = ("captioning", "confirmation", "intervention", "consultation", "recheck", "findings")
"""The runs that play cases. Any other would begin in earnest, and ask its models."""
_CAN = f"run {', run '.join(_PLAYED[:-1])} or run {_PLAYED[-1]}, with arguments"
_NO_PLAN = "Only these play cases. Run any other as it is"


def command(
    words: list[str] = typer.Argument(..., metavar="run NAME …", help="The run command, as you would type it."),
    detect: float = typer.Option(
        0.05, min=0.0001, max=1.0, help="Difference to detect, in units of the score (5 points: 0.05)."
    ),
    speed: float = typer.Option(SPEED, min=0.1, help="Output tokens per second, to estimate hours."),
    latency: float = typer.Option(LATENCY, min=0.0, help="Seconds to the first token."),
) -> None:
    """Estimate a run's requests, tokens and cost by role, and its statistical power; no model is called.

    Plays three of the run's cases with scripted words through the real prompts. For dollars, pass `--price
    MODEL=IN,OUT`.

    Example: `bedside plan run confirmation runs/patients --clinician openai/gpt-4o-mini --patient M --evaluator M
    --judge M --price openai/gpt-4o-mini=0.15,0.6 --detect .05`
    """
    planned = _planned(words)
    options, cases = planned.options, planned.cases
    names = planned.names
    taken, most = (
        estimate(
            with_decoding(planned.game, planned.roles.decoding),
            cases,
            planned.agents,
            epochs=options.epochs,
            scripted={role for role, name in names.items() if name.startswith("scripted/")},
            endless=endless,
        )
        for endless in (False, True)
    )
    longer = any(most[role].requests > spent.requests for role, spent in taken.items())
    played = how_many(len(cases), "case")
    if options.epochs > 1:
        played += f", {options.epochs} times"
    output.print(
        spending(
            f"{played}: about",
            taken,
            names,
            planned.roles.prices,
            at_once=min(options.concurrency, len(cases) * options.epochs),
            speed=speed,
            latency=latency,
            most=most if longer else None,
        )
    )
    output.print(
        f"From {how_many(min(FEW, len(cases)), 'case')} with scripted replies; {CHARACTERS} characters per token, "
        "fewer in JSON. Models that reason or write more need more. "
        + "The scripts end their dialogues early; at most: if none ends before its limit. " * longer
        + f"Hours: {speed:g} tokens per second, {latency:g} s per request, {options.concurrency} concurrent dialogues.",
        style="dim",
    )
    output.print()
    output.print(showing(len(cases), detect))
    output.print(
        f"Paired over cases, two-sided, alpha {ALPHA}, power {POWER}. Spread: standard deviation of the per-case "
        "difference; 0.5 if two systems disagree on a quarter of right-or-wrong cases.",
        style="dim",
    )


def _planned(words: Sequence[str]) -> Planned:
    """The run as its command would begin it. Raises InputError for a command that plays nothing, and what it raises."""
    if list(words[:1]) != ["run"] or len(words) < 2 or words[1] not in _PLAYED:
        raise InputError("plan", found=" ".join(words[:2]), expected=_CAN, do=_NO_PLAN)
    with tempfile.TemporaryDirectory() as scratch, planning():
        known, _ = find(words[:2])
        named, unless_named = f"bedside plan run {words[1]}", {"out": scratch}
        try:
            with known.make_context(named, list(words[2:]), default_map=unless_named) as context:
                known.invoke(context)
        except Planned as planned:
            return planned
    raise InputError("plan", found=" ".join(words[:2]), expected=_CAN, do=_NO_PLAN)
