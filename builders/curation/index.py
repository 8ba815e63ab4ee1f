"""What curation has found out so far, by the SHA-256 of the files' bytes, so that only new images cost time.

One SQLite file. It caches the results of pure functions (measuring a picture, comparing two), so a run that finds it
half filled, or filled by other folders, ends with the same result as a run without it. A change of code or library
versions starts it anew.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from builders.curation.hashes import keypoints, whole
from builders.curation.opencv import cv2
from builders.curation.pictures import look, read_picture
from builders.curation.quality import measure
from builders.curation.verification import compare, features
from loaders.files.image_formats import decoders
from loaders.files.sqlite_store import SqliteStore
from loaders.reached import code_digest

_EVERY = 500  # entries between two commits


class Index(SqliteStore):
    """A store of JSON texts by kind and key, in one file, or in memory if `path`
    is None. For errors see the base class."""

    KIND = "an index of curation"
    APPLICATION = 0x42434944  # "BCID"
    FORMAT = 0
    TABLE = "CREATE TABLE facts (kind TEXT, key TEXT, value TEXT, PRIMARY KEY (kind, key))"
    WHEN_DAMAGED = "Delete it: the next run creates a new one"
    PATIENCE = 5.0

    def __init__(self, path: Path | None) -> None:
        super().__init__(path, autocommit=False)
        self._waiting = 0
        if self.get("identity", "") != _identity():
            with self.explained():
                self.connection.execute("DELETE FROM facts")
            self.put("identity", "", _identity())

    def get(self, kind: str, key: str) -> str | None:
        """The stored text, or None."""
        with self.explained():
            row = self.connection.execute("SELECT value FROM facts WHERE kind = ? AND key = ?", (kind, key)).fetchone()
        return None if row is None else str(row[0])

    def keys(self, kind: str) -> set[str]:
        """All keys of a kind."""
        with self.explained():
            return {str(row[0]) for row in self.connection.execute("SELECT key FROM facts WHERE kind = ?", (kind,))}

    def put(self, kind: str, key: str, value: str) -> None:
        """Store a text; it is on disk after a few hundred entries, at the end, or when the run is interrupted."""
        with self.explained():
            self.connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", (kind, key, value))
            self._waiting += 1
            if self._waiting >= _EVERY:
                self.connection.commit()
                self._waiting = 0


def _identity() -> str:
    """Changes whenever a stored result could."""
    code = code_digest(read_picture, whole, keypoints, measure, features, compare, look)
    return f"{cv2.__version__} {np.__version__} {decoders()} {code}"
