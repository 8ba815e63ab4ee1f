"""A chat model as judge of the pairs that the gates leave doubtful, and of some that they pass.

It is given the two captions and what the rules could not decide, if anything, and says whether every fact is kept. Its
answers are stored and never paid for twice; the release itself is made by the rules alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from builders.medlaybench_v.audit import Audited
from loaders.models.answers import AnswerStore, gather_bounded
from loaders.models.asking import Unfit, ask_until, fenced, object_schema, read_object
from loaders.models.messages import Answer, ChatModel, Message
from loaders.models.prompts import Prompts, read_prompts

KEPT, BROKEN, UNSURE, NO_ANSWER = "kept", "broken", "unsure", "no answer"
JUDGED = (KEPT, BROKEN, UNSURE, NO_ANSWER)
_BLOCKS = {"judge_system": frozenset[str](), "judge": frozenset({"expert", "lay", "doubts"})}
_SCHEMA = object_schema({"verdict": {"type": "string", "enum": [KEPT, BROKEN, UNSURE]}, "why": {"type": "string"}})
_ATTEMPTS, _MAX_TOKENS, _AT_ONCE = 2, 160, 16


@dataclass(frozen=True, slots=True)
class Opinion:
    """The judge's opinion of a pair, one of `JUDGED`, and its reason."""

    verdict: str
    why: str


async def judge_pairs(pairs: Sequence[Audited], model: ChatModel, store: AnswerStore) -> list[Opinion]:
    """The judge's opinion of each pair, in their order.

    Raises: ModelError if the model cannot be reached.
    """
    prompts = read_prompts(Path(__file__).parent / "prompts", _BLOCKS)

    async def judge(audited: Audited) -> Opinion:
        async def ask(messages: Sequence[Message], attempt: int) -> Answer:
            return await store.ask(
                model, messages, temperature=0.0, max_tokens=_MAX_TOKENS, seed=attempt or None, json_schema=_SCHEMA
            )

        asked = await ask_until(ask, _question(prompts, audited), read_opinion, attempts=_ATTEMPTS)
        return asked.value or Opinion(NO_ANSWER, asked.failure or "")

    return await gather_bounded(judge, pairs, limit=_AT_ONCE)


def read_opinion(answer: Answer) -> Opinion:
    """The opinion in an answer.

    Raises: Unfit if there is none.
    """
    opinion = read_object(answer.text)
    verdict, why = opinion.get("verdict"), opinion.get("why")
    if verdict not in (KEPT, BROKEN, UNSURE) or not isinstance(why, str):
        raise Unfit(f"no verdict of {KEPT}, {BROKEN} or {UNSURE} with its why")
    return Opinion(verdict, " ".join(why.split())[:300])


def _question(prompts: Prompts, audited: Audited) -> list[Message]:
    doubts = "; ".join(f"{v.gate}: {v.reason}" for v in audited.doubts) or "none"
    values = {
        "expert": fenced("expert", audited.expert_caption),
        "lay": fenced("lay", audited.layman_caption),
        "doubts": fenced("doubts", doubts),
    }
    return [Message("system", prompts.fill("judge_system")), Message("user", prompts.fill("judge", values))]
