"""Estimates what playing a game would take, from a few of its cases: scripted words through the real prompts.

    taken = estimate(game, cases, agents, epochs=1)

No model is asked. A role is played by its scripted agent if it has one; otherwise its answers are the minimum that
their JSON schema allows. Requests are counted exactly, without those that ask a model again: its answer mostly fits,
where the words that stand for it may not. Tokens are estimated from the characters, and a model that thinks, or writes
more than the script, takes more.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Unpack

from baselines.dialogue.game import Asking, Case, Game, Script, ScriptedAgent
from baselines.dialogue.played import Spent
from loaders.models.messages import Answer, Message

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
) -> dict[str, Spent]:
    """What each role would take over all cases, estimated from a few of them, spread over the list.

    A role whose agent is None gives the answers that its schema asks for. Agents stand for models, but in the roles
    that are `scripted` in the run itself.
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
