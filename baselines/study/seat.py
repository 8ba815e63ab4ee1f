"""A person as a player: the game is played with what the person has said so far, and stops where it needs more.

    played = await replayed(task_game(rules), profile, Seat(words, others=ask))
    played.replies[-1]                       # what the patient says to the last of the words
    played.episode                           # of a talk that has ended

The seat answers the role `clinician` from the stored words; at the first missing one the game stops. The others,
evaluator and patient, answer through `others`, which has a store of its own and repeats what they said before. So no
talk needs a state in memory: any process, after any restart, replays it from the store and arrives at the same place.
That takes about a millisecond for each earlier turn.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Unpack

from baselines.dialogue.game import Ask, Asking, Game
from baselines.medconceal.record import Episode, Exchange, SubmittedFinding
from loaders.medconceal import PatientProfile
from loaders.models.messages import Answer, Message

ROLE = "clinician"


class Waiting(Exception):
    """The game needs words that the person has not said yet."""


@dataclass(slots=True)
class Seat:
    """The `Ask` of a game with one person in it.

    `words` are the person's turns. `ended` is why no further one will come (the game's `TIME_UP`, `FINISHED`), or None.
    `exchanges` are those that are over.
    """

    words: Sequence[str]
    others: Ask
    ended: str | None = None
    findings: Sequence[SubmittedFinding] = ()
    exchanges: list[Exchange] = field(default_factory=list, init=False)

    async def __call__(self, role: str, messages: Sequence[Message], **how: Unpack[Asking]) -> Answer:
        if role != ROLE:
            return await self.others(role, messages, **how)
        if how.get("json_schema") is not None:
            listed = [{"category": one.category, "description": one.description} for one in self.findings]
            return Answer(json.dumps({"findings": listed}), None, None, "stop")
        said = sum(message.role == "assistant" for message in messages)
        if said < len(self.words):
            return Answer(self.words[said], None, None, "stop")
        if self.ended is None:
            raise Waiting
        return Answer("", None, None, self.ended)

    def watch(self, exchange: Exchange) -> None:
        """Takes down an exchange that is over."""
        self.exchanges.append(exchange)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The state of a talk: the exchanges so far, and the episode if it has ended."""

    exchanges: tuple[Exchange, ...]
    episode: Episode | None

    @property
    def replies(self) -> tuple[str, ...]:
        return tuple(exchange.patient for exchange in self.exchanges)


async def replayed(game: Game[PatientProfile, Episode], profile: PatientProfile, seat: Seat) -> Replayed:
    """A timed game, played as far as the words in the seat. Raises what `seat.others` raises."""
    try:
        episode = await game.play(profile, seat)
    except Waiting:
        return Replayed(tuple(seat.exchanges), None)
    return Replayed(tuple(seat.exchanges), episode)
