"""What a run may cost, and what it would: a limit on its dollars, and an estimate from a few of its cases.

    taken = estimate(game, cases, agents, epochs=1)

    budget.begin(store.taken())             # what earlier sessions of the run have cost
    answer = await budget.asked(player, messages, lambda model: store.ask(model, messages, ...))

Before each request, the most that it can cost is set aside. What the answer did not use is given back; a request waits
while requests in flight hold what it needs. Stored answers count from the beginning, whenever this session comes to
them, and cost nothing again: the limit is that of the run. What a model that thinks may write more is set aside too, as
soon as it is known to think. A server that writes beyond the tokens it was given may exceed the limit, by the answers
that are under way. A first answer that was cut, and asked for again with more room, counts in the session that paid it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Unpack

from baselines.dialogue.game import Asking, Case, Game, Script, ScriptedAgent
from baselines.dialogue.played import Spent
from loaders.errors import BedsideError, InputError
from loaders.models.messages import PAYER, Answer, ChatModel, Decoding, Message

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
            self.count(player, messages, answer)  # a stored answer that `begin` could not count
        return answer

    @asynccontextmanager
    async def paying(self, player: ChatModel, messages: Sequence[Message], max_tokens: int) -> AsyncIterator[None]:
        """Sets aside what a request may cost. Raises BudgetSpent if too little is left."""
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
            yield
        finally:
            self.aside -= bound
            if self.aside < 1e-12:
                self.aside = 0.0

    def _price(self, player: ChatModel) -> tuple[float, float]:
        return (0.0, 0.0) if player.stand_in else self.prices[player.name]

    def count(self, player: ChatModel, messages: Sequence[Message], answer: Answer) -> None:
        """Counts what an answer has cost."""
        self.spent += dollars(self._price(player), *counted(messages, answer))


class _Paying(ChatModel):
    """A model whose requests are paid from a budget; `sent` says whether it made one. What it sets aside is `held`. It
    is the `Payer` of its own requests."""

    def __init__(self, model: ChatModel, budget: Budget, held: AsyncExitStack) -> None:
        self.name, self.stand_in = model.name, model.stand_in
        self._model, self._budget, self._held, self.sent = model, budget, held, False
        self._aside = AsyncExitStack()
        self._messages: Sequence[Message] = ()
        self._paid: list[Answer] = []

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
        self.sent, self._messages = True, messages
        await self._held.enter_async_context(self._aside)
        await self.allow(decoding["max_tokens"])
        payer = PAYER.set(self)
        try:
            answer = await self._model.ask(messages, json_schema=json_schema, **decoding)
        finally:
            PAYER.reset(payer)
        self.pay(answer)
        return answer

    async def allow(self, max_tokens: int) -> None:
        await self._aside.aclose()
        await self._aside.enter_async_context(self._budget.paying(self._model, self._messages, max_tokens))

    def pay(self, answer: Answer, /) -> None:
        if not any(answer is one for one in self._paid):
            self._paid.append(answer)
            self._budget.count(self._model, self._messages, answer)


FEW = 3
CHARACTERS = 4  # of English text per token; JSON has more tokens
FRAME = 4  # tokens added around a message
IMAGE = 800  # tokens of a picture
_PIECE = re.compile(r"_?[^\W\d_]+|\d{1,3}|[^\w\s]+")
_SENTENCE = "This is what the patient said about it, and what I would say of it myself."


def tokens(text: str) -> int:
    """About how many tokens a text has: by its characters or, since JSON is mostly signs and short words, by these. A
    model's text may hold unpaired surrogates."""
    return max(-(-len(text.encode(errors="surrogatepass")) // CHARACTERS), len(_PIECE.findall(text)))


def asked(messages: Sequence[Message]) -> int:
    """About how many tokens a request has."""
    return sum(tokens(message.text) + FRAME + IMAGE * len(message.images) for message in messages)


def counted(messages: Sequence[Message], answer: Answer) -> tuple[int, int]:
    """Tokens of a request and of its answer, estimated where the provider has not counted them."""
    read = asked(messages) if answer.input_tokens is None else answer.input_tokens
    return read, tokens(answer.text) if answer.output_tokens is None else answer.output_tokens


def estimate(
    game: Game[Case, Any],
    cases: Sequence[Case],
    agents: Mapping[str, ScriptedAgent | None],
    *,
    epochs: int = 1,
    scripted: Collection[str] = (),
    endless: bool = False,
) -> dict[str, Spent]:
    """What each role would take over all cases: scripted words through the real prompts of a few of them, spread over
    the list. No model is asked.

    A role whose agent is None gives the least that its JSON schema allows. Agents stand for models, but in the roles
    that are `scripted` in the run itself. Requests are counted exactly, without those that ask a model again: its
    answer mostly fits, where the words that stand for it may not. Tokens are estimated from the characters, and a model
    that thinks, or writes more than the script, takes more. Scripts mostly reach the end of a dialogue early; with
    `endless`, models say as much as theirs and nothing that would end one, so that each is played to its limit.
    """
    count = min(FEW, len(cases))
    chosen = [cases[at * (len(cases) - 1) // max(1, count - 1)] for at in range(count)]
    taken = {role: Spent() for role in game.roles}

    async def play(case: Case) -> None:
        scripts: dict[str, Script] = {}

        async def ask(role: str, messages: Sequence[Message], **how: Unpack[Asking]) -> Answer:
            agent = agents[role]
            if agent is None:
                schema = how.get("json_schema")
                text = _SENTENCE if schema is None else json.dumps(_filled(schema))
            else:
                text = scripts.setdefault(role, agent(case))(messages)
                if endless and role not in scripted and not how.get("json_schema"):
                    text = (f"{_SENTENCE} " * -(-len(text) // len(_SENTENCE)) or _SENTENCE).strip()
            if role in scripted or not how.get("attempt"):
                taken[role].add(Spent(1, asked(messages), tokens(text)))
            return Answer(text, None, None, "stop")

        await game.play(case, ask)

    for case in chosen:
        asyncio.run(play(case))
    share = epochs * len(cases) / len(chosen)
    return {
        role: Spent(round(one.requests * share), round(one.input_tokens * share), round(one.output_tokens * share))
        for role, one in taken.items()
    }


def _filled(schema: Mapping[str, Any]) -> Any:
    """The plainest value that a schema accepts."""
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {name: _filled(part) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [_filled(schema["items"])] if "items" in schema else []
    return {"integer": 1, "number": 0.5, "boolean": True}.get(str(kind), _SENTENCE)
