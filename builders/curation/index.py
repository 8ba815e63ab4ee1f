"""What curation has found out so far, by the SHA-256 of the files' bytes: new images cost only themselves.

One SQLite file. It remembers the outcome of pure functions (measuring a picture, comparing two), so a run that finds it
half filled, or filled by other folders, ends with the result of a run without it. Other code or other library versions
start it anew.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import numpy as np
import PIL

from builders.curation.opencv import cv2
from loaders.disk import writing
from loaders.errors import BedsideError, InputError

_APPLICATION = 0x42434944  # "BCID": tells our files from other SQLite files
_EVERY = 500  # entries between two commits
_MODULES = ("agreement", "alignment", "features", "hashes", "overlaid_text", "pictures", "quality", "verification")


class Index:
    """A store of JSON texts by kind and key, in one file, or in memory for `path` None. Use it as a context manager.

    Raises: InputError for a file that is no index, is damaged (it is left as it is) or in use; BedsideError when the
    disk is full.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._waiting = 0
        if path is not None:
            with writing(path):
                path.parent.mkdir(parents=True, exist_ok=True)
            self._check_header(path)
        with self._explained():
            self._connection = sqlite3.connect(":memory:" if path is None else path, timeout=5)
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS facts (kind TEXT, key TEXT, value TEXT, PRIMARY KEY (kind, key))"
            )
            if self.get("identity", "") != _identity():
                self._connection.execute("DELETE FROM facts")
                self.put("identity", "", _identity())
            self._connection.commit()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            with self._explained():
                self._connection.commit()
        finally:
            self._connection.close()

    def get(self, kind: str, key: str) -> str | None:
        """What was put, or None."""
        with self._explained():
            row = self._connection.execute("SELECT value FROM facts WHERE kind = ? AND key = ?", (kind, key)).fetchone()
        return None if row is None else str(row[0])

    def keys(self, kind: str) -> set[str]:
        """All keys of a kind."""
        with self._explained():
            return {str(row[0]) for row in self._connection.execute("SELECT key FROM facts WHERE kind = ?", (kind,))}

    def put(self, kind: str, key: str, value: str) -> None:
        """Remember; on disk after a few hundred entries, at the end, or when the run is interrupted."""
        with self._explained():
            self._connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", (kind, key, value))
            self._waiting += 1
            if self._waiting >= _EVERY:
                self._connection.commit()
                self._waiting = 0

    def _check_header(self, path: Path) -> None:
        """Look before SQLite does, which may write to a file only by opening it."""
        if not path.exists():
            return
        try:
            with path.open("rb") as file:
                header = file.read(100)
        except OSError as error:
            raise InputError(path, found=f"cannot be read ({error.strerror})", expected="an index file") from error
        if header and (
            not header.startswith(b"SQLite format 3\0") or int.from_bytes(header[68:72], "big") != _APPLICATION
        ):
            raise InputError(
                path,
                found="is no index of curation",
                expected="a file that `bedside curate` made",
                do="It was left as is: name another file",
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                raise BedsideError(
                    str(self.path), found=f"cannot be written ({error})", do="Free some space there and run again"
                ) from None
            busy = code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            do = "Wait for the other run to end" if busy else "Delete it: the next run makes a new one"
            raise InputError(
                str(self.path), found=f"cannot be used ({error})", expected="an index file", do=do
            ) from None


def _identity() -> str:
    """Changes whenever what is remembered could."""
    digest = hashlib.sha256(f"{cv2.__version__} {np.__version__} {PIL.__version__}".encode())
    for module in _MODULES:
        digest.update(Path(__file__).with_name(f"{module}.py").read_bytes())
    return digest.hexdigest()
