"""Paid answers, kept forever: ask a chat model through a store, and no request is paid for twice.

    with AnswerStore(folder / "answers.sqlite") as store:
        answers = asyncio.run(gather_bounded(lambda case: store.ask(model, prompt(case), ...), cases, limit=16))

One SQLite file in WAL mode. Each answer is committed before it is returned, so a killed run loses at most the requests
in flight; several processes may write to one store at once. A dedicated thread commits as soon as an answer arrives;
answers that arrive during a commit go into the next one together. So an answer waits for two commits at most, a few
milliseconds each on a local disk.

A request is identified by the SHA-256 of its JSON, which is stored beside the answer: the model's name (for a user's
file also its digest), the messages with digests of images, the decoding, schema, namespace and encounter. The server's
address is not part of it: a model that moves to another port, or to two servers, keeps its answers. A store of format
1, whose keys held the address, is converted when it is opened; of two servers' answers to one request the first is
kept.

Each request of a dialogue repeats everything said before. So a dialogue's store is opened with `dialogue=True`: it
keeps a digest instead of the messages, and does not wait for the disk after each answer. A killed process still loses
nothing; a power cut may undo the last answers (never the file), and they are asked again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, closing, nullcontext, suppress
from dataclasses import asdict, dataclass
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, Unpack

from loaders.errors import InputError
from loaders.files.disk import private_folder
from loaders.files.records import from_json
from loaders.files.sqlite_store import SqliteStore
from loaders.models.answer_logs import Row, ended, forget, rows_of, units_of
from loaders.models.messages import Answer, ChatModel, Decoding, Message, read_image

STORE = "answers.sqlite"
PRIVATE = "private"
"""The folder of a run for what only its owner may see: paid answers, and logs, which hold whole records."""
Item = TypeVar("Item")
Result = TypeVar("Result")
_INSERT = "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"


@dataclass(slots=True)
class Usage:
    """The requests of a run so far: sent (and paid), and replayed."""

    asked: int = 0
    replayed: int = 0


class Answers:
    """Asks models, and stores their answers before anybody uses them; `usage` counts what this process did.

    A subclass defines how an answer is found (`_stored`), and how some are made durable (`_commit`, in a thread).
    """

    def __init__(self) -> None:
        self._dialogue = False
        self.usage = Usage()
        self.turns: AbstractAsyncContextManager[None] = nullcontext()  # what each request to a model waits for
        self._in_flight: dict[str, asyncio.Event] = {}
        self._waiting: list[tuple[Row, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None
        # not the loop's own threads, in which pictures are read and names looked up
        self._writer = ThreadPoolExecutor(1, "answers")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def ask(
        self,
        model: ChatModel,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None = None,
        namespace: str = "",
        **decoding: Unpack[Decoding],
    ) -> Answer:
        """The stored answer to this request, or the model's, which is stored first.

        The namespace (a case id, a repetition) separates requests that are otherwise equal. Within one process, equal
        concurrent requests are sent once; of two processes, both return what was stored first.

        Raises what `ChatModel.ask` raises, and what opening the store raises.
        """
        request, digest = request_of(
            model, messages, decoding, json_schema, namespace=namespace, encounter=None, dialogue=self._dialogue
        )
        while digest in self._in_flight:  # the same request is in flight; if that fails or is cancelled, we send it
            await self._in_flight[digest].wait()
        done = self._in_flight[digest] = asyncio.Event()
        try:
            stored = await self._stored(digest)
            if stored is not None:
                self.usage.replayed += 1
                return stored
            async with self.turns:
                answer = await model.ask(messages, json_schema=json_schema, **decoding)
                # a request that was turned away is sent again by the next run: the server may have more room by then
                first = answer.turned_away or await self._write(digest, model.name, request, answer)
            kept = answer if first else await self._stored(digest) or answer
        finally:
            del self._in_flight[digest]
            done.set()
        self.usage.asked += 1
        return kept

    async def _stored(self, digest: str) -> Answer | None:
        raise NotImplementedError

    def _commit(self, rows: Sequence[Row]) -> None:
        raise NotImplementedError

    async def _write(self, digest: str, model: str, request: str, answer: Answer) -> bool:
        """Store an answer; True if it is known that no other process had stored one before."""
        row = _row_of(digest, model, request, answer)
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((row, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_waiting())
        await written
        return False

    async def _write_waiting(self) -> None:
        """Commit waiting answers, again and again: the disk is waited for in a thread, once for all that came in."""
        while self._waiting:
            answered, self._waiting = self._waiting, []
            try:
                rows = [row for row, _ in answered]
                await asyncio.get_running_loop().run_in_executor(self._writer, self._commit, rows)
            except asyncio.CancelledError:
                self._waiting = answered + self._waiting  # `close` will commit them
                raise
            except Exception as error:
                for _, written in answered:
                    if not written.done():
                        written.set_exception(error)
            else:
                for _, written in answered:
                    if not written.done():
                        written.set_result(None)

    def close(self) -> None:
        """Commit what was written, or was answered when everything was stopped."""
        answered, self._waiting = self._waiting, []
        self._writer.shutdown()
        if answered:
            self._commit([row for row, _ in answered])


class Unstored(Answers):
    """Asks anew and stores nothing: to see whether a model answers at all. `turns` as in another store."""

    def __init__(self, turns: AbstractAsyncContextManager[None]) -> None:
        super().__init__()
        self.turns = turns

    async def _stored(self, digest: str) -> Answer | None:
        return None

    async def _write(self, digest: str, model: str, request: str, answer: Answer) -> bool:
        return True


class AnswerStore(Answers, SqliteStore):
    """The answers in one file. For errors see the base class."""

    KIND = "an answer store"
    APPLICATION = 0x42454453  # "BEDS"
    FORMAT = 2
    TABLE = """
