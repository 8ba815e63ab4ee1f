"""The chat model of a build: steps ask it about many rows at a time, and a build ends when it no longer answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from pydantic import JsonValue

from builders.pipeline.overlap import Overlap, Turns, under_way
from builders.pipeline.work import heard, resumed
from builders.pipeline.workspace import Heard
from loaders.errors import ModelError, ModelRefused, first_of
from loaders.files.stores import Store
from loaders.models.answer_objects import AnswerObjects
from loaders.models.answer_parts import AnswerPart
from loaders.models.answers import Answers, AnswerStore, Unstored, gather_bounded
from loaders.models.messages import Answer, ChatModel, Message
from loaders.models.prompts import Prompts
from loaders.models.tries import REFUSED

Item = TypeVar("Item")
Said = TypeVar("Said")

IN_A_ROW = 10
"""If a model fails this many rows in a row, it is considered unusable."""
REFUSED_AT_FIRST = 64
"""The same for rows that it refuses before its first answer: more than are under way until a slow answer comes."""


@dataclass
class Failures:
    """The rows that a model has failed since its last answer, the first of them, whether it refused them all, and
    how to ask for the last row that it answered, if any."""

    rows: int = 0
    first: tuple[str, ModelError] | None = None
    only_refused: bool = True
    answered: Callable[[Answers], Awaitable[object]] | None = None

    def success(self, ask: Callable[[Answers], Awaitable[object]]) -> None:
        self.rows, self.first, self.only_refused, self.answered = 0, None, True, ask

    def failure(self, row: str, error: ModelError) -> None:
        refused = _refused(error)
        if refused and self.answered:
            return  # the row is at fault: refusals come fast, and from stored answers all of them one after the other
        self.rows += 1
        self.only_refused &= refused
        self.first = self.first or (row, error)
        if self.rows >= (REFUSED_AT_FIRST if refused else IN_A_ROW):
            raise self.unusable()

    def unusable(self) -> ModelError:
        """The error for a model that no longer answers."""
        assert self.first is not None
        row, error = self.first
        so_far = f"failed {self.rows} rows in a row" if self.answered else f"answered none of {self.rows} rows"
        return _ended(error, f"{so_far}, the first of them {row}")


def _refused(error: ModelError) -> bool:
    """Whether the model turned a request away, which is an answer about this request."""
    return error.found.startswith(REFUSED)


def _lost(results: Mapping[str, object]) -> list[str]:
    """The rows for which there is no answer, not even a refusal."""
    return [key for key, said in results.items() if isinstance(said, ModelError) and not _refused(said)]


def _ended(error: ModelError, so_far: str) -> ModelError:
    do = error.do or "Check the model, then run the same command again: answers are kept"
    return type(error)(error.where, found=f"{so_far}: {error.found}", do=do)


class _Listening(Answers):
    """The answers of a store; what their servers say of themselves is added to what the batch has heard."""

    def __init__(self, store: Answers, said: set[Heard]) -> None:
        self.store, self.turns, self.said = store, store.turns, said

    async def ask(self, model: ChatModel, messages: Sequence[Message], **how: Any) -> Answer:
        answer = await self.store.ask(model, messages, **how)
        self.said.add((model.name, answer.served, answer.refused))
        return answer


def answered_as(heard: Iterable[Heard]) -> dict[str, JsonValue]:
    """By model: who answered, if its server says another name, and what it refused, so that it was left out or sent in
    another form; without models of which there is nothing to say.

    >>> answered_as([("openai/gpt-4o", "gpt-4o-2024-08-06", "seed"), ("vllm/org/name", "org/name", None)])
    {'openai/gpt-4o': {'served': 'gpt-4o-2024-08-06', 'refused': 'seed'}}
    """
    told: dict[str, JsonValue] = {}
    said = sorted(heard, key=repr)
    for model in dict.fromkeys(model for model, _, _ in said):
        of_it = [(served, refused) for one, served, refused in said if one == model]
        names = sorted({served for served, _ in of_it if served and not model.endswith(f"/{served}")})
        parts = sorted({part for _, refused in of_it if refused for part in refused.split(", ")})
        if facts := {name: text for name, text in (("served", first_of(names)), ("refused", ", ".join(parts))) if text}:
            told[model] = dict[str, JsonValue](facts)
    return told


@dataclass(frozen=True)
class Chat:
    """The chat model of a build, with its prompts and the file, or the `bucket`, that stores its paid answers."""

    model: ChatModel
    prompts: Prompts
    answers: Path
    concurrency: int = 16
    bucket: Store | None = None
    failures: Failures = field(default_factory=Failures, compare=False)

    @property
    def identity(self) -> JsonValue:
        return {"model": dict[str, JsonValue](self.model.identity), "prompts": dict(self.prompts.digests)}

    def of_a_step(self) -> Chat:
        """The same model, with failures that are counted by themselves."""
        return replace(self, failures=Failures())

    @property
    def record(self) -> dict[str, JsonValue]:
        """What a reader of a release needs to know about the model."""
        return dict[str, JsonValue](self.model.record)

    def each(self, ask: Callable[[Item, Answers], Awaitable[Said]], items: Sequence[Item]) -> list[Said]:
        """The result of `ask` for each item, with as many concurrent requests as the user allows, which concurrent
        batches share; requests of the first batch go first."""
        said = heard()

        def asked(item: Item, store: Answers) -> Awaitable[Said]:
            return ask(item, _Listening(store, said))

        overlap = under_way()
        if overlap is not None:
            return overlap.run(lambda: self._each_of_several(overlap, asked, items))
        with self._store(None) as store:
            return asyncio.run(gather_bounded(lambda item: asked(item, store), items, limit=self.concurrency))

    async def _each_of_several(
        self, overlap: Overlap, ask: Callable[[Item, Answers], Awaitable[Said]], items: Sequence[Item]
    ) -> list[Said]:
        share = max(1, self.concurrency // overlap.processes)

        def opened(open: ExitStack) -> Answers:
            store = open.enter_context(self._store(overlap.unit))
            store.turns = Turns(share)
            return store

        store = overlap.opened((self.answers, "store"), opened)
        # Twice the limit of requests: when one is answered the next is ready, and is sent before the answer is
        # processed.
        turns = overlap.opened((self.answers, "turns"), lambda _: asyncio.Semaphore(2 * share))

        async def one(item: Item) -> Said:
            async with turns:  # first come, first served
                return await ask(item, store)

        return await gather_bounded(one, items, limit=max(1, len(items)))

    def _store(self, unit: str | None) -> Answers:
        """The file of answers; its part for a `unit` of work done on some machine; or the objects in the bucket."""
        if self.bucket is not None:
            return AnswerObjects(self.bucket)
        return AnswerStore(self.answers) if unit is None else AnswerPart(self.answers, unit)

    def each_or_error(
        self, ask: Callable[[Item, Answers], Awaitable[Said]], items: Mapping[str, Item]
    ) -> dict[str, Said | ModelError]:
        """Like `each`, by the rows' keys; a row whose request is refused, or fails for good, gets that error as its
        result.

        A row fails for good only if it fails twice while the model answers: before the second time, and after it, a row
        that was answered before is asked for anew. Otherwise the last rows of a build, or a few in a short outage,
        would be blamed for a server that is away.

        Raises: ModelError, which names the first row, when the model refuses all requests (key, name), fails IN_A_ROW
        rows one after the other, fails some and then one that it had answered, or answered nothing in any of the
        batches that are under way. Refused rows that an interrupted build left over are no sign of that.
        """

        async def one(key: str, store: Answers) -> Said | ModelError:
            try:
                said = await ask(items[key], store)
            except ModelRefused as error:
                found = f"{error.found} (met first in row {key})"
                raise ModelRefused(error.where, found=found, expected=error.expected, do=error.do) from None
            except ModelError as error:
                self.failures.failure(key, error)
                return error
            self.failures.success(lambda store: ask(items[key], store))
            return said

        async def again(key: str, store: Answers) -> Said | ModelError:
            try:
                return await ask(items[key], store)
            except ModelError as error:
                if isinstance(error, ModelRefused):
                    raise
                return error

        results = dict(zip(items, self.each(one, list(items)), strict=True))
        failed = any(isinstance(result, ModelError) for result in results.values())
        if failed and not self.failures.answered and not (resumed() and self.failures.only_refused):
            if (overlap := under_way()) is not None:
                overlap.run(lambda: overlap.others(lambda: self.failures.answered is not None))
            if not self.failures.answered:
                raise self.failures.unusable()
        if lost := _lost(results):
            self._check_answers(lost)
            results.update(zip(lost, self.each(again, lost), strict=True))
            self._check_answers(_lost(results))
        return results

    def _check_answers(self, lost: Sequence[str]) -> None:
        """Raise ModelError, which names the first of the `lost` rows, unless there are none, or the model answers, or
        refuses, one that it answered before."""

        async def anew(ask: Callable[[Answers], Awaitable[object]], store: Answers) -> None:
            try:
                await ask(Unstored(store.turns))
            except ModelError as error:
                if isinstance(error, ModelRefused) or not _refused(error):
                    so_far = f"failed {first_of(lost, 1)}, and then a row that it had answered before"
                    raise _ended(error, so_far) from None

        assert self.failures.answered is not None  # else the model is unusable
        self.each(anew, [self.failures.answered] if lost else [])

    def stand_in(self, written: str) -> list[str]:
        """Why what the model wrote is a stand-in: it is not a language model. Empty if it is one."""
        return [f"{written} are by {self.model.name}, which is no language model"] * self.model.stand_in
