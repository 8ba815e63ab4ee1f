"""What a corpus says about the rows of its release: statistics, counted shard by shard as shards are written and
added up, and what is wrong with a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import JsonValue

from builders.pipeline.rows import Row

Measure = Callable[[Iterable[Row]], JsonValue]
"""Statistics of the rows of a release, as read back from it, in split order."""
RowCheck = Callable[[Row], list[str]]
"""What is wrong with a row by the rules of its corpus, one sentence each; empty if nothing is."""


class Tally(Protocol):
    """Counts over some rows."""

    def add(self, row: Row) -> None:
        """Count a row, as it will be read back."""

    def merge(self, other: Any) -> None:
        """Add the counts of other rows; the order of merging must not matter."""

    def statistics(self) -> JsonValue:
        """The resulting statistics."""


@dataclass(frozen=True)
class Counted:
    """A measure made by a tally: of parts of the rows one by one, or of all rows when it is called."""

    tally: Callable[[], Tally]

    def __call__(self, rows: Iterable[Row]) -> JsonValue:
        tally = self.tally()
        for row in rows:
            tally.add(row)
        return tally.statistics()
