"""Shared by the commands that play games: their options, who plays which role, the playing, and its record."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from baselines.dialogue.evaluation import MAX_INVALID
from baselines.dialogue.game import Case, Changes, Game, Record, Script, ScriptedAgent, with_decoding
from baselines.dialogue.played import DIALOGUES
from baselines.dialogue.playing import Player, Scripted
from baselines.dialogue.run import Played, Prices, play_run
from baselines.results.run import DataUsed, ModelUsed, RunRecord, because, set_aside
from baselines.threemdbench.consultation.names import shared_family
from loaders.errors import InputError, ModelError, how_many
from loaders.models.chat import open_model
from loaders.models.endpoint import PREFIX
from loaders.models.messages import EFFORTS
from loaders.models.prompts import Prompts as Texts
from loaders.models.tries import REFUSED
from loaders.opened import Opened
from scripts.terminal.console import errors, output, table, warn
from scripts.terminal.options import Out, Prompts, Seed
from scripts.terminal.progress import Bars
from scripts.terminal.tables import Number

_PLANNING: ContextVar[bool] = ContextVar("planning", default=False)
# Who stands in for a model of a role in a plan: the first of these that can play it.
_USUAL = ("expert", "keyword", "patient", "plain", "rules", "assessor", "prose")

ModelSeed = Annotated[int | None, typer.Option(metavar="SEED", help="Random seed, sent to providers that accept one.")]
Price = Annotated[
    tuple[str, ...],
    typer.Option(
        metavar="MODEL=IN,OUT", help="US dollars per million input and output tokens, to count cost. May be repeated."
    ),
]
MaxInvalid = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Fail the run if a larger share of cases has no usable record.")
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        metavar="USD",
        help="Stop before the run costs more. Every model needs a --price, stand-ins apart; 0,0 if it is free. The "
        "same command with a higher limit resumes the run.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Asking:
    """Options of every command that asks models case by case. Only some of them have the option `model_seed`."""

    out: Out
    prompts: Prompts = None
    base_url: Annotated[
        tuple[str, ...],
        typer.Option(
            metavar="URL|ROLE=URL",
            help="Base URL of the models' server, for all roles or one. May be repeated: several servers of one "
            "model share its dialogues.",
        ),
    ] = ()
    temperature: Annotated[
        tuple[str, ...],
        typer.Option(
            metavar="ROLE=T",
            help="Temperature of a role; without ROLE=, of the evaluated one; none sends none. May be repeated, "
            "as can the next 3.",
        ),
    ] = ()
    top_p: Annotated[tuple[str, ...], typer.Option(metavar="ROLE=P", help="top_p of a role; none sends none.")] = ()
    max_tokens: Annotated[
        tuple[str, ...],
        typer.Option(metavar="ROLE=N", help="Maximum tokens of a role's answer, not counting reasoning."),
    ] = ()
    reasoning_effort: Annotated[
        tuple[str, ...], typer.Option(metavar="ROLE=WORD", help=f"Reasoning effort: {', '.join(EFFORTS)}.")
    ] = ()
    concurrency: Annotated[int, typer.Option(min=1, help="Number of concurrent dialogues.")] = 16
    max_retries: Annotated[int, typer.Option(min=0, help="Retries for a failed request.")] = 5
    timeout: Annotated[float, typer.Option(min=1.0, max=86400.0, help="Timeout per request, in seconds.")] = 120.0
    max_invalid: MaxInvalid = MAX_INVALID
    bare: Annotated[
        bool, typer.Option("--bare", help="Run without inspect_ai and its log; faster with scripted agents.")
    ] = False
    seed: Seed = 0
    epochs: int = 1
    price: Price = ()
    max_cost: MaxCost = None
    model_seed: int | None = None

    @property
    def seeds(self) -> dict[str, int]:
        """The seeds, in the form in which a record states them."""
        return {"bootstrap": self.seed} | ({} if self.model_seed is None else {"models": self.model_seed})


@dataclass(frozen=True, kw_only=True)
class Play(Asking):
    """Options of every command that plays the cases of a corpus."""

    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Play only N cases, the first by id.")] = None
    epochs: Annotated[int, typer.Option(min=1, help="Times to play each case; intervals are still over cases.")] = 1
    model_seed: ModelSeed = None


@dataclass(frozen=True)
class Roles:
    """Who plays which role, its decoding, and the dollars per million tokens in and out of the models."""

    players: Mapping[str, Player]
    prices: Prices
    decoding: Changes


class Planned(Exception):
    """A run that was only to be planned, as its command would have begun it: raised instead of playing."""

    def __init__(self, game: Game[Any, Any], cases: Sequence[Any], roles: Roles, options: Asking) -> None:
        super().__init__("planned")
        self.game, self.cases, self.roles, self.options = game, cases, roles, options

    @property
    def names(self) -> dict[str, str]:
        """Role -> its model on the command line."""
        return {role: player.name for role, player in self.roles.players.items()}

    @property
    def agents(self) -> dict[str, ScriptedAgent | None]:
        """Who says the words of a role; None if no agent can."""
        agents = {role: one.agent for role, one in self.roles.players.items() if isinstance(one, Scripted)}
        return {role: None if agent is _nobody else agent for role, agent in agents.items()}


@contextmanager
def planning() -> Iterator[None]:
    """Within it, no model is opened and `play` raises `Planned`."""
    token = _PLANNING.set(True)
    try:
        yield
    finally:
        _PLANNING.reset(token)


def _instead(role: str, name: str, agent: Callable[[str, str], ScriptedAgent]) -> Player:
    """Who says the words of a model in a plan, by the model's name."""
    for usual in _USUAL:
        with suppress(ModelError):
            return Scripted(name, agent(role, usual))
    return Scripted(name, _nobody)


