"""Shared by benchmarks that work in separate processes: calls a function in one, and looks at any."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")
ROOT = Path(__file__).parents[2]


def apart(work: Callable[..., Result], *arguments: Any) -> Result:
    """What a function gives in a fresh process, which has no memory, caches and threads of this one."""
    with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
        return fresh.submit(work, *arguments).result()


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
