"""What `bedside new` writes is green as it is, and works when it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from baselines.results.run import read_run
from scripts.cli import execute

HERE = Path(__file__).resolve().parents[2]


def _python(*arguments: str, folder: Path, path: list[Path]) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    done = subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_baseline_is_green_and_runs_when_it_is_installed(tmp_path: Path) -> None:
    package, site = tmp_path / "package", tmp_path / "site-packages"
    assert execute(["new", "baseline", "reading-age", "--out", str(package)]) == 0
    _python("-m", "ruff", "check", "--isolated", "--line-length=120", ".", folder=package, path=[HERE])
    _python("-m", "ruff", "format", "--isolated", "--line-length=120", "--check", ".", folder=package, path=[HERE])
    told = _python("-m", "pytest", "-q", "--basetemp", str(tmp_path / "tests"), folder=package, path=[HERE])
    assert "2 passed" in told
    install = ["-m", "pip", "install", "--no-deps", "--no-index", "--no-build-isolation", "--quiet"]
    _python(*install, "--target", str(site), str(package), folder=tmp_path, path=[])
    assert (site / "bedside_reading_age-0.1.0.dist-info" / "entry_points.txt").is_file()
    release = tmp_path / "tests" / "sample0" / "release"  # pytest keeps what the skeleton's own test has built
    listed = _python("-m", "scripts", "run", "--help", folder=HERE, path=[site])
    assert "Words of a caption in both registers." in listed
    _python("-m", "scripts", "run", "reading-age", str(release), "-o", str(tmp_path / "r"), folder=HERE, path=[site])
    record, results = read_run(tmp_path / "r")
    assert record.baseline == "reading-age" and [result.setting for result in results] == ["Expert", "Lay"]


@pytest.mark.parametrize("name", ["Reading", "reading_age", "-x", "9lives", "a/b", "language"])
def test_a_name_that_cannot_be_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["new", "baseline", "--out", str(tmp_path / "package"), "--", name]) == 2
    assert "NAME" in capsys.readouterr().err and not (tmp_path / "package").exists()


def test_nothing_is_written_over(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text("mine")
    assert execute(["new", "baseline", "parrot", "--out", str(tmp_path)]) == 2
    assert "is there already" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]
