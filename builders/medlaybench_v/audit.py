"""Run the fact gates over caption pairs that exist already: a file, a release of ours, or the official release.

    bedside audit pairs.json          names the numbers, sides, negations, modalities and markers that got lost
    bedside audit official            the same for the published corpus

What the lay phrases of the vocabulary say is allowed, and a caption that it could simplify may not be copied.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builders.medlaybench_v.facts import read
from builders.medlaybench_v.gates import GATES, Context, Verdict, check
from builders.medlaybench_v.lexicon import Lexicon
from builders.medlaybench_v.steps import context_of, modalities_named
from loaders.errors import InputError
from loaders.files.tables import Records, plain_name, read_records
from loaders.files.untrusted import BadRow, cell_text
from loaders.medlaybench_v import parse_cuis

EXPERT = ("expert_caption", "expert", "caption", "source", "original")
LAYMAN = ("layman_caption", "layman", "lay", "lay_caption", "simplified", "target")
IDENTIFIER = ("image_id", "id", "name", "file")


@dataclass(frozen=True, slots=True)
class Audited:
    """One pair and what the gates say of it."""

    image_id: str
    expert_caption: str
    layman_caption: str
    verdicts: tuple[Verdict, ...]

    @property
    def failures(self) -> tuple[Verdict, ...]:
        return tuple(v for v in self.verdicts if not v.passed)

    @property
    def doubts(self) -> tuple[Verdict, ...]:
        """What only a reader can decide; none where a gate fails the pair anyway."""
        return () if self.failures else tuple(v for v in self.verdicts if v.doubtful)


@dataclass(slots=True)
class Tally:
    """Counts over an audit: pairs, pairs with a failure, pairs left doubtful; by gate failures, doubts, evidence."""

    pairs: int = 0
    failing: int = 0
    doubtful: int = 0
    by_gate: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(GATES, 0)))
    doubts_by_gate: Counter[str] = field(default_factory=Counter)
    by_evidence: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, audited: Audited) -> None:
        self.pairs += 1
        self.failing += bool(audited.failures)
        self.doubtful += bool(audited.doubts)
        self.by_gate.update(v.gate for v in audited.failures)
        self.by_evidence.update((v.gate, v.evidence) for v in audited.failures)
        self.doubts_by_gate.update(v.gate for v in audited.verdicts if v.doubtful)


def audit(rows: Iterable[dict[str, Any]], lexicon: Lexicon | None = None) -> Iterator[Audited]:
    """Check each row (`image_id`, `expert_caption`, `layman_caption`, and `cuis`, `concepts` where there are any)."""
    for row in rows:
        expert, lay = read(row["expert_caption"]), read(row["layman_caption"])
        cuis = row.get("cuis") or []
        if row.get("concepts"):
            context = context_of(row)
        elif lexicon is not None:
            matches = lexicon.match(expert, cuis, [])
            context = context_of({"concepts": lexicon.concepts(cuis, [], matches, expert), "cuis": cuis})
        else:
            context = Context(modalities=modalities_named(cuis))
        yield Audited(str(row["image_id"]), expert.text, lay.text, check(expert, lay, context))


def read_pairs(path: Path) -> Iterator[dict[str, Any]]:
    """Caption pairs of a CSV, TSV, JSON, JSON Lines or Parquet file, whatever its columns are called.

    Raises InputError for a file that cannot be read or lacks a column, and for a row without a caption.
    """
    records = read_records(path)
    expert = _column(records, EXPERT)
    layman = _column(records, LAYMAN)
    identifier = _first(records, IDENTIFIER)
    cuis = _first(records, ("cuis", "cui"))
    for placed in records.each(None):
        if isinstance(placed, BadRow):
            raise placed
        where, record = placed
        captions = {"expert_caption": record.get(expert), "layman_caption": record.get(layman)}
        for (name, value), column in zip(captions.items(), (expert, layman), strict=True):
            if not isinstance(value, str) or not cell_text(value):
                raise InputError(where, found=f"{column} {value!r}", expected="a caption", do=f"Fill in the {name}")
        yield {
            "image_id": str(record[identifier]) if identifier else where,
            "cuis": parse_cuis(record.get(cuis), where) if cuis else [],
            **captions,
        }


def _first(records: Records, names: tuple[str, ...]) -> str | None:
    own = {plain_name(column): column for column in records.columns}
    return next((own[name] for name in names if name in own), None)


def _column(records: Records, names: tuple[str, ...]) -> str:
    column = _first(records, names)
    if column is None:
        raise InputError(
            records.path,
            found=f"columns {', '.join(records.columns)}",
            expected=f"one of {', '.join(names)}",
            do="Rename the column that holds this caption",
        )
    return column
