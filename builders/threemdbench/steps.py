"""The steps of 3MDBench: curate, draw, split, temperament, complaints by hand, or basics and complaints by a model.

Steps that weigh photos against each other are given all rows at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from builders.chat import Chat
from builders.curation import sampling
from builders.curation.review import Decision, Item, Shown, write_queue
from builders.curation.sampling import Member, joined, shuffled, split_groups
from builders.pipeline.image_store import ImageStore, digest_of_image
from builders.pipeline.rows import Row
from builders.pipeline.stage import Excluded
from builders.steps import PLACED, WHY, step
from builders.threemdbench.complaints import (
    AUTHORED,
    BASIC_SCHEMA,
    FACTS_SCHEMA,
    MAX_TOKENS,
    TEMPERATURE,
    Facts,
    authored_basic,
    authored_facts,
    basic_by_model,
    facts_by_model,
)
from builders.threemdbench.curate import Curator
from builders.threemdbench.earlier import NONE, Earlier
from builders.threemdbench.findings import Candidate, Finding
from builders.threemdbench.labels import OTHERS
from builders.threemdbench.mixed import class_items, class_of
from builders.unanswered import UNANSWERED, stored_ask, why
from loaders.manifest import order_splits
from loaders.models.answers import Answers
from loaders.models.asking import Ask, Unfit
from loaders.threemdbench import DIAGNOSES, NAMES, PERSONALITIES

TEST = "test"
BASIC, FACTS = "basic complaint", "complaints"
"""What a model is asked for, as the column `UNANSWERED` calls it."""
_BY_NAME = {diagnosis.name: diagnosis for diagnosis in DIAGNOSES}

# A row as it leaves its source: `content` is the SHA-256 of the file, so that another file with the same name is never
# taken for the one that was read before; `mixed` says what else its class holds, if anything.
SOURCE = pa.schema(
    [
        *((name, pa.string()) for name in ("image_id", "diagnosis", "source", "source_label", "source_file")),
        *((name, pa.string()) for name in ("group_id", "licence", "licence_asserted_by", "attribution")),
        *((name, pa.string()) for name in ("skin_type", "skin_type_asserted_by", "age_group", "sex")),
        *((name, pa.string()) for name in ("image_path", "content", "mixed")),
        ("refused", WHY),
        ("no_image", WHY),
        *PLACED,
    ]
)
_COMPLAINTS = pa.schema(
    [
        ("label", pa.int64()),
        *((name, pa.string()) for name in ("domain", "general_complaint", "general_complaint_source")),
        ("complaints", pa.list_(pa.string())),
        *((name, pa.string()) for name in ("complaints_source", "complaints_status")),
    ]
)


# `kin` names everything that a photo is linked with through patients and clusters, including excluded photos; `was` is
# the split in which an earlier release has any of it.
@step(
    takes="all",
    reads=("image", "source", "source_label", "diagnosis", "mixed", "group_id", "licence", "content"),
    adds=pa.schema([(name, pa.string()) for name in ("source_label", "cluster_id", "kin", "was")]),
    drops=("content", "mixed"),
)
def curate(rows: Collection[Row], store: ImageStore, curator: Curator) -> Iterable[Row | Excluded]:
    """Exclude what is unfit, all copies but one, and photos under two diagnoses; link what is kin.

    Of copies, one that will be withdrawn is kept, in whose place another would show the same person; else one whose
    licence demands most, as the others are no less bound by it; of these one that an earlier release has, or else the
    best. Where a licence rules out that of a copy, or that copy is forbidden, none is kept. What is borderline is
    written to the curator's queue. The labels of a team's own sources and their notes may name a patient: they end
    here, with the review.
    """
    decisions, earlier, own = curator.decisions.by_key, curator.earlier, curator.own
    photos = [
        Candidate(
            row["image_id"],
            store.path(digest_of_image(row)),
            row["source"],
            row["diagnosis"],
            row["licence"],
            OTHERS if row["mixed"] and row["source"] in own else row["mixed"],
            decisions.get(row["image_id"]),
            decisions.get(one.key) if (one := class_of(row)) else None,
            row["image_id"] in earlier.splits,
            row["image_id"] in curator.withdrawn,
        )
        for row in rows
    ]
    findings = curator(photos)
    write_queue(curator.queue, _borderline(rows, photos, findings, decisions))
    kin = joined(
        (
            f"cluster {finding.cluster}",
            *([f"group {row['group_id']}"] if row["group_id"] else []),
            # The photos in a collage are no kin, unless models were trained on it.
            *(f"cluster {shown}" for shown in finding.shows if row["image_id"] in earlier.splits),
        )
        for row, finding in zip(rows, findings, strict=True)
    )
    was: dict[str, set[str]] = defaultdict(set)
    for row, finding in zip(rows, findings, strict=True):
        was[kin[f"cluster {finding.cluster}"]] |= earlier.splits_of(row)
    for row, finding in zip(rows, findings, strict=True):
        if finding.reason:
            yield Excluded(finding.reason, finding.detail)
        else:
            of_kin = kin[f"cluster {finding.cluster}"]
            # Of several the first: models may have been trained on photos from there.
            split = next(iter(order_splits(was[of_kin])), None)
            label = None if row["source"] in own else row["source_label"]
            yield {"source_label": label, "cluster_id": finding.cluster, "kin": of_kin, "was": split}


def _borderline(
    rows: Collection[Row], photos: Sequence[Candidate], findings: Sequence[Finding], decisions: Mapping[str, Decision]
) -> list[Item]:
    """What a person is asked about: disputed diagnoses, quality, copies, mixed classes; and all that was decided."""
    shown = {row["image_id"]: Shown(row["image_id"], digest_of_image(row), row["diagnosis"]) for row in rows}
    items = []
    for row, photo, finding in zip(rows, photos, findings, strict=True):
        if finding.doubts or photo.decision:
            beside = dict.fromkeys(key for doubt in finding.doubts for key in doubt.beside)
            items.append(
                Item(
                    shown[photo.key],
                    row["content"],
                    kept=not finding.reason,
                    facts={"source": row["source"], "label in the source": row["source_label"]},
                    doubts=finding.doubts,
                    beside=tuple(shown[key] for key in beside),
                    decided=photo.decision,
                )
            )
    items += class_items(rows, photos, findings, shown, decisions)
    return sorted(items, key=_place)


def _place(item: Item) -> tuple[int, str, str]:
    """A sort key that puts photos together which should be looked at together."""
    kind = item.doubts[0].kind if item.doubts else ""
    key = item.picture.key
    return _RANK.get(kind, len(_RANK)), min(key, *(other.key for other in item.beside), key), key


_RANK = {"class": 0, "label": 1, "quality": 2, "copy": 3}  # one answer about a class may settle many photos


@step(takes="all", reads=("diagnosis", "kin"))
def draw(
    rows: Collection[Row], targets: Mapping[str, int] | None, seed: int, earlier: Earlier
) -> Iterable[Row | Excluded]:
    """As many photos of each class as the targets say, those of `earlier` releases first; without targets, all."""
    if targets is None:
        return [{}] * len(rows)
    chosen = {member.key for member in sampling.draw(_members(rows), targets, seed=seed, before=earlier.splits)}
    return [
        {}
        if row["image_id"] in chosen
        else Excluded("enough of its class", f"{row['diagnosis']}: {targets.get(row['diagnosis'], 0):,} wanted")
        for row in rows
    ]


@step(
    takes="all",
    reads=("diagnosis", "kin", "was"),
    adds=pa.schema([("split", pa.string())]),
    drops=("was",),
    version=sampling.SPLIT_RULE,
)
def split(
    rows: Collection[Row], ratios: Mapping[str, float], splits: frozenset[str], seed: int
) -> Iterable[Row | Excluded]:
    """The split of each photo, stratified by diagnosis, kin together; photos of unwanted splits are excluded.

    What an earlier release holds keeps its split, with its kin. Every diagnosis with at least three kin groups has a
    photo in test.
    """
    before = {row["image_id"]: row["was"] for row in rows if row["was"]}
    split_of = split_groups(_members(rows), ratios, seed=seed, everywhere=TEST, before=before)
    for row in rows:
        own = split_of[row["image_id"]]
        # It is not said which split it is in: a split may be kept private.
        yield {"split": own} if own in splits else Excluded("of a split that is not in this release")


@step(takes="all", reads=("diagnosis", "split"), adds=pa.schema([("personality", pa.string())]))
def temperament(rows: Collection[Row], seed: int, earlier: Earlier) -> Iterable[Row]:
    """A temperament for each photo of the test split, that of an `earlier` release if it had one."""
    cases = {row["image_id"]: row["diagnosis"] for row in rows if row["split"] == TEST}
    dealt = temperaments(cases, seed=seed, before=earlier.temperaments)
    return [{"personality": dealt.get(row["image_id"])} for row in rows]


def temperaments(
    diagnosis_of: Mapping[str, str], *, seed: int, before: Mapping[str, str] = NONE.temperaments
) -> dict[str, str]:
    """The temperament of each case, given its diagnosis; counts differ by at most one in each class and overall
    (3M-G10), or as little as the temperaments that cases keep from `before` allow.

    >>> sorted(temperaments({"a": "acne", "b": "acne", "c": "acne", "d": "acne", "e": "warts"}, seed=1).values())[:2]
    ['choleric', 'choleric']
    """
    dealt = {key: before[key] for key in diagnosis_of if key in before}
    in_all = Counter(dealt.values())
    in_class = Counter((diagnosis_of[key], personality) for key, personality in dealt.items())
    for name in NAMES:
        new = (key for key, diagnosis in diagnosis_of.items() if diagnosis == name and key not in dealt)
        for key in shuffled(new, seed=seed, purpose="temperament"):
            rarest = min(PERSONALITIES, key=lambda personality: (in_class[name, personality], in_all[personality]))
            dealt[key] = rarest
            in_all[rarest] += 1
            in_class[name, rarest] += 1
    return dealt


@step(adds=_COMPLAINTS, drops=("kin",))
def complaints(row: Row, seed: int, authored: str) -> Row:
    """Authored complaints for each photo of the test split; `authored` is the digest of their texts."""
    texts = authored_facts(row["diagnosis"], key=row["image_id"], seed=seed) if row["split"] == TEST else None
    facts = None if texts is None else Facts(tuple(texts), "authored", AUTHORED)
    return _patient_columns(row, authored_basic(row["diagnosis"]), AUTHORED, facts)


_BASIC = pa.schema(
    [
        *((name, pa.string()) for name in ("general_complaint", "general_complaint_source")),
        (UNANSWERED, pa.list_(pa.string())),
    ]
)


@step(name="basics", takes="all", reads=("diagnosis", "split"), adds=_BASIC)
def basics_by_model(rows: Collection[Row], authored: str, chat: Chat) -> Iterable[Row]:
    """The basic complaint of each diagnosis by a chat model; the authored one if it fails on it for good, or no answer
    passes.

    It is asked for once in a build, so that all cases of a diagnosis say the same even if the model fails in between.
    """
    first: dict[str, str] = {}
    for row in rows:
        if row["split"] == TEST:
            first.setdefault(row["diagnosis"], row["image_id"])
    name_of = {first[name]: name for name in sorted(first)}

    async def begin(name: str, answers: Answers) -> str | Unfit:
        ask = _asking(chat, answers, f"basic {name}", BASIC_SCHEMA)
        return await basic_by_model(_BY_NAME[name], ask, name=chat.model.name, prompts=chat.prompts)

    told = {}
    for key, said in chat.each_or_error(begin, name_of).items():
        failed = [f"{BASIC}: {why(said)}"] if isinstance(said, Exception) else []
        complaint = (authored_basic(name_of[key]), AUTHORED) if isinstance(said, Exception) else (said, chat.model.name)
        told[name_of[key]] = dict(zip(_BASIC.names, (*complaint, failed), strict=True))
    of_others: Row = {"general_complaint": None, "general_complaint_source": None, UNANSWERED: []}
    return [told[row["diagnosis"]] if row["split"] == TEST else of_others for row in rows]


@step(name="complaints", takes="batch", adds=_COMPLAINTS, drops=("kin",), parallel=False)
def complaints_by_model(rows: list[Row], seed: int, authored: str, chat: Chat, store: ImageStore) -> Iterable[Row]:
    """Complaints by a chat model that sees the photo; the authored ones if it fails on it for good, or no answer
    passes."""

    async def go_on(row: Row, answers: Answers) -> Facts | Unfit:
        return await facts_by_model(
            _BY_NAME[row["diagnosis"]],
            row["general_complaint"],
            store.get(digest_of_image(row)),
            _asking(chat, answers, f"facts {row['image_id']}", FACTS_SCHEMA),
            name=chat.model.name,
            prompts=chat.prompts,
        )

    # Only what asks the model counts as answered or not.
    asked = chat.each_or_error(go_on, {row["image_id"]: row for row in rows if row["split"] == TEST})
    for row in rows:
        said, basic, unanswered = asked.get(row["image_id"]), row["general_complaint"], row[UNANSWERED]
        if isinstance(said, Exception):
            unanswered = [*unanswered, f"{FACTS}: {why(said)}"]
            texts = authored_facts(row["diagnosis"], key=row["image_id"], seed=seed, basic=basic)
            said = Facts(tuple(texts), "fallback", AUTHORED)
        yield {**_patient_columns(row, basic, row["general_complaint_source"], said), UNANSWERED: unanswered}


def _asking(chat: Chat, answers: Answers, namespace: str, schema: Mapping[str, Any]) -> Ask:
    return stored_ask(
        answers, chat.model, temperature=TEMPERATURE, max_tokens=MAX_TOKENS, json_schema=schema, namespace=namespace
    )


def _patient_columns(row: Row, basic: str, source: str, facts: Facts | None) -> Row:
    """What the row's patient says; nothing outside the test split."""
    return {
        "label": NAMES.index(row["diagnosis"]),
        "domain": _BY_NAME[row["diagnosis"]].domain,
        "general_complaint": basic if facts else None,
        "general_complaint_source": source if facts else None,
        "complaints": list(facts.texts) if facts else [],
        "complaints_source": facts.source if facts else None,
        "complaints_status": facts.status if facts else None,
    }


def _members(rows: Iterable[Row]) -> list[Member]:
    return [Member(row["image_id"], row["diagnosis"], row["kin"]) for row in rows]
