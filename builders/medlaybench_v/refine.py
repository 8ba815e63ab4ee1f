"""From draft to lay caption: refine, check, retry, fall back (Algorithm 1, steps 3 and 4; ML-G11 to ML-G16).

Every row ends with a caption and a status; none is dropped:

    accepted  the refiner's first text passed all gates
    repaired  it passed after a repair: a model was told which gates failed and tried again (twice at most), or the
              rules undid the substitutions that broke a gate
    judged    a gate of facts fails a model's text, and the judge, another model, found every fact kept
    fallback  no text of the refiner passed; the row carries the polished draft if that passes, else the expert caption
              with lay phrases in parentheses
    ungated   only in ablation builds (`llm`, `llm+cui`): a model's text, kept as written although a gate failed

`refiner` names who wrote the text that the row carries: the model, `rules`, or `glosses`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from builders.medlaybench_v.facts import Reading, facts_of, read
from builders.medlaybench_v.gates import DOUBTFUL, JUDGE, STYLE, Context, Verdict, check, verdict_of
from builders.medlaybench_v.judge import BROKEN, KEPT, Opinion
from builders.medlaybench_v.prompts import user_prompt
from builders.medlaybench_v.sources.checks import text_problem, without_zero_width
from builders.medlaybench_v.words.reads_well import READS_WELL, reading_of
from builders.medlaybench_v.writing.articles import with_articles
from builders.medlaybench_v.writing.draft import Drafter
from builders.medlaybench_v.writing.glosses import inside_brackets
from builders.medlaybench_v.writing.grammar import polish, tidy
from builders.medlaybench_v.writing.matches import Draft, Match
from builders.medlaybench_v.writing.sentences import in_sentences
from builders.unanswered import ask_for_row, field_of
from loaders.models.asking import Ask, Unfit
from loaders.models.messages import Answer, Message
from loaders.models.prompts import Prompts

RETRIES = 2
ONE_BY_ONE = 40  # substitutions of a caption that are undone alone: no caption of ROCO has more
NONE_PASSED = "no text of the model passed: "
"""How the reason of a row begins whose model answered in vain."""
NO_FORM = f"{NONE_PASSED}format: "
"""The same if it did not even answer in the form that was asked for."""
_QUOTED = re.compile(r"[\"“]([^\"“”]+)[\"”]")
_MARKUP = re.compile(r"</?[A-Za-z][^<>]*>|\*\*|```")  # and not "T2*", "p < 0.05"
_Judged = tuple[str, tuple[Verdict, ...]]  # a text with the verdicts on it
RULES, GLOSSES = "rules", "glosses"


@dataclass(frozen=True, slots=True)
class Caption:
    """What the refiner works on: the expert caption, its matches, and what the gates may know about the row."""

    expert: Reading
    matches: tuple[Match, ...]
    context: Context


@dataclass(frozen=True, slots=True)
class Refined:
    """The outcome for one row; `reason` says why its status is not `accepted`."""

    layman_caption: str
    status: str
    refiner: str
    verdicts: tuple[Verdict, ...]
    reason: str | None = None


def by_rules(caption: Caption, drafter: Drafter, draft: Draft | None = None) -> Refined:
    """Polish the draft; if a gate fails, undo the fewest substitutions that fix it; otherwise gloss.

    Doubts are fixed too where possible: keeping the expert's word is cheap, a person's time is not. `draft` is the
    draft with all matches, if the caller has made it already.
    """
    text, verdicts = _polished(caption, draft or drafter.draft(caption.expert, caption.matches))
    why = failures(verdicts) or _reads_badly(text, caption)
    if not why:
        doubtful = [v for v in verdicts if v.doubtful]
        surer = _repaired(caption, drafter, "repaired", _reasons(doubtful), doubtful) if doubtful else None
        sure = surer is not None and not any(v.doubtful for v in surer.verdicts)
        return surer if surer and sure else Refined(text, "accepted", RULES, verdicts)
    return _repaired(caption, drafter, "repaired", why, _failed(verdicts)) or _glossed(caption, why)


async def by_model(
    caption: Caption,
    drafter: Drafter,
    ask: Ask,
    *,
    name: str,
    condition: str,
    prompts: Prompts,
    judge: Callable[[str], Awaitable[Opinion]] | None = None,
) -> Refined:
    """Ask a model, name the failed gates in up to two retries, then fall back to the draft and to glosses.

    A `judge` gives an opinion of every text that passes the gates of style. Where it decides, its opinion counts and
    not the gates of facts; its reason is named in the retry.

    Raises: ModelError if the question is turned away (`ask_for_row`), and what `ask` and `judge` raise.
    """
    draft = drafter.draft(caption.expert, caption.matches)
    question = user_prompt(prompts, condition, _values(caption, _text_of(draft)))
    ablation = condition != "scgr"

    def accepted(answer: Answer) -> _Judged:
        text = parse(answer)
        verdicts = check(caption.expert, read(text), caption.context)
        if not ablation:
            _refuse(v for v in _failed(verdicts) if judge is None or v.gate in STYLE)
        return text, verdicts

    async def judged(found: _Judged) -> _Judged:
        text, verdicts = found
        assert judge is not None
        opinion = await judge(text)
        verdicts = (*verdicts, _by_judge(opinion))
        decided = opinion.verdict in (KEPT, BROKEN)
        _refuse(v for v in _failed(verdicts) if not decided or v.gate == JUDGE)
        return text, verdicts

    asked = await ask_for_row(
        name,
        ask,
        [Message("system", prompts.fill("system")), Message("user", question)],
        accepted,
        attempts=1 if ablation else 1 + RETRIES,
        again=lambda failures: prompts.fill("retry", {"failures": failures}),
        then=None if judge is None else judged,
    )
    if asked.value is not None:
        text, verdicts = asked.value
        status = "repaired" if asked.attempts > 1 else "accepted"
        if not _passed(verdicts):
            return Refined(text, "ungated" if ablation else "judged", name, verdicts, failures(verdicts))
        again = f"accepted at attempt {asked.attempts}" if asked.attempts > 1 else None
        return Refined(text, status, name, verdicts, again)
    why = " ".join((asked.failure or "").replace("\n- ", "; ").removeprefix("- ").split())
    return without_model(caption, drafter, f"{NONE_PASSED}{why}", draft)


def without_model(caption: Caption, drafter: Drafter, why: str, draft: Draft | None = None) -> Refined:
    """The fallback if a model gave no usable text: the draft, repaired, or the glossed caption.

    `draft` as in `by_rules`.
    """
    text, verdicts = _polished(caption, draft or drafter.draft(caption.expert, caption.matches))
    if _passed(verdicts):
        return Refined(text, "fallback", RULES, verdicts, why)
    return _repaired(caption, drafter, "fallback", why, _failed(verdicts)) or _glossed(caption, why)


def _refuse(unmet: Iterable[Verdict]) -> None:
    """Raises: Unfit if there are any, with what the next request names."""
    if reasons := "\n".join(f"- {v.gate}: {v.reason}" for v in unmet):
        raise Unfit(reasons)


def _by_judge(opinion: Opinion) -> Verdict:
    """The judge's entry among the verdicts of a row: what it could not decide is doubtful."""
    told = _inert(f"{opinion.verdict}: {opinion.why}")
    if opinion.verdict == KEPT:
        return Verdict(JUDGE, True)
    return Verdict(JUDGE, False, told) if opinion.verdict == BROKEN else Verdict(JUDGE, True, f"{DOUBTFUL}{told}")


