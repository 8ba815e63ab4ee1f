"""Shared by benchmarks that measure in separate processes: starts the process and reports what it took."""

from __future__ import annotations

import json
import subprocess
import sys
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
