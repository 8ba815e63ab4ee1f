"""The steps of MedConceal: from threads (one per poster, clean, ask the model, finish) to the clinician's review.

An excluded row is recorded under the pseudonym of its thread, with a detail that quotes nothing of it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pyarrow as pa

from builders.curation.privacy import scrub, survivors
from builders.curation.review import REJECT, Decisions
from builders.medconceal.asking import TEXTS, thread_texts
from builders.medconceal.injected import neutralised
from builders.medconceal.markup import as_shown
from builders.medconceal.people import made_up_name
from builders.medconceal.plausibility import content_of
from builders.medconceal.sources import SYNTHETIC_LICENCE, THREAD_LICENCE
from builders.medconceal.wording import texts_of
from builders.pipeline.rows import Row
from builders.pipeline.stage import Excluded
from builders.steps import PLACED, WHY, step
from loaders.medconceal import SCHEMA, leaks, parse_profile, row_of
from loaders.schema import Column

# A thread as it leaves the dumps.
SOURCE = pa.schema(
    [
        *((name, pa.string()) for name in ("case_id", "thread", "author", "title", "text")),
        ("created", pa.int64()),
        ("turns", pa.list_(pa.struct({"role": pa.string(), "text": pa.string()}))),
        ("edited", pa.int64()),
        ("names", TEXTS),
        ("refused", WHY),
    ]
)


def _arrow(column: Column) -> pa.DataType:
    """A column's type, without `datasets`, which takes half a second to import: `--help` would wait for it."""
    if isinstance(column, str):
        return pa.type_for_alias(column)
    if isinstance(column, Mapping):
        return pa.struct([(name, _arrow(inner)) for name, inner in column.items()])
    return pa.list_(_arrow(column[0]))


FINISHED = pa.schema([(name, _arrow(column)) for name, column in SCHEMA.items()])


@step(takes="all", reads=("author", "created", "turns"))
def author(rows: Collection[Row]) -> Iterable[Row | Excluded]:
    """Keep one thread per poster: the longest, of equals the earliest."""
    best: dict[str, tuple[int, int, str]] = {}
    for row in rows:
        rank = (-len(row["turns"]), row["created"], row["case_id"])
        best[row["author"]] = min(rank, best.get(row["author"], rank))
    chosen = {case for _, _, case in best.values()}
    for row in rows:
        yield {} if row["case_id"] in chosen else Excluded("another thread of its poster is kept")


# `raw` holds the texts as posted, to check that none of them is published.
@step(adds=pa.schema([("raw", TEXTS), ("masked", pa.int64()), ("injected", pa.int64())]), drops=("names",))
def clean(row: Row, packages: Mapping[str, str]) -> Row:
    """Remove identifiers, and sentences that address a machine, from every text, before any model reads it. What is
    looked at, and kept as `raw`, are the texts as readers see them: markup would hide identifiers from the rules.

    `packages` are the versions of the packages that recognise identifiers.
    """
    masked = injected = 0
    turns = [{**turn, "text": as_shown(turn["text"])} for turn in row["turns"]]
    row = {**row, "title": as_shown(row["title"]), "text": as_shown(row["text"]), "turns": turns}

    def cleaned(text: str) -> str:
        nonlocal masked, injected
        plain, taken = neutralised(text)
        scrubbed = scrub(plain, row["names"])
        injected += taken
        masked += sum(scrubbed.counts.values())
        return scrubbed.text

    texts = {
        "title": cleaned(row["title"]),
        "text": cleaned(row["text"]),
        "turns": [{**turn, "text": cleaned(turn["text"])} for turn in row["turns"]],
    }
    return {**texts, "raw": thread_texts(row), "masked": masked, "injected": injected}


@step()
def family(row: Row) -> Row | Excluded:
    """Exclude threads that belong to neither communication family (C.5)."""
    return {} if row["scenarios"] else Excluded("of neither communication family")


@step(takes="all", reads=("rarity",))
def select(rows: Collection[Row], count: int | None) -> Iterable[Row | Excluded]:
    """Keep the `count` presentations of lowest rarity, of equals the lower id (C.2); None keeps all."""
    ranked = sorted((row["rarity"], row["case_id"]) for row in rows)
    chosen = {case for _, case in ranked[:count]}
    reason = f"beyond the {count or 0:,} most common"
    for row in rows:
        yield {} if row["case_id"] in chosen else Excluded(reason, f"rarity {row['rarity']:.2f}")


@step(writes=pa.schema([*FINISHED, *PLACED]))
def finish(row: Row, author: str, invented: bool, packages: Mapping[str, str]) -> Row | Excluded:
    """Make the row of the release, or exclude it if it would give a concern or the thread away.

    `author` is who wrote the profile; `invented` says that nobody posted the thread; `packages` as for `clean`.
    """
    counts: Counter[str] = Counter()
    values = _scrubbed(json.loads(row["profile"]), counts)
    who = values["demographics"]
    who["name"] = made_up_name(row["case_id"], who["sex"])
    told = {name: row[name] for name in ("case_id", "thread", "specialty", "rarity", "scenarios")}
    profile = parse_profile({**values, **told, "synthetic": invented}, f"case {row['case_id']}")
    if leaking := leaks(profile):
        return Excluded("the chart gives a concern away", ", ".join(leaking))
    finished = row_of(
        profile,
        author=author,
        licence=SYNTHETIC_LICENCE if invented else THREAD_LICENCE,
        attribution="Bedside, after a synthetic thread" if invented else "r/AskDocs, retold by a model",
        curation={
            "identifiers_masked": row["masked"] + sum(counts.values()),
            "instructions_removed": row["injected"],
            "concerns_dropped": row["dropped"],
            "edited_posts": row["edited"],
        },
    )
    if repeated := survivors(dict(texts_of(finished)), row["raw"]):
        return Excluded("a field repeats the thread", ", ".join(repeated))
    return {**finished, "where": f"thread {row['thread']}", "says": row["thread"]}


@step(takes="all", reads=FINISHED.names)
def review(rows: Collection[Row], decisions: Decisions) -> Iterable[Row | Excluded]:
    """Exclude the cases that a clinician found implausible, by criterion."""
    matching = decisions.matching((row["case_id"], content_of(row)) for row in rows)
    for row in rows:
        decision = matching.get(row["case_id"])
        yield Excluded(f"review: {decision.reason}") if decision and decision.decision == REJECT else {}


def _scrubbed(value: Any, counts: Counter[str]) -> Any:
    """The values with identifiers removed from every text except the categories."""
    if isinstance(value, str):
        scrubbed = scrub(value)
        counts.update(scrubbed.counts)
        return scrubbed.text
    if isinstance(value, dict):
        return {name: inner if name == "category" else _scrubbed(inner, counts) for name, inner in value.items()}
    return [_scrubbed(inner, counts) for inner in value] if isinstance(value, list) else value
