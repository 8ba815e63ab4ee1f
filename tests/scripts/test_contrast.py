"""`bedside contrast` on a screen: what tells systems apart, what does not, and how to see the rest."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest

from baselines.medconceal.comparisons import Comparison
from baselines.results.differences import Difference
from scripts import contrast
from scripts.cli import execute
from tests.parts.runs import write


@pytest.fixture(autouse=True)
def width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def differences(*systems: str) -> Iterator[Difference]:
    """F1 differs by its interval, which has no test; one criterion by its test, one not at all."""
    for first, second in combinations(systems, 2):
        yield Difference("Table 5", "F1", "%", first, second, 200, -10, (-15, -6), None)
        yield Difference("Table 6", "Criterion 1.1", "", first, second, 200, 0.5, (0.1, 0.9), 0.0001, 0.0005)
        yield Difference("Table 6", "Criterion 1.2", "", first, second, 200, 0.1, (0.01, 0.2), 0.04, 0.04)


def printed(capsys: pytest.CaptureFixture[str]) -> str:
    said = capsys.readouterr().out
    assert len(said.splitlines()) <= 40 and all(len(line) <= 80 for line in said.splitlines())
    return said


def test_two_systems_are_told_apart_by_what_differs(capsys: pytest.CaptureFixture[str]) -> None:
    contrast.print_differences(list(differences("one", "two")), everything=False)
    said = printed(capsys)
    assert "Criterion 1.1 (asks about history)" in said and "+0.1 to +0.9" not in said
    assert "not told apart: Criterion 1.2" in said and "0.0005 *" in said and "--all" in said
    contrast.print_differences(list(differences("one", "two")), everything=True)
    said = capsys.readouterr().out
    assert "not told apart" not in said and "+0.01 to +0.20" in said


@pytest.mark.parametrize("everything", [True, False])
@pytest.mark.parametrize("high", [-2.0, -2.0 + 1e-15])
def test_an_interval_of_no_width_is_not_shown(
    high: float, everything: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Difference("Table 1", "SMOG", "grade", "one", "two", 9, -2.0, (-2.0, high), 0.004, 0.004)
    contrast.print_differences([row], everything=everything, unit="captions")
    said = capsys.readouterr().out
    assert "-2.00 to" not in said and "-2.00" in said and "0.004 *" in said and "9" in said
    assert "No interval: all captions differ alike." in " ".join(said.split())


def test_one_caption_is_not_many(capsys: pytest.CaptureFixture[str]) -> None:
    row = Difference("Table 1", "SMOG", "grade", "one", "two", 1, -2.0, (-2.0, -2.0), 0.004, 0.004)
    contrast.print_differences([row], everything=False, unit="captions")
    assert "less two, 1 caption\n" in "\n".join(line.rstrip() for line in printed(capsys).splitlines())


def test_a_number_that_is_not_shown_lacks_no_interval(capsys: pytest.CaptureFixture[str]) -> None:
    same = Difference("Table 5", "Number of utterances", "utterances", "one", "two", 9, 0.0, (0.0, 0.0), 1.0, 1.0)
    for everything in (False, True):
        contrast.print_differences([same], everything=everything)
        assert ("No interval" in " ".join(capsys.readouterr().out.split())) == everything


def test_of_many_systems_each_pair_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    contrast.print_differences(
        list(differences(*(f"doctor {number}, dialogue" for number in range(6)))), everything=False
    )
    lines = printed(capsys).splitlines()
    assert "6  doctor 5, dialogue" in lines
    assert [line.split() for line in lines if line.startswith("5 less 6")] == [
        ["5", "less", "6", "200", "-10.00", "Criterion", "1.1", "F1"]
    ]


def test_comparisons_of_clinicians_fit_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    found = [
        Comparison(name, 1, 0.5, 0.5, (0.1, 0.9), "sign flips", 0.0123, 0.0246, 8, other)
        for name, other in (("Reveal Rate", "human"), ("Coarse F1", "human"), ("Fine F1", "machine"))
    ]
    found.append(Comparison("MBNR", 0, 0, 0, (-0.3, 0.3), "exact McNemar", 1, 1, 8, "human"))
    contrast.print_cases("expert", "the best of the others", found, everything=False)
    said = printed(capsys)
    assert "0.025" in said and "0.0123" not in said
    told = " ".join(said.split())
    assert "The best of the others: human, of Fine F1 machine." in told
    assert "p by sign flips, of MBNR exact McNemar; before Holm: --all, --json" in told
    contrast.print_cases("expert", "the best of the others", found, everything=True)
    assert "0.0123" in capsys.readouterr().out


def test_a_comparison_without_an_interval_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    row = Comparison("Word/Turn", 9, 11, -2, (-2, -2), "sign flips", 0.5, 0.5, 8, "human")
    for everything in (True, False):
        contrast.print_cases("expert", "human", [row], everything=everything)
        said = printed(capsys)
        assert "-2.000 to" not in said and "No interval: all cases differ alike." in " ".join(said.split())


def test_runs_of_two_kinds_are_named_with_their_kinds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (str(write(tmp_path / kind, ["Table 1"], baseline=kind)) for kind in ("language", "retrieval"))
    assert execute(["contrast", one, two]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert "found runs of language, retrieval" in told and "do Pass runs of one of these kinds" in told
    assert one in told.replace(" ", "") and two in told.replace(" ", "")
    assert execute(["contrast", one]) == 2
    assert "found one run" in " ".join(capsys.readouterr().err.split())
