"""The demo: a screen a corpus, one table and one address, without torch; and what it does when a step fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from builders.samples.medconceal.cases import profiles
from loaders import installed
from loaders.errors import BedsideError
from scripts import demo
from scripts.cli import execute

SCREEN = 24


@pytest.fixture
def of_patients(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo of one corpus and one task, on a machine without torch, in a terminal of 80 columns."""
    monkeypatch.setattr(demo, "BUNDLED", {"medconceal": demo.BUNDLED["medconceal"]})
    monkeypatch.setattr(demo, "_CLINICIANS", (("confirmation", "expert"),))
    monkeypatch.setattr(demo, "find_spec", lambda name: None)
    monkeypatch.setenv("COLUMNS", "80")


def test_it_goes_the_whole_way_of_a_corpus_without_torch(
    of_patients: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["demo", "--out", str(tmp_path / "demo")]) == 0
    said = capsys.readouterr()
    screen, table = said.out.split("Headline numbers")
    assert not said.err and len(screen.splitlines()) <= SCREEN
    assert all(len(line) <= 80 or len(line.split()) == 1 for line in screen.splitlines())
    assert "tag v1.0.0" in screen and "`datasets` loads test 40" in " ".join(screen.split())
    assert screen.count("reason for the encounter:") == 3  # three real rows, and nothing that they hide
    hidden = [concern.content.get_secret_value() for profile in profiles() for concern in profile.hidden_concerns]
    assert not [text for text in hidden if text in said.out]
    assert "Reveal Rate" in table and "[models]" in table
    page = tmp_path / "demo" / "report.html"
    assert table.split()[-2:] == ["Open", page.as_uri()] and page.is_file()
    assert "$ bedside build medconceal" in (tmp_path / "demo" / "demo.log").read_text()


def test_a_step_that_fails_ends_it_and_names_the_log(tmp_path: Path) -> None:
    way = demo._Way(tmp_path, full=False)
    with pytest.raises(BedsideError, match=r"bedside verify: exit code 2 .*demo\.log"):
        way.bedside("verify", tmp_path / "nothing")
    assert "$ bedside verify" in way.log.read_text() and "nothing" in way.log.read_text()


def test_the_whole_demo_needs_torch(of_patients: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["demo", "--full", "--out", str(tmp_path)]) == 2
    assert "torch" in capsys.readouterr().err and not list(tmp_path.iterdir())


def test_what_it_needs_is_looked_for_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed, "find_spec", lambda name: None if name == "nltk" else True)
    assert execute(["demo", "--out", str(tmp_path / "demo")]) == 2
    said = capsys.readouterr()
    assert "nltk" in said.err and "[demo]" in said.err and not said.out and not list(tmp_path.iterdir())