CREATE TABLE answers (
    digest TEXT PRIMARY KEY,  -- SHA-256 of request
    model TEXT NOT NULL,
    request TEXT NOT NULL,    -- JSON
    answer TEXT NOT NULL,     -- JSON
    input_tokens INTEGER,
    output_tokens INTEGER
)"""
    PRAGMAS = ("journal_mode = WAL",)
    PRIVATE = True
    OWNED: ClassVar[bool] = True
    """Whether this process may write to the file, and so merges the logs of other writers."""
    WHEN_DAMAGED = (
        "The file is unchanged: move it away to start over, or recover its answers with `sqlite3 FILE .recover`"
    )

    def __init__(self, path: Path, *, dialogue: bool = False) -> None:
        SqliteStore.__init__(self, path, autocommit=True)
        Answers.__init__(self)
        self._dialogue = dialogue
        with self.explained():
            # A power cut may undo a commit in WAL mode, unless each commit is synced.
            self.connection.execute(f"PRAGMA synchronous = {'NORMAL' if dialogue else 'FULL'}")
            if dialogue:  # pages of 4 kB; each checkpoint waits for the disk, a hundred times as long as a commit
                self.connection.execute("PRAGMA wal_autocheckpoint = 10000")
        try:
            if self.OWNED:
                self._take_in(parts_of(path))
        except BaseException:
            self.connection.close()
            raise

    def taken(self) -> dict[str, tuple[int, int]]:
        """Model -> tokens in and out of its answers, of those whose tokens the provider counted."""
        counted = "input_tokens IS NOT NULL AND output_tokens IS NOT NULL"
        asked = f"SELECT model, SUM(input_tokens), SUM(output_tokens) FROM answers WHERE {counted} GROUP BY model"
        with self.explained():
            return {model: (read, written) for model, read, written in self.connection.execute(asked)}

    async def _stored(self, digest: str) -> Answer | None:
        return self._read(digest)

    def _read(self, digest: str) -> Answer | None:
        with self.explained():
            row = self.connection.execute("SELECT answer FROM answers WHERE digest = ?", (digest,)).fetchone()
        return None if row is None else self._parsed(digest, str(row[0]))

    def _parsed(self, digest: str, answer: str) -> Answer:
        try:
            return from_json(Answer, answer.encode("utf-8", "surrogatepass"), self.path)
        except InputError:
            raise self.damaged(f"the answer {digest} cannot be read") from None

    async def _write(self, digest: str, model: str, request: str, answer: Answer) -> bool:
        if not self._dialogue:
            return await super()._write(digest, model, request, answer)
        with self.explained():
            return self.connection.execute(_INSERT, _row_of(digest, model, request, answer)).rowcount == 1

    def _take_in(self, parts: Path) -> None:
        """Merge what writers on other machines left in their logs (`AnswerPart`): of equal requests, the first wins."""
        for unit in units_of(parts):
            logs = ended(unit)
            with self.explained(), self.connection:
                self.connection.execute("BEGIN")
                self.connection.executemany(_INSERT, rows_of(unit))
            forget(logs, unit)
        with suppress(OSError):
            parts.rmdir()

    def _commit(self, rows: Sequence[Row]) -> None:
        with self.explained(), closing(sqlite3.connect(self.path or "", timeout=self.PATIENCE)) as connection:
            connection.execute("PRAGMA synchronous = FULL")
            with connection:
                connection.executemany(_INSERT, rows)

    def close(self) -> None:
        """Commit what was written, or was answered when everything was stopped, and release the file."""
        try:
            Answers.close(self)
        finally:
            SqliteStore.close(self)

    def _bring_over(self, version: int) -> None:
        """From format 1: compute every key again, without the address."""
        rows = self.connection.execute("SELECT rowid FROM answers ORDER BY rowid").fetchall()
        for (row,) in rows:
            found = self.connection.execute("SELECT digest, request FROM answers WHERE rowid = ?", (row,))
            digest = f"in row {row}"
            try:
                digest, request = found.fetchone()  # a damaged index may name a row that does not exist
                plain = _plain(_without_address(json.loads(request)))
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
                raise self.damaged(f"the request {digest} cannot be read") from None
            # Another server's answer to the same request stays under its old key, and is no longer used.
            self.connection.execute(
                "UPDATE OR IGNORE answers SET digest = ?, request = ? WHERE rowid = ?", (_digest(plain), plain, row)
            )


def _row_of(digest: str, model: str, request: str, answer: Answer) -> Row:
    later = ("thought", "served", "refused")  # fields that stores of earlier versions lack
    fields = {name: value for name, value in asdict(answer).items() if value is not None or name not in later}
    return digest, model, request, _plain(fields), answer.input_tokens, answer.output_tokens


def parts_of(path: Path) -> Path:
    """The folder beside a file of answers in which writers on other machines store theirs."""
    return path.with_suffix(".parts")


def store_of(run: Path) -> Path:
    """The place of a run's answers in its private folder. Raises: InputError for a folder that may not be created."""
    return private_folder(run / PRIVATE) / STORE


