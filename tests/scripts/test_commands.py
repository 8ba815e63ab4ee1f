"""The table of commands: what it says of each is so, and nothing is imported before it is needed."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from baselines.medconceal.record import Findings
from scripts.cli import execute, find
from scripts.commands import COMMANDS, SECTIONS, Command, Group
from scripts.terminal import console, finish, planning
from tests.parts.full_disk import FULL, stopped_after
from tests.parts.runs import write
from tests.parts.small_release import files_of

HERE = Path(__file__).resolve().parents[2]
HEAVY = {"PIL", "datasets", "inspect_ai", "matplotlib", "numpy", "openai", "pandas", "pyarrow", "scipy", "torch"}


def _lines(entries: Mapping[str, Command | Group], *before: str) -> Iterator[tuple[tuple[str, ...], Command]]:
    for name, entry in entries.items():
        if isinstance(entry, Group):
            yield from _lines(entry.commands, *before, name)
        else:
            yield (*before, name), entry


@pytest.mark.parametrize(("words", "entry"), [pytest.param(*line, id=" ".join(line[0])) for line in _lines(COMMANDS)])
def test_the_line_of_help_is_the_first_of_the_commands_docstring(words: tuple[str, ...], entry: Command) -> None:
    command, rest = find(words)
    assert not rest and command.name == words[-1]
    doc = inspect.getdoc(command.callback)
    assert doc is not None
    assert entry.help == " ".join(doc.partition("\n\n")[0].split())


@pytest.mark.parametrize(
    "words", [pytest.param(line, id=" ".join(line)) for line, one in _lines(COMMANDS) if not one.tables]
)
def test_a_command_without_json_prints_no_table(words: tuple[str, ...]) -> None:
    command, _ = find(words)
    module = inspect.unwrap(command.callback).__module__
    makers = [console.table, finish.headline_table, finish.tables_of, planning.showing, planning.spending]
    assert not [name for name, value in vars(sys.modules[module]).items() if value in makers]


@pytest.mark.parametrize("words", [pytest.param(line, id=" ".join(line)) for line, _ in _lines(COMMANDS)])
def test_a_number_that_a_library_refuses_after_the_work_is_refused_before(words: tuple[str, ...]) -> None:
    """Random generators take no seed below 0, and not all take a large one; resamples are held in memory; `--timeout
    inf` is no whole number of seconds."""
    for option in find(words)[0].params:
        bounds = getattr(option, "type", option)  # of a type, in earlier versions of typer
        if option.name in ("seed", "sample_seed"):
            assert bounds.min == 0, option.name
        if option.name == "resamples":
            assert 0 < bounds.min < bounds.max <= 10**6
        if option.name == "timeout":
            assert 0 < bounds.min < (bounds.max or 0), "a day at most"


def test_an_unwritable_folder_is_reported_before_the_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        assert execute(["run", "language", str(tmp_path / "no data"), "-o", str(out)]) == 2
        assert "is a file, not a folder" in capsys.readouterr().err
    line = ["build", "medlaybench-v", "--captions", "sample", "--limit", "1", "--out", str(tmp_path / "file")]
    assert execute(line) == 2
    assert "already exists and is not a release" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    "words",
    [["audit", "IN", "--write"], ["fit-policy", "--labels", "IN", "-o"], ["table", "RUN", "-o"], ["pack", "RUN", "-o"]],
)
def test_a_file_of_another_kind_is_not_replaced(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The one that is read included: labels and captions are hours of work."""
    other = tmp_path / "pairs.csv"
    other.write_text("expert_caption,layman_caption\nA fracture.,A break.\n")
    run = write(tmp_path / "run", ["Table 1"], baseline="language")
    before = files_of(tmp_path)
    line = [word.replace("IN", str(other)).replace("RUN", str(run)) for word in words]
    assert execute([*line, str(other)]) == 2
    assert "exists and holds something else" in " ".join(capsys.readouterr().err.split())
    assert files_of(tmp_path) == before


