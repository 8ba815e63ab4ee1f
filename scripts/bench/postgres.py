"""A temporary Postgres server on the loopback, if Debian's package is installed; removed afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from loaders.errors import BedsideError


class NoPostgres(BedsideError):
    """There is none on this machine, or it does not start."""


def _programs() -> Path:
    for place in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (place / "initdb").exists():
            return place
    found = shutil.which("initdb")
    if found is None:
        raise NoPostgres("postgres", found="no program", expected="Debian's package: apt install postgresql")
    return Path(found).parent


def free_port() -> int:
    """A port of this machine on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@contextmanager
def postgres(*, safe: bool = False) -> Iterator[str]:
    """The URL of an empty database. `safe`: a commit is on the disk before it is said; slower. Raises NoPostgres."""
    programs = _programs()
    if find_spec("psycopg") is None:
        raise NoPostgres("psycopg", found="not installed", expected="the extra study")
    user: str | None = None
    if os.geteuid() == 0:  # the server refuses to run as root
        try:
            user = pwd.getpwnam("postgres").pw_name
        except KeyError:
            raise NoPostgres("postgres", found="no user postgres", expected="one, as it does not run as root") from None
    folder = Path(tempfile.mkdtemp(prefix="bedside-pg-", dir="/tmp"))
    if user:
        shutil.chown(folder, user)
    port = free_port()
    where = folder / "data"
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1"
    if not safe:
        options += " -c fsync=off -c full_page_writes=off"
    begin = ["-D", where, "-A", "trust", "-U", "bedside", "--no-sync", "-E", "UTF8"]
    try:
        _run([programs / "initdb", *begin], user, folder)
        _run([programs / "pg_ctl", "-D", where, "-l", folder / "log", "-w", "-o", options, "start"], user, folder)
        yield f"postgresql://bedside@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run(
            [programs / "pg_ctl", "-D", where, "-m", "immediate", "stop"], user=user, cwd=folder, capture_output=True
        )
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: list[object], user: str | None, folder: Path) -> None:
    done = subprocess.run([str(word) for word in command], user=user, cwd=folder, stdout=subprocess.DEVNULL)
    if done.returncode:
        name = Path(str(command[0])).name
        raise NoPostgres("postgres", found=f"{name} ended with {done.returncode}", expected="a server that starts")
