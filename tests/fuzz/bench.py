"""A process in which cases are tried one after the other: what it may not do is raise, hang, eat memory or die.

    with Bench(yard, LC_ALL="C") as bench:
        fault = bench.fault(case)          # None, or what went wrong

A first process imports everything and never runs a case. It forks one that makes the yard, where there is none yet, and
one that tries cases; another when that one had to be killed.
Who is root there gives that up, as root would never see a folder that may not be read.
"""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import traceback
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.parts.places import ROOT

DEADLINE = 10.0
RENEWED = 400
"""After so many cases another process goes on: what libraries keep is no fault of a case."""


class Bench:
    def __init__(self, yard: Path, deadline: float = DEADLINE, **variables: str) -> None:
        self.deadline = deadline
        self._here, there = Pipe()
        quiet = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
        with there:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.bench", str(there.fileno()), str(yard)],
                env={**os.environ, **quiet, **variables},
                cwd=ROOT,
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
            )
        self._pid, self._cases = self._ready(1200.0), 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._here.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.kill()
            self._process.wait()

    def fault(self, case: object) -> str | None:
        """What a case did that it may not, its first line short; None where it did nothing of the kind."""
        self._cases += 1
        if self._cases % RENEWED == 0:
            self._here.send(None)
            self._pid = self._ready()
        self._here.send(case)
        if not self._answered():
            os.kill(self._pid, signal.SIGUSR1)  # it tells where it is, if Python still runs
            kind, told = self._here.recv() if self._here.poll(2.0) else ("where", "in code that is not Python's")
            self._kill()
            self._pid = told if kind == "ready" else self._ready()
            return f"HANG for more than {self.deadline:g} s\n{told}"
        kind, told = self._here.recv()
        if kind == "ready":
            self._pid = told
            return "CRASH: the process died"
        return told

    def _answered(self) -> bool:
        """Whether it did before the deadline; what works gets that long of a processor, as others may want it too."""
        before, _ = self._worked()
        for _ in range(60):
            if self._here.poll(self.deadline):
                return True
            now, waits = self._worked()
            if waits or now - before >= self.deadline:
                return False
        return False

    def _worked(self) -> tuple[float, bool]:
        """Seconds of a processor that the process has had, and whether it wants none now."""
        try:
            fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        except FileNotFoundError:
            return 0.0, False
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), fields[0] in "SDT"

    def _ready(self, patience: float = 300.0) -> int:
        while self._here.poll(patience):
            kind, told = self._here.recv()
            if kind == "ready":
                return int(told)
        raise RuntimeError("no process to try cases in")

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._pid, signal.SIGKILL)


def main() -> None:
    from tests.fuzz import trying

    here, place = Connection(int(sys.argv[1])), Path(sys.argv[2])
    gc.disable()  # thousands of modules: looking for garbage among them is a third of their import
    if not place.exists():
        from tests.fuzz import yard

        yard.imports()
        pid = os.fork()
        if pid == 0:
            try:
                gc.enable()
                yard.make(place)
                os._exit(0)
            finally:
                traceback.print_exc()
                os._exit(1)
        if os.waitpid(pid, 0)[1]:
            raise RuntimeError("no yard")
    trying.imported(place)
    gc.freeze()  # what is shared by all processes stays so: a collection would write to each page
    while True:
        pid = os.fork()
        if pid == 0:
            try:
                gc.enable()
                trying.serve(here, place)
            finally:
                os._exit(0)
        _, status = os.waitpid(pid, 0)
        if os.waitstatus_to_exitcode(status) == trying.ENDED:
            os._exit(0)  # nothing is left to be put away, and thousands of modules would take their time


if __name__ == "__main__":
    main()
