"""What the commands that play dialogues share: who plays which role, progress, what it took, and how a run fails."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from baselines.dialogue.game import ScriptedAgent
from baselines.dialogue.playing import Player, Scripted
from baselines.dialogue.run import Played, Prices, cost
from loaders.errors import InputError
from loaders.models.chat import open_model
from scripts.terminal.console import errors, output, table
from scripts.terminal.progress import Bars

RESULTS = ("run.json", "results.csv", "results.jsonl")

BaseUrl = Annotated[
    list[str],
    typer.Option(
        metavar="URL|ROLE=URL", help="Address of the models' server, for all roles or for one. May be repeated."
    ),
]
Concurrency = Annotated[int, typer.Option(min=1, help="Dialogues at a time.")]
Epochs = Annotated[int, typer.Option(min=1, help="How often each case is played; intervals stay over cases.")]
MaxInvalid = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Share of cases without a usable record above which a run has failed.")
]
MaxRetries = Annotated[int, typer.Option(min=0, help="Tries after the first, for a request that fails.")]
Timeout = Annotated[float, typer.Option(min=1.0, help="Seconds to wait for an answer.")]
Price = Annotated[
    list[str],
    typer.Option(metavar="MODEL=IN,OUT", help="US dollars per million tokens, to count costs. May be repeated."),
]
Bare = Annotated[bool, typer.Option("--bare", help="Without inspect_ai and its log; faster with scripted agents.")]
ModelSeed = Annotated[int | None, typer.Option(metavar="SEED", help="Sent to the providers that take a seed.")]


def players(
    names: Mapping[str, str],
    agent: Callable[[str, str], ScriptedAgent],
    *,
    base_url: Sequence[str],
    max_retries: int,
    timeout: float,
) -> dict[str, Player]:
    """Role -> who plays it, by the names of the command line; `agent(role, name)` gives the scripted ones.

    Raises InputError for an address of no role, and what `open_model` and `agent` raise.
    """
    addresses: dict[str, str] = {}
    for given in base_url:
        role, equals, address = given.partition("=")
        if equals and re.fullmatch(r"\w+", role):
            if role not in names:
                raise InputError("--base-url", found=f"role {role}", expected="one of " + ", ".join(names))
            addresses[role] = address
        else:
            addresses |= {role: given for role in names if role not in addresses}
    found: dict[str, Player] = {}
    for role, name in names.items():
        if name.startswith("scripted/"):
            found[role] = Scripted(name, agent(role, name.removeprefix("scripted/")))
        else:
            found[role] = open_model(name, base_url=addresses.get(role), max_retries=max_retries, timeout=timeout)
    return found


def prices(given: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Model -> dollars per million tokens in and out. Raises InputError for anything but MODEL=IN,OUT."""
    found = {}
    for text in given:
        parts = re.fullmatch(r"(\S+)=(\d+(?:\.\d*)?),(\d+(?:\.\d*)?)", text)
        if parts is None:
            raise InputError("--price", found=repr(text), expected="MODEL=IN,OUT, such as openai/gpt-4o-mini=0.15,0.6")
        found[parts[1]] = float(parts[2]), float(parts[3])
    return found


def choose(option: str, given: str, *known: str) -> None:
    """Raises InputError unless the option is one of the known words."""
    if given not in known:
        raise InputError(option, found=repr(given), expected=" or ".join(known))


@contextmanager
def bar(what: str, total: int) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, moved by calls with (done, total)."""
    with Bars() as bars:
        yield bars.count(what, total)


def tell(played: Played[Any], known: Prices, out: Path) -> None:
    """Prints what the roles took, and why cases cannot be scored; ends the command where too many cannot.

    Results of an earlier run in the folder are removed then: beside these dialogues they would pass for theirs.
    """
    shown = table(
        "", "role", "model", "answers", "tokens in", "out", "US$", right=("answers", "tokens in", "out", "US$")
    )
    for role, spent in played.spent.items():
        dollars = cost(played, role, known)
        shown.add_row(
            role,
            played.players[role].name,
            f"{spent.requests:,}",
            "" if spent.uncounted else f"{spent.input_tokens:,}",
            "" if spent.uncounted else f"{spent.output_tokens:,}",
            "" if dollars is None else f"{dollars:,.2f}",
        )
    output.print(shown)
    usage = played.usage
    if usage.asked or usage.replayed:
        output.print(f"{usage.asked:,} answers asked now, {usage.replayed:,} replayed from {out}", highlight=False)
    output.print()
    cases = len(played.outcomes)
    for reason, count in played.problems.most_common(5):
        errors.print(f"{count:,} of {cases:,}: {reason}", style="yellow", highlight=False, markup=False)
    failure = played.failure or (None if played.records else "no case left a record")
    if failure is None:
        return
    for name in RESULTS:
        with suppress(FileNotFoundError):
            (out / name).unlink()
    errors.print(
        f"Failed: {failure}. The dialogues are in {out}; no results were written. --max-invalid 1 counts such cases "
        "and goes on.",
        style="bold red",
        highlight=False,
        markup=False,
    )
    raise typer.Exit(1)


def spent_in_all(played: Played[Any], known: Prices) -> dict[str, Any]:
    """Tokens and cost of the run for its record; None for what cannot be known of every role."""
    roles = [role for role, player in played.players.items() if not isinstance(player, Scripted)]
    counted = [played.spent[role] for role in roles]
    costs = [cost(played, role, known) for role in roles]
    known_tokens = not any(one.uncounted for one in counted)
    return {
        "input_tokens": sum(one.input_tokens for one in counted) if known_tokens else None,
        "output_tokens": sum(one.output_tokens for one in counted) if known_tokens else None,
        "cost_usd": None if None in costs else sum(one for one in costs if one is not None),
    }
