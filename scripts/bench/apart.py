"""Shared by benchmarks that work in separate processes: starts one and reports what it took, and looks at any."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loaders.errors import InputError

ROOT = Path(__file__).parents[2]


def apart(module: str, *arguments: object) -> Any:
    """What `python -m module arguments` says in JSON, in its last line. Raises: InputError with its last word, else."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it says nothing of it"])[-1]
        raise InputError(" ".join(command[2:]), found=last, expected="a run")
    return json.loads(done.stdout.splitlines()[-1])


def commit() -> str:
    """The commit that is measured, with a plus where files of it were changed since."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()

    return git("rev-parse", "--short=7", "HEAD") + "+" * bool(git("status", "--porcelain", "--untracked-files=no"))


def processes() -> Iterator[int]:
    """All that run on this machine."""
    return (int(place.name) for place in Path("/proc").glob("[0-9]*"))


def stat_of(process: int) -> list[str]:
    """State, parent, group, session and more of a process, as Linux tells them; empty for one that has ended."""
    fields = _told(process, "stat").decode("utf-8", "replace").rpartition(")")[2].split()
    return [] if fields[:1] == ["Z"] else fields


def command_line(process: int) -> bytes:
    """Empty for a process that has ended."""
    return _told(process, "cmdline")


def _told(process: int, what: str) -> bytes:
    try:
        return Path(f"/proc/{process}/{what}").read_bytes()
    except OSError:
        return b""
