"""Doctors and settings compared case by case, as the paper does (Section 4), with what its test leaves out.

    for pair in differences([first, second, third]): print(pair.measure, pair.difference, pair.p_adjusted)

The paper's test is Wilcoxon's signed-rank test of paired values at alpha .01, with Benjamini and Hochberg's adjustment
over all pairs of a table. F1 has no value per case: what is tested is whether the diagnosis of the case was right,
which with 0 and 1 is a sign test (3M-G22). The size of the difference of F1, counted both ways, comes from the paired
bootstrap beside it. Bootstraps draw patients, lesions or near copies (`Consultation.cluster`); the tests take cases as
independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from baselines.dialogue.played import PlayedCase, read_played
from baselines.results.comparison import FinishedRun
from baselines.results.differences import Difference, adjusted, named_apart, paired
from baselines.statistics.classification import paired_bootstrap_classification
from baselines.threemdbench.consultation.diagnosis import authors_samples, extracted, first_name, strict_samples
from baselines.threemdbench.consultation.names import doctor_name, setting_name
from baselines.threemdbench.consultation.protocol import Unfinished, unfinished_of
from baselines.threemdbench.consultation.record import HIGHEST, ITEMS, Consultation
from baselines.threemdbench.consultation.tables import case_means, graded
from loaders.errors import InputError
from loaders.threemdbench import NAMES


@dataclass(frozen=True, slots=True)
class System:
    """A doctor in a setting, and its consultations."""

    label: str
    consultations: Sequence[Consultation]
    unfinished: Unfinished = "paper"


def system_of(run: FinishedRun) -> System | None:
    """The system of a finished run of consultations; None for other runs, and for one without its dialogues.

    Raises InputError when the file of dialogues cannot be read.
    """
    if run.record.baseline != "consultation":
        return None
    records = [
        played.record for played in read_played(run.folder, PlayedCase[Consultation]) if played.record is not None
    ]
    if not records:
        return None
    label = f"{doctor_name(run.record)}, {setting_name(records[0].setting)}"
    return System(label, records, unfinished_of(run.record.options))


def told_apart(systems: Sequence[System], names: Sequence[str]) -> list[System]:
    """The systems, with a name after every label that two of them share: one doctor with different prompts, say."""
    labels = named_apart([system.label for system in systems], names)
    return [replace(system, label=label) for system, label in zip(systems, labels, strict=True)]


def differences(
    systems: Sequence[System], *, sharing_cases: bool = False, resamples: int = 1000, seed: int = 0
) -> list[Difference]:
    """Every two systems in every measure of Tables 5 and 6 that both have; repetitions of a case are averaged.

    Raises InputError on fewer than two systems, or two without a case in common; with `sharing_cases` such two are not
    compared.
    """
    if len(systems) < 2:
        raise InputError("systems", found=f"{len(systems)}", expected="2 or more to compare")
    pairs = list(combinations(systems, 2))
    if sharing_cases:
        pairs = [pair for pair in pairs if _common(*pair)]
    return adjusted([one for pair in pairs for one in _pair(*pair, resamples=resamples, seed=seed)])


def _common(first: System, second: System) -> set[str]:
    return {played.case_id for played in first.consultations} & {played.case_id for played in second.consultations}


def _pair(first: System, second: System, *, resamples: int, seed: int) -> Iterator[Difference]:
    common = _common(first, second)
    if not common:
        raise InputError(
            f"{first.label} and {second.label}",
            found="no case in common",
            expected="consultations over the same cases",
            do="Compare runs over the same data",
        )
    # A run of an earlier version did not store the groups; the other run may have.
    groups = {played.case_id: played.group for side in (first, second) for played in side.consultations if played.group}
    sides = [
        replace(
            side,
            consultations=[
                replace(played, group=groups.get(played.case_id, ""))
                for played in side.consultations
                if played.case_id in common
            ],
        )
        for side in (first, second)
    ]
    compared = partial(Difference, first=first.label, second=second.label)
    for measure, reading in (("F1", authors_samples), ("F1 (strict)", strict_samples)):
        answers = [reading([extracted(played, side.unfinished) for played in side.consultations]) for side in sides]
        if not all(side.truth for side in answers):
            continue
        try:
            spread = paired_bootstrap_classification(answers[0], answers[1], NAMES, resamples=resamples, seed=seed)
        except InputError:  # most resamples hold answers of one alone
            continue
        value, ci95 = spread.estimate(2, scale=100)
        yield compared("Table 5", measure, "points", n=len(common), difference=value, ci95=ci95, p=None)
    for table, measure, unit, most, value_of in _MEASURES:
        means = [case_means(side.consultations, partial(value_of, unfinished=side.unfinished)) for side in sides]
        cases = sorted(means[0].keys() & means[1].keys())
        if cases:
            values = [np.array([mean[case] for case in cases]) for mean in means]
            clusters = [groups.get(case, case) for case in cases]
            within = None if most is None else (-most, most)
            value, ci95, p = paired(*values, within=within, resamples=resamples, seed=seed, clusters=clusters)
            yield compared(table, measure, unit, n=len(cases), difference=value, ci95=ci95, p=p)


def _right(played: Consultation, *, unfinished: Unfinished) -> float:
    return 100.0 * (first_name(extracted(played, unfinished).text) == played.gold)


def _utterances(played: Consultation, *, unfinished: Unfinished) -> float | None:
    return None if played.ended == "answer" else float(played.utterances)


# Measures with a value per case: table, measure, unit, the largest value if there is one, value.
_MEASURES: tuple[tuple[str, str, str, float | None, Callable[..., float | None]], ...] = (
    ("Table 5", "Diagnosis right (strict)", "points", 100.0, _right),
    ("Table 5", "Number of utterances", "utterances", None, _utterances),
    *(("Table 6", f"Criterion {item}", "points", HIGHEST[item], partial(graded, item=item)) for item in ITEMS),
)