def _nobody(case: Any) -> Script:
    """Stands for a model whose words no agent can say; this is reported before anybody is asked."""
    raise ModelError("plan", found="a role that no scripted agent can play", expected="one of this role's agents")


def roles_of(
    names: Mapping[str, str],
    agent: Callable[[str, str], ScriptedAgent],
    options: Asking,
    *,
    others: Collection[str] = (),
) -> Roles:
    """Opens role -> model, by the names on the command line; `agent(role, name)` returns the scripted ones.

    The first of `names` is the one that is measured; `others` play in other runs of the command. Raises InputError for
    an address of an unknown role, an invalid decoding or price, and what `open_model` and `agent` raise.
    """
    addresses: dict[str, list[str]] = {}
    everywhere = []
    for given in options.base_url:
        role, equals, address = given.partition("=")
        if equals and re.fullmatch(r"\w+", role):
            _known("--base-url", role, names)
            addresses.setdefault(role, []).append(address)
        else:
            everywhere.append(given)
    players: dict[str, Player] = {}
    for role, name in names.items():
        if name.startswith("scripted/"):
            players[role] = Scripted(name, agent(role, name.removeprefix("scripted/")))
        elif _PLANNING.get():
            players[role] = _instead(role, name, agent)
        else:
            players[role] = open_model(
                name,
                base_url=addresses.get(role) or everywhere or None,
                max_retries=options.max_retries,
                timeout=options.timeout,
            )
    decoding = decoding_of(options, names)
    idle = [role for role, name in names.items() if name.startswith(("scripted/", PREFIX))]
    unheard = ["--base-url"] if everywhere and len(idle) == len(names) else []
    unheard += [f"--base-url {role}=" for role in idle if role in addresses]
    unheard += [f"--{field.replace('_', '-')} {role}=" for role in idle for field in decoding.get(role, {})]
    if unheard:
        warn(f"{', '.join(unheard)}: nothing heeds it, as scripts and products have neither an address nor a decoding")
    return Roles(players, prices_of(options.price, {*names.values(), *others}), decoding)


