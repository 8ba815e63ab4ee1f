"""A confusion matrix as the page shows it: the most frequent classes of a domain, shaded by share.

They are drawn like Figures 14 and 15 of 3MDBench (Appendix G), which show GPT-4o-mini with dialogue and rationale;
these are pictures whose counts are not published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from loaders.threemdbench import DOMAINS

MOST_FREQUENT = 10
"""Number of classes of a domain that are shown, as in Figure 14."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """True classes down, answers across; the columns after the classes hold answers that are none of them."""

    domain: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    left_out: int
    """Classes of the domain that occur but are not shown, the rarest ones."""

    @property
    def figure(self) -> str:
        """The paper's figure that shows this domain; "" for classes outside its domains."""
        if self.domain not in DOMAINS:
            return ""
        return "Figure 14" if self.domain == DOMAINS[0] else "Figure 15"

    def share(self, row: int, column: int) -> float:
        """A cell's share of its row, from 0 to 1."""
        return self.counts[row][column] / max(1, sum(self.counts[row]))

    def right(self, row: int, column: int) -> bool:
        """Whether a cell counts right answers."""
        return self.rows[row] == self.columns[column]


def most_frequent(sizes: Sequence[int]) -> list[int]:
    """The positions of the classes to show, by size; without those that do not occur."""
    return sorted((at for at, size in enumerate(sizes) if size), key=lambda at: -sizes[at])[:MOST_FREQUENT]
