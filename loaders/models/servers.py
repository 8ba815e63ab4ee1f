"""One model behind several servers: a conversation stays with one of them, and moves on if that one fails."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from loaders.errors import ModelError, ModelRefused
from loaders.models.messages import PATIENCE, Answer, ChatModel, Decoding, Message


class Servers(ChatModel):
    """The same model at several addresses, opened once each; its name and identity are those of the first.

    Which server is asked depends on how a conversation begins, so that each finds its cached prefixes again. A server
    that fails is asked last from then on, and so is one that stays busy through all retries; only the last one left is
    waited for.
    """

    def __init__(self, models: Sequence[ChatModel]) -> None:
        self.name = models[0].name
        self.stand_in = models[0].stand_in
        self._models = list(models)
        self._failed: set[int] = set()

    @property
    def identity(self) -> dict[str, str]:
        return self._models[0].identity

    @property
    def answers_as(self) -> str:
        return self._models[0].answers_as

    def in_role(self, role: str) -> tuple[ChatModel, Any]:
        mine = [model.in_role(role) for model in self._models]
        return Servers([model for model, _ in mine]), mine[0][1]

    async def ask(
        self, messages: Sequence[Message], *, json_schema: Mapping[str, Any] | None = None, **decoding: Unpack[Decoding]
    ) -> Answer:
        """The model's next turn. Raises ModelError if all servers fail, and what `ChatModel.ask` raises."""
        failure: ModelError | None = None
        *others, last = self._order(messages)
        for at in (*others, last):
            patience = PATIENCE.set(PATIENCE.get() if at == last else 0)
            try:
                return await self._models[at].ask(messages, json_schema=json_schema, **decoding)
            except ModelRefused:
                raise
            except ModelError as error:
                failure = failure or error
                self._failed.add(at)
            finally:
                PATIENCE.reset(patience)
        if len(self._failed) == len(self._models):
            self._failed.clear()
        assert failure is not None
        raise failure

    def _order(self, messages: Sequence[Message]) -> list[int]:
        start = "\0".join(message.text for message in messages[:2]).encode("utf-8", "replace")
        first = int.from_bytes(hashlib.sha256(start).digest()[:8], "big")
        places = [(first + step) % len(self._models) for step in range(len(self._models))]
        return sorted(places, key=lambda at: at in self._failed)
