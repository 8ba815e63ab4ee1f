"""What changed between two releases of a corpus, row by row and column by column.

    bedside diff A B

Rows are matched by their key. Only digests of the rows of A are held in memory, 8 bytes per column.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, JsonValue

from builders.release.shards import read_parquet, read_rows
from builders.release.write import EXCLUSIONS_FILE
from loaders.errors import ReleaseError
from loaders.manifest import Manifest, canonical_json, order_splits

_DIGEST_BYTES = 8
_FACTS = (
    *("schema_version", "sources", "settings", "prompts", "versions", "stages", "configs", "statistics"),
    *("stand_in", "rules", "code"),
)


@dataclass(slots=True)
class Keys:
    """The number of rows, and the keys of the first few, in the order of the release."""

    count: int = 0
    examples: list[str] = field(default_factory=list)

    def add(self, key: str, limit: int) -> None:
        """Count one more row."""
        self.count += 1
        if len(self.examples) < limit:
            self.examples.append(key)


@dataclass(frozen=True)
class Change:
    """A fact that differs; None where one release does not have it."""

    where: str
    a: JsonValue
    b: JsonValue


@dataclass(frozen=True)
class Diff:
    """The differences from release A to release B.

    `columns`, `moved` ("train -> test") and `exclusions` hold the groups that are not empty. Kinds of exclusions:
    "now excluded" (was a row of A), "now included" (is a row of B), "excluded, new" and "no longer excluded" (a key
    that the other release does not know), "reason changed", "detail changed" (same reasons, other details).
    `touched` are the splits that lost, gained or changed a row; `new_splits` those of B that A does not have,
    `lost_splits` those of A that B does not.
    """

    content_a: str
    content_b: str
    rows_a: int
    rows_b: int
    added: Keys
    removed: Keys
    changed: Keys
    columns: dict[str, Keys]
    moved: dict[str, Keys]
    touched: list[str]
    new_splits: list[str]
    lost_splits: list[str]
    reordered: list[str]
    exclusions: dict[str, Keys]
    schema: list[Change]
    facts: list[Change]

    @property
    def equal(self) -> bool:
        """Whether the two releases hold the same and say the same of it, however their files are encoded."""
        rows = self.added.count or self.removed.count or self.changed.count
        return not (rows or self.moved or self.reordered or self.exclusions or self.schema or self.facts)


def diff(a: Path, b: Path, *, examples: int = 5) -> Diff:
    """Compare two release folders, showing up to `examples` keys of each kind of difference.

    Raises: ReleaseError when one is not a release, cannot be read, or they are of different corpora or keys.
    """
    old, new = Manifest.read(a), Manifest.read(b)
    for name in ("corpus", "key"):
        if getattr(old, name) != getattr(new, name):
            found = f"{name} {getattr(new, name)!r}"
            raise ReleaseError(b, found=found, expected=f"{getattr(old, name)!r}, as in {a}")
    columns = {feature["name"] for feature in new.features}
    # `split` is compared separately, and the key cannot differ.
    names = [str(f["name"]) for f in old.features if f["name"] in columns and f["name"] not in ("split", old.key)]
    before = {row[old.key]: (split, _digests(row, names)) for split, row in _by_split(a, old)}
    kinds: defaultdict[str, Keys] = defaultdict(Keys)
    differing, moved = defaultdict[str, Keys](Keys), defaultdict[str, Keys](Keys)
    touched, seen = set[str](), set[str]()
    for split, row in _by_split(b, new):
        key = row[new.key]
        seen.add(key)
        if key not in before:
            kinds["added"].add(key, examples)
            touched.add(split)
            continue
        was, known = before[key]
        if was != split:
            moved[f"{was} -> {split}"].add(key, examples)
            touched |= {was, split}
        if (now := _digests(row, names)) != known:
            kinds["changed"].add(key, examples)
            touched.add(split)
            for column, at in zip(names, range(0, len(now), _DIGEST_BYTES), strict=True):
                if now[at : at + _DIGEST_BYTES] != known[at : at + _DIGEST_BYTES]:
                    differing[column].add(key, examples)
    for key, (split, _) in before.items():
        if key not in seen:
            kinds["removed"].add(key, examples)
            touched.add(split)
    return Diff(
        content_a=old.content_digest,
        content_b=new.content_digest,
        rows_a=old.rows,
        rows_b=new.rows,
        added=kinds["added"],
        removed=kinds["removed"],
        changed=kinds["changed"],
        columns={column: differing[column] for column in names if column in differing},
        moved=dict(sorted(moved.items())),
        touched=order_splits(touched),
        new_splits=order_splits(new.splits.keys() - old.splits.keys()),
        lost_splits=order_splits(old.splits.keys() - new.splits.keys()),
        reordered=_reordered(old, new, touched),
        exclusions=_exclusions(_excluded(a), _excluded(b), before.keys(), seen, examples),
        schema=changes("", by_name(old.features), by_name(new.features)),
        facts=[
            change
            for name in _FACTS
            for change in changes(name, by_name(getattr(old, name)), by_name(getattr(new, name)))
        ],
    )


def _reordered(old: Manifest, new: Manifest, touched: Collection[str]) -> list[str]:
    """Splits whose rows are all equal, yet whose content digests differ: only their order can differ."""
    if old.features != new.features:
        return []
    return [
        split
        for split in order_splits(old.splits.keys() & new.splits.keys())
        if split not in touched and old.splits[split].content_digest != new.splits[split].content_digest
    ]


def _digests(row: Mapping[str, Any], names: Sequence[str]) -> bytes:
    return b"".join(_digest(row[name]) for name in names)


def _digest(value: Any) -> bytes:
    return hashlib.blake2b(canonical_json(value), digest_size=_DIGEST_BYTES).digest()


def _by_split(folder: Path, manifest: Manifest) -> Iterator[tuple[str, dict[str, Any]]]:
    for split in manifest.splits:
        for row in read_rows(folder, manifest, split):
            yield split, row


def _exclusions(
    old: _Excluded, new: _Excluded, rows_a: Collection[str], rows_b: Collection[str], examples: int
) -> dict[str, Keys]:
    """Exclusions that changed. A key may be excluded more than once, as a duplicate of a row that was kept."""
    kinds: defaultdict[str, Keys] = defaultdict(Keys)
    for key in [*old, *(key for key in new if key not in old)]:
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if after and key in rows_a and key not in rows_b:
            kind = "now excluded"
        elif before and key in rows_b and key not in rows_a:
            kind = "now included"
        elif before is None:
            kind = "excluded, new"
        elif after is None:
            kind = "no longer excluded"
        else:
            same = Counter(why for why, _ in before) == Counter(why for why, _ in after)
            kind = "detail changed" if same else "reason changed"
        kinds[kind].add(key, examples)
    return dict(sorted(kinds.items()))


_Excluded = dict[str, list[tuple[tuple[str, str], bytes]]]
"""Exclusions by key: stage and reason of each, and a digest of everything else."""


def _excluded(folder: Path) -> _Excluded:
    exclusions: _Excluded = {}
    for row in read_parquet(folder, EXCLUSIONS_FILE):
        rest = _digest([row["split"], row["detail"], row["licence"]])
        exclusions.setdefault(row["key"], []).append(((row["stage"], row["reason"]), rest))
    return exclusions


def by_name(value: object) -> object:
    """Lists of named parts, such as sources and columns, as mappings, so that each is compared with its namesake."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if not isinstance(value, list):
        return value
    parts = [part.model_dump() if isinstance(part, BaseModel) else part for part in value]
    if not all(isinstance(part, dict) and "name" in part for part in parts):
        return parts
    named = {part["name"]: {name: by_name(inner) for name, inner in part.items() if name != "name"} for part in parts}
    return named if len(named) == len(parts) else parts


def changes(where: str, a: Any, b: Any) -> list[Change]:
    """Where two JSON values differ, as deep as both are mappings."""
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return [
            change
            for name in [*a, *(name for name in b if name not in a)]
            for change in changes(f"{where}.{name}" if where else name, a.get(name), b.get(name))
        ]
    return [] if canonical_json(a) == canonical_json(b) else [Change(where, a, b)]
