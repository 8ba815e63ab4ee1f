"""The turn evaluator: a clinician's turn -> intent, ten features, and whether it answers the patient's question.

    evaluation = await evaluate(ask, prompts, turn, window, pending, said)     # by a chat model
    evaluation = rules.evaluate(turn, pending, said)                           # by rules, offline

One table of features, `RUBRIC`, is behind the prompt, the rules and the documents. The model sees the turn, the last
three clinician turns, the pending question, and what the patient said last, without which nobody can tell a reflection
from a speech (Appendix F.1 shows nothing of the patient, MC-G19); it never sees a concern. An answer outside the
schema is asked for again; after the last try the rules take over and the record says so (MC-G21).
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from baselines.dialogue.game import Ask
from baselines.medconceal import rules
from baselines.medconceal.probes import label_probe
from baselines.medconceal.record import FEATURES, INTENTS, Features, TurnEvaluation, is_share
from baselines.medconceal.typed import asks
from baselines.medconceal.untrusted import heard
from loaders.files.bundled import bundled
from loaders.models.asking import Unfit, ask_until, fenced, object_schema, read_object
from loaders.models.messages import Answer, Decoding, Message
from loaders.models.prompts import Prompts
from loaders.spans import words

ATTEMPTS = 3
WINDOW = 3
MAX_TOKENS = 700
DECODING: Decoding = {"temperature": 0, "max_tokens": MAX_TOKENS}
_PATIENCE = 2  # turns that a question of the patient stays pending (MC-G20)


RUBRIC = bundled("baselines.medconceal", "rubric.csv")
"""Table 13: the key and name of each feature, its origin, and when a turn has it."""
TABLES = {
    "features": "\n".join(f"- {one['key']} ({one['name']}): high when the turn {one['high']}." for one in RUBRIC),
    "intents": "\n".join(f"- {name}: {meaning}." for name, meaning in INTENTS.items()),
}
"""The rubric and the intents as lines of the evaluator's prompt."""

SCHEMA = object_schema(
    {
        "intent": tuple(INTENTS),
        "intent_probabilities": object_schema(dict.fromkeys(INTENTS, float)),
        "pending_covered": bool,
        "empathy": float,
        "features": object_schema(dict.fromkeys(FEATURES, float)),
    }
)


async def evaluate(
    ask: Ask, prompts: Prompts, turn: str, window: Sequence[str], pending: str | None, said: str = ""
) -> TurnEvaluation:
    """The rating of a turn by the role `evaluator`, or by the rules after three unusable answers.

    `turn` and `window` are as the patient hears them (`untrusted.heard`), `said` are the patient's last words. A turn
    without words is not asked about.
    """
    if not words(turn):
        return rules.evaluate(turn, pending)
    system = prompts.fill("evaluator", TABLES)
    parts = [fenced("earlier_turn", heard(earlier)) for earlier in window[-WINDOW:]]
    parts += [fenced("pending_question", heard(pending))] if pending else []
    parts += [fenced("patient_said", heard(said))] if said else []
    parts += [fenced("turn_to_rate", heard(turn)), "Rate turn_to_rate. Answer with the JSON object alone."]
    messages = [Message("system", system), Message("user", "\n\n".join(parts))]
    asked = await ask_until(
        partial(ask, "evaluator", **DECODING, json_schema=SCHEMA),
        messages,
        lambda answer: parse(read_object(answer.text), pending=pending is not None),
        attempts=ATTEMPTS,
    )
    if asked.value is None:
        earlier, attempts = window[-WINDOW:], asked.attempts
        return rules.evaluate(turn, pending, said, earlier, obtained="rules_after_failure", attempts=attempts)
    return replace(asked.value, label_probe=label_probe(turn), attempts=asked.attempts)


