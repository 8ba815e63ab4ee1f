"""A person as a player: the game is played anew at each request, with what the person has said so far.

    seat = Seat(words, ending=None, findings=None, others=ask)
    played = await replay(task_game(rules), profile, seat)
    played.replies[-1]                       # what the patient says to the last of the words
    played.episode                           # of a talk that has ended

The seat answers the role `clinician` from the words that are stored, and `Waiting` ends the play at the first that is
missing. The others, evaluator and patient, answer through `others`, which has a store of its own: what they have said
once is said again. So no talk needs a state in memory: any process, after any restart, comes to the same place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from baselines.dialogue.game import Ask, Game
from baselines.medconceal.game import FINISHED, TIME_UP
from baselines.medconceal.record import Episode
from loaders.medconceal import PatientProfile
from loaders.models.messages import Answer, Decoding, Message

ROLE = "clinician"


class Waiting(Exception):
    """The person's next words are not there yet. `heard` is the talk as the person has it."""

    def __init__(self, heard: Sequence[Message]) -> None:
        super().__init__("the person's next words")
        self.heard = tuple(heard)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a person says that the patient hid: a category, a description, and the patient's words that show it."""

    category: str
    description: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Seat:
    """The `Ask` of a game with one person in it.

    `words` are the person's turns. `ended` is why there will be no further one (`TIME_UP`, `FINISHED`), or None.
    """

    words: Sequence[str]
    others: Ask
    ended: str | None = None
    findings: Sequence[Finding] = ()

    async def __call__(
        self,
        role: str,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None = None,
        attempt: int = 0,
        **decoding: Unpack[Decoding],
    ) -> Answer:
        if role != ROLE:
            return await self.others(role, messages, json_schema=json_schema, attempt=attempt, **decoding)
        if json_schema is not None:
            listed = [{"category": one.category, "description": one.description} for one in self.findings]
            return Answer(json.dumps({"findings": listed}), None, None, "stop")
        said = sum(message.role == "assistant" for message in messages)
        if said < len(self.words):
            return Answer(self.words[said], None, None, "stop")
        if self.ended is None:
            raise Waiting(messages)
        return Answer("", None, None, self.ended)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay came to: the patient's replies so far, and the episode where the talk has ended."""

    replies: tuple[str, ...]
    episode: Episode | None


async def replay(game: Game[PatientProfile, Episode], profile: PatientProfile, seat: Seat) -> Replayed:
    """Plays a timed game as far as the person has come. Raises what `seat.others` raises."""
    try:
        episode = await game.play(profile, seat)
    except Waiting as waiting:
        # The first message of the other side is the opening, which is ours.
        heard = [message.text for message in waiting.heard if message.role == "user"]
        return Replayed(tuple(heard[1:]), None)
    return Replayed(tuple(exchange.patient for exchange in episode.exchanges), episode)


__all__ = ["FINISHED", "TIME_UP", "Finding", "Replayed", "Seat", "Waiting", "replay"]
