"""A person as a player: the game is played with what the person has said so far, and waits for the next words.

    talk = Talk(task_game(rules), profile, Seat(words, others=ask))
    exchanges, episode = await talk.go_on()
    exchanges[-1].patient                    # what the patient says to the last of the words
    talk.seat.words.append("And then?")
    exchanges, episode = await talk.go_on()  # continues where it stopped; an episode is of a talk that has ended

The seat answers the role `clinician` from the stored words; at the first missing one the game pauses. The others,
evaluator and patient, answer through `others`, which has a store of its own and repeats what they said before. So no
talk needs a state in memory: any process, after any restart, replays it from the store and arrives at the same place. A
talk that is still in memory only saves work.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import coroutine
from typing import Any, Unpack

from baselines.dialogue.game import Ask, Asking, Game
from baselines.medconceal.record import Episode, Exchange, SubmittedFinding
from loaders.medconceal import PatientProfile
from loaders.models.messages import Answer, Message

ROLE = "clinician"
_NEXT_WORDS = object()


@coroutine
def _waiting() -> Generator[object, None, None]:
    """What a game awaits while it pauses for further words; only `Talk` sees it."""
    yield _NEXT_WORDS


@dataclass(slots=True)
class Seat:
    """The `Ask` of a game with one person in it.

    `words` are the person's turns. `ended` is why no further one will come (the game's `TIME_UP`, `FINISHED`), or None.
    `exchanges` are those that are over.
    """

    words: list[str]
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
        while said >= len(self.words):
            if self.ended is not None:
                return Answer("", None, None, self.ended)
            await _waiting()
        return Answer(self.words[said], None, None, "stop")

    def watch(self, exchange: Exchange) -> None:
        """Takes down an exchange that is over."""
        self.exchanges.append(exchange)


Replayed = tuple[tuple[Exchange, ...], Episode | None]
"""The state of a talk: the exchanges so far, and the episode if it has ended."""


class Talk:
    """A timed game with a person in it, played as far as the words in `seat`; close it, or let it end."""

    def __init__(self, game: Game[PatientProfile, Episode], profile: PatientProfile, seat: Seat) -> None:
        self.seat = seat
        self._steps: Generator[Any, Any, Episode] = game.play(profile, seat).__await__()

    async def go_on(self) -> Replayed:
        """Plays as far as the person has come, once an ended talk. Raises what `seat.others` raises, which ends it."""
        episode = await _Played(self._steps)
        return tuple(self.seat.exchanges), episode

    def close(self) -> None:
        """Stop the game here."""
        self._steps.close()


class _Played:
    """Awaits a game until it has ended, or needs further words (None)."""

    def __init__(self, steps: Generator[Any, Any, Episode]) -> None:
        self._steps = steps

    def __await__(self) -> Generator[Any, Any, Episode | None]:
        step = partial(self._steps.send, None)
        while True:
            try:
                wanted = step()
            except StopIteration as end:
                episode: Episode = end.value
                return episode
            if wanted is _NEXT_WORDS:
                return None
            try:
                step = partial(self._steps.send, (yield wanted))
            except BaseException as error:  # the game has to learn that it was cancelled
                step = partial(self._steps.throw, error)
