"""How words are drawn: what the command line changes, what it leaves, and which talk it is of."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from baselines.dialogue.game import Ask, Game, with_decoding
from baselines.dialogue.playing import Playing
from loaders.models.endpoint import TALK
from loaders.models.messages import Answer, ChatModel, Message


class Model(ChatModel):
    """Keeps how it was asked, and answers with a running number."""

    name, stand_in = "model/one", True

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    @property
    def identity(self) -> dict[str, str]:
        return {"name": self.name, "provider": "model", "base_url": "", "client": ""}

    async def ask(self, messages: Sequence[Message], **how: Any) -> Answer:
        self.asked.append({name: value for name, value in how.items() if name != "json_schema"})
        return Answer(f"answer {len(self.asked)}", 1, 1, "stop")


async def _twice(case: str, ask: Ask) -> str:
    """Asks, and once more in a way of its own: warmer, and shorter."""
    hello = [Message("user", case)]
    first = await ask("doctor", hello, temperature=0.0, max_tokens=512)
    again = await ask("doctor", hello, temperature=0.6, max_tokens=16, attempt=1)
    return f"{first.text}, {again.text}"


GAME: Game[str, str] = Game(
    name="twice",
    roles=("doctor",),
    case_id=lambda case: case,
    play=_twice,
    transcript=lambda case, record: [],
    scores=lambda record: {},
    decoding={"doctor": {"temperature": 0.0, "max_tokens": 512}},
)


def asked(changes: dict[str, dict[str, Any]], **playing: Any) -> list[dict[str, Any]]:
    model = Model()
    asyncio.run(Playing(with_decoding(GAME, changes), {"doctor": model}, **playing).play("a"))
    return model.asked


def test_what_is_given_replaces_what_the_game_says_of_the_role() -> None:
    assert with_decoding(GAME, {}) is GAME
    warm, short = {"temperature": 0.0, "max_tokens": 512}, {"temperature": 0.6, "max_tokens": 16}
    assert asked({}) == [warm, short]
    assert asked({"patient": {"temperature": 1.0}}) == [warm, short]
    # What the second request draws in its own way stays; what it leaves to the role changes with it.
    assert asked({"doctor": {"temperature": 0.3, "top_p": 0.9}}) == [
        warm | {"temperature": 0.3, "top_p": 0.9},
        short | {"top_p": 0.9},
    ]
    # A model that takes no temperature takes none the second time.
    assert asked({"doctor": {"temperature": None, "max_tokens": 9}}) == [
        {"temperature": None, "max_tokens": 9},
        {"temperature": None, "max_tokens": 16},
    ]
    changed = with_decoding(GAME, {"doctor": {"top_p": 0.9}})
    assert changed.decoding == {"doctor": {"temperature": 0.0, "max_tokens": 512, "top_p": 0.9}}


def test_the_seed_of_the_run_goes_before_the_games() -> None:
    assert [one["seed"] for one in asked({"doctor": {"seed": 92}})] == [92, 92]
    assert [one["seed"] for one in asked({"doctor": {"seed": 92}}, seed=7)] == [7, 7]


def test_each_case_and_each_epoch_is_a_talk_of_its_own() -> None:
    """By these a product tells its sessions apart."""
    talks: list[str] = []

    class Product(Model):
        async def ask(self, *messages: Any, **how: Any) -> Answer:
            talks.append(TALK.get())
            return await super().ask(*messages, **how)

    playing = Playing(GAME, {"doctor": Product()})
    for case, epoch in (("a", 1), ("b", 1), ("b", 2), ("c", 1)):
        asyncio.run(playing.play(case, epoch))
    assert talks[::2] == talks[1::2] and len(set(talks)) == 4