async def gather_bounded(
    function: Callable[[Item], Awaitable[Result]],
    items: Sequence[Item],
    *,
    limit: int,
    progress: Callable[[int, int], None] | None = None,
) -> list[Result]:
    """`function` of every item, in the items' order, at most `limit` at a time; `progress(done, total)` after each.

    The first error, or Ctrl-C, ends it: nothing more starts, what is in flight is cancelled and awaited, and the error
    is raised. What an AnswerStore has stored by then stays stored.
    """
    if limit < 1:
        raise ValueError("limit must be at least 1")
    results: dict[int, Result] = {}
    queue = iter(enumerate(items))

    async def work() -> None:
        for index, item in queue:
            # a replayed answer never waits: without this, a series of them could not be cancelled
            await asyncio.sleep(0)
            results[index] = await function(item)
            if progress is not None:
                progress(len(results), len(items))

    workers = [asyncio.create_task(work()) for _ in range(min(limit, len(items)))]
    try:
        if workers:
            await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
            for worker in workers:
                if worker.done():
                    worker.result()
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    return [results[index] for index in range(len(items))]


def request_of(
    model: ChatModel,
    messages: Sequence[Message],
    decoding: Mapping[str, Any],
    json_schema: Mapping[str, Any] | None,
    *,
    namespace: str,
    encounter: str | None,
    dialogue: bool,
) -> tuple[str, str]:
    """A request as it is stored, in JSON, and the digest that identifies it; `dialogue` as in the store."""
    told = f"[{','.join(map(_message_json, messages))}]"
    request = _plain(
        {
            # Not the client's version: an upgrade must not buy every answer again.
            "model": model.answers_as,
            "messages": _digest(told) if dialogue else json.loads(told),
            "decoding": _sent_decoding(decoding),
            "json_schema": None if json_schema is None else dict(json_schema),
            "namespace": namespace,
            "encounter": encounter,
        }
    )
    return request, _digest(request)


def _message_json(message: Message) -> str:
    """A message in the form of `_plain`, in a tenth of its time: each request repeats all of its dialogue."""
    images = _plain([_image_digest(image) for image in message.images]) if message.images else "[]"
    return f'{{"images":{images},"role":"{message.role}","text":{encode_basestring_ascii(message.text)}}}'


def _sent_decoding(decoding: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a decoding that is sent, with one spelling for each value."""
    return {
        name: float(value) if name in ("temperature", "top_p") else value
        for name, value in decoding.items()
        if value is not None
    }


def _without_address(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request of format 1 in today's form."""
    decoding = {name: request[name] for name in ("temperature", "max_tokens", "seed")}
    same = {name: request[name] for name in ("messages", "json_schema", "namespace")}
    return {"model": request["model"]["name"], "decoding": _sent_decoding(decoding), "encounter": None, **same}


def _digest(request: str) -> str:
    return hashlib.sha256(request.encode("ascii")).hexdigest()


def _image_digest(image: Path | bytes) -> str:
    return hashlib.sha256(read_image(image)[0]).hexdigest() if isinstance(image, Path) else _bytes_digest(image)


@lru_cache(maxsize=32)  # a dialogue repeats its image in each request
def _bytes_digest(image: bytes) -> str:
    return hashlib.sha256(read_image(image)[0]).hexdigest()


def _plain(value: object) -> str:
    """One JSON text per value: sorted keys, no spaces, ASCII (which keeps even lone surrogates)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