@pytest.mark.parametrize(
    "words",
    [
        ["run", "language", "medlaybench-v", "-o", "data/x"],
        ["curate", "official", "-o", "data/x"],
        ["contrast", "a", "b", "-o", "x"],
        ["report", "run", "-o", "x.html"],
        ["preview", "x", "-o", "x.html"],
        ["audit", "x.csv", "--write", "x.csv"],
        ["table", "run", "-o", "x.md"],
        ["pack", "run", "-o", "x.zip"],
        ["sheet", "x", "-o", "data/sheet.csv"],
    ],
)
def test_nothing_is_written_into_a_release(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    release = tmp_path / "release"
    release.mkdir()
    for name in ("manifest.json", "exclusions.parquet"):
        (release / name).touch()
    for place in (release, release / ".." / "release"):
        assert execute([*words[:-1], str(place / words[-1])]) == 2
        assert "lies in the release" in capsys.readouterr().err
    assert len(files_of(tmp_path)) == 2
    execute([*words[:-1], str(release / ".." / words[-1])])  # beside it
    assert "lies in the release" not in capsys.readouterr().err


def test_sheets_are_csv_whatever_their_base_name_says(
    captions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`ratings` reads a sheet by what its name ends in."""
    line = ["sheet", str(captions), "--pairs", "2", "--raters", "1", "-o"]
    assert execute([*line, str(tmp_path / "sheet.md")]) == 2
    assert "found    file type .md" in capsys.readouterr().err
    assert execute([*line, str(tmp_path)]) == 2
    assert "found    it is a folder" in capsys.readouterr().err
    assert execute([*line, str(tmp_path / "sheet")]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sheet-R1.csv", "sheet.md"]


@pytest.mark.parametrize("error", [FULL, KeyboardInterrupt()], ids=["full", "stopped"])
@pytest.mark.parametrize(
    "line",
    [
        "new corpus wards --out OUT/w",
        "new baseline reading-age --out OUT/r",
        "sheet CAPTIONS --pairs 2 -o OUT/s.csv",
        "study new confirmation -o OUT/study",
    ],
)
def test_a_command_that_refuses_what_exists_can_be_run_again(
    line: str, error: BaseException, captions: Path, tmp_path: Path
) -> None:
    """After a full disk, its own first files made it refuse itself."""
    words = line.replace("CAPTIONS", str(captions)).replace("OUT", str(tmp_path)).split()
    with stopped_after(2, error):
        assert execute(words) in (2, 130)
    assert list(tmp_path.iterdir()) == []
    assert execute(words) == 0


def _imported(*words: str) -> set[str]:
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "scripts", *words],
        capture_output=True, text=True, cwd=HERE, env={**os.environ, "PYTHONPATH": str(HERE)}, check=True,
    )  # fmt: skip
    lines = [line for line in said.stderr.splitlines() if line.startswith("import time:")]
    imported = {line.rpartition("|")[2].strip() for line in lines}
    assert "typer" in imported  # or the list is read wrongly
    return imported


@pytest.mark.parametrize("words", [["--help"], ["build", "--help"], ["run", "--help"]])
def test_a_list_of_commands_imports_none_of_them(words: list[str]) -> None:
    imported = _imported(*words)
    assert not {name for name in imported if name.partition(".")[0] in HEAVY}
    assert not {name for name in imported if name.startswith(("builders.", "baselines.", "loaders.corpus"))}


def test_the_help_of_a_baseline_opens_no_data() -> None:
    assert not _imported("run", "language", "--help") & (HEAVY - {"numpy"})


@pytest.mark.parametrize("corpus", ["medlaybench-v", "3mdbench", "medconceal"])
def test_the_help_of_a_build_needs_no_client_of_the_hub(corpus: str) -> None:
    assert not _imported("build", corpus, "--help") & {"datasets", "huggingface_hub.hf_api", "httpx2"}


def test_every_command_is_under_a_heading_in_the_order_of_work() -> None:
    placed = [name for names in SECTIONS.values() for name in names.split()]
    assert sorted(placed) == sorted(COMMANDS)


@pytest.mark.parametrize("columns", [80, 120])
def test_help_shows_the_headings(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    assert execute(["--help"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(text) for text in ("Getting started", "Releases", "build", "Baselines", "Plug-ins")]
    assert places == sorted(places)


def test_fit_policy_that_is_stopped_says_where_its_answers_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("baselines.medconceal.labelling.ask_about", stopped)
    assert execute(["fit-policy", "--judge", "scripted/echo", "-o", str(tmp_path / "policy.json")]) == 130
    told = " ".join(capsys.readouterr().err.split())
    assert "policy.answers.sqlite: run the same command again to resume" in told
    monkeypatch.setattr("scripts.fit_policy.read_labels", stopped)  # with labels at hand nothing is asked
    assert execute(["fit-policy", "--labels", "labels.jsonl", "-o", str(tmp_path / "other.json")]) == 130
    assert "answers" not in capsys.readouterr().err


def test_what_counts_as_no_finding_and_as_revealed_unsaid_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    from scripts.run.confirmation import _warn_of_findings

    def told(*episodes: Any) -> str:
        _warn_of_findings(episodes)
        return " ".join(capsys.readouterr().err.split())

    def episode(findings: Findings | None, *exchanges: Any) -> Any:
        return SimpleNamespace(findings=findings, exchanges=exchanges)

    given, none = episode(Findings((), attempts=1)), episode(None)  # none are written in the other task
    unread = episode(Findings((), attempts=3, failure="the answer is no JSON"))
    lacking = episode(Findings((), attempts=0, failure="the file has no findings"))
    assert not told(given, none)
    assert told(given, none, unread) == "1 of 2 answers with findings cannot be read, and count as no finding"
    assert told(given, lacking) == "1 of 2 dialogues come without findings, and count as no finding"
    said = [
        SimpleNamespace(source=source, revealed=(0, 2), voiced=(2,)) for source in ("transcript", "template", "model")
    ]
    assert told(episode(Findings((), attempts=0), *said)).startswith("1 of 2 concerns that computed traces reveal")
