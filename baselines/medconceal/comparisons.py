"""Two runs over the same cases, case by case: the tests of MedConceal's Tables 7 to 11 (Appendices E.2 and E.3).

Values of a case, mean over cases, difference reference less other, percentile interval of the paired bootstrap; p by
sign flips for graded values and by McNemar's exact test for outcomes that happen or do not; Holm over every metric of
the task, those included that the paper leaves out (MC-G45, MC-G47). A comparator that was chosen as the best of several
runs by metric carries the winner's luck: the note says so (MC-G46).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from baselines.medconceal.judgement import JudgedEpisode
from baselines.medconceal.metrics import SCALES, Measure, measures
from baselines.medconceal.record import Episode
from baselines.medconceal.tables import GROUPS, PAPER
from baselines.results.run import Result, RunRecord
from baselines.results.statistics import Interval, holm, mcnemar_exact, paired_bootstrap, sign_flip_test
from loaders.errors import InputError
from loaders.medconceal import Task

PERMUTATIONS = 10_000
GRADED: Mapping[Task, tuple[str, ...]] = {
    "confirmation": (
        "Reveal Rate", "Coarse Precision", "Coarse Recall", "Coarse F1", "Fine Precision", "Fine Recall", "Fine F1"
    ),
    "intervention": (),
}  # fmt: skip
OUTCOMES: Mapping[Task, tuple[str, ...]] = {"confirmation": ("MBNR",), "intervention": ("Reveal Rate", "Success")}
TABLE: Mapping[Task, str] = {"confirmation": "Table 8", "intervention": "Table 11"}
"""Where an own comparison stands beside the paper's; the paper has one table for each pairing of humans and AI."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric of two runs over n cases: means of the case values, their difference, its interval, p, adjusted p."""

    name: str
    reference: float
    other: float
    difference: float
    ci95: Interval
    test: Literal["sign flips", "exact McNemar"]
    p: float
    holm: float
    n: int
    other_name: str = ""


def compare_cases(
    reference: Sequence[JudgedEpisode], other: Sequence[JudgedEpisode], *, seed: int = 0
) -> list[Comparison]:
    """All metrics of the task, tested over the cases that both runs have.

    Raises InputError when the runs are of two tasks or not over the same cases.
    """
    first, second = _by_case(reference), _by_case(other)
    if set(first) != set(second):
        only = sorted(set(first) ^ set(second))
        raise InputError(
            "runs to compare",
            found=f"{len(only)} cases in one of them only, the first: {only[0]}",
            expected="two runs over the same cases",
        )
    order = sorted(first)
    task = first[order[0]].episode.task
    if second[order[0]].episode.task != task:
        raise InputError("runs to compare", found="a confirmation and an intervention", expected="one task")
    own, others = ({each.name: each for each in measures([run[case] for case in order])} for run in (first, second))
    names = (*GRADED[task], *OUTCOMES[task])
    return _adjusted([_compared(own[name], others[name], task, seed) for name in names])


def best_of(
    reference: Sequence[JudgedEpisode], others: Mapping[str, Sequence[JudgedEpisode]], *, seed: int = 0
) -> list[Comparison]:
    """The reference against the best of several runs, chosen for each metric by its mean over cases.

    The first of equal ones is taken. Holm's correction is over the metrics, not over the runs that lost.
    """
    if not others:
        raise InputError("runs to compare", found="one run", expected="a reference and one run or more")
    tables = [
        [replace(metric, other_name=name) for metric in compare_cases(reference, run, seed=seed)]
        for name, run in others.items()
    ]
    chosen = []
    for candidates in zip(*tables, strict=True):
        pick = min if candidates[0].name == "MBNR" else max  # the lower, the better
        chosen.append(pick(candidates, key=lambda candidate: candidate.other))
    return _adjusted(chosen)


def _adjusted(comparisons: Sequence[Comparison]) -> list[Comparison]:
    adjusted = holm([comparison.p for comparison in comparisons])
    return [replace(comparison, holm=float(p)) for comparison, p in zip(comparisons, adjusted, strict=True)]


def _by_case(run: Sequence[JudgedEpisode]) -> dict[str, JudgedEpisode]:
    by_case: dict[str, JudgedEpisode] = {}
    for judged in run:
        if judged.episode.case_id in by_case:
            raise InputError(f"case {judged.episode.case_id}", found="two episodes in a run", expected="one")
        by_case[judged.episode.case_id] = judged
    if not by_case:
        raise InputError("runs to compare", found="a run without an episode", expected="one or more")
    return by_case


def _compared(reference: Measure, other: Measure, task: Task, seed: int) -> Comparison:
    first, second = reference.by_case, other.by_case
    outcome = reference.name in OUTCOMES[task]
    if outcome:
        p = mcnemar_exact(first, second).p
    else:
        differences = [own - its for own, its in zip(first, second, strict=True)]
        p = sign_flip_test(differences, permutations=PERMUTATIONS, seed=seed)
    low, high = SCALES.get(reference.unit, (None, None))
    within = None if low is None or high is None else (low - high, high - low)
    difference, ci95 = paired_bootstrap(first, second, seed=seed, within=within).estimate()
    return Comparison(
        name=reference.name,
        reference=reference.case_mean,
        other=other.case_mean,
        difference=difference,
        ci95=ci95,
        test="exact McNemar" if outcome else "sign flips",
        p=p,
        holm=p,
        n=len(first),
    )


def results(
    comparisons: Sequence[Comparison], record: RunRecord, episode: Episode, *, reference: str, other: str, setting: str
) -> list[Result]:
    """The comparisons with the keys of Tables 7 to 11; `episode` is any of them and gives the task."""
    task, proportion = episode.task, "proportion"
    numbers = []
    for metric in comparisons:
        name, against = metric.name, metric.other_name or other
        chosen = f"; the best of several runs, chosen by this metric: {against}" if metric.other_name else ""
        note = f"means over {metric.n} cases; {metric.test}, Holm over {len(comparisons)} metrics{chosen}"
        versus = f"{reference} minus {against}"
        low, high = metric.ci95
        cells: list[tuple[str, str, str, float, str, Interval | None]] = [
            (
                reference,
                f"reference vs {against} {setting}",
                f"{name} (case-level)",
                metric.reference,
                proportion,
                None,
            ),
            (against, setting, f"{name} (case-level)", metric.other, proportion, None),
            (versus, setting, f"{name} delta Ref-AI", metric.difference, proportion, metric.ci95),
            (versus, setting, f"{name} 95% CI low", low, proportion, None),
            (versus, setting, f"{name} 95% CI high", high, proportion, None),
            (versus, setting, f"{name} Holm-adjusted p", metric.holm, "p", None),
        ]
        numbers += [
            Result(
                paper=PAPER, table=TABLE[task], row=row, setting=where, column=column, split_or_group=GROUPS[task],
                value=value, unit=unit, note=note, n=metric.n, ci95=interval, record=record,
            )
            for row, where, column, value, unit, interval in cells
        ]  # fmt: skip
    return numbers
