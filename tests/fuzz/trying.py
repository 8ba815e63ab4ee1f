"""The process that tries cases: without privileges, in a folder of its own, everything that it prints caught."""

from __future__ import annotations

import importlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

from loaders.errors import BedsideError
from scripts.terminal import streams
from tests.parts.places import ROOT

ENDED = 77
NOBODY = 65534
MODULES = "modules.txt"


@dataclass(frozen=True)
class Read:
    """A reader, by its name, and what is done to the file that it reads."""

    reader: str
    damages: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Line:
    """A command line, as `lines.words_of` makes one of these numbers."""

    command: tuple[str, ...]
    focus: int
    place: int
    rest: int


@dataclass(frozen=True)
class Call:
    """A function at the top of a module."""

    function: Callable[[], object]


def imported(yard: Path) -> None:
    """Import now what cases would import: later it may lie where this process may not read."""
    for name in (yard / MODULES).read_text(encoding="utf-8").split():
        with suppress(Exception):
            importlib.import_module(name)


def serve(here: Connection, yard: Path) -> None:
    os.setsid()
    home = Path(tempfile.mkdtemp(prefix="cases-", dir=yard.parent))
    _unprivileged(home)
    caught = os.open(home / "printed", os.O_RDWR | os.O_CREAT)
    os.dup2(caught, 1)
    os.dup2(caught, 2)
    os.environ.update(HOME=str(home), TMPDIR=str(home), HF_HOME=str(home / "hub"))
    tempfile.tempdir = str(home)

    def where(_: int, frame: FrameType | None) -> None:
        here.send(("where", "".join(traceback.format_stack(frame)[-12:])))

    streams.guard()
    signal.signal(signal.SIGUSR1, where)
    here.send(("ready", os.getpid()))
    number = 0
    while True:
        try:
            case = here.recv()
        except EOFError:
            os.chdir("/")
            shutil.rmtree(home, ignore_errors=True)
            os._exit(ENDED)
        if case is None:
            os.chdir("/")
            shutil.rmtree(home, ignore_errors=True)
            os._exit(0)
        number += 1
        folder = home / "in" / f"{number}"
        folder.mkdir(parents=True)
        os.chdir(folder)
        os.ftruncate(caught, 0)
        os.lseek(caught, 0, os.SEEK_SET)
        told = _fault(case, yard, folder, caught)
        here.send(("done", told))
        os.chdir("/")
        shutil.rmtree(home / "in", ignore_errors=True)


def _unprivileged(home: Path) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    if os.getuid() == 0:
        os.chown(home, NOBODY, NOBODY)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def _fault(case: Any, yard: Path, folder: Path, caught: int) -> str | None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        match case:
            case Read():
                told = _read(case, yard, folder)
            case Line():
                told = _line(case, yard, folder, caught)
            case _:
                told = _raised(case.function)
    except MemoryError:
        told = "MEMORY: more than the process may have"
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    if told is None and peak > max(before, 2 << 20):  # kibibytes: 2 GiB
        told = f"MEMORY: {peak >> 10:,} MiB"
    return told


def _read(case: Read, yard: Path, folder: Path) -> str | None:
    from tests.fuzz.damage import damaged
    from tests.fuzz.readers import READERS

    reader = READERS[case.reader]
    path = damaged(yard, reader, case.damages, folder)
    return _raised(lambda: reader.read(path))


def _line(case: Line, yard: Path, folder: Path, caught: int) -> str | None:
    from scripts.cli import execute
    from tests.fuzz.lines import words_of

    words = words_of(case.command, case.focus, case.place, case.rest, yard, folder)
    code: list[Any] = []

    def run() -> None:
        try:
            code.append(execute(words))
        except SystemExit as end:
            code.append(end.code)

    told = _raised(run)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    printed = os.pread(caught, 1 << 20, 0).decode("utf-8", "replace")
    if told is None and code[0] not in (0, 1, 2, None):
        told = f"CODE {code[0]}\n{printed[-600:]}"
    if told is None and "Traceback (most recent call last)" in printed:
        told = f"PRINTED a traceback: {printed.strip().splitlines()[-1][:150]}\n{printed[-1500:]}"
    return told and f"{told}\nbedside {words!r}"


def _raised(run: Callable[[], object]) -> str | None:
    try:
        run()
    except BedsideError:
        return None
    except MemoryError:
        return "MEMORY: MemoryError"
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = [one for one in frames if one.filename.startswith(str(ROOT)) and "/.venv/" not in one.filename]
        ours = [one for one in ours if "/tests/" not in one.filename] or ours
        at = ours[-1] if ours else frames[-1]
        name = Path(at.filename)
        name = name.relative_to(ROOT) if name.is_relative_to(ROOT) else name
        text = "".join(traceback.format_exception(error))
        return f"{type(error).__name__} at {name}:{at.lineno} {at.name}\n{text[-2500:]}"
    return None
