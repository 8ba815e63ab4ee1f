"""Answers of writers on several machines: nothing that was on the disk is asked again, and the first counts."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from loaders.errors import BedsideError, InputError
from loaders.models.answer_logs import Row, rows_of
from loaders.models.answer_parts import AnswerPart
from loaders.models.answers import AnswerStore
from loaders.models.messages import Message
from tests.loaders.test_answers import Paid


def asked(store: AnswerStore, model: Paid, *texts: str) -> list[str]:
    async def each() -> list[str]:
        return [(await store.ask(model, [Message("user", text)], temperature=0, max_tokens=5)).text for text in texts]

    return asyncio.run(each())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with AnswerStore(tmp_path / "answers.sqlite") as store:
        asked(store, Paid(), "old")
    return tmp_path / "answers.sqlite"


def test_a_unit_that_is_done_again_asks_nothing_that_was_answered(path: Path) -> None:
    model, logs = Paid(), path.parent / "answers.parts"
    with AnswerPart(path, "b") as killed:
        assert asked(killed, model, "old", "new", "newer") == ["answer 1", "answer 1", "answer 2"]
        (log,) = (logs / "b").iterdir()
        assert log.stat().st_mode & 0o77 == 0
        with log.open("ab") as file:
            file.write(b'["half a li')
        with AnswerPart(path, "b") as again:  # the first is thought dead, and lives
            assert asked(again, model, "new", "newer", "newest") == ["answer 1", "answer 2", "answer 3"]
        with AnswerPart(path, "a") as other:
            assert asked(other, model, "newest", "newer") == ["answer 4", "answer 5"]
        with AnswerStore(path) as owner:
            assert asked(owner, model, "old", "new") == ["answer 1", "answer 1"]
            assert asked(owner, model, "newer", "newest") == ["answer 5", "answer 4"]  # of the smaller unit
        assert list(logs.rglob("*.jsonl")) == [log]  # its writer may have more to say
    with AnswerStore(path):
        assert not logs.exists()
    assert len(model.asked) == 5


def test_of_two_writers_of_a_unit_the_same_one_counts_for_everybody(path: Path) -> None:
    model = Paid()
    with AnswerPart(path, "a") as lost, AnswerPart(path, "a") as instead:
        assert asked(lost, model, "new") + asked(instead, model, "new") == ["answer 1", "answer 2"]
    with AnswerPart(path, "a") as again:
        found = asked(again, model, "new")
    with AnswerStore(path) as owner:
        assert asked(owner, model, "new") == found and len(model.asked) == 2


def test_answers_that_arrive_while_a_log_is_merged_are_not_lost(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver that was killed and started again reads what workers of the first one still write, until they end."""
    model, part = Paid(), AnswerPart(path, "a")
    asked(part, model, "new")

    def read_slowly(unit: Path) -> Iterator[Row]:
        yield from rows_of(unit)
        asked(part, model, "newer")
        part.close()

    with monkeypatch.context() as patch:
        patch.setattr("loaders.models.answers.rows_of", read_slowly)
        AnswerStore(path).close()
    with AnswerStore(path) as owner:
        assert asked(owner, model, "new", "newer") == ["answer 1", "answer 2"] and len(model.asked) == 2
    assert not (path.parent / "answers.parts").exists()


def test_half_a_line_that_a_full_disk_left_spoils_no_later_one(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, write, full = Paid(), os.write, list[bool]()

    def once(file: int, data: bytes) -> int:
        if full:
            if len(data) < 20:
                full.clear()
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(file, data[:-10])
        return write(file, data)

    monkeypatch.setattr("loaders.models.answer_logs.os.write", once)
    with AnswerPart(path, "a") as part:
        assert asked(part, model, "zero") == ["answer 1"]
        full.append(True)
        with pytest.raises(BedsideError, match="disk is full"):
            asked(part, model, "one")
        assert asked(part, model, "two", "three") == ["answer 3", "answer 4"]
    with AnswerStore(path) as owner:  # nor is what was there before lost
        assert asked(owner, model, "zero", "two", "three") == ["answer 1", "answer 3", "answer 4"]
        assert asked(owner, model, "one") == ["answer 5"]


def test_an_answer_is_on_the_disk_before_it_is_used(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sync, synced = os.fsync, list[int]()

    def noted(number: int) -> None:
        synced.append(os.fstat(number).st_size)
        sync(number)

    with AnswerPart(path, "a") as part:
        (log,) = (path.parent / "answers.parts" / "a").iterdir()
        monkeypatch.setattr("loaders.models.answer_logs.os.fsync", noted)
        for number, text in enumerate(("new", "newer"), start=1):
            asked(part, Paid(), text)
            assert len(synced) == number and synced[-1] == log.stat().st_size


@pytest.mark.parametrize("line", [b'["no answer"]', b'["digest", "model", "request", 7, null, null]'])
def test_a_damaged_line_is_named_and_nothing_is_lost(line: bytes, path: Path) -> None:
    with AnswerPart(path, "a") as part:
        asked(part, Paid(), "new")
    (log,) = (path.parent / "answers.parts" / "a").iterdir()
    log.write_bytes(line + b"\n" + log.read_bytes())
    for opened in (lambda: AnswerPart(path, "a"), lambda: AnswerStore(path)):
        with pytest.raises(InputError, match=r"\.jsonl:1.* no stored answer"):
            opened()
    assert log.exists()


def test_a_part_is_of_its_file_whatever_the_folder_is_called(tmp_path: Path) -> None:
    odd = tmp_path / "50% of #1?mode=rw"
    with AnswerStore(odd / "answers.sqlite") as store:
        asked(store, Paid(), "old")
    with AnswerPart(odd / "answers.sqlite", "a") as part:
        assert asked(part, Paid(), "old") == ["answer 1"] and part.usage.replayed == 1


def test_a_file_that_somebody_writes_to_is_no_ground_for_a_part(path: Path) -> None:
    with AnswerStore(path) as owner:
        asked(owner, Paid(), "one more")
        with pytest.raises(InputError, match="another process writes to it"):
            AnswerPart(path, "a")
