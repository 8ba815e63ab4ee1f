"""A run of a game over many cases, in a folder: played, resumed, and counted.

    RUN/dialogues.jsonl            one line a case: its public record, or why there is none (written whole, at the end)
    RUN/hidden.jsonl               what these lines lack because the case hides it; for its owner alone
    RUN/usage.json                 requests, tokens and cost of every role
    RUN/private/answers.sqlite     every paid answer; the same command replays them and asks only for the others
    RUN/private/logs/*.eval        for `inspect view --log-dir RUN/private/logs`

The three files of a run that was killed and resumed are the same, byte for byte, as those of an undisturbed one.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic

from baselines.dialogue.budget import Budget, dollars
from baselines.dialogue.evaluation import MAX_INVALID, evaluate
from baselines.dialogue.game import Case, Game, Record
from baselines.dialogue.played import USAGE, PlayedCase, Spent, write_played
from baselines.dialogue.playing import Player, Playing, Progress, Scripted, check_cases, play_bare, total
from baselines.results.run import ELSEWHERE, PROVIDER, ModelUsed
from loaders.errors import BedsideError, first_of
from loaders.files.disk import make_folder, sweep, write_whole
from loaders.files.paths import is_folder
from loaders.models.answers import PRIVATE, AnswerStore, Usage, store_of
from loaders.models.chat import at_its_provider

Prices = Mapping[str, tuple[float, float]]
"""Name of a model -> US dollars per million tokens of input and of output."""


@dataclass(frozen=True)
class Played(Generic[Record]):
    """A finished run. `usage` counts what this process sent and replayed; `spent` what the dialogues took in all."""

    playing: Playing[Any, Record]
    outcomes: tuple[PlayedCase[Record], ...]
    players: Mapping[str, Player]
    spent: Mapping[str, Spent]
    usage: Usage
    log: Path | None
    max_invalid: float
    prices: Prices

    @property
    def charged(self) -> float:
        """The US dollars that `max_cost` counted, with estimates where the provider counted no tokens; 0 without it."""
        return 0.0 if self.playing.budget is None else self.playing.budget.spent

    @property
    def records(self) -> list[Record]:
        """The records in the order of the cases, epoch by epoch; cases that a model's error ended have none."""
        return [outcome.record for outcome in self.outcomes if outcome.record is not None]

    @property
    def cases(self) -> int:
        """How many cases the numbers are over: those with a record."""
        return len({outcome.case_id for outcome in self.outcomes if outcome.record is not None})

    @property
    def lost(self) -> int:
        """Cases without a record."""
        return len(self.outcomes) - len(self.records)

    @property
    def problems(self) -> Counter[str]:
        """The reasons why cases cannot be scored, with counts."""
        return Counter(outcome.problem for outcome in self.outcomes if outcome.problem)

    @property
    def failure(self) -> str | None:
        """Why the run as a whole has failed: more than `max_invalid` of its cases cannot be scored."""
        bad, cases = self.problems.total(), len(self.outcomes)
        if bad / cases <= self.max_invalid:
            return None
        return f"{bad:,} of {cases:,} cases cannot be scored, more than {self.max_invalid:.0%}"

    @property
    def models(self) -> tuple[ModelUsed, ...]:
        """Who played which role, for the record of the run."""
        return tuple(
            ModelUsed(role, self.players[role].name, self._revision(role), self._source(role), self._refused(role))
            for role in self.playing.game.roles
        )

    def _source(self, role: str) -> str | None:
        """Who answers under a model's name; None for an agent, which has no one else behind it."""
        player = self.players[role]
        if player.stand_in or isinstance(player, Scripted):
            return None
        return PROVIDER if at_its_provider(player.identity) else ELSEWHERE

    def _refused(self, role: str) -> str | None:
        """What of the role's requests servers refused, so that it was left out or sent in another form."""
        told = [refused for one, _, refused in self.playing.answered if one == role and refused]
        parts = {part for refused in told for part in refused.split(", ")}
        return ", ".join(sorted(parts)) or None

    def _revision(self, role: str) -> str | None:
        """What servers say they asked for a role, if that is another name than the one they were given."""
        names = sorted({name for one, name, _ in self.playing.answered if one == role and name})
        given = all(self.players[role].name.endswith(f"/{name}") for name in names)
        return None if given else first_of(names)  # a server may name every answer otherwise

    @property
    def stand_in(self) -> str | None:
        """The reason why the run's numbers are no results, if its agents give one."""
        acted = [role for role in self.playing.game.roles if self.players[role].stand_in]
        return "scripted " + ", ".join(f"{role} {self.players[role].name}" for role in acted) if acted else None

    def cost(self, role: str) -> float | None:
        """US dollars that the role's answers cost, cached input at full price; None if that is unknown."""
        player, spent = self.players[role], self.spent[role]
        if player.stand_in:
            return 0.0
        if spent.uncounted or player.name not in self.prices:
            return None
        return dollars(self.prices[player.name], spent.input_tokens, spent.output_tokens)

    @property
    def usage_rows(self) -> dict[str, dict[str, Any]]:
        """Role -> its model, requests, tokens and cost; None for what the provider did not count or has no price."""
        return {
            role: {"model": self.players[role].name, **asdict(spent), "cost_usd": self.cost(role)}
            for role, spent in self.spent.items()
        }

    @property
    def taken(self) -> dict[str, Any]:
        """Tokens and cost of the run for its record; None for anything that is not known for every role."""
        roles = [role for role, player in self.players.items() if not isinstance(player, Scripted)]
        counted = [self.spent[role] for role in roles]
        costs = [self.cost(role) for role in roles]
        known = not any(spent.uncounted for spent in counted)
        return {
            "input_tokens": sum(spent.input_tokens for spent in counted) if known else None,
            "output_tokens": sum(spent.output_tokens for spent in counted) if known else None,
            "cost_usd": None if None in costs else sum(dollars for dollars in costs if dollars is not None),
        }


