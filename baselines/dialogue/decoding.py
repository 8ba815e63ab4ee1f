"""Sampling settings of each role, where the command line overrides the game.

    game = with_decoding(game, {"doctor": {"temperature": 0.2, "top_p": 0.9}})

Values given here replace the game's values for that role. A request for which the game sets its own value on purpose,
such as an assessor's second try at a higher temperature, keeps that value. A field that is not to be sent is sent by no
request: the model would refuse it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack, cast

from baselines.dialogue.game import Ask, Asking, Case, Game, Record
from loaders.models.messages import Answer, Decoding, Message

Changes = Mapping[str, Mapping[str, Any]]
"""Role -> fields of its `Decoding`; None for a field that is not to be sent."""


def with_decoding(game: Game[Case, Record], changes: Changes) -> Game[Case, Record]:
    """The game with these fields of its roles' decoding replaced, in its settings too."""
    if not changes:
        return game

    async def play(case: Case, ask: Ask) -> Record:
        async def changed(role: str, messages: Sequence[Message], **how: Unpack[Asking]) -> Answer:
            usual: Mapping[str, Any] = game.decoding.get(role, {})
            drawn: dict[str, Any] = dict(how)
            for name, value in changes.get(role, {}).items():
                if value is None or drawn.get(name) == usual.get(name):
                    drawn[name] = value
            return await ask(role, messages, **cast(Asking, drawn))

        return await game.play(case, changed)

    replaced = {role: cast(Decoding, {**game.decoding.get(role, {}), **fields}) for role, fields in changes.items()}
    return replace(game, play=play, decoding={**game.decoding, **replaced})
