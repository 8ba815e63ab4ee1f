"""`bedside cases new` as a person meets it; what it asks and keeps is tried in `tests/builders/medconceal`."""

from __future__ import annotations

import io

import pytest

from builders.medconceal.own import _CONCERN, _QUESTIONS
from scripts import cases


@pytest.mark.parametrize("question", [*_QUESTIONS.values(), *_CONCERN.values()])
def test_a_question_is_printed_without_breaking_words(
    question: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdin", io.StringIO("an answer\n"))
    assert cases._ask(question) == "an answer"
    *lines, prompt = capsys.readouterr().out.splitlines()
    assert prompt.startswith("> ") and max(map(len, lines)) <= 60
    assert " ".join(" ".join(lines).split()) == " ".join(question.split())
