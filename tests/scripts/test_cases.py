"""`bedside cases new` as a person meets it; what it asks and keeps is tried in `tests/builders/medconceal`."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import typer

from builders.medconceal.own import _CONCERN, _QUESTIONS, read_filled
from loaders.errors import InputError
from scripts import cases
from scripts.cli import execute


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


@pytest.mark.parametrize("age", ["about fifty", typer.Abort()])
def test_answers_with_a_mistake_or_half_of_them_stay_in_a_draft(
    age: str | Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(question: str) -> str:
        if question.startswith("Age") and isinstance(age, Exception):
            raise age
        return str(age) if question.startswith("Age") else "1" if question.startswith("Which") else "no"

    (tmp_path / "ours-draft-1.yaml").write_text("an earlier draft")
    monkeypatch.setattr(cases, "_ask", ask)
    case: dict[str, Any] = {}
    with pytest.raises(InputError if isinstance(age, str) else KeyboardInterrupt, match=r"ours-draft-2.*--from"):
        cases._answer(tmp_path / "ours.yaml", case)
    assert read_filled(tmp_path / "ours-draft-2.yaml") == [case] and case["demographics"]["name"] == "no"
    assert not (tmp_path / "ours.yaml").exists() and (tmp_path / "ours-draft-1.yaml").read_text() == "an earlier draft"
    assert (tmp_path / "ours-draft-2.yaml").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["ours.csv", "ours.json", "ours"])
def test_a_case_is_not_written_as_yaml_into_a_file_of_another_type(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text("[]")
    assert execute(["cases", "new", str(tmp_path / name), "--from", str(tmp_path / "filled.yaml")]) == 2
    assert "expected a file of YAML: .yaml" in capsys.readouterr().err and (tmp_path / name).read_text() == "[]"


def test_a_template_is_written_or_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["cases", "new", str(tmp_path / "ours.yaml"), "--template", "--from", str(tmp_path / "filled.yaml")]
    assert execute(line) == 2 and "expected one of them" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