def _reads_badly(text: str, caption: Caption) -> str:
    """Why a draft is rejected although it is true: it reads worse than allowed, and worse than the original."""
    reads = reading_of(text)
    if reads.score >= READS_WELL or reads.score >= reading_of(caption.expert.text).score:
        return ""
    return f"reads badly: {reads.repeats} repeats, {reads.hyphens} long chains, {reads.stacks} stacks"


def failures(verdicts: Sequence[Verdict]) -> str:
    """The gates that failed, in a line."""
    return _reasons(_failed(verdicts))


def _failed(verdicts: Sequence[Verdict]) -> list[Verdict]:
    return [v for v in verdicts if not v.passed]


def _reasons(verdicts: Sequence[Verdict]) -> str:
    return "; ".join(f"{v.gate}: {v.reason}" for v in verdicts)


def parse(answer: Answer) -> str:
    """The caption in a model's answer, the text under `layman_caption` of its one JSON object.

    >>> parse(Answer('{"layman_caption": "a scan"}', None, None, "stop"))
    'A scan.'

    Quotation marks around all of it are not the caption's own.

    Raises: Unfit if the answer is no such object, or the caption holds markup or what no text may (`text_problem`).
    """
    text = field_of(answer, "layman_caption")
    if not isinstance(text, str) or not (text := without_zero_width(text).strip()):
        raise Unfit("- format: no JSON object with a non-empty text under layman_caption")
    if quoted := _QUOTED.fullmatch(text):
        text = quoted[1]
    if problem := text_problem(text) or ("holds markup" if _MARKUP.search(text) else None):
        raise Unfit(f"- format: the caption {problem}")
    return tidy(text)


