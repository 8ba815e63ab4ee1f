"""Two runs over the same cases, case by case: the tests of MedConceal's Tables 7 to 11 (Appendices E.2 and E.3).

Values per case, mean over cases, difference reference less other, percentile interval of the paired bootstrap; p by
sign flips for graded values and by McNemar's exact test for binary outcomes; Holm over every metric of the task,
including those that the paper leaves out (MC-G45, MC-G47). If several people (or epochs) had a case, its
value is their mean; cases and people are drawn separately, and p is the larger of flipping whole cases and whole
people, as the values of a case, and of a person, belong together. A comparator chosen as the best of several
runs by metric carries the winner's luck: the note says so (MC-G46).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from baselines.medconceal.judgement import JudgedEpisode
from baselines.medconceal.metrics import Measure, measures
from baselines.medconceal.record import Episode
from baselines.medconceal.tables import GROUPS, OWN_WORDS, PAPER
from baselines.results.run import Result, RunRecord
from baselines.statistics.resampling import Bootstrap, Interval, bootstrap_ratios, paired_bootstrap
from baselines.statistics.significance import holm, mcnemar_exact, sign_flip_test
from loaders.errors import InputError
from loaders.medconceal import Task

PERMUTATIONS = 10_000
_WITHIN = (-1.0, 1.0)  # differences of proportions
Test = Literal["sign flips", "exact McNemar", "sign flips of cases", "sign flips of cases and people"]
GRADED: Mapping[Task, tuple[str, ...]] = {
    "confirmation": (
        "Reveal Rate", "Coarse Precision", "Coarse Recall", "Coarse F1", "Fine Precision", "Fine Recall", "Fine F1"
    ),
    "intervention": (),
}  # fmt: skip
OUTCOMES: Mapping[Task, tuple[str, ...]] = {"confirmation": ("MBNR",), "intervention": ("Reveal Rate", "Success")}
_TABLES = {(False, False): "Table 8", (False, True): "Table 9", (True, True): "Table 7", (True, False): "Table 10"}
"""The paper's table of a confirmation: whether a model wrote people's findings, and whether the other run may stop."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric of two runs over n cases: means of the case values, their difference, its interval, p, adjusted p."""

    name: str
    reference: float
    other: float
    difference: float
    ci95: Interval
    test: Test
    p: float
    holm: float
    n: int
    other_name: str = ""


def compare_cases(
    reference: Sequence[JudgedEpisode], other: Sequence[JudgedEpisode], *, seed: int = 0
) -> list[Comparison]:
    """All metrics of the task, each tested over the cases that count in it in both runs: all, but those whose findings
    no judge could read.

    The runs are of one task and over the same cases, as `bedside contrast` sees to. Raises InputError if a metric has
    no case.
    """
    task = reference[0].episode.task
    own, others = (
        {each.name: each for each in measures(sorted(run, key=lambda one: one.episode.case_id))}
        for run in (reference, other)
    )
    names = (*GRADED[task], *OUTCOMES[task])
    return _adjusted([_compared(own[name], others[name], task, seed) for name in names])


def best_of(
    reference: Sequence[JudgedEpisode], others: Mapping[str, Sequence[JudgedEpisode]], *, seed: int = 0
) -> list[Comparison]:
    """The reference against the best of several runs, chosen for each metric by its mean over cases.

    Of equal ones the first is taken. Holm's correction is over the metrics, not over the runs that lost.
    """
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


def _compared(reference: Measure, other: Measure, task: Task, seed: int) -> Comparison:
    shared = {*reference.cases} & {*other.cases}
    if not shared:
        raise InputError(
            "runs to compare",
            found=f"no case whose findings were judged in both of them, for {reference.name}",
            expected="at least one",
        )
    reference, other = (run.only([case in shared for case in run.cases]) for run in (reference, other))
    outcome = reference.name in OUTCOMES[task]
    persons = [person for run in (reference, other) for person in run.persons if person]
    alone = reference.cases == other.cases and len(set(reference.cases)) == len(reference.cases)
    if alone and len(set(persons)) == len(persons):
        first, second = reference.by_case, other.by_case
        flips = [own - its for own, its in zip(first, second, strict=True)]
        p = mcnemar_exact(first, second).p if outcome else sign_flip_test(flips, permutations=PERMUTATIONS, seed=seed)
        difference, ci95 = paired_bootstrap(first, second, seed=seed, within=_WITHIN).estimate()
        means = fmean(first), fmean(second)
        test: Test = "exact McNemar" if outcome else "sign flips"
    else:
        means, difference, ci95, p = _of_many(reference, other, seed)
        test = "sign flips of cases and people" if persons else "sign flips of cases"
    return Comparison(reference.name, *means, difference, ci95, test, p, p, len(set(reference.cases)))


