"""A Postgres server of one's own on the loopback, where Debian's package is there: for tests, and gone after them."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


def _programs() -> Path | None:
    for place in sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True):
        if (place / "initdb").exists():
            return place
    found = shutil.which("initdb")
    return Path(found).parent if found else None


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of an empty database. Skips the test, with the reason, where there is no Postgres."""
    programs = _programs()
    if programs is None:
        pytest.skip("no Postgres here (Debian: apt install postgresql)")
    pytest.importorskip("psycopg", reason="psycopg is not installed (extra study)")
    user: str | None = None
    if os.geteuid() == 0:  # the server refuses to run as root
        try:
            user = pwd.getpwnam("postgres").pw_name
        except KeyError:
            pytest.skip("Postgres does not run as root, and there is no user postgres")
    folder = Path(tempfile.mkdtemp(prefix="bedside-pg-", dir="/tmp"))
    if user:
        shutil.chown(folder, user)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    where = folder / "data"
    quick = ["-o", f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off"]
    try:
        _run(
            [programs / "initdb", "-D", where, "-A", "trust", "-U", "bedside", "--no-sync", "-E", "UTF8"], user, folder
        )
        _run([programs / "pg_ctl", "-D", where, "-l", folder / "log", "-w", *quick, "start"], user, folder)
        yield f"postgresql://bedside@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run(
            [programs / "pg_ctl", "-D", where, "-m", "immediate", "stop"], user=user, cwd=folder, capture_output=True
        )
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: list[object], user: str | None, folder: Path) -> None:
    done = subprocess.run([str(word) for word in command], user=user, cwd=folder, stdout=subprocess.DEVNULL)
    if done.returncode:
        pytest.skip(f"Postgres does not start here: {Path(str(command[0])).name} ended with {done.returncode}")
