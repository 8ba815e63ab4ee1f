"""A limit on what a run may cost: before each request, the most that it can cost is set aside.

    async with budget.paying(player, messages, max_tokens=512) as paid:
        paid(await player.ask(messages, ...))

What the answer did not use is given back; a request waits while requests in flight hold what it needs. Answers of an
earlier session count too: the limit is that of the run. A model that thinks beyond its limit of tokens may exceed what
was set aside, by that one answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from baselines.dialogue.planned import asked, tokens
from loaders.errors import BedsideError, InputError
from loaders.models.messages import Answer, ChatModel, Message

_LOOK = 0.05  # seconds between two checks of what has come back


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

    @asynccontextmanager
    async def paying(
        self, player: ChatModel, messages: Sequence[Message], max_tokens: int
    ) -> AsyncIterator[Callable[[Answer], None]]:
        """Sets aside what a request may cost, and counts what it did cost. Raises BudgetSpent if too little is left."""
        given, said = (0.0, 0.0) if player.stand_in else self.prices[player.name]
        bound = (asked(messages) * given + max_tokens * said) / 1e6
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

        def paid(answer: Answer) -> None:
            read = asked(messages) if answer.input_tokens is None else answer.input_tokens
            written = tokens(answer.text) if answer.output_tokens is None else answer.output_tokens
            self.spent += (read * given + written * said) / 1e6

        try:
            yield paid
        finally:
            self.aside -= bound
            if self.aside < 1e-12:
                self.aside = 0.0
