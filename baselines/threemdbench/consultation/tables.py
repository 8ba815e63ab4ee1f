"""3MDBench's numbers of one run, a doctor in a setting: Tables 5 and 6 and Figures 3-5 and 9-13.

    results(consultations, record)

Every cell has the key of the published one, so that `bedside compare` finds it. Table 5's F1 is counted the authors'
way, as the paper's is; strict F1, macro F1 and accuracy stand in the same row, and so do the shares of consultations
without a diagnosis, with several, unfinished, or with an answer that could not be read: no F1 says much without them.
Intervals are bootstrapped over cases, whatever number of repetitions each has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from baselines.results.run import Direction, Result, RunRecord
from baselines.results.statistics import (
    Floats,
    benjamini_hochberg,
    bootstrap_means,
    bootstrap_ratios,
    kruskal_wallis,
    mann_whitney,
    wilson_interval,
)
from baselines.threemdbench.consultation.diagnosis import (
    Estimate,
    Extracted,
    Unfinished,
    authors_samples,
    extracted,
    first_name,
    is_none,
    parts,
    score,
    strict_samples,
    weighted_f1,
)
from baselines.threemdbench.consultation.names import PAPER, doctor_name, setting_name
from baselines.threemdbench.consultation.record import HIGHEST, ITEMS, Consultation
from loaders.errors import InputError
from loaders.threemdbench import DIAGNOSES, DOMAINS, PERSONALITIES

FIGURE_3, FIGURE_4 = "Figure 3 (text Sec 4.2)", "Figure 4 (text Sec 4.4)"
TEMPERAMENT_TESTS = "Differences between temperaments"
PERCENT = 100.0


def results(
    consultations: Sequence[Consultation],
    record: RunRecord,
    *,
    unfinished: Unfinished = "paper",
    lost: int = 0,
    resamples: int = 1000,
    seed: int = 0,
) -> list[Result]:
    """The numbers of a run. `lost` counts cases that a model's failure ended without a record.

    Raises InputError on no consultation, several settings, or a diagnosis or item that the paper does not know.
    """
    if not consultations:
        raise InputError("consultations", found="none", expected="one at least")
    settings = sorted({one.setting for one in consultations})
    if len(settings) > 1:
        raise InputError("consultations", found=f"settings {', '.join(settings)}", expected="those of one setting")
    run = _Run(consultations, record, unfinished, lost, resamples, seed)
    found = [*run.diagnoses(), *run.utterances(), *run.rates(), *run.rubric(), *run.by_domain(), *run.by_temperament()]
    return [*found, *run.temperament_tests()]


@dataclass(frozen=True)
class _Run:
    consultations: Sequence[Consultation]
    record: RunRecord
    unfinished: Unfinished
    lost: int
    resamples: int
    seed: int

    # --- Table 5 ------------------------------------------------------------------------------------------------------

    def diagnoses(self) -> list[Result]:
        found = score(self._answers(), resamples=self.resamples, seed=self.seed)
        note = "weighted, as the authors count: cases without a diagnosis left out, each name a sample"
        return [
            self._f1("Table 5", "F1", found.authors, note=note),
            self._f1("Table 5", "F1 (strict)", found.strict, note="weighted; no diagnosis is wrong, the first counts"),
            self._f1("Table 5", "F1 (strict, macro)", found.macro),
            self._f1("Table 5", "Accuracy (strict)", found.accuracy),
        ]

    def utterances(self) -> list[Result]:
        if not self._dialogue:
            return []
        counts = np.array([one.utterances for one in self.consultations], dtype=np.float64)
        found = [self._mean("Table 5", "Number of utterances (mean)", self.consultations, _utterances, "utterances")]
        if len(counts) > 1:
            found.append(
                self._cell(
                    "Table 5", "Number of utterances (SD)", float(counts.std(ddof=1)), "utterances", n=len(counts)
                )
            )
        return found

    def rates(self) -> list[Result]:
        """How often the answer was none, several or unreadable, with the doctor's and the assessor's own failures."""
        answers = self._answers()
        assessed = [one for one in self.consultations if one.assessment is not None]
        marks: dict[str, list[bool]] = {
            "No diagnosis": [is_none(one.text) for one in answers],
            "Several diagnoses": [len(parts(one.text)) > 1 for one in answers],
            "Outside the 34": [not is_none(one.text) and first_name(one.text) is None for one in answers],
            "Unfinished": [not one.finished for one in self.consultations],
            "Reasoning not parsed": [one.parse_failures > 0 for one in self.consultations],
            "Extraction failed": [one.extraction.failure is not None for one in self.consultations],
        }
        found = [self._rate(column, self.consultations, given) for column, given in marks.items()]
        if assessed:
            failed = [one.assessment is not None and one.assessment.items is None for one in assessed]
            found.append(self._rate("Assessment failed", assessed, failed))
        if self.lost:
            total = self.lost + len(self.consultations)
            low, high = wilson_interval(self.lost, total)
            found.append(
                self._cell(
                    "Table 5", "Not played", PERCENT * self.lost / total, "percent", "down", n=total,
                    numerator=float(self.lost), denominator=float(total), ci95=(PERCENT * low, PERCENT * high),
                    note="a model failed; these cases are in no other number",
                )
            )  # fmt: skip
        return found

    # --- Table 6, Figures 9, 10, 12, 13 -------------------------------------------------------------------------------

    def rubric(self) -> list[Result]:
        if not any(one.assessment is not None for one in self.consultations):
            return []
        return [self._item("Table 6", item, self.consultations) for item in ITEMS]

    def by_domain(self) -> list[Result]:
        found: list[Result] = []
        for domain in DOMAINS:
            some = [one for one in self.consultations if one.domain == domain]
            names = [diagnosis.name for diagnosis in DIAGNOSES if diagnosis.domain == domain]
            if not some:
                continue
            found += self._both_f1(FIGURE_3, some, domain, names)
            found += self._quality(some, domain, overall="Figure 9", items="Figure 13")
            if self._dialogue:
                column = "Number of utterances (mean)"
                found.append(self._mean("Figure 11", column, some, _utterances, "utterances", group=domain))
        return found

    def by_temperament(self) -> list[Result]:
        found: list[Result] = []
        names = [diagnosis.name for diagnosis in DIAGNOSES]
        for temperament, some in self._temperaments().items():
            found += self._both_f1("Figure 5", some, temperament, names)
            found += self._quality(some, temperament, overall="Figure 10", items="Figure 12")
            if self._dialogue:
                column = "Number of utterances (mean)"
                found.append(self._mean(FIGURE_4, column, some, _utterances, "utterances", group=temperament))
        return found + self._phlegmatic()

    def _phlegmatic(self) -> list[Result]:
        """By how many turns dialogues with phlegmatic patients are shorter than the others (3M-G34)."""
        marks = np.array([one.temperament == "phlegmatic" for one in self.consultations])
        if not self._dialogue or marks.all() or not marks.any():
            return []
        counts = np.array([one.utterances for one in self.consultations], dtype=np.float64)
        parts_ = np.stack([marks, ~marks], axis=1).astype(np.float64)
        spread = bootstrap_ratios(
            parts_ * counts[:, None], parts_, resamples=self.resamples, seed=self.seed, clusters=self._cases
        )
        less = spread.replicates[:, 1] - spread.replicates[:, 0]
        low, high = np.quantile(less, [0.025, 0.975]).tolist()
        value = float(counts[~marks].mean() - counts[marks].mean())
        return [
            self._cell(
                FIGURE_4, "Fewer turns with phlegmatic patients", value, "turns", group="phlegmatic",
                ci95=(low, high), n=len(counts), note="mean of the other temperaments less that of phlegmatic patients",
            )
        ]  # fmt: skip

    def _quality(self, some: Sequence[Consultation], group: str, *, overall: str, items: str) -> list[Result]:
        if not any(one.assessment is not None for one in some):
            return []
        return [
            self._item(overall, "4.1", some, group=group),
            *(self._item(items, item, some, group=group) for item in ITEMS),
        ]

    # --- Tests between temperaments (3M-G34) --------------------------------------------------------------------------

    def temperament_tests(self) -> list[Result]:
        """Kruskal-Wallis over the temperaments, then every two by Mann-Whitney, adjusted by Benjamini and Hochberg.

        Repetitions of a case are averaged first, since rank tests take rows as independent.
        """
        groups = self._temperaments()
        measures: dict[str, Callable[[Consultation], float | None]] = {
            "diagnosis correct (strict)": lambda one: float(self._correct(one)),
            "utterances": (lambda one: float(one.utterances)) if self._dialogue else lambda one: None,
            "Criterion 4.1": lambda one: graded(one, "4.1", self.unfinished),
        }
        found: list[Result] = []
        for measure, value in measures.items():
            values = {name: by_case(some, value) for name, some in groups.items()}
            values = {name: given for name, given in values.items() if len(given) > 1}
            if len(values) < 2:
                continue
            n = sum(map(len, values.values()))
            _, p = kruskal_wallis(list(values.values()))
            found.append(self._cell(TEMPERAMENT_TESTS, "Kruskal-Wallis p", p, "p", group=measure, n=n))
            pairs = list(combinations(values, 2))
            adjusted = benjamini_hochberg([mann_whitney(values[one], values[other])[1] for one, other in pairs])
            found += [
                self._cell(TEMPERAMENT_TESTS, f"{one} / {other} p (BH)", q, "p", group=measure,
                           n=len(values[one]) + len(values[other]))
                for (one, other), q in zip(pairs, adjusted.tolist(), strict=True)
            ]  # fmt: skip
        return found

    # --- Parts --------------------------------------------------------------------------------------------------------

    @property
    def _dialogue(self) -> bool:
        return any(one.ended != "answer" for one in self.consultations)

    @property
    def _cases(self) -> list[str]:
        return [one.case_id for one in self.consultations]

    def _answers(self, some: Sequence[Consultation] | None = None) -> list[Extracted]:
        return [extracted(one, self.unfinished) for one in (self.consultations if some is None else some)]

    def _temperaments(self) -> dict[str, list[Consultation]]:
        groups = {name: [one for one in self.consultations if one.temperament == name] for name in PERSONALITIES}
        return {name: some for name, some in groups.items() if some}

    def _correct(self, one: Consultation) -> bool:
        return first_name(extracted(one, self.unfinished).text) == one.gold

    def _f1(self, table: str, column: str, estimate: Estimate, *, group: str | None = None, note: str = "") -> Result:
        if estimate.value is None or estimate.ci95 is None:
            return self._cell(
                table, column, None, "percent", "up", group=group, n=estimate.n, note="no answer to score"
            )
        low, high = estimate.ci95
        return self._cell(
            table, column, PERCENT * estimate.value, "percent", "up", group=group, n=estimate.n, note=note,
            ci95=(PERCENT * low, PERCENT * high),
        )  # fmt: skip

    def _both_f1(self, table: str, some: Sequence[Consultation], group: str, names: Sequence[str]) -> list[Result]:
        answers = self._answers(some)
        return [
            self._f1(table, column, weighted_f1(samples, names, resamples=self.resamples, seed=self.seed), group=group)
            for column, samples in (("F1", authors_samples(answers)), ("F1 (strict)", strict_samples(answers)))
        ]

    def _item(self, table: str, item: str, some: Sequence[Consultation], *, group: str | None = None) -> Result:
        unit = "mean of 0/1" if HIGHEST[item] == 1 else "mean of 0/1/2"
        return self._mean(
            table, f"Criterion {item}", some, lambda one: graded(one, item, self.unfinished), unit, group=group
        )

    def _mean(
        self,
        table: str,
        column: str,
        some: Sequence[Consultation],
        value: Callable[[Consultation], float | None],
        unit: str,
        *,
        group: str | None = None,
    ) -> Result:
        direction: Direction = "none" if unit == "utterances" else "up"
        given = [(one.case_id, found) for one in some if (found := value(one)) is not None]
        if not given:
            return self._cell(table, column, None, unit, direction, group=group, n=0, note="nothing was assessed")
        spread = bootstrap_means(
            [found for _, found in given],
            resamples=self.resamples,
            seed=self.seed,
            clusters=[case for case, _ in given],
        )
        low, high = spread.interval()[0].tolist()
        mean = float(spread.estimates[0])
        return self._cell(table, column, mean, unit, direction, group=group, n=len(given), ci95=(low, high))

    def _rate(self, column: str, some: Sequence[Consultation], marks: Sequence[bool]) -> Result:
        """A share of the consultations; Wilson's interval, or the bootstrap over cases where cases were repeated."""
        count, n, cases = sum(marks), len(marks), [one.case_id for one in some]
        if len(set(cases)) == n:
            low, high = wilson_interval(count, n)
        else:
            spread = bootstrap_means(np.array(marks, float), resamples=self.resamples, seed=self.seed, clusters=cases)
            low, high = spread.interval()[0].tolist()
        return self._cell(
            "Table 5", column, PERCENT * count / n, "percent", "down", n=n, numerator=float(count),
            denominator=float(n), ci95=(PERCENT * low, PERCENT * high),
        )  # fmt: skip

    def _cell(
        self,
        table: str,
        column: str,
        value: float | None,
        unit: str,
        direction: Direction = "none",
        *,
        group: str | None = None,
        **more: Any,
    ) -> Result:
        whole = f"{self.record.data.split} ({len(set(self._cases))} cases)"
        return Result(
            paper=PAPER, table=table, row=doctor_name(self.record), setting=setting_name(self.consultations[0].setting),
            column=column, split_or_group=whole if group is None else group, value=value, unit=unit,
            direction=direction, record=self.record, **more,
        )  # fmt: skip


def graded(one: Consultation, item: str, unfinished: Unfinished = "paper") -> float | None:
    """The score of an item; None for what was not assessed and, in mode `paper`, for what was not finished."""
    items = one.assessment.items if one.assessment else None
    return float(items[item]) if items is not None and (one.finished or unfinished == "authors") else None


def by_case(consultations: Sequence[Consultation], value: Callable[[Consultation], float | None]) -> Floats:
    """The mean value of each case, in the order of the cases' ids; those without a value left out."""
    return np.array(list(case_means(consultations, value).values()), dtype=np.float64)


def case_means(
    consultations: Sequence[Consultation], value: Callable[[Consultation], float | None]
) -> Mapping[str, float]:
    """Case -> mean value over its repetitions, in the order of the ids; cases without a value left out."""
    given: dict[str, list[float]] = {}
    for one in consultations:
        if (found := value(one)) is not None:
            given.setdefault(one.case_id, []).append(found)
    return {case: float(np.mean(given[case])) for case in sorted(given)}


def _utterances(one: Consultation) -> float:
    return float(one.utterances)
