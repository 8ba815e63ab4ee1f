"""The clinician's side of a dialogue: from a chart to messages, and from a model's answers to turns and findings.

A clinician is told what the people of the study were told (Appendix D.4, MC-G35) and sees only the chart and the
dialogue: everything here is built from a `Chart`, which has no place for what is hidden. A request whose answer needs a
fixed form ends with a line of ours, `DECIDE` or `SUBMIT`. No prompt file changes it, since the code reads the answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from baselines.dialogue.game import Ask
from baselines.medconceal.judge import PROMPTS as JUDGES
from baselines.medconceal.record import Exchange, Findings, SubmittedFinding
from baselines.medconceal.untrusted import heard
from baselines.medconceal.words import stem
from loaders.medconceal import CATEGORIES, Chart
from loaders.models.asking import Unfit, ask_until, object_schema, read_object, said_by, writable
from loaders.models.messages import Answer, Message
from loaders.models.prompts import Prompts, read_prompts
from loaders.spans import words

MAX_TOKENS = 256
FINDINGS_TOKENS = 1_000
ATTEMPTS = 3
MOST_FINDINGS = 100
LONGEST_FINDING = 500  # characters of a description
LONGEST_RAW = 4_000

OPENING = "(The patient has sat down. You speak first.)"
SILENCE = "(says nothing)"
DECIDE = "Answer with one word, STOP or CONTINUE."
SUBMIT = 'Answer with one JSON object and nothing else: {"findings": [{"category": "...", "description": "..."}]}'

PROMPTS = (
    *("clinician_confirmation", "clinician_intervention", "decision", "findings", "patient", "evaluator", "relevance"),
    *JUDGES,
)
"""Every prompt of the two tasks, including the judges'."""

FINDINGS_SCHEMA = object_schema({"findings": [object_schema({"category": str, "description": str})]})


def prompts(folder: Path | None = None) -> Prompts:
    """The shipped prompts, each replaced by the file of the same name in `folder` if there is one.

    Raises InputError as `loaders.models.prompts.read_prompts` does.
    """
    return read_prompts(Path(__file__).parent / "prompts", PROMPTS, folder)


def system_prompt(texts: Prompts, chart: Chart) -> str:
    """What a clinician model is told, with the chart of its case."""
    lines = "\n".join(f"{name}: {text}" for name, text in chart.lines())
    return texts.fill(f"clinician_{chart.task}", {"chart": lines})


def conversation(system: str, past: Sequence[Exchange]) -> list[Message]:
    """The dialogue so far as the clinician has seen it; its turn is next."""
    messages = [Message("system", system), Message("user", OPENING)]
    for exchange in past:
        messages.append(Message("assistant", exchange.clinician or SILENCE))
        messages.append(Message("user", exchange.patient))
    return messages


def asked(messages: Sequence[Message], request: str) -> list[Message]:
    """The dialogue with a request of ours after the patient's last words."""
    last = messages[-1]
    return [*messages[:-1], Message("user", f"{last.text}\n\n---\n{request}")]


async def wants_to_stop(ask: Ask, texts: Prompts, messages: Sequence[Message]) -> bool | None:
    """Whether the clinician ends the dialogue; None if the answer does not say (MC-G33)."""
    request = f"{texts.fill('decision')}\n{DECIDE}"
    answer = await ask("clinician", asked(messages, request), temperature=0, max_tokens=MAX_TOKENS)
    said = set(re.findall(r"\b(?:STOP|CONTINUE)\b", said_by(answer.text).upper()))
    return None if len(said) != 1 else said == {"STOP"}


async def submit(ask: Ask, texts: Prompts, messages: Sequence[Message], *, role: str = "clinician") -> Findings:
    """The findings of `role` after a confirmation dialogue; a failure is part of the record."""
    request = f"{texts.fill('findings', {'categories': '; '.join(CATEGORIES)})}\n{SUBMIT}"
    submitted = await ask_until(
        partial(ask, role, temperature=0, max_tokens=FINDINGS_TOKENS, json_schema=FINDINGS_SCHEMA),
        asked(messages, request),
        _listed,
        attempts=ATTEMPTS,
    )
    raw = writable(submitted.answer[:LONGEST_RAW])
    if submitted.value is None:
        return Findings((), raw, submitted.attempts, submitted.failure)
    items = tuple(submitted.value[:MOST_FINDINGS])
    return Findings(items, raw, submitted.attempts, None, len(submitted.value) - len(items))


def _listed(answer: Answer) -> list[SubmittedFinding]:
    items = read_object(answer.text).get("findings")
    if not isinstance(items, list):
        raise Unfit('there is no list under "findings"')
    findings = []
    for item in items:
        category, description = (item.get("category"), item.get("description")) if isinstance(item, dict) else (0, 0)
        if not isinstance(category, str) or not isinstance(description, str):
            raise Unfit('one of the findings has no text under "category" or "description"')
        findings.append(finding(category, description))
    return findings


def finding(category: str, description: str, quote: str = "") -> SubmittedFinding:
    """A finding as it is stored: the category in the exact spelling of its label, the texts as data of limited length.

    >>> finding("financial / insurance", "Cannot pay for it.").category, finding("Fears", "Of needles.").category
    ('Financial or Insurance-Related Concern', 'Emotional Discomfort or Fear')
    >>> finding("Boredom", "Is bored.").category
    'Boredom'
    """
    return SubmittedFinding(_category(category), heard(description, LONGEST_FINDING), heard(quote, LONGEST_FINDING))


# A part of a label names its category, too: "Fear", "Misconception", "Insurance". The first word decides.
_CATEGORY_OF = {
    stem(word): category
    for category in CATEGORIES
    for word in words(category)
    if word not in ("or", "related", "concern", "barriers")
}


def _category(given: str) -> str:
    first = re.search(r"[a-z]+", given.casefold())
    return _CATEGORY_OF.get(stem(first[0]) if first else "", heard(given, 80))
