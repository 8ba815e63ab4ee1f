"""Runs the fact gates over existing caption pairs: a file, a release of ours, or the official release.

    bedside audit pairs.json          names the numbers, sides, negations, modalities and markers that were lost
    bedside audit official            the same for the published corpus

What the lay phrases of the vocabulary say is allowed, and a caption that the vocabulary could simplify must not be a
copy. `judge_pairs` asks a model about the pairs that the gates fail or leave doubtful.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builders.chat import IN_A_ROW, Chat
from builders.medlaybench_v.facts import read
from builders.medlaybench_v.gates import GATES, Context, Verdict, check
from builders.medlaybench_v.judge import NO_ANSWER, Judge, Opinion
from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.sources.checks import in_english
from builders.medlaybench_v.steps import context_of, modalities_named
from loaders.errors import BedsideError, ModelError, how_many
from loaders.models.answers import Answers


@dataclass(frozen=True, slots=True)
class Audited:
    """One pair and the gates' verdicts on it."""

    image_id: str
    expert_caption: str
    layman_caption: str
    verdicts: tuple[Verdict, ...]

    @property
    def failures(self) -> tuple[Verdict, ...]:
        return tuple(v for v in self.verdicts if not v.passed)

    @property
    def gates(self) -> set[str]:
        """Those that fail it."""
        return {v.gate for v in self.failures}

    @property
    def doubts(self) -> tuple[Verdict, ...]:
        """What only a reader can decide; empty if a gate fails the pair anyway."""
        return () if self.failures else tuple(v for v in self.verdicts if v.doubtful)


@dataclass(slots=True)
class Tally:
    """Counts over an audit: pairs, pairs with a failure, pairs left doubtful, pairs in another language than English,
    the only one that the gates read; by gate failures, doubts of those left doubtful, evidence."""

    pairs: int = 0
    failing: int = 0
    doubtful: int = 0
    foreign: int = 0
    by_gate: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(GATES, 0)))
    doubts_by_gate: Counter[str] = field(default_factory=Counter)
    by_evidence: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, audited: Audited) -> None:
        self.pairs += 1
        self.failing += bool(audited.failures)
        self.doubtful += bool(audited.doubts)
        self.foreign += not (in_english(audited.expert_caption) and in_english(audited.layman_caption))
        self.by_gate.update(v.gate for v in audited.failures)
        self.by_evidence.update((v.gate, v.evidence) for v in audited.failures)
        self.doubts_by_gate.update(v.gate for v in audited.doubts)

    @property
    def language(self) -> str:
        """What to warn of, if there are pairs in another language; else empty."""
        pairs = how_many(self.foreign, "pair seems", "pairs seem")
        told = f"{pairs} not to be in English, the only language that the gates read: to pass them says nothing there"
        return told if self.foreign else ""


def audit(rows: Iterable[dict[str, Any]], lexicon: Lexicon | None = None) -> Iterator[Audited]:
    """Check each row (`image_id`, `expert_caption`, `layman_caption`, and `cuis` and `concepts` if present).

    A row that a build of ours made, which has a `status`, is checked with its own concepts, none included.
    """
    for row in rows:
        captions = row["expert_caption"], row["layman_caption"]
        expert, lay = (read(" ".join(caption.split())) for caption in captions)  # as a build reads them
        cuis = row.get("cuis") or []
        if row.get("concepts") or row.get("status"):
            context = context_of(row)
        elif lexicon is not None:
            matches = lexicon.match(expert, cuis, [])
            context = context_of({"concepts": lexicon.concepts(cuis, [], matches, expert), "cuis": cuis})
        else:
            context = Context(modalities=modalities_named(cuis))
        yield Audited(str(row["image_id"]), *captions, check(expert, lay, context))


def judge_pairs(
    pairs: Sequence[Audited], judge: Judge, answers: Path, *, concurrency: int, progress: Callable[[int, int], None]
) -> list[Opinion]:
    """The opinion on each pair, in their order; `NO_ANSWER` for a pair that the model fails on. `answers` stores them.

    Raises: ModelError for a model that is unusable (`Chat.each_or_error`); BedsideError for one that answers, but gives
    no verdict on the first IN_A_ROW pairs, or on all if they are fewer.
    """
    done = dict[int, Opinion]()  # one may be asked about again, to see whether the model is still there

    async def one(audited: Audited, store: Answers) -> Opinion:
        done[id(audited)] = opinion = await judge.opinion(audited.expert_caption, audited.layman_caption, store)
        progress(len(done), len(pairs))
        if len(done) == min(IN_A_ROW, len(pairs)) and all(each.verdict == NO_ANSWER for each in done.values()):
            found = f"no verdict on {how_many(len(done), 'pair')}; on the last, {opinion.why}"
            do = "Judge with a model that follows its prompt; its answers are kept"
            raise BedsideError(judge.model.name, found=found, expected="a verdict on each pair", do=do)
        return opinion

    keyed = {f"{audited.image_id} ({number})": audited for number, audited in enumerate(pairs, 1)}  # ids may repeat
    judged = Chat(judge.model, judge.prompts, answers, concurrency).each_or_error(one, keyed).values()
    return [Opinion(NO_ANSWER, each.found) if isinstance(each, ModelError) else each for each in judged]