def play_run(
    game: Game[Case, Record],
    cases: Sequence[Case],
    players: Mapping[str, Player],
    out: Path,
    *,
    epochs: int = 1,
    concurrency: int = 16,
    bare: bool = False,
    seed: int | None = None,
    max_invalid: float = MAX_INVALID,
    prices: Prices | None = None,
    max_cost: float | None = None,
    progress: Progress | None = None,
) -> Played[Record]:
    """Plays every case `epochs` times and leaves the files of the run in `out`.

    `bare` plays without inspect_ai, and so without a log. `max_invalid` is the share of cases that may end without a
    record that can be scored; `Played.failure` says whether more did. `seed` goes to the providers that accept one.
    `max_cost` is the limit in US dollars, counted by `prices`; all answers stored in `out` count.

    Raises BudgetSpent if the next request could cost more; InputError for a role without a player and for cases
    without distinct ids; ModelError if a model cannot be used (at once) or fails case after case; BedsideError
    if the disk is full; KeyboardInterrupt on Ctrl-C. All of them leave every answer in the store, and say so;
    files of an earlier run stay as they are.
    """
    check_cases(game, cases)
    budget = None
    if max_cost is not None:
        budget = Budget(max_cost, prices or {})
        budget.check([player.name for player in players.values() if not player.stand_in])
    patience = max(3, concurrency)
    make_folder(out)
    sweep(out)
    answers, logs = store_of(out), out / PRIVATE / "logs"
    _move_logs(out / "logs", logs)
    with AnswerStore(answers, dialogue=True) as store:
        if budget is not None:
            budget.begin(store.taken())
        playing = Playing(game, players, store, seed, patience, budget)
        log = None
        with _said_what_is_kept(playing, cases, epochs, out):
            if bare:
                outcomes = play_bare(playing, cases, epochs=epochs, concurrency=concurrency, progress=progress)
            else:
                outcomes, log = evaluate(
                    playing,
                    cases,
                    log_dir=logs,
                    epochs=epochs,
                    concurrency=concurrency,
                    max_invalid=max_invalid,
                    prices=prices,
                    progress=progress,
                )
        usage = store.usage
    spent = total(outcomes, game.roles)
    played = Played(playing, tuple(outcomes), players, spent, usage, log, max_invalid, prices or {})
    hidden = {game.case_id(case): game.secrets(case) for case in cases}
    write_played(out, outcomes, game.public, [hidden[outcome.case_id] for outcome in outcomes])
    write_whole(out / USAGE, (json.dumps(played.usage_rows, indent=2, sort_keys=True) + "\n").encode())
    return played


@contextmanager
def _said_what_is_kept(playing: Playing[Case, Record], cases: Sequence[Case], epochs: int, out: Path) -> Iterator[None]:
    """Adds to whatever ends a run a sentence on what is kept. Whether a repetition can pass an error is not known here:
    what raised it says so."""

    def kept() -> str:
        done = sum(outcome.record is not None for outcome in playing.outcomes.values())
        return f"{done:,} of {len(cases) * epochs:,} dialogues are finished and every answer is in {out}"

    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"Stopped. {kept()}: run the same command again to resume") from None
    except BedsideError as error:
        do = f"{error.do.rstrip('.')}. " if error.do else ""
        raise type(error)(error.where, found=error.found, expected=error.expected, do=do + kept()) from error


def _move_logs(old: Path, new: Path) -> None:
    """Earlier versions left logs where everybody could read them."""
    if is_folder(old) and not old.is_symlink():
        make_folder(new)
        for log in old.glob("*.eval"):
            log.rename(new / log.name)
        with suppress(OSError):  # the folder holds other things too
            old.rmdir()
