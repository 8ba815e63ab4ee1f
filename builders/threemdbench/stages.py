"""The stages of the builder of 3MDBench: admit, images, curate, draw, split, temperament, complaints.

Each is a frozen, picklable object that is called with a batch of rows and returns the rows it keeps and the rows it
excludes. Those that weigh photos against each other are given all rows at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from builders.curation.review import Decision, Item, Shown, write_queue
from builders.curation.sampling import Member, draw, joined, split_groups
from builders.pipeline.image_store import ImageStore
from builders.pipeline.rows import Row
from builders.pipeline.stage import Excluded, Outcome
from builders.threemdbench.complaints import (
    BASIC_SCHEMA,
    FACTS_SCHEMA,
    MAX_TOKENS,
    TEMPERATURE,
    Basic,
    Facts,
    basic_by_hand,
    basic_by_model,
    facts_by_hand,
    facts_by_model,
)
from builders.threemdbench.curate import Curator
from builders.threemdbench.findings import Candidate, Finding
from builders.threemdbench.temperament import temperaments
from loaders.images import ImageError, clean_bytes
from loaders.models.answers import AnswerStore, gather_bounded
from loaders.models.asking import Ask
from loaders.models.messages import Answer, ChatModel, Message
from loaders.models.prompts import Prompts
from loaders.threemdbench import DIAGNOSES

TEST = "test"
_BY_NAME = {diagnosis.name: diagnosis for diagnosis in DIAGNOSES}

_FACTS = ("image_id", "diagnosis", "source", "source_label", "source_file", "group_id")
_TERMS = ("licence", "licence_asserted_by", "attribution")
_PHOTO = [pa.field(name, pa.string()) for name in (*_FACTS, *_TERMS)]
_IMAGE = [pa.field("image", pa.string())]
# `content` is the SHA-256 of the file, so that another file of the same name is never taken for the one that was read
# before; `mixed` says what else its class holds, if anything; `refused` and `not_fetched` hold why it is left out.
_READ = [pa.field("content", pa.string()), pa.field("mixed", pa.string())]
_WHY = pa.struct({"reason": pa.string(), "detail": pa.string()})
SOURCE = pa.schema(
    [
        *_PHOTO,
        pa.field("refused", _WHY),
        pa.field("not_fetched", _WHY),
        pa.field("image_path", pa.string()),
        *_READ,
    ]
)
# `image` is the name of the picture in the build's image store: its SHA-256 and the ending of its format.
PICTURED = pa.schema([*_PHOTO, *_IMAGE, *_READ])
# `kin` names everything that a photo is linked with through patients and clusters, left-out photos included.
CURATED = pa.schema([*_PHOTO, *_IMAGE, pa.field("cluster_id", pa.string()), pa.field("kin", pa.string())])
SPLIT = pa.schema([*CURATED, pa.field("split", pa.string())])
DEALT = pa.schema([*SPLIT, pa.field("personality", pa.string())])
TOLD = pa.schema(
    [
        *(field for field in DEALT if field.name != "kin"),
        *(pa.field(name, pa.string()) for name in ("domain", "general_complaint", "general_complaint_source")),
        pa.field("complaints", pa.list_(pa.string())),
        *(pa.field(name, pa.string()) for name in ("complaints_source", "complaints_status")),
    ]
)


@dataclass(frozen=True, slots=True)
class Admit:
    """Keep photos of one of the 34 diagnoses under a licence that lets them through; exclude the rest."""

    def __call__(self, rows: list[Row]) -> Outcome:
        outcome = Outcome([])
        for row in rows:
            if row["refused"]:
                outcome.excluded.append(Excluded(row["image_id"], "admit", **row["refused"]))
            else:
                outcome.kept.append(row)
        return outcome


@dataclass(frozen=True, slots=True)
class Picture:
    """Clean each photo of its metadata into the store; exclude those not fetched, missing, broken or too large."""

    store: ImageStore

    def __call__(self, rows: list[Row]) -> Outcome:
        outcome = Outcome([])
        for row in rows:
            if row["not_fetched"]:
                outcome.excluded.append(Excluded(row["image_id"], "images", **row["not_fetched"]))
                continue
            try:
                image = self._stored(row)
            except ImageError as error:
                reason = f"image {error.reason.replace('_', ' ')}"
                outcome.excluded.append(Excluded(row["image_id"], "images", reason, error.found))
            else:
                outcome.kept.append({**_only(row, PICTURED), "image": image})
        return outcome

    def _stored(self, row: Row) -> str:
        if row["image_path"] is None:
            raise ImageError(row["source_file"], reason="missing", found="no such file in its source")
        data, info = clean_bytes(Path(row["image_path"]))
        return f"{self.store.put(data)}{'.png' if info.clean_format == 'PNG' else '.jpg'}"


@dataclass(frozen=True)
class Curate:
    """Exclude what is unfit, copies but the best, and photos that stand under two diagnoses; link what is kin.

    `decisions` of a person go before the curator's own. What is borderline is written to `queue`.
    """

    store: ImageStore
    curator: Curator
    queue: Path
    decisions: Mapping[str, Decision] = field(default_factory=dict)

    def __call__(self, rows: list[Row]) -> Outcome:
        photos = [
            Candidate(
                row["image_id"],
                self.store.path(row["image"].split(".")[0]),
                row["source"],
                row["diagnosis"],
                row["mixed"],
                self.decisions.get(row["image_id"]),
            )
            for row in rows
        ]
        findings = self.curator(photos)
        write_queue(self.queue, _borderline(rows, photos, findings))
        kin = joined(
            (f"cluster {one.cluster}", *([f"group {row['group_id']}"] if row["group_id"] else []))
            for row, one in zip(rows, findings, strict=True)
        )
        outcome = Outcome([])
        for row, one in zip(rows, findings, strict=True):
            if one.reason:
                outcome.excluded.append(Excluded(row["image_id"], "curate", one.reason, one.detail))
            else:
                linked = {"cluster_id": one.cluster, "kin": kin[f"cluster {one.cluster}"]}
                outcome.kept.append({**_only(row, CURATED), **linked})
        return outcome


def _borderline(rows: Sequence[Row], photos: Sequence[Candidate], findings: Sequence[Finding]) -> list[Item]:
    """What a person is asked about: disputed diagnoses, quality, copies, mixed classes; and all decided earlier."""
    shown = {row["image_id"]: Shown(row["image_id"], row["image"].split(".")[0], row["diagnosis"]) for row in rows}
    items = []
    for row, photo, one in zip(rows, photos, findings, strict=True):
        if one.doubts or photo.decision:
            beside = dict.fromkeys(key for doubt in one.doubts for key in doubt.beside)
            items.append(
                Item(
                    shown[photo.key],
                    row["content"],
                    kept=not one.reason,
                    facts={"source": row["source"], "label in the source": row["source_label"]},
                    doubts=one.doubts,
                    beside=tuple(shown[key] for key in beside),
                    decided=photo.decision,
                )
            )
    return sorted(items, key=_place)


def _place(item: Item) -> tuple[int, str, str]:
    """Photos that are to be looked at together stand together."""
    kind = item.doubts[0].kind if item.doubts else ""
    key = item.picture.key
    return _RANK.get(kind, len(_RANK)), min(key, *(other.key for other in item.beside), key), key


_RANK = {"label": 0, "quality": 1, "copy": 2, "class": 3}


@dataclass(frozen=True, slots=True)
class Draw:
    """As many photos of each class as the targets say; without targets, all."""

    targets: Mapping[str, int] | None
    seed: int

    def __call__(self, rows: list[Row]) -> Outcome:
        if self.targets is None:
            return Outcome(rows)
        chosen = {member.key for member in draw(_members(rows), self.targets, seed=self.seed).members}
        outcome = Outcome([])
        for row in rows:
            if row["image_id"] in chosen:
                outcome.kept.append(row)
            else:
                detail = f"{row['diagnosis']}: {self.targets.get(row['diagnosis'], 0):,} wanted"
                outcome.excluded.append(Excluded(row["image_id"], "draw", "enough of its class", detail))
        return outcome


@dataclass(frozen=True, slots=True)
class Split:
    """The split of each photo, stratified by diagnosis, kin together; photos of splits not asked for are excluded."""

    ratios: Mapping[str, float]
    splits: frozenset[str]
    seed: int

    def __call__(self, rows: list[Row]) -> Outcome:
        found = split_groups(_members(rows), self.ratios, seed=self.seed)
        outcome = Outcome([])
        for row in rows:
            split = found[row["image_id"]]
            if split in self.splits:
                outcome.kept.append({**row, "split": split})
            else:
                outcome.excluded.append(
                    # Which split it is in is not told: a split may be kept private.
                    Excluded(row["image_id"], "split", "of a split that is not in this release")
                )
        return outcome


@dataclass(frozen=True, slots=True)
class Deal:
    """A temperament for each photo of the test split."""

    seed: int

    def __call__(self, rows: list[Row]) -> Outcome:
        cases = {row["image_id"]: row["diagnosis"] for row in rows if row["split"] == TEST}
        dealt = temperaments(cases, seed=self.seed)
        return Outcome([{**row, "personality": dealt.get(row["image_id"])} for row in rows])


@dataclass(frozen=True, slots=True)
class Tell:
    """Authored complaints for each photo of the test split."""

    seed: int

    def __call__(self, rows: list[Row]) -> Outcome:
        told = []
        for row in rows:
            diagnosis = _BY_NAME[row["diagnosis"]]
            facts = facts_by_hand(diagnosis, key=row["image_id"], seed=self.seed) if row["split"] == TEST else None
            told.append(_told(row, basic_by_hand(diagnosis), facts))
        return Outcome(told)


@dataclass(frozen=True, slots=True)
class TellByModel:
    """Complaints by a chat model that sees the photo, its paid answers kept in a store."""

    model: ChatModel
    prompts: Prompts
    answers: Path
    store: ImageStore
    seed: int
    concurrency: int = 16

    def __call__(self, rows: list[Row]) -> Outcome:
        with AnswerStore(self.answers) as answers:
            return Outcome(asyncio.run(self._tell(rows, answers)))

    async def _tell(self, rows: list[Row], answers: AnswerStore) -> list[Row]:
        names = sorted({row["diagnosis"] for row in rows if row["split"] == TEST})

        async def begin(name: str) -> Basic:
            ask = self._ask(answers, f"basic {name}", BASIC_SCHEMA)
            return await basic_by_model(_BY_NAME[name], ask, name=self.model.name, prompts=self.prompts)

        basics = dict(zip(names, await gather_bounded(begin, names, limit=self.concurrency), strict=True))

        async def go_on(row: Row) -> Row:
            diagnosis = _BY_NAME[row["diagnosis"]]
            if row["split"] != TEST:
                return _told(row, basic_by_hand(diagnosis), None)
            basic, key = basics[diagnosis.name], row["image_id"]
            facts = await facts_by_model(
                diagnosis,
                basic.text,
                self.store.get(row["image"].split(".")[0]),
                self._ask(answers, f"facts {key}", FACTS_SCHEMA),
                name=self.model.name,
                prompts=self.prompts,
                key=key,
                seed=self.seed,
            )
            return _told(row, basic, facts)

        return await gather_bounded(go_on, rows, limit=self.concurrency)

    def _ask(self, answers: AnswerStore, namespace: str, schema: Mapping[str, Any]) -> Ask:
        async def ask(messages: Sequence[Message], attempt: int) -> Answer:
            return await answers.ask(
                self.model,
                messages,
                temperature=TEMPERATURE,
                max_tokens=MAX_TOKENS,
                seed=attempt,
                json_schema=schema,
                namespace=namespace,
            )

        return ask


def _told(row: Row, basic: Basic, facts: Facts | None) -> Row:
    """The row with what its patient says; a row of another split than test says nothing."""
    return {
        **_only(row, TOLD),
        "domain": _BY_NAME[row["diagnosis"]].domain,
        "general_complaint": basic.text if facts else None,
        "general_complaint_source": basic.source if facts else None,
        "complaints": list(facts.texts) if facts else [],
        "complaints_source": facts.source if facts else None,
        "complaints_status": facts.status if facts else None,
    }


def _members(rows: Sequence[Row]) -> list[Member]:
    return [Member(row["image_id"], row["diagnosis"], (row["kin"],)) for row in rows]


def _only(row: Row, schema: pa.Schema) -> Row:
    return {name: row[name] for name in schema.names if name in row}
