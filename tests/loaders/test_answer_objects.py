"""Answers of a bucket: an object each, there before it is used; the first one stands."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from loaders.errors import BedsideError
from loaders.files.stores import Folder
from loaders.models.answer_objects import AnswerObjects
from loaders.models.messages import Answer, Message
from tests.loaders.test_answers import Paid


class Meanwhile(Paid):
    """Somebody else does something while it answers."""

    def __init__(self, do: Callable[[], object]) -> None:
        super().__init__()
        self.do = do

    async def ask(self, messages: Any, **_: Any) -> Answer:
        await asyncio.to_thread(self.do)
        return Answer("mine", 1, 1, "stop")


def asked(store: Folder, model: Paid, *texts: str) -> list[str]:
    async def each(answers: AnswerObjects) -> list[Answer]:
        requests = (answers.ask(model, [Message("user", text)], temperature=0, max_tokens=5) for text in texts)
        return await asyncio.gather(*requests)

    with AnswerObjects(store) as answers:
        return [answer.text for answer in asyncio.run(each(answers))]


def test_nothing_is_asked_twice_by_anybody(tmp_path: Path) -> None:
    store, model = Folder(tmp_path), Paid()
    assert asked(store, model, "a", "b", "a", "a") == ["answer 1", "answer 2", "answer 1", "answer 1"]
    assert asked(store, model, "b", "c") == ["answer 2", "answer 3"] and len(model.asked) == 3
    assert len(list((tmp_path / "answers").rglob("*.json"))) == 3


def test_of_two_answers_the_first_counts_for_both(tmp_path: Path) -> None:
    store = Folder(tmp_path)
    assert asked(store, Meanwhile(lambda: asked(store, Paid(), "a")), "a") == ["answer 1"]


def test_an_answer_that_is_not_stored_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Folder, name: str, data: bytes) -> bool:
        raise BedsideError("s3://there", found="refuses (ExpiredToken)")

    with monkeypatch.context() as patch, pytest.raises(BedsideError, match="ExpiredToken"):
        patch.setattr(Folder, "create", refuse)
        asked(Folder(tmp_path), Paid(), "a")
    assert asked(Folder(tmp_path), Paid(), "a") == ["answer 1"]


def test_what_is_no_answer_is_named(tmp_path: Path) -> None:
    asked(Folder(tmp_path), Paid(), "a")
    (path,) = tmp_path.rglob("*.json")
    path.write_bytes(b"{}")
    told = rf"^{path}: is not a stored answer\. Delete it and run the same command again: the model is called again$"
    with pytest.raises(BedsideError, match=told):
        asked(Folder(tmp_path), Paid(), "a")
