"""`AnswerPart` replaces `AnswerStore` where several machines ask for answers.

    with AnswerPart(workspace / "answers.sqlite", unit="9f3c…") as store: ...

Two machines cannot write to one SQLite file (WAL needs shared memory). So a part reads the file, to which nobody writes
meanwhile, and keeps its new answers in a log of its own (`answer_logs`), beside those of earlier writers of the same
unit of work, which it reads first: when a unit is redone after its writer died, only what was in flight is asked again.
The owner of the file merges the logs when it opens it. Of two answers to one request the first counts from then on,
in the order of unit, log and line.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from loaders.errors import InputError
from loaders.files.paths import is_there
from loaders.models.answer_logs import LogWriter, Row, rows_of
from loaders.models.answers import AnswerStore, parts_of
from loaders.models.messages import Answer


class AnswerPart(AnswerStore):
    """The answers of one unit of work, in addition to those in the file at `path`, which exists and is not changed.

    Raises: as `AnswerStore`; InputError while somebody writes to the file.
    """

    OWNED = False

    def __init__(self, path: Path, unit: str) -> None:
        folder = parts_of(path) / unit
        self._own: dict[str, str] = {}
        for digest, _, _, answer, *_ in rows_of(folder):
            self._own.setdefault(digest, answer)
        super().__init__(path)
        self._log = LogWriter(folder)

    def _connected(self) -> sqlite3.Connection:
        assert self.path is not None
        if is_there(self.path.with_name(f"{self.path.name}-wal")):
            raise InputError(self.path, found="another process writes to it", do="Wait for it to end")
        return sqlite3.connect(f"file:{quote(os.fsencode(self.path))}?immutable=1", uri=True)

    def _read(self, digest: str) -> Answer | None:
        own = self._own.get(digest)
        return super()._read(digest) if own is None else self._parsed(digest, own)

    def _commit(self, rows: Sequence[Row]) -> None:
        self._log.write(rows)
        for digest, _, _, answer, *_ in rows:
            self._own.setdefault(digest, answer)

    def close(self) -> None:
        """As `AnswerStore.close`."""
        try:
            super().close()
        finally:
            self._log.close()
