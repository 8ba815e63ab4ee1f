"""Plays the cases of a game: who answers, what was paid for before, and the outcome of each case.

    playing = Playing(game, players, store)
    outcome = await playing.play(case)          # from `play_bare` or an inspect_ai task alike

Models are asked through the store of paid answers, keyed by the case, the epoch, the role and the attempt. So a killed
run is simply played again: every answered turn is replayed, and the first unanswered one is the first request. A
changed prompt, model or seed makes another request, so nothing stale can come back.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Generic, Unpack

from baselines.dialogue.budget import Budget
from baselines.dialogue.game import Asking, Case, Drawing, Game, Record, Script, ScriptedAgent, parted
from baselines.dialogue.hidden import Secrets
from baselines.dialogue.played import PlayedCase, Spent
from loaders.errors import InputError, ModelError, ModelRefused
from loaders.files.places import without_places
from loaders.models.answers import AnswerStore, gather_bounded
from loaders.models.endpoint import TALK
from loaders.models.inspect_form import TOLD
from loaders.models.messages import Answer, ChatModel, Decoding, Message

PATIENCE = 16
"""Cases in a row that a model may fail before the run stops: it is down, and every further case costs minutes."""


@dataclass(frozen=True)
class Scripted:
    """A scripted agent in a role: free, asked directly, and always a stand-in. Its name is `scripted/...`."""

    name: str
    agent: ScriptedAgent
    stand_in: ClassVar = True

    @property
    def draws(self) -> bool:
        """Whether it may say something else in another epoch."""
        return isinstance(self.agent, Drawing)


Player = ChatModel | Scripted
Progress = Callable[[int, int], None]
"""Called with how many cases are done, and of how many."""


@dataclass
class Playing(Generic[Case, Record]):
    """A run of a game. `players` names one for every role; without a store, answers are not kept.

    `seed` is sent to providers that accept one, in place of the game's own, plus one for every further epoch.
    `patience` is the number of consecutive cases that may end with a ModelError. With a `budget`, no request is sent
    that could cost more than what is left.

    Raises InputError for a role without a player, and for a player without a role.
    """

    game: Game[Case, Record]
    players: Mapping[str, Player]
    store: AnswerStore | None = None
    seed: int | None = None
    patience: int = PATIENCE
    budget: Budget | None = None
    outcomes: dict[tuple[str, int], PlayedCase[Record]] = field(default_factory=dict)
    silenced: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Answers of each role for which the question did not fit the model (`model_length`), which the provider stopped
    (`content_filter`) or which were cut off (`max_tokens`), stored ones included."""
    answered: set[tuple[str, str | None, str | None]] = field(default_factory=set)
    """Each role, the models that servers say they asked for it (`Answer.served`), and what they refused of a request
    (`Answer.refused`), in stored answers too."""
    stopped: BaseException | None = None
    _failed_in_a_row: int = 0

    def __post_init__(self) -> None:
        game, expected = self.game, f"a model for each of {', '.join(self.game.roles)}"
        for role in (*game.roles, *self.players):
            if role not in self.players:
                raise InputError(f"role {role} of {game.name}", found="no model", expected=expected)
            if role not in game.roles:
                raise InputError(f"role {role}", found=f"{game.name} has no such role", expected=expected)

    async def play(self, case: Case, epoch: int = 1) -> PlayedCase[Record]:
        """Plays a case; its outcome is also stored in `outcomes`.

        A model that fails ends the case. What would end every other case too is raised, and raised again by every
        further call: ModelRefused (wrong key, name or address), ModelError after `patience` cases in a row, and what
        the store raises (disk full).
        """
        case_id = self.game.case_id(case)
        asking = _Asking(self, case, case_id, epoch)
        TOLD.set({})
        try:
            record = await self.game.play(case, asking)
            outcome = PlayedCase(case_id, epoch, record, self.game.invalid(record), None, asking.spent)
            self._failed_in_a_row = 0
        except ModelRefused as refusal:
            self.stopped = self.stopped or self._shareable(refusal, case)
            raise self.stopped from None
        except ModelError as failure:
            told = self._shareable(failure, case)
            outcome = PlayedCase(case_id, epoch, None, None, str(told), asking.spent)
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= self.patience and self.stopped is None:
                cases = f"{self.patience} cases in a row"
                do = told.do or "Change the option, or the setting of the server, that its message names"
                self.stopped = ModelError(told.where, found=f"failed {cases}: {told.found}", do=do)
            if self.stopped is not None:
                raise self.stopped from None
        except Exception as error:
            self.stopped = self.stopped or error
            raise
        self.outcomes[case_id, epoch] = outcome
        return outcome

    def _shareable(self, error: ModelError, case: Case) -> ModelError:
        """The error without what the case hides and without paths: a server may repeat what it was sent."""
        if Secrets(self.game.secrets(case)).stands_in(str(error)):
            return type(error)(error.where, found="failed, with a message that repeats what is hidden")
        found, do = (without_places(text, Path()) for text in (error.found, error.do))
        return type(error)(without_places(error.where, Path()), found=found, expected=error.expected, do=do)


