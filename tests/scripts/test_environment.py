"""`scripts/environment`: programs of Debian for the tests, where they may be installed, and never a failure; and
environments with uv and without it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
APT = 'printf "%s\\n" "$*" >> "$APT_LOG"\n'


@pytest.mark.parametrize(("uv", "made"), [("exit 0", "uv venv"), ("exit 1", "-m venv")])
def test_an_environment_is_made_by_uv_or_else_without_it(uv: str, made: str, tmp_path: Path) -> None:
    for name, script in (("uv", f'echo "uv $*"; {uv}'), ("python3.99", 'echo "$*"')):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "before").touch()
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f". scripts/environment; make_environment python3.99 {tmp_path}/there"],
        cwd=HOME,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1].startswith(made) and done.stdout.endswith(f" {tmp_path}/there\n")
    assert not (tmp_path / "there").exists()  # nothing of one that was half made, or out of date


@pytest.mark.parametrize(
    ("user", "apt", "wanted", "said", "asked"),
    [
        ("0", APT, "sh=dash", "", ""),
        (
            "0",
            APT,
            "no-such=one sh=dash no-other=two",
            "installing Debian's one two",
            "--no-install-recommends one two",
        ),
        ("0", APT + "echo no network; exit 100", "no-such=one", "no network\n== could not be installed: one", "update"),
        ("0", "sleep 20", "no-such=one", "could not be installed: one", ""),
        ("1000", APT, "no-such=one", "as this is not root on Debian: one; their tests skip", ""),
    ],
    ids=["there already", "missing", "no network", "too slow", "no root"],
)
def test_programs_of_debian(user: str, apt: str, wanted: str, said: str, asked: str, tmp_path: Path) -> None:
    for name, script in (("apt-get", apt), ("id", f"echo {user}")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    log = tmp_path / "asked"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f". scripts/environment; install_debian {wanted}; echo END"],
        cwd=HOME,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin", "APT_LOG": str(log), "BEDSIDE_APT_SECONDS": "0.2"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stdout.endswith("END\n"), done.stderr
    assert said in done.stdout and (said or done.stdout == "END\n")
    told = log.read_text() if log.exists() else ""
    assert asked in told and bool(asked) == bool(told)


@pytest.mark.parametrize(
    ("given", "out"), [((), "runs/demo"), (("mine",), "{here}/mine"), (("--full", "/far"), "/far --full")]
)
def test_the_demo_writes_where_it_is_told_to(given: tuple[str, ...], out: str, tmp_path: Path) -> None:
    """A folder was one of the checkout, wherever it was named; an option it did not know became a folder."""
    for folder, name, text in (
        ("scripts", "demo", (HOME / "scripts" / "demo").read_text()),
        ("scripts", "environment", "install_into() { :; }\n"),
        (".venv/bin", "bedside", '#!/bin/sh\necho "$@"\n'),
    ):
        path = tmp_path / "checkout" / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def ran(*words: str) -> subprocess.CompletedProcess[str]:
        demo = tmp_path / "checkout" / "scripts" / "demo"
        return subprocess.run(["bash", demo, *words], cwd=tmp_path, capture_output=True, text=True)

    folder, *full = out.format(here=tmp_path).split()
    assert ran(*given).stdout.split() == ["demo", *full, "--out", folder]
    for wrong in (("--help",), ("mine", "--full")):
        assert ran(*wrong).returncode == 2 and "./scripts/demo [FOLDER]" in ran(*wrong).stderr
