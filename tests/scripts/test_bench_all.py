"""The README's table of speed: written from what the benchmarks measure, and no row is lost or made up."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from loaders.errors import InputError
from scripts.bench import all as everything
from scripts.bench import text
from scripts.bench.all import commands, main, read_figures, with_table
from scripts.bench.apart import Measured, Row, best_apart, ended
from tests.parts.places import ROOT


def test_the_table_of_the_readme_is_that_of_the_figures() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert with_table(readme, read_figures()) == readme
    assert list(dict.fromkeys(figure.script for figure in read_figures().values())) == list(commands(None, None))


@pytest.mark.parametrize("name", [name for name, figure in read_figures().items() if figure.script != name])
def test_a_row_of_the_readme_is_named_where_it_is_measured(name: str) -> None:
    """The other rows have the name of their benchmark."""
    source = (ROOT / "scripts" / "bench" / f"{read_figures()[name].script}.py").read_text(encoding="utf-8")
    assert f'("{name}", ' in source


def test_of_all_rounds_the_least_time_and_the_highest_peak_count() -> None:
    said = iter([{"seconds": 3, "peak": 10.0}, {"missing": "b"}, {"seconds": 2, "peak": 9.0}, {"missing": "b"}])
    works: Mapping[str, Callable[[], Mapping[str, Any]]] = {"a": lambda: next(said), "b": lambda: next(said)}
    assert best_apart(works, 2) == {"a": {"seconds": 2, "peak": 10.0}, "b": {"missing": "b"}}


@pytest.mark.parametrize(
    "found, code",
    [
        (Measured([]), 0),
        (Measured([], right=False), 1),
        (InputError("captions.csv", found="nothing"), 2),
        (ModuleNotFoundError("No module named 'faiss'", name="faiss"), 2),
    ],
)
def test_a_benchmark_ends_by_what_it_found(
    found: Measured | Exception, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def bench(arguments: Sequence[str]) -> Measured:
        if isinstance(found, Exception):
            raise found
        return found

    monkeypatch.setattr(sys, "argv", ["bench"])
    with pytest.raises(SystemExit) as stop:
        ended(bench)
    assert (stop.value.code or 0) == code
    assert "Traceback" not in (said := capsys.readouterr().err) and bool(said) == (code == 2)


def test_each_benchmark_knows_the_options_that_it_is_given() -> None:
    given = commands(Path("captions.csv"), "python")
    assert [name for name, words in commands(None, None).items() if words is None] == ["text", "language"]
    for name, arguments in given.items():
        assert arguments is not None, name
        module = "minimal_task" if name in ("consultation", "concealment") else name
        source = (ROOT / "scripts" / "bench" / f"{module}.py").read_text(encoding="utf-8")
        assert not [option for option in arguments if option.startswith("--") and f'"{option}"' not in source], name


def test_the_benchmark_of_text_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    captions = tmp_path / "captions.csv"
    captions.write_text("id,caption\nr0,Chest X-ray shows 2 nodes.\nr1,Axial CT with a 3 cm mass.\n")
    monkeypatch.setenv("COLUMNS", "200")
    # its dictionary takes seconds to read
    monkeypatch.setattr(text, "_textstat", lambda captions: lambda: sum(range(10_000)))

    def by_turns(works: Mapping[str, Callable[[], object]], repeats: int) -> dict[str, float]:
        """Does the work; of two captions, a build and what is taken off it differ by less than the clock's chance."""
        for name, work in works.items():
            if name != "opening":  # which the build does too
                work()
        return {name: 3.0 if name == "build" else 1.0 for name in works}

    monkeypatch.setattr(text, "fastest", by_turns)
    found = text.main([str(captions), "--loop-captions", "1", "--repeats", "1"])
    assert [row.ratio for row in found.rows] == ["2× faster", "2.00× its time"]
    assert "100% of captions differently" in found.rows[0].against and "build of 2 captions" in found.rows[1].what


def test_a_row_that_cannot_be_measured_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text(f"Before\n{everything.BEGIN}\nold\n{everything.END}\nAfter\n")
    before = everything.FIGURES.read_text(encoding="utf-8")
    (tmp_path / "speed.json").write_text(before, encoding="utf-8")

    def apart(work: object, name: str, arguments: Sequence[str]) -> Measured:
        if name == "consultation":
            raise InputError("bench", found="0 requests")
        rows = [Row("start", "CPU time", "`hf --version`", "0.40×"), Row("join", "join", "faiss", "9.0× faster")]
        return Measured([row for row in rows if row.name == "start" or name == "duplicates"])

    monkeypatch.setattr(everything, "commit", lambda: "abcdef0+")
    monkeypatch.setattr(everything, "ROOT", tmp_path)
    monkeypatch.setattr(everything, "FIGURES", tmp_path / "speed.json")
    monkeypatch.setattr(everything, "apart", apart)
    assert main(["--only", "start"]) == 0
    assert main(["--only", "text", "consultation", "duplicates"]) == 1
    said = capsys.readouterr().out
    assert "bench/text: cannot run" in said and "0 requests" in said and "hashing stays" in said
    after, was = json.loads((tmp_path / "speed.json").read_text(encoding="utf-8")), json.loads(before)
    assert list(after) == list(was)
    assert {name for name in was if was[name] != after[name]} == {"start", "join"}
    assert after["start"]["ratio"] == "0.40×" and after["start"]["commit"] == "abcdef0+"
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert readme.startswith("Before\n") and readme.endswith("After\n") and "old" not in readme
    assert "| `bench/duplicates.py` | join | faiss | 9.0× faster | abcdef0+, " in readme
