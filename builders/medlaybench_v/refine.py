"""From draft to lay caption: refine, check, retry, fall back (Algorithm 1, steps 3 and 4; ML-G11 to ML-G16).

Every row ends with a caption and a status; none is dropped:

    accepted  the refiner's first text passed all nine gates
    repaired  it passed after a repair: a model was told which gates failed and tried again (twice at most), or the
    rules
              took back the substitutions that broke a gate
    fallback  no text of the refiner passed; the row carries the polished draft if that passes, else the expert caption
              with lay phrases in parentheses
    ungated   only in ablation builds (conditions `llm`, `llm+cui`): a model's text, kept as written although a gate
    failed

`refiner` names who wrote the text that the row carries: the model, `rules`, or `glosses`.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from builders.medlaybench_v.draft import Drafter, Match, Piece
from builders.medlaybench_v.facts import Reading, read
from builders.medlaybench_v.gates import Context, Verdict, check
from builders.medlaybench_v.grammar import polish, tidy
from builders.medlaybench_v.prompts import user_prompt
from loaders.models.prompts import Prompts

RETRIES = 2
RULES, GLOSSES = "rules", "glosses"
# Conversation so far as (role, text); attempt number -> the model's answer.
Ask = Callable[[Sequence[tuple[str, str]], int], Awaitable[str]]


@dataclass(frozen=True, slots=True)
class Caption:
    """What the refiner works on: the expert caption, its matches, and what the gates may know of the row."""

    expert: Reading
    matches: tuple[Match, ...]
    context: Context


@dataclass(frozen=True, slots=True)
class Refined:
    """The outcome of one row."""

    layman_caption: str
    status: str
    refiner: str
    verdicts: tuple[Verdict, ...]


def by_rules(caption: Caption, drafter: Drafter) -> Refined:
    """Polish the draft; where a gate fails, take back the fewest substitutions that mend it; else gloss."""
    text, verdicts = _polished(caption, drafter, caption.matches)
    if _passed(verdicts):
        return Refined(text, "accepted", RULES, verdicts)
    repaired = _repair(caption, drafter)
    if repaired:
        return Refined(*_with(repaired, "repaired"))
    return _glossed(caption)


async def by_model(
    caption: Caption, drafter: Drafter, ask: Ask, *, name: str, condition: str, prompts: Prompts
) -> Refined:
    """Ask a model, name the failed gates in up to two retries, then fall back to the draft and to glosses."""
    draft, draft_verdicts = _polished(caption, drafter, caption.matches)
    history = [("system", prompts.fill("system")), ("user", user_prompt(prompts, condition, _values(caption, draft)))]
    ablation = condition != "scgr"
    for attempt in range(1 if ablation else 1 + RETRIES):
        answer = await ask(history, attempt)
        text = parse(answer)
        if text is not None:
            verdicts = check(caption.expert, read(text), caption.context)
            if _passed(verdicts):
                return Refined(text, "repaired" if attempt else "accepted", name, verdicts)
            if ablation:
                return Refined(text, "ungated", name, verdicts)
            failures = "\n".join(f"- {v.gate}: {v.reason}" for v in verdicts if not v.passed)
        else:
            failures = "- format: no JSON object with a non-empty text under layman_caption"
        history += [("assistant", answer), ("user", prompts.fill("retry", {"failures": failures}))]
    if _passed(draft_verdicts):
        return Refined(draft, "fallback", RULES, draft_verdicts)
    repaired = _repair(caption, drafter)
    return Refined(*_with(repaired, "fallback")) if repaired else _glossed(caption)


def parse(answer: str) -> str | None:
    """The caption in a model's answer: the first JSON object with a text under `layman_caption`, wherever it stands.

    >>> parse('Sure! {"layman_caption": "A scan."} Anything else?')
    'A scan.'
    >>> parse('{"layman_caption": ""}') is None, parse("A scan of the chest.") is None
    (True, True)
    """
    decoder = json.JSONDecoder()
    at = answer.find("{")
    while at >= 0:
        try:
            found, _ = decoder.raw_decode(answer, at)
        except (json.JSONDecodeError, RecursionError):
            found = None
        if isinstance(found, dict):
            text = found.get("layman_caption")
            if isinstance(text, str) and text.strip():
                return tidy(text)
        at = answer.find("{", at + 1)
    return None


def _polished(caption: Caption, drafter: Drafter, matches: Sequence[Match]) -> tuple[str, tuple[Verdict, ...]]:
    text = polish(drafter.draft(caption.expert, matches))
    return text, check(caption.expert, read(text), caption.context)


def _repair(caption: Caption, drafter: Drafter) -> tuple[str, tuple[Verdict, ...]] | None:
    """The draft with one substitution taken back, else with more and more of those that add most words, that passes."""
    matches = [m for m in caption.matches if m.changes]
    attempts = [matches[:i] + matches[i + 1 :] for i in range(len(matches))]
    by_growth = sorted(matches, key=lambda m: len(m.entry.surface.split()) - len(m.entry.lay.split()))
    attempts += [[m for m in matches if m not in by_growth[:drop]] for drop in range(2, len(matches))]
    for attempt in attempts:
        if attempt:
            text, verdicts = _polished(caption, drafter, attempt)
            if _passed(verdicts):
                return text, verdicts
    return None


def _with(repaired: tuple[str, tuple[Verdict, ...]], status: str) -> tuple[str, str, str, tuple[Verdict, ...]]:
    return repaired[0], status, RULES, repaired[1]


def _glossed(caption: Caption) -> Refined:
    """The expert caption with each term's lay phrase behind it in parentheses, at its first mention."""
    text = caption.expert.text
    pieces: list[Piece] = []
    at = 0
    seen: set[str] = set()
    for match in caption.matches:
        if not match.changes or match.entry.surface in seen:
            continue
        seen.add(match.entry.surface)
        pieces += [Piece(text[at : match.end]), Piece(f" ({match.entry.lay})")]
        at = match.end
    glossed = tidy("".join(piece.text for piece in pieces) + text[at:])
    return Refined(glossed, "fallback", GLOSSES, check(caption.expert, read(glossed), caption.context))


def _passed(verdicts: Sequence[Verdict]) -> bool:
    return all(v.passed for v in verdicts)


def _values(caption: Caption, draft: str) -> dict[str, str]:
    """What fills the prompt: all of it JSON or inert text, so that a caption cannot close a block and speak for us."""
    concepts = [{"term": m.entry.surface, "lay": m.entry.lay if m.changes else None} for m in caption.matches]
    facts: dict[str, list[str]] = {}
    for fact in caption.expert.facts:
        span = caption.expert.text[fact.start : fact.end]
        shown = (
            f"{fact.value} {fact.unit}"
            if fact.kind == "number" and fact.unit not in ("", "code", "grade", "ordinal")
            else span
        )
        if shown not in facts.setdefault(fact.kind, []):
            facts[fact.kind].append(shown)
    return {
        "expert": _inert(caption.expert.text),
        "concepts": json.dumps(concepts, ensure_ascii=False),
        "terms": json.dumps([c["term"] for c in concepts], ensure_ascii=False),
        "facts": json.dumps(facts, ensure_ascii=False),
        "draft": _inert(draft),
    }


def _inert(text: str) -> str:
    return text.replace("<", "‹").replace(">", "›")