def _polished(caption: Caption, draft: Draft) -> tuple[str, tuple[Verdict, ...]]:
    text = _text_of(draft)
    return text, check(caption.expert, read(text), caption.context)


def _text_of(draft: Draft) -> str:
    return with_articles(in_sentences(polish(draft)))


def _repaired(caption: Caption, drafter: Drafter, status: str, why: str, unmet: Sequence[Verdict]) -> Refined | None:
    """The first draft that passes with one substitution undone, or else with more and more of those that add most
    words.

    A draft beyond doubt is preferred to others. `unmet` are the verdicts on the draft that need fixing, failures or
    doubts: a draft that fixes none of them is not put to the other gates.
    """
    doubtful = None
    for attempt in _fewer([m for m in caption.matches if m.changes]):
        text = _text_of(drafter.draft(caption.expert, attempt))
        lay = read(text)
        if any(verdict_of(v.gate, caption.expert, lay, caption.context).outcome == v.outcome for v in unmet):
            continue
        if _reads_badly(text, caption):
            continue
        verdicts = check(caption.expert, lay, caption.context)
        if _passed(verdicts):
            refined = Refined(text, status, RULES, verdicts, why)
            if not any(v.doubtful for v in verdicts):
                return refined
            doubtful = doubtful or refined
    return doubtful


def _fewer(matches: Sequence[Match]) -> Iterator[Sequence[Match]]:
    """The matches without each of the first `ONE_BY_ONE`, then without the two, four, eight … that add most words: a
    report of some thousand letters may hold hundreds, and each attempt is read anew."""
    if len(matches) < 2:
        return
    for at in range(min(len(matches), ONE_BY_ONE)):
        yield [*matches[:at], *matches[at + 1 :]]
    by_growth = sorted(matches, key=lambda m: len(m.entry.surface.split()) - len(m.entry.lay.split()))
    undone = 2
    while undone < len(matches):
        left_out = set(by_growth[:undone])
        yield [m for m in matches if m not in left_out]
        undone *= 2


def _glossed(caption: Caption, why: str) -> Refined:
    """The expert caption with each term's lay phrase after it in parentheses, at its first mention."""
    text = caption.expert.text
    pieces: list[str] = []
    at = 0
    seen: set[str] = set()
    for match in caption.matches:
        if not match.changes or match.entry.surface in seen:
            continue
        seen.add(match.entry.surface)
        if match.entry.behind or inside_brackets(text, match.start):
            continue
        lay, _, bracket = match.entry.lay.partition(" (")
        explanation = bracket.rstrip(")")  # either the words before the bracket or those in it may be the expert's
        told = lay if explanation.lower() in ("", match.entry.surface) else explanation
        goes_on = told.lower().startswith(f"{match.entry.surface} ")  # "MRI scan": no bracket says "MRI" again
        said = told[len(match.entry.surface) :] if goes_on else f" ({told})"
        pieces += [text[at : match.end], said]
        at = match.end
    glossed = tidy("".join(pieces) + text[at:])
    return Refined(glossed, "fallback", GLOSSES, check(caption.expert, read(glossed), caption.context), why)


def _passed(verdicts: Sequence[Verdict]) -> bool:
    return all(v.passed for v in verdicts)


def _values(caption: Caption, draft: str) -> dict[str, str]:
    """What fills the prompt: all of it JSON or inert text, so that a caption cannot close a block and speak for us."""
    concepts = [{"term": m.entry.surface, "lay": m.entry.lay if m.changes else None} for m in caption.matches]
    facts: dict[str, list[str]] = {}
    for fact in caption.expert.get(facts_of):
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