def _of_many(reference: Measure, other: Measure, seed: int) -> tuple[tuple[float, float], float, Interval, float]:
    """Both means over cases, their difference, its interval and p, if a case has several dialogues in a run."""
    first, second = _weighted(reference), _weighted(other)
    runs = (reference, other)
    cases = [case for run in runs for case in run.cases]
    persons = [person for run in runs for person in run.persons]
    over = [[value, 0.0] for value, _ in first] + [[0.0, value] for value, _ in second]
    under = [[weight, 0.0] for _, weight in first] + [[0.0, weight] for _, weight in second]
    drawn = bootstrap_ratios(over, under, seed=seed, clusters=cases, crossed=persons if any(persons) else None)
    means = float(drawn.estimates[0]), float(drawn.estimates[1])
    if any(reference.persons) != any(other.persons):
        difference, ci95 = _of_people(reference, other, seed)
    else:
        replicates = drawn.replicates[:, :1] - drawn.replicates[:, 1:]
        units = min(len(set(cases)), len(set(filter(None, persons))) or len(cases))
        made = Bootstrap(drawn.estimates[:1] - drawn.estimates[1:], replicates, _WITHIN, units)
        difference, ci95 = made.estimate()
    return means, difference, ci95, _flipped(reference, other, seed)


def _of_people(reference: Measure, other: Measure, seed: int) -> tuple[float, Interval]:
    """The difference of people's dialogues from a run without people, each paired with the mean of its case there, so
    that what is hard in a case counts in neither."""
    people, model, sign = (reference, other, 1) if any(reference.persons) else (other, reference, -1)
    persons = [person or (at,) for at, person in enumerate(people.persons)]
    differences = [sign * one for one in _differences(people, model)]
    weights = [weight for _, weight in _weighted(people)]
    drawn = bootstrap_ratios(differences, weights, seed=seed, clusters=people.cases, crossed=persons, within=_WITHIN)
    return drawn.estimate()


def _weighted(measure: Measure) -> list[tuple[float, float]]:
    """Value times weight, and weight, of each dialogue: all dialogues of a case together weigh 1."""
    times = Counter(measure.cases)
    return [(value / times[case], 1 / times[case]) for value, case in zip(measure.by_case, measure.cases, strict=True)]


def _differences(one: Measure, against: Measure) -> list[float]:
    """How far each dialogue, with its weight, is from the mean of its case in another run."""
    mean: dict[str, float] = defaultdict(float)
    for (value, _), case in zip(_weighted(against), against.cases, strict=True):
        mean[case] += value
    rows = zip(_weighted(one), one.cases, strict=True)
    return [value - weight * mean[case] for (value, weight), case in rows]


def _flipped(reference: Measure, other: Measure, seed: int) -> float:
    """The larger p of flipping the signs of whole cases, and of everything that a person of either run did."""
    ps = []
    for one, against in ((reference, other), (other, reference)):
        differences = _differences(one, against)
        ids: list[Sequence[object]] = [one.cases]
        ids += [[person or (at,) for at, person in enumerate(one.persons)]] if any(one.persons) else []
        ps += [sign_flip_test(differences, permutations=PERMUTATIONS, seed=seed, clusters=own) for own in ids]
    return max(ps)


def _table(task: Task, reference: str, setting: str) -> str:
    """Where a comparison is placed beside the paper's, which has a table for each pairing of people and models.

    >>> _table("confirmation", "Human clinicians (Claude summary)", "8-turn")
    'Table 10'
    """
    if task == "intervention":
        return "Table 11"
    by_model = reference.endswith(" summary)") and not reference.endswith(f"({OWN_WORDS})")
    return _TABLES[by_model, setting.startswith("Adaptive")]


def results(
    comparisons: Sequence[Comparison],
    record: RunRecord,
    episode: Episode,
    *,
    reference: str,
    other: str,
    setting: str,
    also: str = "",
) -> list[Result]:
    """The comparisons with the keys of Tables 7 to 11; `episode` is any of them and gives the task, `also` is what
    differs besides the clinicians."""
    task, proportion = episode.task, "proportion"
    table = _table(task, reference, setting)
    numbers = []
    for metric in comparisons:
        name, against = metric.name, metric.other_name or other
        chosen = f"; the best of several runs, chosen by this metric: {against}" if metric.other_name else ""
        note = f"means over {metric.n} cases; {metric.test}, Holm over {len(comparisons)} metrics{chosen}"
        note += f"; differs also in: {also}" if also else ""
        versus = f"{reference} minus {against}"
        level, (low, high) = f"{name} (case-level)", metric.ci95
        cells: list[tuple[str, str, str, float, str, Interval | None]] = [
            (reference, f"reference vs {against} {setting}", level, metric.reference, proportion, None),
            (against, setting, level, metric.other, proportion, None),
            (versus, setting, f"{name} delta Ref-AI", metric.difference, proportion, metric.ci95),
            (versus, setting, f"{name} 95% CI low", low, proportion, None),
            (versus, setting, f"{name} 95% CI high", high, proportion, None),
            (versus, setting, f"{name} Holm-adjusted p", metric.holm, "p", None),
        ]
        numbers += [
            Result(
                paper=PAPER, table=table, row=row, setting=where, column=column, split_or_group=GROUPS[task],
                value=value, unit=unit, note=note, n=metric.n, ci95=interval, record=record,
            )
            for row, where, column, value, unit, interval in cells
        ]  # fmt: skip
    return numbers
