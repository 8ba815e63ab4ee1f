"""The stages of the SCGR builder: admit, concepts, draft, refine, assemble.

Each is a frozen, picklable object that is called with a batch of rows and returns the rows it keeps and the rows it
excludes. Whatever can change its output stands in its settings, so that a stage is redone when, and only when, it
must be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from builders.licences import allows_rewriting
from builders.medlaybench_v.concepts import Mention, Recognizer, merge
from builders.medlaybench_v.facts import read
from builders.medlaybench_v.gates import Context
from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.refine import Caption, Refined, by_model, by_rules
from builders.medlaybench_v.sources import read_image, row_problem
from builders.pipeline.image_store import ImageStore
from builders.pipeline.rows import Row
from builders.pipeline.stage import Excluded, Outcome
from loaders.images import ImageError
from loaders.medlaybench_v import MODALITIES, modality_of
from loaders.models.answers import AnswerStore, gather_bounded
from loaders.models.messages import Answer, ChatModel, Message
from loaders.models.prompts import Prompts

MAX_TOKENS = 160  # of a lay caption (ML-G12)
_SPAN = {"start": pa.int32(), "end": pa.int32()}
MENTION = pa.struct({"surface": pa.string(), **_SPAN, "cui": pa.string(), "source": pa.string()})
CONCEPT = pa.struct({"surface": pa.string(), **_SPAN, "cui": pa.string(), "lay": pa.string(), "source": pa.string()})
PROTECTED = pa.struct({"kind": pa.string(), "text": pa.string(), **_SPAN})
VERDICT = pa.struct({"gate": pa.string(), "passed": pa.bool_(), "reason": pa.string()})

# What a row is when it leaves the source, and what each stage makes of it.
_TEXTS = [
    pa.field(name, pa.string())
    for name in ("image_id", "split", "expert_caption", "licence", "licence_asserted_by", "attribution", "article_id")
]
SOURCE = pa.schema(
    [
        *_TEXTS,
        pa.field("cuis", pa.list_(pa.string())),
        pa.field("image_path", pa.string()),
        pa.field("image_bytes", pa.binary()),
        pa.field("image_expected", pa.bool_()),
        pa.field("where", pa.string()),
    ]
)
# `image` is the name of the picture in the build's image store: its SHA-256 and the ending of its format; or null.
PICTURED = pa.schema([*_TEXTS, pa.field("cuis", pa.list_(pa.string())), pa.field("image", pa.string())])
RECOGNISED = pa.schema([*PICTURED, ("mentions", pa.list_(MENTION))])
_DRAFT = [
    ("modality", pa.string()),
    ("concepts", pa.list_(CONCEPT)),
    ("protected", pa.list_(PROTECTED)),
    ("draft", pa.string()),
]
DRAFTED = pa.schema([*RECOGNISED, *(pa.field(*f) for f in _DRAFT)])
REFINED = pa.schema(
    [
        *PICTURED,
        *(pa.field(*f) for f in _DRAFT),
        pa.field("layman_caption", pa.string()),
        pa.field("gates", pa.list_(VERDICT)),
        pa.field("status", pa.string()),
        pa.field("refiner", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Admit:
    """Keep captions that can be worked on and may be rewritten; exclude the rest with the reason."""

    allowed_licences: frozenset[str]

    def __call__(self, rows: list[Row]) -> Outcome:
        kept, excluded = [], []
        for row in rows:
            _, refused = allows_rewriting(row["licence"], self.allowed_licences)
            problem = refused or row_problem(row)
            if problem:
                reason, _, detail = problem.partition(": ")
                excluded.append(Excluded(row["image_id"], "admit", reason, detail))
            else:
                kept.append(row)
        return Outcome(kept, excluded)


@dataclass(frozen=True, slots=True)
class Picture:
    """Clean each image of its metadata into the store; exclude rows whose image is missing, broken or too large."""

    store: ImageStore

    def __call__(self, rows: list[Row]) -> Outcome:
        outcome = Outcome([])
        for row in rows:
            try:
                image = self._stored(row)
            except ImageError as error:
                reason = f"image {error.reason.replace('_', ' ')}"
                outcome.excluded.append(Excluded(row["image_id"], "images", reason, error.found))
            else:
                outcome.kept.append({**{name: row[name] for name in PICTURED.names if name != "image"}, "image": image})
        return outcome

    def _stored(self, row: Row) -> str | None:
        path = row["image_path"]
        cleaned = read_image({**row, "image_path": Path(path) if path else None})
        if cleaned is None:
            return None
        data, info = cleaned
        return f"{self.store.put(data)}{'.png' if info.clean_format == 'PNG' else '.jpg'}"


@dataclass(frozen=True, slots=True)
class Recognise:
    """Concepts that recognisers (MedCAT, spaCy) find in the captions."""

    recognizers: tuple[Recognizer, ...]

    def __call__(self, rows: list[Row]) -> Outcome:
        captions = [row["expert_caption"] for row in rows]
        found = [recognizer(captions) for recognizer in self.recognizers]
        return Outcome(
            [
                {**row, "mentions": [_mention_row(m) for m in merge(*(mentions[i] for mentions in found))]}
                for i, row in enumerate(rows)
            ],
            [],
        )


@dataclass(frozen=True, slots=True)
class WriteDraft:
    """Protected spans, the concepts with their lay phrases, and the draft."""

    lexicon: Lexicon

    def __call__(self, rows: list[Row]) -> Outcome:
        return Outcome([self._drafted(row) for row in rows], [])

    def _drafted(self, row: Row) -> Row:
        expert = read(row["expert_caption"])
        found = row.get("mentions", [])  # none where no recogniser ran
        mentions = [Mention(**m) for m in found]
        matches = self.lexicon.match(expert, row["cuis"], mentions)
        return {
            **row,
            "mentions": found,
            "modality": modality_of(row["cuis"]),
            "concepts": self.lexicon.concepts(row["cuis"], mentions, matches, expert),
            "protected": [
                {"kind": f.kind, "text": expert.text[f.start : f.end], "start": f.start, "end": f.end}
                for f in expert.facts
            ],
            "draft": self.lexicon.drafter.draft(expert, matches).text,
        }


@dataclass(frozen=True, slots=True)
class Refine:
    """The lay caption by rules, with the verdict of every gate."""

    lexicon: Lexicon

    def __call__(self, rows: list[Row]) -> Outcome:
        return Outcome(
            [_refined(row, by_rules(caption_of(row, self.lexicon), self.lexicon.drafter)) for row in rows], []
        )


@dataclass(frozen=True, slots=True)
class RefineByModel:
    """The lay caption by a chat model, greedy at first, its paid answers kept in a store (ML-G12)."""

    lexicon: Lexicon
    model: ChatModel
    condition: str
    prompts: Prompts
    answers: Path
    concurrency: int = 16

    def __call__(self, rows: list[Row]) -> Outcome:
        with AnswerStore(self.answers) as store:
            refined = asyncio.run(gather_bounded(lambda row: self._refine(row, store), rows, limit=self.concurrency))
        return Outcome([_refined(row, result) for row, result in zip(rows, refined, strict=True)], [])

    async def _refine(self, row: Row, store: AnswerStore) -> Refined:
        async def ask(messages: Sequence[Message], attempt: int) -> Answer:
            return await store.ask(
                self.model,
                messages,
                temperature=0.3 if attempt else 0.0,
                max_tokens=MAX_TOKENS,
                seed=attempt or None,
                json_schema=ANSWER_SCHEMA,
            )

        return await by_model(
            caption_of(row, self.lexicon),
            self.lexicon.drafter,
            ask,
            name=self.model.name,
            condition=self.condition,
            prompts=self.prompts,
        )


ANSWER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"layman_caption": {"type": "string"}},
    "required": ["layman_caption"],
    "additionalProperties": False,
}
_NAMED_BY_CUI = {cui: modality.says for modality in MODALITIES for cui in modality.cuis}


def caption_of(row: Row, lexicon: Lexicon) -> Caption:
    """What the refiner and the gates know of a drafted row."""
    expert = read(row["expert_caption"])
    matches = lexicon.match(expert, row["cuis"], [Mention(**m) for m in row["mentions"]])
    return Caption(expert, tuple(matches), context_of(row))


def context_of(row: Row) -> Context:
    """The gates' context from a row's own columns, so that a published row can be checked without the vocabulary."""
    glosses = tuple((c["surface"], c["lay"]) for c in row["concepts"] if c["lay"])
    simplifiable = any(c["lay"] and c["start"] >= 0 for c in row["concepts"])
    return Context(glosses, modalities_named(row["cuis"]), simplifiable)


def modalities_named(cuis: Sequence[str]) -> frozenset[str]:
    """The modalities that a record's CUIs name, in the words of the gates."""
    return frozenset(_NAMED_BY_CUI[cui] for cui in cuis if cui in _NAMED_BY_CUI)


def _refined(row: Row, refined: Refined) -> Row:
    kept = {name: value for name, value in row.items() if name != "mentions"}
    return {
        **kept,
        "layman_caption": refined.layman_caption,
        "gates": [{"gate": v.gate, "passed": v.passed, "reason": v.reason} for v in refined.verdicts],
        "status": refined.status,
        "refiner": refined.refiner,
    }


def _mention_row(mention: Mention) -> dict[str, Any]:
    return {
        "surface": mention.surface,
        "start": mention.start,
        "end": mention.end,
        "cui": mention.cui,
        "source": mention.source,
    }
