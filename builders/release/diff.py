"""What changed between two releases of a corpus, row by row and column by column.

    bedside diff A B

Rows are matched by their key. Only digests of the rows of A are held in memory, 8 bytes per column.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
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
    rows = _Rows(old, new, examples)
    for split, row in _by_split(a, old):
        rows.take_old(split, row)
    for split, row in _by_split(b, new):
        rows.take_new(split, row)
    rows.finish()
    return Diff(
        content_a=old.content_digest,
        content_b=new.content_digest,
        rows_a=old.rows,
        rows_b=new.rows,
        added=rows.added,
        removed=rows.removed,
        changed=rows.changed,
        columns={column: rows.columns[column] for column in rows.common if column in rows.columns},
        moved=dict(sorted(rows.moved.items())),
        touched=order_splits(rows.touched),
        new_splits=order_splits(new.splits.keys() - old.splits.keys()),
        lost_splits=order_splits(old.splits.keys() - new.splits.keys()),
        reordered=rows.reordered(),
        exclusions=_exclusions(a, b, rows, examples),
        schema=changes("", by_name(old.features), by_name(new.features)),
        facts=[
            change
            for name in _FACTS
            for change in changes(name, by_name(getattr(old, name)), by_name(getattr(new, name)))
        ],
    )


class _Rows:
    """Matches the rows of B with digests of the rows of A."""

    def __init__(self, old: Manifest, new: Manifest, examples: int) -> None:
        self.added, self.removed, self.changed = Keys(), Keys(), Keys()
        self.columns: defaultdict[str, Keys] = defaultdict(Keys)
        self.moved: defaultdict[str, Keys] = defaultdict(Keys)
        # `split` is compared separately, and the key cannot differ.
        columns = {feature["name"] for feature in new.features}
        self.common = [
            name
            for feature in old.features
            if (name := str(feature["name"])) in columns and name not in ("split", old.key)
        ]
        self.old_keys: dict[str, tuple[str, bytes]] = {}
        self.new_keys: set[str] = set()
        self.touched: set[str] = set()
        self._manifests = (old, new)
        self._examples = examples

    def take_old(self, split: str, row: Mapping[str, Any]) -> None:
        self.old_keys[row[self._manifests[0].key]] = (split, self._digests(row))

    def take_new(self, split: str, row: Mapping[str, Any]) -> None:
        key = row[self._manifests[1].key]
        self.new_keys.add(key)
        if key not in self.old_keys:
            self.added.add(key, self._examples)
            self.touched.add(split)
            return
        before, digests = self.old_keys[key]
        if before != split:
            self.moved[f"{before} -> {split}"].add(key, self._examples)
            self.touched |= {before, split}
        found = self._digests(row)
        if found != digests:
            self.changed.add(key, self._examples)
            self.touched.add(split)
            for column in _differing(self.common, digests, found):
                self.columns[column].add(key, self._examples)

    def finish(self) -> None:
        for key, (split, _) in self.old_keys.items():
            if key not in self.new_keys:
                self.removed.add(key, self._examples)
                self.touched.add(split)

    def reordered(self) -> list[str]:
        """Splits whose rows are all equal, yet whose content digests differ: only their order can differ."""
        old, new = self._manifests
        if old.features != new.features:
            return []
        return [
            split
            for split in order_splits(old.splits.keys() & new.splits.keys())
            if split not in self.touched and old.splits[split].content_digest != new.splits[split].content_digest
        ]

    def _digests(self, row: Mapping[str, Any]) -> bytes:
        return b"".join(_digest(row[column]) for column in self.common)


def _digest(value: Any) -> bytes:
    return hashlib.blake2b(canonical_json(value), digest_size=_DIGEST_BYTES).digest()


def _differing(names: list[str], a: bytes, b: bytes) -> list[str]:
    """The names whose digests differ."""
    places = [slice(start, start + _DIGEST_BYTES) for start in range(0, len(a), _DIGEST_BYTES)]
    return [name for name, place in zip(names, places, strict=True) if a[place] != b[place]]


def _by_split(folder: Path, manifest: Manifest) -> Iterator[tuple[str, dict[str, Any]]]:
    for split in manifest.splits:
        for row in read_rows(folder, manifest, split):
            yield split, row


def _exclusions(a: Path, b: Path, rows: _Rows, examples: int) -> dict[str, Keys]:
    """Exclusions that changed. A key may be excluded more than once, as a duplicate of a row that was kept."""
    old, new = _excluded(a), _excluded(b)
    kinds: defaultdict[str, Keys] = defaultdict(Keys)
    for key in [*old, *(key for key in new if key not in old)]:
        before, after = old.get(key), new.get(key)
        if before == after:
            continue
        if after and key in rows.old_keys and key not in rows.new_keys:
            kind = "now excluded"
        elif before and key in rows.new_keys and key not in rows.old_keys:
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


def _excluded(folder: Path) -> dict[str, list[tuple[tuple[str, str], bytes]]]:
    """The exclusions by key: stage and reason of each, and a digest of everything else."""
    exclusions: defaultdict[str, list[tuple[tuple[str, str], bytes]]] = defaultdict(list)
    for row in read_parquet(folder, EXCLUSIONS_FILE):
        rest = _digest([row["split"], row["detail"], row["licence"]])
        exclusions[row["key"]].append(((row["stage"], row["reason"]), rest))
    return dict(exclusions)


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
