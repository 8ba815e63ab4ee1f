"""The steps of MedConceal: from threads (one per poster, clean, ask the model, finish) to the clinician's review.

An excluded row is recorded under the pseudonym of its thread, with a detail that quotes nothing of it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from functools import update_wrapper
from typing import Any

import pyarrow as pa

from builders.chat import Chat
from builders.curation.privacy import scrub, survivors
from builders.curation.review import REJECT, Decisions
from builders.medconceal.asking import Asker, thread_texts
from builders.medconceal.injected import neutralised
from builders.medconceal.markup import as_shown
from builders.medconceal.people import made_up_name
from builders.medconceal.plausibility import content_of
from builders.medconceal.profiles import extract
from builders.medconceal.questions import plan_of, rarity_of, scenarios_of, specialty_of
from builders.medconceal.sources import SYNTHETIC_LICENCE, THREAD_LICENCE
from builders.medconceal.wording import texts_of
from builders.pipeline.rows import Row
from builders.pipeline.stage import Excluded
from builders.steps import PLACED, WHY, StepFunction, step
from builders.unanswered import why
from loaders.errors import ModelError
from loaders.medconceal import SCHEMA, leaks, parse_profile, row_of
from loaders.models.answers import Answers
from loaders.models.asking import Unfit
from loaders.schema import Column
from loaders.spans import shares_span

_TEXTS = pa.list_(pa.string())
# A thread as it leaves the dumps.
SOURCE = pa.schema(
    [
        *((name, pa.string()) for name in ("case_id", "thread", "author", "title", "text")),
        ("created", pa.int64()),
        ("turns", pa.list_(pa.struct({"role": pa.string(), "text": pa.string()}))),
        ("edited", pa.int64()),
        ("names", _TEXTS),
        ("refused", WHY),
    ]
)


def _arrow(column: Column) -> pa.DataType:
    """A column's type, without `datasets`, which takes half a second to import: `--help` would wait for it."""
    match column:
        case str():
            return pa.type_for_alias(column)
        case list():
            return pa.list_(_arrow(column[0]))
        case Mapping():
            return pa.struct([(name, _arrow(inner)) for name, inner in column.items()])
    raise TypeError(f"found {column!r}, expected a type's name, a list or a struct")


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
@step(adds=pa.schema([("raw", _TEXTS), ("masked", pa.int64()), ("injected", pa.int64())]), drops=("names",))
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


Question = Callable[[Row, Asker], Awaitable[Row]]
NO_ANSWER = "the model gave no answer"
_QUOTED = re.compile(r"""(?<!\w)(["'“‘«`]).*?["'”’»`](?!\w)""")
_REPEATED = 3
"""Consecutive words of a thread in a provider's message, which are taken for a quotation."""


def _asked(reason: str, **columns: pa.DataType) -> Callable[[Question], StepFunction[[Chat]]]:
    """Declares a question to the model about each thread, whose answer fills `columns`; without a usable one, the row
    is excluded for `reason`; if there is none at all, as its request is refused or fails for good, so it is, and the
    reason says that: nothing can stand in for what a model reads in a thread.
    """

    def declare(question: Question) -> StepFunction[[Chat]]:
        def ask(rows: list[Row], chat: Chat) -> Iterable[Row | Excluded]:
            async def ask_one(row: Row, answers: Answers) -> Row | Excluded:
                try:
                    return await question(row, Asker(chat.model, answers, chat.prompts))
                except Unfit as unfit:
                    return Excluded(reason, str(unfit))

            asked = chat.each_or_error(ask_one, {row["case_id"]: row for row in rows})
            for row in rows:
                said = asked[row["case_id"]]
                if isinstance(said, ModelError):
                    said = Excluded(f"{reason}: {NO_ANSWER}", _publishable(said, row))
                yield said

        # Requests to a model already run in parallel within a batch.
        declared = step(name=question.__name__, takes="batch", adds=pa.schema(columns.items()), parallel=False)(ask)
        update_wrapper(declared, question, updated=())
        return declared

    return declare


def _publishable(error: ModelError, row: Row) -> str:
    """What the provider said of a request about a thread, without what it quotes: exclusions are published."""
    told = _QUOTED.sub("[quotation]", why(error))
    if not shares_span(told, [*thread_texts(row), *row["raw"]], _REPEATED):
        return told
    status = re.search(r"HTTP \d{3}", error.found)
    return f"{error.where}: {status[0] if status else 'no answer'}; its message repeats the thread and is left out"


@_asked("no commonness score", rarity=pa.float64())
async def commonness(row: Row, asker: Asker) -> Row:
    """How rare the presentation is (C.2)."""
    return {"rarity": await rarity_of(row, asker)}


@_asked("no scenario labels", scenarios=_TEXTS)
async def scenarios(row: Row, asker: Asker) -> Row:
    """The communication families of the thread (C.5)."""
    return {"scenarios": await scenarios_of(row, asker)}


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


@_asked("no specialty", specialty=pa.string())
async def specialty(row: Row, asker: Asker) -> Row:
    """The best-fitting specialty (C.4)."""
    return {"specialty": await specialty_of(row, asker)}


@_asked("no profile", profile=pa.string(), dropped=pa.int64())
async def profile(row: Row, asker: Asker) -> Row:
    """The blocks and concerns of a profile, checked, as JSON; and how many concerns were dropped."""
    extracted = await extract(row, asker)
    return {"profile": _json(extracted.blocks), "dropped": sum(extracted.dropped.values())}


@_asked("no plan")
async def plan(row: Row, asker: Asker) -> Row:
    """The intervention block of the profile."""
    blocks = json.loads(row["profile"])
    blocks["intervention"] = await plan_of(row, blocks["hidden_concerns"], asker)
    return {"profile": _json(blocks)}


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


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