@dataclass
class _Asking:
    """The `Ask` of one case."""

    playing: Playing[Any, Any]
    case: Any
    case_id: str
    epoch: int
    scripts: dict[str, Script] = field(default_factory=dict)
    spent: dict[str, Spent] = field(default_factory=dict)

    async def __call__(self, role: str, messages: Sequence[Message], **how: Unpack[Asking]) -> Answer:
        playing = self.playing
        if playing.stopped is not None:
            raise playing.stopped
        player = playing.players[role]
        if isinstance(player, Scripted):
            if role not in self.scripts:
                agent = player.agent
                agent = agent.seeded(self.epoch - 1) if isinstance(agent, Drawing) else agent
                self.scripts[role] = agent(self.case)
            answer = Answer(self.scripts[role](messages), None, None, "stop")
        else:
            json_schema, attempt, drawn = parted(how)
            seed = drawn.get("seed") if playing.seed is None else playing.seed
            if seed is not None:
                drawn["seed"] = seed + self.epoch - 1
            name = request_name(playing.game, self.case_id, self.epoch, role, attempt)
            ask = partial(self._answer, messages=messages, json_schema=json_schema, name=name, drawn=drawn)
            answer = await (ask(player) if playing.budget is None else playing.budget.asked(player, messages, ask))
        self._count(role, answer)
        return answer

    async def _answer(
        self,
        player: ChatModel,
        messages: Sequence[Message],
        json_schema: Mapping[str, Any] | None,
        name: str,
        drawn: Decoding,
    ) -> Answer:
        """The model's answer: the stored one of that name, or a new one, which is then stored."""
        TALK.set(json.dumps([self.playing.game.name, self.case_id, self.epoch]))
        store = self.playing.store
        if store is None:
            return await player.ask(messages, json_schema=json_schema, **drawn)
        return await store.ask(player, messages, json_schema=json_schema, namespace=name, **drawn)

    def _count(self, role: str, answer: Answer) -> None:
        counted = answer.input_tokens is not None and answer.output_tokens is not None
        spent = Spent(1, answer.input_tokens or 0, answer.output_tokens or 0, 0 if counted else 1)
        self.spent.setdefault(role, Spent()).add(spent)
        if answer.stop in ("model_length", "content_filter", "max_tokens"):
            self.playing.silenced[role, answer.stop] += 1
        self.playing.answered.add((role, answer.served, answer.refused))


def request_name(game: Game[Any, Any], case_id: str, epoch: int, role: str, attempt: int) -> str:
    """The name that a request of a game has in the store: equal questions of two cases are two requests."""
    return json.dumps([game.name, case_id, epoch, role, attempt])


def total(outcomes: Sequence[PlayedCase[Any]], roles: Sequence[str]) -> dict[str, Spent]:
    """What each role took over all cases."""
    totals = {role: Spent() for role in roles}
    for outcome in outcomes:
        for role, spent in outcome.spent.items():
            totals[role].add(spent)
    return totals


def check_cases(game: Game[Case, Any], cases: Sequence[Case]) -> None:
    """Raises InputError if there is no case, or two cases have one id: their answers could not be told apart."""
    if not cases:
        raise InputError(game.name, found="no case", expected="at least one")
    for case_id, count in Counter(map(game.case_id, cases)).items():
        if count > 1:
            raise InputError(case_id, found="the id of two cases", expected="each id once")


def play_bare(
    playing: Playing[Case, Record],
    cases: Sequence[Case],
    *,
    epochs: int = 1,
    concurrency: int = 16,
    progress: Progress | None = None,
) -> list[PlayedCase[Record]]:
    """The outcomes of all cases, epoch by epoch, `concurrency` at a time, without a framework and without a log.

    Raises what `Playing.play` raises.
    """
    jobs = [(case, epoch) for epoch in range(1, epochs + 1) for case in cases]
    played = gather_bounded(lambda job: playing.play(*job), jobs, limit=concurrency, progress=progress)
    return asyncio.run(played)
