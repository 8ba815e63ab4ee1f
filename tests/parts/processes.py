"""Python in a process of its own, in the project's root and with its modules."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from tests.parts.places import ROOT
from tests.parts.waiting import PATIENCE, wait_until


def starting(arguments: tuple[object, ...], variables: dict[str, str]) -> dict[str, Any]:
    """The arguments for `subprocess`: the command, its folder, and the environment with these variables added."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | variables
    return {"args": [sys.executable, *map(str, arguments)], "cwd": ROOT, "env": environment, "text": True}


def python(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """A finished process, whatever its exit code: `python("-c", code, path, TZ="UTC")`."""
    return subprocess.run(**starting(arguments, variables), capture_output=True, timeout=PATIENCE)


def printed(*arguments: object, **variables: str) -> str:
    """The output of a process that succeeded."""
    done = python(*arguments, **variables)
    assert done.returncode == 0, done.stderr
    return done.stdout


def started(*arguments: object, **variables: str) -> subprocess.Popen[str]:
    """A running process, to read from, write to or kill."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(**starting(arguments, variables), **pipes, start_new_session=True)


def forked(work: Callable[[], object], due: Callable[[], bool] | None = None) -> int:
    """How a copy of this process ended that does some work, killed once something is `due`: by minus its signal, if by
    one. Nothing is imported for it."""
    child = os.fork()
    if not child:
        try:
            work()
        finally:
            os._exit(1)
    if due is not None:
        wait_until(due, 0.005)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def kill(due: Callable[[], bool], *arguments: object) -> None:
    """Start a process, and kill it with its workers once that is so."""
    process = subprocess.Popen(**starting(arguments, {}), stderr=subprocess.DEVNULL, start_new_session=True)
    wait_until(lambda: due() or process.poll() is not None, 0.005)
    os.killpg(process.pid, signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
