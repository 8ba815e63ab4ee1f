"""A chat model as judge of pairs of captions: does the lay caption keep every fact of the expert caption and add none?

Rules cannot decide every pair (docs/results.md says how many). `bedside audit --judge` asks about pairs that exist;
`bedside build medlaybench-v --model … --judge …` asks about each text of the model that refines. The judge is not told
what the rules found, so that it agrees or disagrees on its own. It lists the claims of both captions before its
verdict; an answer whose verdict contradicts its list is asked for again. Answers are stored and never paid for twice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from builders.medlaybench_v.prompts import read_prompts_of_judge
from builders.medlaybench_v.sources.checks import INVISIBLE
from loaders.models.answers import Answers
from loaders.models.asking import Unfit, ask_until, fenced, object_schema, read_object
from loaders.models.messages import Answer, ChatModel, Message
from loaders.models.prompts import Prompts

KEPT, BROKEN, UNSURE, NO_ANSWER = "kept", "broken", "unsure", "no answer"
JUDGED = (KEPT, BROKEN, UNSURE, NO_ANSWER)
MAX_TOKENS = 1500
_ATTEMPTS = 2
_TAG = re.compile(r"<(?=/?(?:expert|lay)\b)", re.IGNORECASE)
_CLAIM = object_schema({"expert": str, "lay": str, "same": bool})
_SCHEMA = object_schema({"claims": [_CLAIM], "added": [str], "verdict": (KEPT, BROKEN, UNSURE), "why": str})


@dataclass(frozen=True, slots=True)
class Opinion:
    """The judge's opinion of a pair, one of `JUDGED`, and its reason."""

    verdict: str
    why: str


@dataclass(frozen=True, slots=True)
class Judge:
    """The chat model that judges, with its prompts."""

    model: ChatModel
    prompts: Prompts

    @property
    def identity(self) -> dict[str, JsonValue]:
        return {"model": dict(self.model.identity), "prompts": dict(self.prompts.digests)}

    @property
    def record(self) -> dict[str, JsonValue]:
        """What a reader of a release needs to know."""
        return {**self.model.record, "max_tokens": MAX_TOKENS, "prompts": dict(self.prompts.digests)}

    async def opinion(self, expert: str, lay: str, answers: Answers) -> Opinion:
        """The model's opinion; `NO_ANSWER` if its answers cannot be used.

        Raises: ModelError if the model does not answer.
        """

        async def ask(messages: Sequence[Message], attempt: int) -> Answer:
            return await answers.ask(
                self.model, messages, temperature=0.0, max_tokens=MAX_TOKENS, seed=attempt or None, json_schema=_SCHEMA
            )

        captions = {
            name: fenced(name, _TAG.sub("‹", text))  # neither caption can pose as the other
            for name, text in (("expert", expert), ("lay", lay))
        }
        question = [
            Message("system", self.prompts.fill("judge_system")),
            Message("user", self.prompts.fill("judge", captions)),
        ]
        asked = await ask_until(ask, question, read_opinion, attempts=_ATTEMPTS)
        return asked.value or Opinion(NO_ANSWER, asked.failure or "")


def judge_of(model: ChatModel, folder: Path | None = None) -> Judge:
    """The model as a judge, with the prompts that Bedside ships, or those of them that stand in `folder`.

    Raises: InputError for a prompt that cannot be used.
    """
    return Judge(model, read_prompts_of_judge(folder))


def read_opinion(answer: Answer) -> Opinion:
    """The opinion in an answer.

    Raises: Unfit if there is none, or if its verdict contradicts its list of claims.
    """
    told = read_object(answer.text)
    verdict, why, claims, added = (told.get(name) for name in ("verdict", "why", "claims", "added"))
    if verdict not in (KEPT, BROKEN, UNSURE) or not isinstance(why, str):
        raise Unfit(f"no verdict of {KEPT}, {BROKEN} or {UNSURE} with its why")
    if not isinstance(claims, list) or not isinstance(added, list):
        raise Unfit("no lists of claims and of what is added")
    same = [_same(claim) for claim in claims]
    if not same:
        raise Unfit("no claim of the radiologist is listed")
    if verdict != UNSURE and (verdict == KEPT) != (all(same) and not added):
        raise Unfit("the verdict contradicts the list: it is kept if every claim is the same and nothing is added")
    return Opinion(verdict, " ".join(INVISIBLE.sub(" ", why).split())[:300])


def _same(claim: object) -> bool:
    """Whether the lay caption says the same of a claim. Raises: Unfit for what is no claim."""
    match claim:
        case {"expert": str(told), "same": bool(same)} if told.strip():
            return same
    raise Unfit("a claim does not say what the radiologist claims and whether it is the same")
