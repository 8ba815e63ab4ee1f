"""Who answers, case after case: draws of every epoch, and a model that fails now and then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from baselines.dialogue.game import Ask, Drawing, Game
from baselines.dialogue.playing import Playing, Scripted, play_bare
from loaders.errors import ModelError
from loaders.models.answers import AnswerStore
from loaders.models.messages import Answer, ChatModel, Message


async def _play(case: str, ask: Ask) -> str:
    return (await ask("speaker", [Message("user", case)], temperature=0, max_tokens=5)).text


GAME: Game[str, str] = Game("talk", ("speaker",), str, _play, lambda case, record: (), lambda record: {})


class Moody(ChatModel):
    """Fails in every case that is called bad."""

    name, stand_in = "local/moody", True

    @property
    def identity(self) -> dict[str, str]:
        return {"name": self.name, "provider": "local", "base_url": "", "client": ""}

    async def ask(self, messages: Any, **_: Any) -> Answer:
        if messages[-1].text.startswith("bad"):
            raise ModelError(self.name, found="is down")
        return Answer("fine", 1, 1, "stop")


def test_an_agent_that_draws_draws_anew_in_every_epoch() -> None:
    agent = Drawing(lambda seed: lambda case: lambda messages: f"{case} {seed}")
    played = play_bare(Playing(GAME, {"speaker": Scripted("scripted/drawing", agent)}), ["a", "b"], epochs=3)
    assert [one.record for one in played] == ["a 0", "b 0", "a 1", "b 1", "a 2", "b 2"]


def test_another_attempt_is_another_request_though_nothing_else_differs(tmp_path: Path) -> None:
    async def twice(case: str, ask: Ask) -> str:
        for attempt in (0, 1):
            await ask("speaker", [Message("user", case)], temperature=0, max_tokens=5, attempt=attempt)
        return case

    game: Game[str, str] = Game("twice", ("speaker",), str, twice, lambda case, record: (), lambda record: {})
    for sent in (2, 0):
        with AnswerStore(tmp_path / "answers.sqlite", dialogue=True) as store:
            play_bare(Playing(game, {"speaker": Moody()}, store), ["a"])
            assert (store.usage.asked, store.usage.replayed) == (sent, 2 - sent)


def test_an_error_names_no_place_of_the_machine() -> None:
    class Local(Moody):
        name = "hf//srv/models/tiny"

        async def ask(self, messages: Any, **_: Any) -> Answer:
            raise ModelError(self.name, found="no weights in /srv/models/tiny", do="Look into /srv/log/tiny.txt")

    (one,) = play_bare(Playing(GAME, {"speaker": Local()}), ["a"])
    assert one.error == "hf/…/tiny: no weights in …/tiny. Look into …/tiny.txt"


def test_only_failures_in_a_row_end_a_run() -> None:
    cases = ["bad 1", "good 1", "bad 2", "good 2", "bad 3"]
    played = play_bare(Playing(GAME, {"speaker": Moody()}, patience=2), cases, concurrency=1)
    assert [one.error is None for one in played] == [False, True, False, True, False]
    with pytest.raises(ModelError, match="failed 2 cases in a row: is down"):
        play_bare(Playing(GAME, {"speaker": Moody()}, patience=2), ["good", "bad 1", "bad 2", "good 2"], concurrency=1)
