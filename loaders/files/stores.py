"""Files of a build that several processes or machines write: in a folder, or in a bucket (`loaders.files.bucket`).

    store.create("results/9f3c….json", data)    # of several writers, on any number of machines, exactly one is first

Names are relative, with parts separated by `/`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import filelock

from loaders.errors import BedsideError
from loaders.files.disk import make_folder, sweep, write_first, write_whole, writing
from loaders.files.opening import read_file
from loaders.files.paths import is_there

IN_USE = "another build is using this workspace"


class Store(Protocol):
    """Files by name. Picklable, as workers write in parallel; each file is whole or absent. `str` gives its location.

    All methods raise BedsideError if the disk is full, or the store cannot be reached or refuses.
    """

    @property
    def anywhere(self) -> bool:
        """Whether machines that share no disk with this one can reach it."""

    @property
    def at_once(self) -> int:
        """How many files are best requested at once."""

    def read(self, name: str) -> bytes | None:
        """The bytes of a file; None if there is none."""

    def size(self, name: str) -> int | None:
        """The size of a file in bytes; None if there is none."""

    def put(self, name: str, data: bytes) -> None:
        """Write a file, replacing an existing one."""

    def create(self, name: str, data: bytes) -> bool:
        """Write a file if none exists yet; otherwise return False and write nothing."""

    def list(self, folder: str) -> list[str]:
        """The names of the files in a folder, in order; none if there is no such folder."""

    def held(self, own: Path) -> AbstractContextManager[Callable[[], None]]:
        """Keep the store for this process alone; `own` is a folder on the local disk. The yielded function raises
        BedsideError once somebody else has taken the store over.

        Raises: BedsideError while another process keeps it.
        """


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder, on this machine's disk or on one shared with others."""

    folder: Path
    anywhere = False
    at_once = 1

    def __str__(self) -> str:
        return str(self.folder)

    def path(self, name: str) -> Path:
        """The path of a file."""
        return self.folder / name

    def read(self, name: str) -> bytes | None:
        """As `Store.read`. Raises: InputError for anything that is not a readable file."""
        path = self.path(name)
        return read_file(path) if is_there(path) else None

    def size(self, name: str) -> int | None:
        path = self.path(name)
        return path.stat().st_size if is_there(path) else None

    def put(self, name: str, data: bytes) -> None:
        write_whole(self.path(name), data)

    def create(self, name: str, data: bytes) -> bool:
        path = self.path(name)
        return not is_there(path) and write_first(path, data)

    def list(self, folder: str) -> list[str]:
        try:
            return sorted(f"{folder}/{name}" for name in os.listdir(self.path(folder)))  # noqa: PTH208 - names alone
        except FileNotFoundError:
            return []

    @contextmanager
    def held(self, own: Path) -> Iterator[Callable[[], None]]:
        """As `Store.held`, by a lock that ends with this process; what killed
        processes left half-written is removed."""
        with locked(self.folder):
            sweep(self.folder)
            yield lambda: None


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """The lock of a folder, which ends with its process. Raises: BedsideError while another process holds it."""
    make_folder(folder)
    path = folder / "lock"
    with writing(path):  # the file of another user may be the only one there that may not be written
        try:
            lock = filelock.FileLock(path, timeout=0).acquire()
        except filelock.Timeout:
            do = "Wait for it to end, or choose another workspace"
            raise BedsideError(folder, found=IN_USE, do=do) from None
    with lock:
        yield
