"""What a patient says: one basic complaint per diagnosis, and additional complaints per photo (Section 3.1, H.1).

A model's answer is checked (`validators`); one that fails is sent back with the failed checks named, twice at most;
then the authored complaints are used instead. Every case ends with complaints and a status, none is dropped:

    accepted  the model's first answer passed
    repaired  it passed after the failed checks were named
    fallback  no answer of the model passed, or there is none: authored complaints
    authored  no model was asked

A request that is refused, or fails for good, is told apart by its error (`builders.unanswered`).

`authored_complaints.csv` was written by hand for all 34 diagnoses, so that a release can be made without a model (CC0):
for each diagnosis, one basic complaint and further ones by their subject (symptom, place, duration, intensity,
trigger); `history` is shared by all. A case draws from them by its own key. They were not written from any photo, and
no clinician has reviewed them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from builders.curation.sampling import shuffled
from builders.threemdbench.validators import check_basic, check_facts
from builders.unanswered import ask_with_retries, field_of
from loaders.files.bundled import bundled
from loaders.models.asking import Ask, Unfit, object_schema
from loaders.models.messages import Answer, Message
from loaders.models.prompts import Prompts
from loaders.threemdbench import Diagnosis, others_of_domain

AUTHORED = "authored, not clinician-reviewed"
_PATH = Path(__file__).with_name("authored_complaints.csv")
# How many complaints of each kind a case draws, in the order in which a patient is asked for them.
_DRAWN = {"symptom": 3, "place": 1, "duration": 1, "intensity": 1, "trigger": 1, "history": 1}
BY_MODEL = ("accepted", "repaired")
STATUSES = (*BY_MODEL, "fallback", "authored")
# 3M-G9
TEMPERATURE = 0.7
MAX_TOKENS = 300

BASIC_SCHEMA = object_schema({"complaint": str})
FACTS_SCHEMA = object_schema({"complaints": [str]})


@dataclass(frozen=True, slots=True)
class Facts:
    """The additional complaints of a case, their status, and who wrote them."""

    texts: tuple[str, ...]
    status: str
    source: str


async def basic_by_model(diagnosis: Diagnosis, ask: Ask, *, name: str, prompts: Prompts) -> str | Unfit:
    """The basic complaint of a diagnosis by a model, whose answer follows `BASIC_SCHEMA`; Unfit if none passed.

    Raises: what `ask_with_retries` raises.
    """
    question = Message("user", prompts.fill("basic", {"diagnosis": diagnosis.name}))

    def complaint(answer: Answer) -> str:
        field = field_of(answer, "complaint")
        if not isinstance(field, str) or not field.strip():
            raise Unfit('- format: no JSON object with a text under "complaint"')
        text = _sentence(field)
        _passed(check_basic(text))
        return text

    asked = await ask_with_retries(name, ask, prompts, question, complaint)
    return Unfit(asked.failure) if asked.value is None else asked.value


async def facts_by_model(
    diagnosis: Diagnosis, basic: str, image: bytes, ask: Ask, *, name: str, prompts: Prompts
) -> Facts | Unfit:
    """The additional complaints of a case by a model that sees the photo, whose answer follows `FACTS_SCHEMA`; Unfit if
    none passed.

    Raises: what `ask_with_retries` raises.
    """
    others = ", ".join(others_of_domain(diagnosis))
    text = prompts.fill("facts", {"diagnosis": diagnosis.name, "basic": basic, "others": others})

    def complaints(answer: Answer) -> tuple[str, ...]:
        field = field_of(answer, "complaints")
        if not isinstance(field, list) or not field or not all(isinstance(item, str) for item in field):
            raise Unfit('- format: no JSON object with a list of texts under "complaints"')
        texts = tuple(_sentence(item) for item in field)
        _passed(check_facts(basic, texts))
        return texts

    asked = await ask_with_retries(name, ask, prompts, Message("user", text, (image,)), complaints)
    if asked.value is None:
        return Unfit(asked.failure)
    return Facts(asked.value, "repaired" if asked.attempts > 1 else "accepted", name)


def _passed(failures: Sequence[str]) -> None:
    if failures:
        raise Unfit("\n".join(f"- {failure}" for failure in dict.fromkeys(failures)))


def _sentence(text: str) -> str:
    """A complaint with single spaces and a full stop."""
    plain = " ".join(text.split())
    return plain if plain[-1:] in (".", "!", "?") or not plain else f"{plain}."


# --- By hand ----------------------------------------------------------------------------------------------------------


def authored_basic(diagnosis: str) -> str:
    """The basic complaint of a diagnosis."""
    return _read()[diagnosis]["basic"][0]


def authored_facts(diagnosis: str, *, key: str, seed: int, basic: str | None = None) -> list[str]:
    """Eight additional complaints for the case `key`.

    They fit the authored basic complaint. With another one, given as `basic`, a complaint that it already covers is
    replaced by the next of its kind, or left out.
    """
    chosen: list[str] = []
    for slot, wanted in _DRAWN.items():
        there = _read()[diagnosis].get(slot) or _read()["any"][slot]
        drawn: list[str] = []
        for fact in shuffled(there, seed=seed, purpose=f"authored {slot} {key}"):
            if len(drawn) < wanted and (basic is None or _fits(basic, [*chosen, *drawn, fact])):
                drawn.append(fact)
        # In the order in which they were written, from the usual to the rarer.
        chosen += [fact for fact in there if fact in drawn]
    return chosen


def _fits(basic: str, facts: list[str]) -> bool:
    """Whether the facts pass every check except that of their number."""
    return all(failure.startswith("count: ") for failure in check_facts(basic, facts))


def authored_digest() -> str:
    """SHA-256 of all authored complaints."""
    return hashlib.sha256(_PATH.read_bytes()).hexdigest()


@cache
def _read() -> dict[str, dict[str, list[str]]]:
    found: dict[str, dict[str, list[str]]] = {}
    for row in bundled("builders.threemdbench", _PATH.name):
        found.setdefault(row["diagnosis"], {}).setdefault(row["slot"], []).append(row["text"])
    return found
