"""Systems compared case by case: what one difference is, and its adjustment over all that stand in one table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from baselines.statistics.arrays import Clusters, Floats
from baselines.statistics.resampling import Interval, paired_bootstrap
from baselines.statistics.significance import benjamini_hochberg, wilcoxon_signed_rank

ALPHA = 0.01
"""3MDBench's level of significance; MedLayBench-V, which compares no systems of captions, has none."""


@dataclass(frozen=True, slots=True)
class Difference:
    """First less second over the n cases that both have, in the unit of the measure.

    p is Wilcoxon's and None for a measure that has no value a case; `p_adjusted` is over all pairs of the table.
    """

    table: str
    measure: str
    unit: str
    first: str
    second: str
    n: int
    difference: float
    ci95: Interval
    p: float | None
    p_adjusted: float | None = None

    @property
    def significant(self) -> bool:
        """Whether the paper would call it significant."""
        return self.p_adjusted is not None and self.p_adjusted < ALPHA


def paired(
    first: Floats,
    second: Floats,
    *,
    within: Interval | None,
    resamples: int,
    seed: int,
    clusters: Clusters | None = None,
) -> tuple[float, Interval, float]:
    """First (n,) less second (n,), value by value: the mean, its bootstrap interval, and the p of Wilcoxon's test.

    `within` bounds the difference. Whole `clusters` are drawn, but the test takes the values as independent.
    """
    found = paired_bootstrap(first, second, resamples=resamples, seed=seed, within=within, clusters=clusters)
    return *found.estimate(), wilcoxon_signed_rank(first, second)[1]


def adjusted(found: Sequence[Difference]) -> list[Difference]:
    """With p adjusted by Benjamini and Hochberg over all differences of the same table that have one."""
    values: dict[int, float] = {}
    for table in dict.fromkeys(one.table for one in found):
        tested = {at: one.p for at, one in enumerate(found) if one.table == table and one.p is not None}
        if tested:
            values |= zip(tested, benjamini_hochberg(list(tested.values())).tolist(), strict=True)
    return [replace(one, p_adjusted=values.get(at)) for at, one in enumerate(found)]


def named_apart(labels: Sequence[str], names: Sequence[str]) -> list[str]:
    """The labels, with a name behind each that occurs more than once: one doctor with other prompts, say."""
    counts = Counter(labels)
    return [f"{label} ({name})" if counts[label] > 1 else label for label, name in zip(labels, names, strict=True)]
