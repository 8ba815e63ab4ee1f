"""Baselines of other packages: found by their entry point, named where they are broken, refused where they shadow."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from baselines.report.page import write_report
from baselines.report.sections import sections
from baselines.results.comparison import FinishedRun, read_runs
from baselines.results.run import DataUsed, Result, RunRecord, write_run
from loaders.errors import InputError
from loaders.plugins import Plugin
from scripts.cli import execute

WORKING = '''
from markupsafe import Markup
from baselines.report.sections import Section

def command(count: int = 1) -> None:
    """Say it again.

    And more.
    """
    print("again " * count)

def sections(runs):
    return [Section("said", "What was said", Markup("<p>again, by run {}</p>").format(runs[0][0]))]
'''
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a package with a baseline on the path, as pip would: code, metadata and entry points."""
    folder = tmp_path / "site-packages"
    monkeypatch.syspath_prepend(str(folder))

    def put(package: str, code: str, *lines: str) -> None:
        module = f"{package}_code"
        monkeypatch.delitem(sys.modules, module, raising=False)
        metadata = folder / f"{package}-0.3.dist-info"
        metadata.mkdir(parents=True)
        (folder / f"{module}.py").write_text(code)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.3\n")
        (metadata / "entry_points.txt").write_text("[bedside.baselines]\n" + "\n".join(lines) + "\n")

    return put


def test_a_package_brings_a_baseline(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("parrot", WORKING, "parrot = parrot_code", "echo = parrot_code:command")
    assert execute(["run", "--help"]) == 0
    assert capsys.readouterr().out.count("Say it again.") == 2
    for name in ("parrot", "echo"):
        assert execute(["run", name, "--count", "2"]) == 0
        assert capsys.readouterr().out == "again again \n"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import no_such_module", "No module named 'no_such_module'"),
        ("1 / 0", "ZeroDivisionError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("", "it has no command"),
        ("command = 7", "broken_code cannot be used ("),
    ],
)
def test_a_broken_package_is_named_and_disturbs_no_other(
    code: str, told: str, install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    install("broken", code, "broken = broken_code")
    install("parrot", WORKING, "parrot = parrot_code")
    assert execute(["run", "--help"]) == 0
    listed = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "broken of broken 0.3: broken_code cannot be used" in listed and "Say it again." in listed
    assert execute(["run", "parrot"]) == 0
    capsys.readouterr()
    assert execute(["run", "broken", "x"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "broken of broken 0.3" in said and told in said and "pip uninstall broken" in said
    assert "Traceback" not in said


def test_an_error_in_the_code_of_a_package_is_told_with_its_place_and_one_of_ours_is_not(
    install: Install, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import json\ndef command(text: str) -> None:\n    print(json.loads(text)['age'])\n"
    install("broken", code, "broken = broken_code")
    for given, told in (("{}", "KeyError: 'age'"), ("{", "JSONDecodeError: Expecting property")):
        assert execute(["run", "broken", given]) == 2
        said = " ".join(capsys.readouterr().err.split())
        assert f"Error broken of broken 0.3 found {told}" in said and "Repair that package" in said
        assert "broken_code.py, line 3, in command: print(json.loads(text)['age'])" in said
    ours = "def command() -> None:\n    from loaders.schema import Upgrade\n    Upgrade.of(None, None, None, None)\n"
    install("other", ours, "other = other_code")
    with pytest.raises(TypeError, match="has no len"):
        execute(["run", "other"])


def test_a_name_that_is_taken_is_refused(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    install("other", WORKING, "concepts = other_code", "parrot = other_code")
    install("parrot", "def command(): print('theirs')", "parrot = parrot_code")
    assert execute(["run", "concepts", "--help"]) == 0
    said = capsys.readouterr()
    assert "Tables A1 and A2" in " ".join(said.out.split())
    assert "'concepts' of other 0.3 is left out: Bedside has that name" in said.err
    assert "'parrot' of parrot 0.3 is left out: other 0.3 has that name" in said.err
    assert execute(["run", "parrot"]) == 0
    assert capsys.readouterr().out == "again \n"


def _run_of(baseline: str, folder: Path) -> FinishedRun:
    record = RunRecord(baseline=baseline, data=DataUsed("medlaybench-v", "test", None, "0" * 64))
    result = Result(
        paper="P", table="T", row="r", setting="s", column="c", split_or_group="g", value=1.0, unit="words",
        record=record,
    )  # fmt: skip
    write_run(folder, record, [result])
    return read_runs([folder])[0]


def test_the_report_shows_a_section_of_it(install: Install, tmp_path: Path) -> None:
    install("parrot", WORKING, "parrot = parrot_code")
    run = _run_of("parrot", tmp_path / "run")
    page = tmp_path / "report.html"
    assert execute(["report", str(run.folder), "-o", str(page)]) == 0
    assert "<p>again, by run 1</p>" in page.read_text(encoding="utf-8")
    write_report([run], page)
    assert "again, by run" not in page.read_text(encoding="utf-8")  # whoever names no plug-in gets none


def test_a_section_that_fails_names_its_package(install: Install, tmp_path: Path) -> None:
    install("parrot", "def sections(runs): return runs[9]", "parrot = parrot_code")
    with pytest.raises(InputError, match=r"parrot of parrot 0\.3: parrot_code cannot be used \(IndexError"):
        sections([_run_of("parrot", tmp_path)], {"parrot": Plugin("parrot", "parrot_code", "parrot 0.3")})
