"""An environment made from the locks of a checkout, and a build in it.

The locks alone name what is installed, with hashes: nothing that was downloaded with a release says what to install or
run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from builders.release.checkout import Checkout
from loaders.errors import BedsideError, InputError
from loaders.files.disk import write_whole, writing
from loaders.files.paths import is_file, is_there
from loaders.files.texts import read_text
from loaders.manifest import file_digest

_MADE_FROM = "made-from"


@dataclass(frozen=True)
class Environment:
    """A Python with the packages that a checkout's locks name, and the checkout whose code it runs."""

    checkout: Checkout
    python: Path

    @classmethod
    def made(
        cls, checkout: Checkout, extras: Sequence[str], folder: Path, interpreter: str = sys.executable
    ) -> Environment:
        """The environment in `folder`, made by `interpreter`; one made from the same locks is reused. Raises InputError
        for an extra without a lock, and for a folder that something else lies in; BedsideError."""
        locks = [checkout.lock(name) for name in dict.fromkeys(("base", *extras))]
        python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
        wanted = "".join(f"{path.name} {file_digest(path)}\n" for path in locks) + f"{interpreter}\n"
        made_from = folder / _MADE_FROM
        if not is_file(made_from) or read_text(made_from) != wanted:
            if is_there(folder) and not is_file(made_from):
                do = "Name another folder with --out, or delete this one yourself"
                raise InputError(folder, found="exists and was not made by Bedside", expected="a new folder", do=do)
            with writing(folder):
                shutil.rmtree(folder, ignore_errors=True)
            write_whole(made_from, b"")  # it may be deleted from now on
            _run([interpreter, "-m", "venv", str(folder)], "a Python with venv; name one with --python")
            named = [word for path in locks for word in ("--requirement", str(path))]
            pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
            if (uv := shutil.which("uv")) is not None:  # does the same faster
                pip = [uv, "pip", "install", "--python", str(python)]
            expected = "the locked packages from PyPI; a lock made for another Python may lack a package"
            _run([*pip, "--require-hashes", "--no-deps", "--quiet", *named], expected)
            write_whole(made_from, wanted.encode())  # last: it says that the environment is complete
        return cls(checkout, python)

    def bedside(self, *words: str, tell: Callable[[str], None], until: str, columns: int | None = None) -> None:
        """Run a command of the checkout in the current folder; `tell` is called with each line that it prints,
        `columns` wide, before a line `until`. Raises: BedsideError if it fails."""
        # Modules are looked up in the checkout, not in the current folder.
        place = {"PYTHONPATH": str(self.checkout.folder), "PYTHONNOUSERSITE": "1"}
        command = [str(self.python), "-P", "-m", "scripts", *words]
        width = {} if columns is None else {"COLUMNS": str(columns)}
        with subprocess.Popen(
            command, env={**os.environ, **place, **width}, stdout=subprocess.PIPE, text=True, errors="replace"
        ) as running:
            assert running.stdout is not None
            said = iter(running.stdout)
            for line in takewhile(lambda line: line.rstrip("\n") != until, said):
                tell(line.rstrip("\n"))
            deque(said, maxlen=0)  # otherwise it would wait for a reader
        if running.returncode:
            do = "See its output above; run the same command again to resume"
            raise BedsideError(f"bedside {words[0]}", found=f"exit code {running.returncode}", expected="0", do=do)


def _run(command: list[str], expected: str) -> None:
    """Run a command. Raises: BedsideError if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise BedsideError(command[0], found=str(error.strerror), expected=expected) from None
    if done.returncode:
        message = " ".join((done.stderr or done.stdout).split())[-400:] or f"exit code {done.returncode}"
        raise BedsideError(" ".join(command[:4]), found=message, expected=expected)
