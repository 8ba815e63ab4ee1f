"""The steps of MedLayBench-V: admit, (concepts,) draft, refine by rules or by a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import pyarrow as pa

from builders.chat import Chat
from builders.licences import allows_rewriting, strictest
from builders.medlaybench_v.concepts import Mention, Recognizer, merge
from builders.medlaybench_v.facts import facts_of, read
from builders.medlaybench_v.gates import Context
from builders.medlaybench_v.judge import Judge
from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.refine import Caption, Refined, by_model, by_rules, without_model
from builders.medlaybench_v.sources.checks import row_problem
from builders.medlaybench_v.words.reads_well import reading_of
from builders.medlaybench_v.writing.matches import Draft
from builders.pipeline.rows import Row
from builders.pipeline.stage import Excluded
from builders.steps import PLACED, WHY, step
from builders.unanswered import why
from loaders.errors import ModelError
from loaders.imaging import method_of
from loaders.medlaybench_v import MODALITIES
from loaders.models.answers import Answers
from loaders.models.asking import object_schema
from loaders.models.messages import Answer, Message

MAX_TOKENS = 160  # of a lay caption (ML-G12)
_SPAN = {"start": pa.int32(), "end": pa.int32()}
MENTION = pa.struct({"surface": pa.string(), **_SPAN, "cui": pa.string(), "source": pa.string()})
CONCEPT = pa.struct({"surface": pa.string(), **_SPAN, "cui": pa.string(), "lay": pa.string(), "source": pa.string()})
PROTECTED = pa.struct({"kind": pa.string(), "text": pa.string(), **_SPAN})
READS = pa.struct(
    {
        "score": pa.float32(),
        **dict.fromkeys(("repeats", "hyphens", "stacks"), pa.int32()),
        "unexplained": pa.list_(pa.string()),
    }
)
VERDICT = pa.struct({"gate": pa.string(), "passed": pa.bool_(), "reason": pa.string()})

# A row as it leaves the source. `content` is the SHA-256 of its image file, so that another file with the same name is
# never taken for the one that was read before.
SOURCE = pa.schema(
    [
        *((name, pa.string()) for name in ("image_id", "split", "expert_caption", "licence", "licence_asserted_by")),
        *((name, pa.string()) for name in ("attribution", "article_id", "image_path", "content")),
        ("cuis", pa.list_(pa.string())),
        ("image_bytes", pa.binary()),
        ("no_image", WHY),
        *PLACED,
    ]
)
_DRAFT = pa.schema(
    [
        ("modality", pa.string()),
        ("modality_source", pa.string()),
        ("concepts", pa.list_(CONCEPT)),
        ("phrase_licences", pa.list_(pa.string())),
        ("protected", pa.list_(PROTECTED)),
        ("draft", pa.string()),
        ("caption_licence", pa.string()),
        ("licence", pa.string()),
        ("licence_asserted_by", pa.string()),
    ]
)
_MENTIONS = pa.schema([("mentions", pa.list_(MENTION))])
_REFINED = pa.schema(
    [
        ("layman_caption", pa.string()),
        ("gates", pa.list_(VERDICT)),
        ("reads_well", READS),
        ("status", pa.string()),
        ("status_reason", pa.string()),
        ("refiner", pa.string()),
    ]
)


@step()
def admit(row: Row, allowed: frozenset[str]) -> Row | Excluded:
    """Keep captions that can be worked on and may be rewritten, licences that are `allowed` by name included."""
    _, refused = allows_rewriting(row["licence"], allowed)
    reason, _, detail = (refused or row_problem(row) or "").partition(": ")
    return Excluded(reason, detail) if reason else {}


@step(takes="batch", adds=_MENTIONS)
def concepts(rows: list[Row], recognizers: tuple[Recognizer, ...]) -> Iterable[Row]:
    """Concepts that recognisers (MedCAT, spaCy) find in the captions."""
    captions = [row["expert_caption"] for row in rows]
    for mentions in zip(*(recognizer(captions) for recognizer in recognizers), strict=True):
        yield {"mentions": [asdict(mention) for mention in merge(*mentions)]}


@step(adds=pa.schema([*_MENTIONS, *_DRAFT]), drops=("content",))
def draft(row: Row, lexicon: Lexicon) -> Row:
    """Protected spans, the concepts with their lay phrases, the draft, and the licence of all that together."""
    return {"mentions": row.get("mentions", []), **_drafted(row, lexicon)[0]}


def _drafted(row: Row, lexicon: Lexicon) -> tuple[Row, Caption, Draft]:
    """What `draft` adds, the refiner's and the gates' view of the row, and its draft."""
    expert = read(row["expert_caption"])
    mentions = [Mention(**mention) for mention in row.get("mentions", [])]  # none if no recogniser ran
    matches = lexicon.match(expert, row["cuis"], mentions)
    draft = lexicon.drafter.draft(expert, matches)
    method = method_of(row["cuis"], row["expert_caption"])
    concepts = lexicon.concepts(row["cuis"], mentions, matches, expert)
    licences = [concept.pop("licence") for concept in concepts]
    licence = licence_with(row["licence"], licences)
    asserted = row["licence_asserted_by"] or ""
    if licence != (row["licence"] or ""):
        asserted = "; ".join(filter(None, (asserted, "the vocabularies of its lay phrases")))
    drafted = {
        "modality": method.code,
        "modality_source": method.source,
        "concepts": concepts,
        "phrase_licences": licences,
        "protected": [
            {"kind": fact.kind, "text": expert.text[fact.start : fact.end], "start": fact.start, "end": fact.end}
            for fact in expert.get(facts_of)
        ],
        "draft": draft.text,
        "caption_licence": row["licence"],
        "licence": licence,
        "licence_asserted_by": asserted,
    }
    return drafted, Caption(expert, tuple(matches), context_of({**row, **drafted})), draft


def licence_with(caption: str | None, phrases: Iterable[str | None]) -> str:
    """The licence of a row: the strictest of its caption's and its lay phrases', null stands for none."""
    return strictest(caption, {licence for licence in phrases if licence is not None})


@step(name="refine", adds=pa.schema([*_DRAFT, *_REFINED]), drops=("content", "mentions"))
def refine_by_rules(row: Row, lexicon: Lexicon) -> Row:
    """What `draft` adds and the lay caption by rules, with the verdict of every gate; parses the caption only once."""
    drafted, caption, draft = _drafted(row, lexicon)
    return {**drafted, **_refined(by_rules(caption, lexicon.drafter, draft))}


@step(name="refine", takes="batch", adds=_REFINED, drops=("mentions",), parallel=False)
def refine_by_model(
    rows: list[Row], lexicon: Lexicon, chat: Chat, condition: str, judge: Judge | None
) -> Iterable[Row]:
    """The lay caption by a chat model, greedy at first (ML-G12), and a judge's opinion of it if there is one; by rules
    if one of the models finally fails on the row."""

    async def refine_one(row: Row, answers: Answers) -> Refined:
        async def ask(messages: Sequence[Message], attempt: int) -> Answer:
            return await answers.ask(
                chat.model,
                messages,
                temperature=0.3 if attempt else 0.0,
                max_tokens=MAX_TOKENS,
                seed=attempt or None,
                json_schema=ANSWER_SCHEMA,
            )

        return await by_model(
            caption_of(row, lexicon),
            lexicon.drafter,
            ask,
            name=chat.model.name,
            condition=condition,
            prompts=chat.prompts,
            judge=None if judge is None else lambda text: judge.opinion(row["expert_caption"], text, answers),
        )

    by_key = {row["image_id"]: row for row in rows}
    for key, refined in chat.each_or_error(refine_one, by_key).items():
        if isinstance(refined, ModelError):
            caption = caption_of(by_key[key], lexicon)
            refined = without_model(caption, lexicon.drafter, why(refined))
        yield _refined(refined)


ANSWER_SCHEMA = object_schema({"layman_caption": str})
_NAMED_BY_CUI = {cui: modality.says for modality in MODALITIES for cui in modality.cuis}


def caption_of(row: Row, lexicon: Lexicon) -> Caption:
    """The refiner's and the gates' view of a drafted row."""
    expert = read(row["expert_caption"])
    matches = lexicon.match(expert, row["cuis"], [Mention(**m) for m in row["mentions"]])
    return Caption(expert, tuple(matches), context_of(row))


def context_of(row: Row) -> Context:
    """The gates' context from a row's own columns, so that a published row can be checked without the vocabulary."""
    glosses = tuple((c["surface"], c["lay"]) for c in row["concepts"] if c["surface"] and c["lay"])
    return Context(glosses, modalities_named(row["cuis"]), any(map(in_other_words, row["concepts"])))


def in_other_words(concept: Row) -> bool:
    """Whether the lay phrase of a concept in the caption is another than the caption's own words."""
    lay = concept["lay"]
    return bool(lay) and concept["start"] >= 0 and lay.casefold() != concept["surface"].casefold()


def modalities_named(cuis: Sequence[str]) -> frozenset[str]:
    """The modalities that a record's CUIs name, in the words of the gates."""
    return frozenset(_NAMED_BY_CUI[cui] for cui in cuis if cui in _NAMED_BY_CUI)


def how_it_reads(caption: str) -> Row:
    """The column `reads_well` of a lay caption."""
    reads = reading_of(caption)
    counts = {"repeats": reads.repeats, "hyphens": reads.hyphens, "stacks": reads.stacks}
    return {"score": reads.score, **counts, "unexplained": list(reads.unexplained)}


def _refined(refined: Refined) -> Row:
    return {
        "layman_caption": refined.layman_caption,
        "gates": [{"gate": v.gate, "passed": v.passed, "reason": v.reason} for v in refined.verdicts],
        "reads_well": how_it_reads(refined.layman_caption),
        "status": refined.status,
        "status_reason": refined.reason,
        "refiner": refined.refiner,
    }