async def relevance(
    ask: Ask, prompts: Prompts, turn: str, said: str, topics: Sequence[Sequence[str]], *, case_id: str
) -> tuple[float, ...] | None:
    """How near a turn comes to each of several topics, in quarters of [0, 1]; None without a usable answer.

    The role `evaluator` is asked separately from the rating, in a request that nobody else sees: it holds the topic
    terms of the case's concerns under neutral keys, in an order specific to the case, and neither a concern nor its
    category. It answers with numbers, which reach only the policy.
    """
    if not words(turn):
        return (0.0,) * len(topics)
    order = sorted(range(len(topics)), key=lambda at: hashlib.sha256(f"{case_id} {at}".encode()).digest())
    keys = {f"T{number}": at for number, at in enumerate(order, start=1)}
    listed = "\n".join(f"{key}: {'; '.join(topics[at])}" for key, at in keys.items())
    parts = [fenced("topics", heard(listed)), *([fenced("patient_said", heard(said))] if said else [])]
    parts += [fenced("turn_to_rate", heard(turn)), "Rate turn_to_rate. Answer with the JSON object alone."]

    def read(answer: Answer) -> tuple[float, ...]:
        given = read_object(answer.text)
        if set(given) != set(keys) or not all(map(is_share, given.values())):
            raise Unfit(f"there are no numbers from 0 to 1 for {', '.join(keys)}, all of them and no other")
        by_place = {at: _quarter(given[key]) for key, at in keys.items()}
        return tuple(by_place[at] for at in range(len(topics)))

    schema = object_schema(dict.fromkeys(keys, float))
    asked = await ask_until(
        partial(ask, "evaluator", **DECODING, json_schema=schema),
        [Message("system", prompts.fill("relevance")), Message("user", "\n\n".join(parts))],
        read,
        attempts=ATTEMPTS,
    )
    return asked.value


def parse(found: Mapping[str, Any], *, pending: bool) -> TurnEvaluation:
    """The evaluation in a JSON object of `SCHEMA`.

    Numbers must lie in [0, 1] and are rounded to the nearest quarter, the scale of the prompt (MC-G21); probabilities
    are normalised to a sum of 1. Without a pending question PQC is 0.5 whatever the model says (MC-G20). Raises: Unfit.
    """
    intent, features, given = found.get("intent"), found.get("features"), found.get("intent_probabilities")
    if not isinstance(intent, str) or intent not in INTENTS:
        raise Unfit('"intent" is none of the labels')
    if not isinstance(given, dict) or set(given) - set(INTENTS) or not all(map(is_share, given.values())):
        raise Unfit('"intent_probabilities" holds something else than numbers from 0 to 1 for the labels')
    if sum(given.values()) <= 0:
        raise Unfit('"intent_probabilities" are all 0')
    if not isinstance(features, dict) or set(features) != set(FEATURES) or not all(map(is_share, features.values())):
        raise Unfit(f'"features" are not numbers from 0 to 1 for {", ".join(FEATURES)}, all of them and no other')
    if not isinstance(found.get("pending_covered"), bool):
        raise Unfit('"pending_covered" is neither true nor false')
    if not is_share(found.get("empathy")):
        raise Unfit('"empathy" is not a number from 0 to 1')
    quarters = {key: _quarter(features[key]) for key in FEATURES}
    if not pending:
        quarters["PQC"] = 0.5
    total = sum(given.values())
    return TurnEvaluation(
        intent=intent,
        intent_probabilities={name: given.get(name, 0) / total for name in INTENTS},
        features=Features(**quarters),
        pending_covered=found["pending_covered"] if pending else None,
        empathy=float(found["empathy"]),
        label_probe=False,
        obtained="model",
        attempts=1,
    )


def _quarter(value: float) -> float:
    return math.floor(4 * value + 0.5) / 4


@dataclass(frozen=True, slots=True)
class Pending:
    """The patient's open question, and how many clinician turns have gone by without an answer."""

    question: str
    unanswered: int = 0


_ENDS = re.compile(r"(?<=[.!?…])\s+|\n+")
# Questions that ask for nothing: politeness, tags, a question handed back.
_SOCIAL = re.compile(
    r"\b(?:how are you|how do you do|you know|isn't it|right|okay|ok|can you hear me|are you there)\?\W*$",
    re.IGNORECASE,
)


def clarifying_question(reply: str) -> str | None:
    """The last sentence of a reply that asks the clinician something, None if there is none.

    >>> clarifying_question("I am not sure. Would I need to stop driving? It is far.")
    'Would I need to stop driving?'
    >>> clarifying_question("It hurts, you know?") is None
    True
    """
    for sentence in reversed(_ENDS.split(reply)):
        text = sentence.strip()
        if asks(text) and len(text.split()) >= 3 and not _SOCIAL.search(text):
            return text
    return None


def next_pending(pending: Pending | None, evaluation: TurnEvaluation, reply: str) -> Pending | None:
    """The question that is open after a turn and the reply to it (MC-G20).

    A question is dropped when PQC reaches 0.5, after two turns, or when the patient asks another one.
    """
    if question := clarifying_question(reply):
        return Pending(question)
    if pending is None or evaluation.features.PQC >= 0.5:
        return None
    waited = Pending(pending.question, pending.unanswered + 1)
    return waited if waited.unanswered < _PATIENCE else None
