"""Answers of a build whose workspace is in a bucket: one object per answer, stored before the answer is used.

    answers/<first two digits>/<digest of the request>.json

Every machine that works in the bucket finds it; of several answers to one request, the first counts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from loaders.errors import BedsideError, InputError
from loaders.files.records import from_json
from loaders.files.stores import Store
from loaders.models.answer_logs import Row, row_of
from loaders.models.answers import Answers
from loaders.models.messages import Answer


class AnswerObjects(Answers):
    """The answers in a bucket. All methods raise BedsideError if the bucket cannot be reached or refuses."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self._late: set[str] = set()
        self._requests = ThreadPoolExecutor(store.at_once, "objects")

    async def _stored(self, digest: str) -> Answer | None:
        return await asyncio.get_running_loop().run_in_executor(self._requests, self._read, digest)

    def _read(self, digest: str) -> Answer | None:
        data, where = self._store.read(_name(digest)), f"{self._store}/{_name(digest)}"
        if data is None:
            return None
        try:
            return from_json(Answer, row_of(data, where)[3].encode("utf-8", "surrogatepass"), where)
        except InputError:
            do = "Delete it and run the same command again: the model is called again"
            raise BedsideError(where, found="is not a stored answer", do=do) from None

    async def _write(self, digest: str, model: str, request: str, answer: Answer) -> bool:
        await super()._write(digest, model, request, answer)
        return digest not in self._late

    def _commit(self, rows: Sequence[Row]) -> None:
        for row, first in zip(rows, self._requests.map(self._keep, rows), strict=True):
            if not first:
                self._late.add(row[0])

    def _keep(self, row: Row) -> bool:
        return self._store.create(_name(row[0]), json.dumps(row).encode("ascii"))

    def close(self) -> None:
        """As `Answers.close`."""
        try:
            super().close()
        finally:
            self._requests.shutdown()


def _name(digest: str) -> str:
    return f"answers/{digest[:2]}/{digest}.json"
