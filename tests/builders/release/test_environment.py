from __future__ import annotations

from pathlib import Path

import pytest

from builders.release.checkout import Checkout
from builders.release.environment import Environment
from loaders.errors import BedsideError, InputError

SAYS = '#!/bin/sh\necho "$(basename "$0") $@" >> "{log}"\n'


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A checkout with two locks."""
    for name in ("setup.cfg", "builders/__init__.py", "scripts/locks/base.txt", "scripts/locks/threads.txt"):
        path = tmp_path / "bedside" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return Checkout.opened(tmp_path / "bedside")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a Python and a uv that only say what they are told were told."""
    (tmp_path / "bin").mkdir()
    for name, more in (("python", 'mkdir -p "$3/bin" && cp "$0" "$3/bin/python"\n'), ("uv", "")):
        path = tmp_path / "bin" / name
        path.write_text(SAYS.format(log=tmp_path / "log") + (f'[ "$2" = venv ] && {more}\nexit 0\n' if more else ""))
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    (tmp_path / "log").touch()
    return tmp_path / "log"


def made(checkout: Checkout, extras: list[str], folder: Path) -> Environment:
    return Environment.made(checkout, extras, folder, "python")


def test_the_locks_alone_say_what_is_installed(checkout: Checkout, log: Path, tmp_path: Path) -> None:
    made(checkout, ["threads", "threads"], tmp_path / "there" / "environment")
    locks = checkout.folder / "scripts" / "locks"
    assert log.read_text().splitlines() == [
        f"python -m venv {tmp_path}/there/environment",
        f"uv pip install --python {tmp_path}/there/environment/bin/python --require-hashes --no-deps --quiet "
        f"--requirement {locks}/base.txt --requirement {locks}/threads.txt",
    ]


def test_it_is_made_again_only_for_other_locks_or_another_python(checkout: Checkout, log: Path, tmp_path: Path) -> None:
    for extras, lines in (([], 2), ([], 2), (["threads"], 4)):
        made(checkout, extras, tmp_path / "environment")
        assert len(log.read_text().splitlines()) == lines
    checkout.lock("base").write_text("another")
    made(checkout, ["threads"], tmp_path / "environment")
    assert len(log.read_text().splitlines()) == 6
    Environment.made(checkout, ["threads"], tmp_path / "environment", str(tmp_path / "bin" / "python"))
    assert len(log.read_text().splitlines()) == 8


def test_one_that_failed_is_made_again_from_the_start(checkout: Checkout, log: Path, tmp_path: Path) -> None:
    uv = tmp_path / "bin" / "uv"
    good = uv.read_text()
    uv.write_text(f"{good}echo 'no such package' >&2\nexit 1\n")
    with pytest.raises(BedsideError, match="no such package.*the locked packages"):
        made(checkout, [], tmp_path / "environment")
    uv.write_text(good)
    made(checkout, [], tmp_path / "environment")
    assert [line.split()[0] for line in log.read_text().splitlines()] == ["python", "uv", "python", "uv"]


def test_a_folder_of_somebody_elses_is_left_as_it_is(checkout: Checkout, log: Path, tmp_path: Path) -> None:
    (tmp_path / "environment" / "bin").mkdir(parents=True)
    (tmp_path / "environment" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="was not made by Bedside"):
        made(checkout, [], tmp_path / "environment")
    assert (tmp_path / "environment" / "notes.txt").read_text() == "mine" and log.read_text() == ""


def test_what_cannot_be_used_is_one_error(checkout: Checkout, log: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="one of base, threads"):
        made(checkout, ["evil"], tmp_path / "environment")
    assert log.read_text() == ""
    with pytest.raises(BedsideError, match="no-python-here: No such file"):
        Environment.made(checkout, [], tmp_path / "environment", "no-python-here")


def test_the_build_runs_the_code_of_the_checkout(checkout: Checkout, log: Path, tmp_path: Path) -> None:
    environment = made(checkout, [], tmp_path / "environment")
    environment.bedside("build", "small", tell=print, until="Next:")
    assert log.read_text().splitlines()[-1] == "python -P -m scripts build small"
    environment.python.write_text(f"#!/bin/sh\nenv > {log}\n")
    environment.bedside("build", "small", tell=print, until="Next:")
    assert {f"PYTHONPATH={checkout.folder}", "PYTHONNOUSERSITE=1"} <= set(log.read_text().splitlines())
    environment.python.write_text("#!/bin/sh\nexit 2\n")
    with pytest.raises(BedsideError, match="bedside build: exit code 2"):
        environment.bedside("build", "small", tell=print, until="Next:")
