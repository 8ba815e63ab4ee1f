"""`scripts/test`: what runs beside pytest is awaited, shown and counted, and ended where nobody waits for it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.parts.places import ROOT
from tests.parts.waiting import wait_until

ENVIRONMENT = "install_into() { :; }\ninstall_debian() { echo chromium is there; }\n"
TOOLS = (".venv/bin/python", ".venv/bin/ruff", ".venv/bin/mypy", ".venv/bin/lint-imports")
BESIDE = ("scripts/docs", "scripts/legs", "scripts/test_scispacy")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The script among tools that only say their names: pytest when docs have begun, docs when pytest has."""
    for name in (*TOOLS, *BESIDE, "scripts/environment"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{Path(name).name} $*"\n')
        (tmp_path / name).chmod(0o755)
    (tmp_path / "scripts/environment").write_text(ENVIRONMENT)
    meet = (
        '#!/bin/sh\necho "{} $*"\n[ "$3" = --collect-only ] && exit\ntouch {}\nwhile [ ! -e {} ]; do sleep 0.01; done\n'
    )
    (tmp_path / "scripts/docs").write_text("#!/bin/sh\n" + meet.format("docs", "docs-began", "pytest-began"))
    (tmp_path / ".venv/bin/python").write_text("#!/bin/sh\n" + meet.format("python", "pytest-began", "docs-began"))
    shutil.copy(ROOT / "scripts/test", tmp_path / "scripts/test")
    return tmp_path


def run(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([checkout / "scripts/test", *arguments], capture_output=True, text=True, timeout=60)


def test_pytest_runs_beside_what_takes_long_and_all_is_shown(checkout: Path) -> None:
    done = run(checkout)
    assert done.returncode == 0, done.stderr
    shown = [line for line in done.stdout.splitlines() if line.startswith("== ")]
    assert shown == [f"== {name}" for name in "ruff mypy import-linter debian pytest docs scispaCy bounds".split()]
    assert "chromium is there" in done.stdout and "legs --few" in done.stdout and "collect" not in done.stdout


@pytest.mark.parametrize("name", BESIDE)
def test_what_fails_beside_it_fails_the_whole(name: str, checkout: Path) -> None:
    with (checkout / name).open("a") as script:
        script.write("echo broken link; exit 3\n")
    done = run(checkout)
    assert done.returncode == 1 and "broken link" in done.stdout and "python -m pytest --numprocesses" in done.stdout


def test_nothing_runs_on_where_a_check_has_failed(checkout: Path) -> None:
    (checkout / "scripts/legs").write_text(f"#!/bin/sh\necho $$ > {checkout}/leg\nsleep 600 & wait\n")
    (checkout / ".venv/bin/mypy").write_text(f"#!/bin/sh\nwhile [ ! -s {checkout}/leg ]; do sleep 0.01; done\nexit 1\n")
    done = run(checkout)
    assert done.returncode == 1 and "pytest" not in done.stdout
    group = int((checkout / "leg").read_text())

    def ended() -> bool:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        return False

    wait_until(ended)


def test_arguments_are_those_of_pytest_alone(checkout: Path) -> None:
    (checkout / "docs-began").touch()
    done = run(checkout, "-k", "gates")
    assert done.stdout.splitlines() == ["== debian", "chromium is there", "python -m pytest -k gates"]
