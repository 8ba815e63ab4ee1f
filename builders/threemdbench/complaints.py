"""What a patient says: one basic complaint per diagnosis, and additional complaints per photo (Section 3.1, H.1).

A model's answer is checked (`validators`); one that fails is sent back with the failed checks named, twice at most;
then the authored complaints stand in. Every case ends with complaints and a status, none is dropped:

    accepted  the model's first answer passed
    repaired  it passed after the failed checks were named
    fallback  no answer of the model passed: authored complaints
    authored  no model was asked
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from builders.threemdbench.authored import SOURCE, authored_basic, authored_facts
from builders.threemdbench.validators import Failure, check_basic, check_facts
from loaders.models.messages import Message
from loaders.models.prompts import Prompts
from loaders.threemdbench import Diagnosis, others_of_domain

STATUSES = ("accepted", "repaired", "fallback", "authored")
RETRIES = 2
# 3M-G9
TEMPERATURE = 0.7
MAX_TOKENS = 300

Ask = Callable[[Sequence[Message], dict[str, Any], int], Awaitable[str]]
"""Conversation so far, JSON Schema of the answer, number of the attempt from 0 -> the model's text."""

BASIC_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"complaint": {"type": "string"}},
    "required": ["complaint"],
    "additionalProperties": False,
}
FACTS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"complaints": {"type": "array", "items": {"type": "string"}}},
    "required": ["complaints"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Basic:
    """The basic complaint of a diagnosis, its status, and who wrote it."""

    text: str
    status: str
    source: str


@dataclass(frozen=True, slots=True)
class Facts:
    """The additional complaints of a case, their status, and who wrote them."""

    texts: tuple[str, ...]
    status: str
    source: str


def basic_by_hand(diagnosis: Diagnosis) -> Basic:
    """The authored basic complaint."""
    return Basic(authored_basic(diagnosis.name), "authored", SOURCE)


def facts_by_hand(diagnosis: Diagnosis, *, key: str, seed: int) -> Facts:
    """Authored complaints, drawn by the key of the case."""
    return Facts(tuple(authored_facts(diagnosis.name, key=key, seed=seed)), "authored", SOURCE)


async def basic_by_model(diagnosis: Diagnosis, ask: Ask, *, name: str, prompts: Prompts) -> Basic:
    """Ask a model for the basic complaint of a diagnosis."""
    question = Message("user", prompts.fill("basic", {"diagnosis": diagnosis.name}))

    def read(answer: str) -> tuple[list[str], list[Failure]]:
        text = _parsed(answer, "complaint")
        if not isinstance(text, str) or not text.strip():
            return [], [Failure("format", 'no JSON object with a text under "complaint"')]
        complaint = _sentence(text)
        return [complaint], check_basic(complaint)

    found, status = await _asked(question, ask, BASIC_SCHEMA, read, prompts)
    if found:
        return Basic(found[0], status, name)
    return Basic(authored_basic(diagnosis.name), "fallback", SOURCE)


async def facts_by_model(
    diagnosis: Diagnosis, basic: str, image: bytes, ask: Ask, *, name: str, prompts: Prompts, key: str, seed: int
) -> Facts:
    """Ask a model that sees the photo for the additional complaints of a case."""
    others = ", ".join(others_of_domain(diagnosis))
    text = prompts.fill("facts", {"diagnosis": diagnosis.name, "basic": basic, "others": others})

    def read(answer: str) -> tuple[list[str], list[Failure]]:
        items = _parsed(answer, "complaints")
        if not isinstance(items, list) or not items or not all(isinstance(item, str) for item in items):
            return [], [Failure("format", 'no JSON object with a list of texts under "complaints"')]
        complaints = [_sentence(item) for item in items]
        return complaints, check_facts(basic, complaints)

    found, status = await _asked(Message("user", text, (image,)), ask, FACTS_SCHEMA, read, prompts)
    if found:
        return Facts(tuple(found), status, name)
    return Facts(tuple(authored_facts(diagnosis.name, key=key, seed=seed, basic=basic)), "fallback", SOURCE)


async def _asked(
    question: Message,
    ask: Ask,
    schema: dict[str, Any],
    read: Callable[[str], tuple[list[str], list[Failure]]],
    prompts: Prompts,
) -> tuple[list[str], str]:
    """The first answer that passes, with its status; ([], "fallback") when none does."""
    history = [Message("system", prompts.fill("system")), question]
    for attempt in range(1 + RETRIES):
        answer = await ask(history, schema, attempt)
        found, failures = read(answer)
        if not failures:
            return found, "repaired" if attempt else "accepted"
        named = "\n".join(f"- {failure}" for failure in dict.fromkeys(failures))
        history = [*history, Message("assistant", answer), Message("user", prompts.fill("retry", {"failures": named}))]
    return [], "fallback"


def _parsed(answer: str, field: str) -> object:
    """What stands under `field` in the first JSON object of an answer that has it, wherever the object stands.

    >>> _parsed('Here you are: {"complaint": "You itch."}', "complaint")
    'You itch.'
    >>> _parsed("You itch.", "complaint") is None
    True
    """
    decoder = json.JSONDecoder()
    at = answer.find("{")
    while at >= 0:
        try:
            found, _ = decoder.raw_decode(answer, at)
        except (json.JSONDecodeError, RecursionError):
            found = None
        if isinstance(found, dict) and field in found:
            return found[field]
        at = answer.find("{", at + 1)
    return None


def _sentence(text: str) -> str:
    """A complaint with single spaces and a full stop."""
    plain = " ".join(text.split())
    return plain if plain[-1:] in (".", "!", "?") or not plain else f"{plain}."