def decoding_of(options: Asking, names: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Role -> the fields of its decoding given on the command line. Raises InputError."""
    changes: dict[str, dict[str, Any]] = {}
    for name, (read, expected) in _FIELDS.items():
        option = f"--{name.replace('_', '-')}"
        for given in getattr(options, name):
            role, equals, word = given.rpartition("=")
            role = role if equals else next(iter(names), "")
            _known(option, role, names)
            try:
                value = None if word == "none" and name in ("temperature", "top_p") else read(word)
            except ValueError:
                raise InputError(option, found=repr(given), expected=expected) from None
            if name in changes.setdefault(role, {}):
                raise InputError(option, found=f"role {role} twice", expected="one value for each role")
            changes[role][name] = value
    return changes


def _known(option: str, role: str, names: Mapping[str, str]) -> None:
    if role not in names:
        known = "one of " + ", ".join(names) if names else "none, as no model is asked"
        raise InputError(option, found=f"role {role}" if role else "no role", expected=known)


def _between(least: float, most: float, kind: Callable[[str], float] = float) -> Callable[[str], float]:
    def read(word: str) -> float:
        value = kind(word)
        if not least <= value <= most:
            raise ValueError
        return value

    return read


_FIELDS: Mapping[str, tuple[Callable[[str], Any], str]] = {
    "temperature": (_between(0, 2), "ROLE=T, from 0 to 2, or none"),
    "top_p": (_between(1e-9, 1), "ROLE=P, above 0 and up to 1, or none"),
    "max_tokens": (_between(1, inf, int), "ROLE=N, 1 or more"),
    "reasoning_effort": (lambda word: EFFORTS[EFFORTS.index(word)], "ROLE=WORD, of " + ", ".join(EFFORTS)),
}
"""How the words of each field of a decoding are read, and what they may be."""


def prices_of(given: Sequence[str], models: Collection[str]) -> dict[str, tuple[float, float]]:
    """Model -> dollars per million tokens in and out, from --price. Raises InputError for a malformed text, and for a
    model that is none of `models`: its own price would then be missing."""
    prices = {}
    for text in given:
        parts = re.fullmatch(r"(\S+)=(\d+(?:\.\d*)?),(\d+(?:\.\d*)?)", text)
        if parts is None:
            raise InputError("--price", found=repr(text), expected="MODEL=IN,OUT, such as openai/gpt-4o-mini=0.15,0.6")
        if parts[1] not in models:
            known = "one of " + ", ".join(sorted(models)) if models else "none, as no model is asked"
            raise InputError("--price", found=parts[1], expected=known)
        if parts[1] in prices:
            raise InputError("--price", found=f"{parts[1]} twice", expected="one price for each model")
        prices[parts[1]] = float(parts[2]), float(parts[3])
    return prices


def play(
    game: Game[Case, Record],
    cases: Sequence[Case],
    roles: Roles,
    options: Asking,
    *,
    title: str,
    out: Path | None = None,
) -> Played[Record]:
    """Plays the cases with a progress bar, prints what it took, and ends the command if too many cannot be scored.

    `out` is the folder, RUN by default. Raises what `play_run` raises.
    """
    if _PLANNING.get():
        raise Planned(game, cases, roles, options)
    folder = out or options.out
    if options.epochs > 1 and all(isinstance(one, Scripted) and not one.draws for one in roles.players.values()):
        text = f"No role draws what it says: all {options.epochs:,} epochs play each case in the same way"
        output.print(text, style="yellow")
    with Bars() as bars:
        played = play_run(
            with_decoding(game, roles.decoding),
            cases,
            roles.players,
            folder,
            epochs=options.epochs,
            concurrency=options.concurrency,
            bare=options.bare,
            seed=options.model_seed,
            max_invalid=options.max_invalid,
            prices=roles.prices,
            max_cost=options.max_cost,
            progress=bars.count(title, len(cases) * options.epochs),
        )
    _tell(played, folder)
    return played


_REASONS = 5
"""How many reasons why cases cannot be scored are shown."""
_SILENCED = {
    "model_length": "are empty, because the question does not fit into the model's context; serve it with a longer one",
    "content_filter": "were refused, or stopped by the provider's filter",
    "max_tokens": "were cut off at the token limit; --max-tokens {role}=N allows longer ones",
}


def _tell(played: Played[Any], out: Path) -> None:
    """Prints what the roles took, and why cases cannot be scored; ends the command if too many cannot.

    Results of an earlier run in the folder are then set aside: beside these dialogues they would pass for theirs.
    """
    right = ("answers", "tokens in", "out", "US$")
    shown = table("", "role", "model", *right, right=right)
    for role, spent in played.spent.items():
        dollars = played.cost(role)
        tokens = (None, None) if spent.uncounted else (spent.input_tokens, spent.output_tokens)
        price = None if dollars is None else Number(dollars, f"{dollars:,.2f}")
        shown.add_row(role, played.players[role].name, spent.requests, *tokens, price)
    if shown.rows:
        output.print(shown)
    for role, spent in played.spent.items():
        if spent.uncounted and not played.players[role].stand_in:
            priced = ", so what it cost is not known" if played.players[role].name in played.prices else ""
            counted = f"{spent.uncounted:,} of {how_many(spent.requests, 'answer')}"
            warn(f"{role}: the server gave no usable count of tokens with {counted}{priced}")
    usage = played.usage
    if usage.asked or usage.replayed:
        output.print(f"{how_many(usage.asked, 'new answer')}, {usage.replayed:,} reused from {out}")
    output.print()
    for (role, stop), count in sorted(played.playing.silenced.items()):
        warn(f"{role}: {count:,} of {played.spent[role].requests:,} answers {_SILENCED[stop].format(role=role)}")
    cases = len(played.outcomes)
    reasons = played.problems.most_common()
    for reason, count in reasons[:_REASONS]:
        warn(f"{count:,} of {cases:,}: {reason}")
    if others := sum(count for _, count in reasons[_REASONS:]):
        warn(f"{others:,} of {cases:,}: {how_many(len(reasons) - _REASONS, 'other reason')}, in {DIALOGUES}")
    failure = played.failure or (None if played.records else "no case has a record")
    if failure is None:
        return
    aside = set_aside(out)
    ended = [outcome.error for outcome in played.outcomes if outcome.error]
    if ended and all(REFUSED in error for error in ended):  # as when a model takes no temperature
        again = "Before you run it again, change the option, or the setting of the server, that the message names"
    elif ended:
        again = "The same command plays the cases again that ended with an error"
    elif any(stop == "model_length" for _, stop in played.playing.silenced):  # nothing was said, and nothing is stored
        again = "The same command asks again what did not fit"
    else:  # nothing would be asked anew: every answer is there, and what it is worth
        again = "The same command would end the same way, since every answer is stored"
    errors.print(
        f"Failed: {failure}. The dialogues are in {out}; no results were written"
        f"{f', and earlier ones are now in {aside}' if aside else ''}. {again}; --max-invalid 1 counts such cases and "
        "continues.",
        style="bold red",
    )
    raise typer.Exit(1)


def rules_of(game: Game[Any, Any]) -> dict[str, Any]:
    """What a record says about a game: its settings without the prompts, which have a place of their own."""
    return {name: value for name, value in game.settings.items() if name != "prompts"}


def record_of(
    baseline: str,
    played: Played[Any],
    options: Asking,
    opened: Opened,
    *,
    facts: Mapping[str, Any],
    texts: Texts,
    reasons: Sequence[str | None],
    models: Sequence[ModelUsed] = (),
) -> RunRecord:
    """The record of a run: `facts` are its options, `texts` its prompts, `reasons` why its numbers are no results;
    `models` are those without a role."""
    return RunRecord(
        baseline=baseline,
        data=DataUsed.of(opened),
        models=(*played.models, *models),
        options={**facts, "decoding": played.playing.game.decoding},
        prompts=texts.digests,
        words=texts.words,
        seeds=options.seeds,
        versions={} if options.bare else {"inspect_ai": version("inspect_ai")},
        stand_in=because(*reasons),
        **played.taken,
    )


def warn_of_family(names: Mapping[str, str | None], measured: str, judge: str) -> None:
    """Warns if the model that is measured and its judge are of one family."""
    if found := shared_family(names.get(measured), names.get(judge)):
        warn(f"{measured.capitalize()} and {judge} are both from the family {found}: judges favour their own family")
