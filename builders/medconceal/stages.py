"""The stages of the builder of MedConceal, from threads: admit, author, clean, ask the model, finish; and the review.

Each is a frozen, picklable object that is called with a batch of rows. What is excluded is recorded under the
pseudonym of its thread, with a detail that holds no word of it.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from builders.curation.privacy import scrub, survivors
from builders.curation.review import REJECT, Decisions
from builders.medconceal.asking import Asker, thread_texts
from builders.medconceal.planted import neutralised
from builders.medconceal.plausibility import content_of
from builders.medconceal.profiles import extract
from builders.medconceal.scenarios import plan_of, scenarios_of
from builders.medconceal.selection import most_common, rarity_of, specialty_of
from builders.medconceal.sources import SYNTHETIC_LICENCE, THREAD_LICENCE
from builders.medconceal.wording import texts_of
from builders.pipeline.rows import Row
from builders.pipeline.stage import Excluded, Outcome
from builders.samples.medconceal.compose import made_up_name
from loaders.medconceal import FEATURES, leaks, parse_profile, row_of
from loaders.models.answers import AnswerStore, gather_bounded
from loaders.models.asking import Unfit
from loaders.models.messages import ChatModel
from loaders.models.prompts import Prompts

_WHY = pa.struct({"reason": pa.string(), "detail": pa.string()})
_TURN = pa.struct({"role": pa.string(), "text": pa.string()})
_TEXTS = pa.list_(pa.string())
_THREAD = [
    *(pa.field(name, pa.string()) for name in ("case_id", "thread", "author")),
    pa.field("created", pa.int64()),
    *(pa.field(name, pa.string()) for name in ("title", "text")),
    pa.field("turns", pa.list_(_TURN)),
    pa.field("edited", pa.int64()),
    pa.field("names", _TEXTS),
]
SOURCE = pa.schema([*_THREAD, pa.field("refused", _WHY)])
ADMITTED = pa.schema(_THREAD)
# `raw` holds the texts as they were posted, for the check that nothing of them is published.
CLEAN = pa.schema(
    [
        *(field for field in _THREAD if field.name != "names"),
        pa.field("raw", _TEXTS),
        pa.field("masked", pa.int64()),
        pa.field("planted", pa.int64()),
    ]
)
RANKED = pa.schema([*CLEAN, pa.field("rarity", pa.float64())])
FRAMED = pa.schema([*RANKED, pa.field("scenarios", _TEXTS)])
LABELLED = pa.schema([*FRAMED, pa.field("specialty", pa.string())])
# `profile` is JSON: the blocks of a profile as the model gave them, checked.
PROFILED = pa.schema([*LABELLED, pa.field("profile", pa.string()), pa.field("dropped", pa.int64())])
FINISHED = pa.schema(list(FEATURES.arrow_schema))


@dataclass(frozen=True, slots=True)
class Admit:
    """Exclude the threads that the stated rules refuse."""

    def __call__(self, rows: list[Row]) -> Outcome:
        outcome = Outcome([])
        for row in rows:
            if row["refused"]:
                outcome.excluded.append(Excluded(row["case_id"], "admit", **row["refused"]))
            else:
                outcome.kept.append(_only(row, ADMITTED))
        return outcome


@dataclass(frozen=True, slots=True)
class OneEach:
    """Keep one thread of each poster: the longest, of equals the earliest."""

    def __call__(self, rows: list[Row]) -> Outcome:
        best: dict[str, Row] = {}
        for row in sorted(rows, key=lambda row: (-len(row["turns"]), row["created"], row["case_id"])):
            best.setdefault(row["author"], row)
        outcome = Outcome([])
        for row in rows:
            if best[row["author"]] is row:
                outcome.kept.append(row)
            else:
                outcome.excluded.append(Excluded(row["case_id"], "author", "another thread of its poster is kept"))
        return outcome


@dataclass(frozen=True, slots=True)
class Clean:
    """Take identifiers, and sentences that speak to a machine, out of every text, before any model reads it."""

    def __call__(self, rows: list[Row]) -> Outcome:
        return Outcome([self._clean(row) for row in rows])

    def _clean(self, row: Row) -> Row:
        masked = planted = 0

        def clean(text: str) -> str:
            nonlocal masked, planted
            plain, taken = neutralised(text)
            scrubbed = scrub(plain, row["names"])
            planted += taken
            masked += sum(scrubbed.counts.values())
            return scrubbed.text

        cleaned = {
            "title": clean(row["title"]),
            "text": clean(row["text"]),
            "turns": [{**turn, "text": clean(turn["text"])} for turn in row["turns"]],
        }
        return {**_only({**row, **cleaned}, CLEAN), "raw": thread_texts(row), "masked": masked, "planted": planted}


Question = Callable[[Row, Asker], Awaitable[Row]]


@dataclass(frozen=True, slots=True)
class Asked:
    """Ask the model one question about each thread; exclude those that no answer fits."""

    stage: str
    question: Question
    reason: str
    model: ChatModel
    prompts: Prompts
    answers: Path
    concurrency: int = 16

    def __call__(self, rows: list[Row]) -> Outcome:
        with AnswerStore(self.answers) as answers:
            return asyncio.run(self._ask(rows, Asker(self.model, answers, self.prompts)))

    async def _ask(self, rows: list[Row], asker: Asker) -> Outcome:
        async def one(row: Row) -> Row | Excluded:
            try:
                return await self.question(row, asker)
            except Unfit as unfit:
                return Excluded(row["case_id"], self.stage, self.reason, str(unfit))

        outcome = Outcome([])
        for found in await gather_bounded(one, rows, limit=self.concurrency):
            if isinstance(found, Excluded):
                outcome.excluded.append(found)
            else:
                outcome.kept.append(found)
        return outcome


async def ask_rarity(row: Row, asker: Asker) -> Row:
    """The row with its commonness score."""
    return {**row, "rarity": await rarity_of(row, asker)}


async def ask_scenarios(row: Row, asker: Asker) -> Row:
    """The row with its communication families."""
    return {**row, "scenarios": await scenarios_of(row, asker)}


async def ask_specialty(row: Row, asker: Asker) -> Row:
    """The row with its specialty."""
    return {**row, "specialty": await specialty_of(row, asker)}


async def ask_profile(row: Row, asker: Asker) -> Row:
    """The row with the blocks and concerns of its profile, and how many concerns were dropped."""
    found = await extract(row, asker)
    return {**row, "profile": _json(found.blocks), "dropped": sum(found.dropped.values())}


async def ask_plan(row: Row, asker: Asker) -> Row:
    """The row with the intervention block in its profile."""
    blocks = json.loads(row["profile"])
    plan = await plan_of(row, blocks["hidden_concerns"], asker)
    blocks["intervention"] = {
        "primary_concern": plan.primary_concern,
        "original_preference": plan.original_preference,
        "recommended_plan": plan.recommended_plan,
    }
    return {**row, "profile": _json(blocks)}


@dataclass(frozen=True, slots=True)
class Framed:
    """Exclude threads of neither communication family (C.5)."""

    def __call__(self, rows: list[Row]) -> Outcome:
        outcome = Outcome([])
        for row in rows:
            if row["scenarios"]:
                outcome.kept.append(row)
            else:
                outcome.excluded.append(Excluded(row["case_id"], "family", "of neither communication family"))
        return outcome


@dataclass(frozen=True, slots=True)
class Select:
    """Keep the most common presentations (C.2)."""

    count: int | None

    def __call__(self, rows: list[Row]) -> Outcome:
        chosen = {row["case_id"] for row in most_common(rows, self.count)}
        reason = f"beyond the {self.count or 0:,} most common"
        return Outcome(
            [row for row in rows if row["case_id"] in chosen],
            [
                Excluded(row["case_id"], "select", reason, f"rarity {row['rarity']:.2f}")
                for row in rows
                if row["case_id"] not in chosen
            ],
        )


@dataclass(frozen=True, slots=True)
class Finish:
    """Make the rows of the release, and exclude what would give a concern or the thread away."""

    author: str
    invented: bool

    def __call__(self, rows: list[Row]) -> Outcome:
        outcome = Outcome([])
        for row in rows:
            finished = self._finish(row)
            if isinstance(finished, Excluded):
                outcome.excluded.append(finished)
            else:
                outcome.kept.append(finished)
        return outcome

    def _finish(self, row: Row) -> Row | Excluded:
        counts: Counter[str] = Counter()
        values = _scrubbed(json.loads(row["profile"]), counts)
        who = values["demographics"]
        who["name"] = made_up_name(row["case_id"], who["sex"])
        profile = parse_profile(
            {
                **values,
                **{name: row[name] for name in ("case_id", "thread", "specialty", "rarity", "scenarios")},
                "synthetic": self.invented,
            },
            f"case {row['case_id']}",
        )
        if leaking := leaks(profile):
            return Excluded(row["case_id"], "finish", "the chart gives a concern away", ", ".join(leaking))
        finished = row_of(
            profile,
            author=self.author,
            licence=SYNTHETIC_LICENCE if self.invented else THREAD_LICENCE,
            attribution="Bedside, after a synthetic thread" if self.invented else "r/AskDocs, retold by a model",
            curation={
                "identifiers_masked": row["masked"] + sum(counts.values()),
                "instructions_removed": row["planted"],
                "concerns_dropped": row["dropped"],
                "edited_posts": row["edited"],
            },
        )
        if repeated := survivors(dict(texts_of(finished)), row["raw"]):
            return Excluded(row["case_id"], "finish", "a field repeats the thread", ", ".join(repeated))
        return finished


@dataclass(frozen=True)
class Review:
    """Exclude the cases that a clinician found implausible, by criterion."""

    decisions: Decisions

    def __call__(self, rows: list[Row]) -> Outcome:
        outcome = Outcome([])
        matching = self.decisions.matching((row["case_id"], content_of(row)) for row in rows)
        for row in rows:
            decision = matching.get(row["case_id"])
            if decision is not None and decision.decision == REJECT:
                outcome.excluded.append(Excluded(row["case_id"], "review", f"review: {decision.reason}"))
            else:
                outcome.kept.append(row)
        return outcome


_LABELS = frozenset({"category", "sex"})


def _scrubbed(value: Any, counts: Counter[str]) -> Any:
    """The values with identifiers out of every text but the labels."""
    if isinstance(value, str):
        found = scrub(value)
        counts.update(found.counts)
        return found.text
    if isinstance(value, dict):
        return {name: one if name in _LABELS else _scrubbed(one, counts) for name, one in value.items()}
    return [_scrubbed(one, counts) for one in value] if isinstance(value, list) else value


def _only(row: Row, schema: pa.Schema) -> Row:
    return {name: row[name] for name in schema.names if name in row}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
