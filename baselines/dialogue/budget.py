"""A limit on what a run may cost: before each request, the most that it can cost is set aside.

    budget.begin(store.taken())             # what earlier sessions of the run have cost
    answer = await budget.asked(player, messages, lambda model: store.ask(model, messages, ...))

What the answer did not use is given back; a request waits while requests in flight hold what it needs. Stored answers
count from the beginning, whenever this session comes to them, and cost nothing again: the limit is that of the run. A
model that thinks beyond its limit of tokens may exceed what was set aside, by that one answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Unpack

from baselines.dialogue.planned import asked, counted
from loaders.errors import BedsideError, InputError
from loaders.models.messages import Answer, ChatModel, Decoding, Message

_LOOK = 0.05  # seconds between two checks of what has come back


def dollars(price: tuple[float, float], read: float, written: float) -> float:
    """What so many tokens in and out cost, by a price in dollars per million of either."""
    return (read * price[0] + written * price[1]) / 1e6


class BudgetSpent(BedsideError):
    """The next request could cost more than is left."""


@dataclass
class Budget:
    """A limit in dollars, for models by their prices in dollars per million tokens in and out."""

    most: float
    prices: Mapping[str, tuple[float, float]]
    spent: float = 0.0
    aside: float = 0.0

    def check(self, models: Sequence[str]) -> None:
        """Raises InputError for a model without a price, since its cost could not be counted."""
        for name in models:
            if name not in self.prices:
                expected = "a price for every paid model"
                raise InputError("--max-cost", found=f"no price for {name}", expected=expected, do="Add --price")

    def begin(self, taken: Mapping[str, tuple[int, int]]) -> None:
        """Counts stored answers, model -> tokens in and out (`AnswerStore.taken`), of the models with a price."""
        for name, (read, written) in taken.items():
            self.spent += dollars(self.prices.get(name, (0.0, 0.0)), read, written)

    async def asked(
        self, player: ChatModel, messages: Sequence[Message], ask: Callable[[ChatModel], Awaitable[Answer]]
    ) -> Answer:
        """What `ask` answers, given the player as a model that pays for each request, where it does make one.

        Raises what `ask` raises; BudgetSpent where too little is left.
        """
        async with AsyncExitStack() as held:  # until the answer is stored
            paying = _Paying(player, self, held)
            answer = await ask(paying)
        if not paying.sent and (answer.input_tokens is None or answer.output_tokens is None):
            self._count(player, messages, answer)  # a stored answer that `begin` could not count
        return answer

    @asynccontextmanager
    async def paying(
        self, player: ChatModel, messages: Sequence[Message], max_tokens: int
    ) -> AsyncIterator[Callable[[Answer], None]]:
        """Sets aside what a request may cost, and counts what it did cost. Raises BudgetSpent if too little is left."""
        bound = dollars(self._price(player), asked(messages), max_tokens)
        while self.spent + self.aside + bound > self.most:
            if not self.aside:
                raise BudgetSpent(
                    "--max-cost",
                    found=f"{self.spent:,.4f} US$ are spent, and the next request may cost {bound:,.4f}",
                    expected=f"{self.most:g} US$ at most",
                    do="Run the same command again with a higher --max-cost to resume",
                )
            await asyncio.sleep(_LOOK)
        self.aside += bound
        try:
            yield lambda answer: self._count(player, messages, answer)
        finally:
            self.aside -= bound
            if self.aside < 1e-12:
                self.aside = 0.0

    def _price(self, player: ChatModel) -> tuple[float, float]:
        return (0.0, 0.0) if player.stand_in else self.prices[player.name]

    def _count(self, player: ChatModel, messages: Sequence[Message], answer: Answer) -> None:
        self.spent += dollars(self._price(player), *counted(messages, answer))


class _Paying(ChatModel):
    """A model whose requests are paid from a budget; `sent` says whether it made one. What it sets aside is `held`."""

    def __init__(self, model: ChatModel, budget: Budget, held: AsyncExitStack) -> None:
        self.name, self.stand_in = model.name, model.stand_in
        self._model, self._budget, self._held, self.sent = model, budget, held, False

    @property
    def identity(self) -> dict[str, str]:
        return self._model.identity

    @property
    def answers_as(self) -> str:
        return self._model.answers_as

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        json_schema: Mapping[str, Any] | None = None,
        **decoding: Unpack[Decoding],
    ) -> Answer:
        self.sent = True
        paying = self._budget.paying(self._model, messages, decoding["max_tokens"])
        paid = await self._held.enter_async_context(paying)
        answer = await self._model.ask(messages, json_schema=json_schema, **decoding)
        paid(answer)
        return answer
