"""3MDBench's numbers of one run, a doctor in a setting: Tables 5 and 6 and Figures 3-5 and 9-13.

    results(consultations, record)

Every cell has the key of the published one, so that `bedside compare` finds it. Table 5's F1 is counted the authors'
way, as the paper's is; strict F1, macro F1 and accuracy are in the same row, and so are the shares of consultations
without a diagnosis, with several, unfinished, or with an unreadable answer: no F1 says much without them.
Intervals are bootstrapped over patients, lesions or near copies (`Consultation.cluster`), however many cases each has,
and repetitions a case; the tests take cases as independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import Any, Unpack

import numpy as np

from baselines.dialogue.played import LOST, NOT_PLAYED
from baselines.results.run import Direction, Result, RunRecord
from baselines.statistics.classification import occurring
from baselines.statistics.resampling import Draws, Interval, bootstrap_means, bootstrap_ratios, percentile_interval
from baselines.statistics.significance import benjamini_hochberg, kruskal_wallis, mann_whitney, wilson_interval
from baselines.threemdbench.consultation.diagnosis import (
    Estimate,
    Extracted,
    authors_samples,
    extracted,
    first_name,
    is_none,
    parts,
    score,
    strict_samples,
    taken_for_none,
    weighted_f1,
)
from baselines.threemdbench.consultation.names import PAPER, doctor_name, setting_name
from baselines.threemdbench.consultation.protocol import Unfinished
from baselines.threemdbench.consultation.record import HIGHEST, Consultation
from baselines.threemdbench.slices import Measure, Sides, sliced
from loaders.errors import InputError, how_many, in_number
from loaders.threemdbench import DIAGNOSES, DOMAINS, NAMES, PERSONALITIES

FIGURE_3, FIGURE_4 = "Figure 3 (text Sec 4.2)", "Figure 4 (text Sec 4.4)"
TEMPERAMENT_TESTS = "Differences between temperaments"
PERCENT = 100.0
_FLAGGED = {
    "Empty answers": {"empty"}, "Refused answers": {"filtered", "no_room"}, "Truncated answers": {"max_tokens"},
}  # fmt: skip
"""Column -> the flags of a doctor's turn (`cleaning`) that it counts."""
PATIENT_EMPTY = "Silent patient"


def results(
    consultations: Sequence[Consultation],
    record: RunRecord,
    *,
    unfinished: Unfinished = "paper",
    lost: int = 0,
    sides: Sides = MappingProxyType({}),
    **draws: Unpack[Draws],
) -> list[Result]:
    """The numbers of a run. `lost` counts cases that a model's failure ended without a record.

    If `sides` gives the slice of each case for a column, correct diagnoses (strict), the items of the rubric and
    the length are repeated for each slice.

    Raises InputError on a diagnosis that is none of the 34.
    """
    run = _Run(consultations, record, unfinished, lost, draws)
    parts = (run.diagnoses, run.utterances, run.rates, run.rubric, run.by_domain, run.by_temperament)
    return [cell for part in (*parts, run.temperament_tests) for cell in part()] + run.by_slice(sides)


def _flags(played: Consultation, role: str) -> set[str]:
    return {flag for turn in played.turns if turn.role == role for flag in turn.flags}


@dataclass(frozen=True)
class _Measure:
    """A number that each consultation has, unless `value` is None; `within` are the bounds of its scale."""

    column: str
    unit: str
    direction: Direction
    value: Callable[[Consultation], float | None]
    scale: float = 1.0
    within: Interval | None = None


@dataclass(frozen=True)
class _Run:
    consultations: Sequence[Consultation]
    record: RunRecord
    unfinished: Unfinished
    lost: int
    draws: Draws

    # --- Table 5 ------------------------------------------------------------------------------------------------------

    def diagnoses(self) -> list[Result]:
        answers = self._answers(self.consultations)
        scores = score(answers, **self.draws)
        note = "weighted, as the authors count: cases without a diagnosis left out, each name a sample"
        unread = taken_for_none(self.consultations)
        columns: tuple[tuple[str, Estimate, str, str], ...] = (
            ("F1", scores.authors, f"{note}, each answer as it was written", ""),
            ("F1 (cleaned)", scores.cleaned, f"{note}, answers as we read them", unread),
            ("F1 (strict)", scores.strict, "weighted; no diagnosis is wrong, the first counts", unread),
            ("F1 (strict, macro)", scores.macro, occurring([one.gold for one in answers], NAMES)[1], unread),
            ("Accuracy (strict)", scores.accuracy, "", unread),
        )
        return [
            self._f1("Table 5", column, estimate, note="; ".join(filter(None, notes)))
            for column, estimate, *notes in columns
        ]

    def utterances(self) -> list[Result]:
        if not self._dialogue:
            return []
        mean = self._mean("Table 5", self._length, self.consultations)
        n = len(self.consultations)
        if n == 1:
            return [mean]
        deviation = float(np.std([played.utterances for played in self.consultations], ddof=1))
        return [mean, self._cell("Table 5", "Number of utterances (SD)", deviation, "utterances", n=n)]

    def rates(self) -> list[Result]:
        """How often the answer was none, several or unreadable, with the doctor's and the assessor's own failures."""
        texts = [answer.text for answer in self._answers(self.consultations)]
        clusters = [played.cluster for played in self.consultations]
        assessed = {at: played.assessment for at, played in enumerate(self.consultations) if played.assessment}
        marks: dict[str, list[bool]] = {
            "No diagnosis": [is_none(text) for text in texts],
            "Several diagnoses": [len(parts(text)) > 1 for text in texts],
            "Outside the 34": [not is_none(text) and first_name(text) is None for text in texts],
            "Unfinished": [not played.finished for played in self.consultations],
            "Reasoning not parsed": [played.parse_failures > 0 for played in self.consultations],
            "Extraction failed": [played.extraction.failure is not None for played in self.consultations],
        }
        flags, of_patient = ([_flags(played, role) for played in self.consultations] for role in ("doctor", "patient"))
        marks |= {column: [bool(found & counted) for found in flags] for column, counted in _FLAGGED.items()}
        if any("empty" in found for found in of_patient):
            marks[PATIENT_EMPTY] = ["empty" in found for found in of_patient]
        notes = {"No diagnosis": taken_for_none(self.consultations)}
        notes[PATIENT_EMPTY] = "consultations with an empty answer of the patient, in every number as it is"
        notes |= dict.fromkeys(_FLAGGED, "consultations with such an answer of the doctor, in every number as it is")
        rates = [self._rate(column, clusters, given, notes.get(column, "")) for column, given in marks.items()]
        if assessed:
            failed = [assessment.items is None for assessment in assessed.values()]
            rates.append(self._rate("Assessment failed", [clusters[at] for at in assessed], failed))
        if self.lost:
            total = self.lost + len(clusters)
            rates.append(self._share(NOT_PLAYED, self.lost, total, wilson_interval(self.lost, total), LOST))
        return rates

    # --- Table 6, Figures 9, 10, 12, 13 -------------------------------------------------------------------------------

    def rubric(self) -> list[Result]:
        if not any(played.assessment for played in self.consultations):
            return []
        return [self._mean("Table 6", item, self.consultations) for item in self._items]

    def by_domain(self) -> list[Result]:
        cells: list[Result] = []
        for domain in DOMAINS:
            names = [diagnosis.name for diagnosis in DIAGNOSES if diagnosis.domain == domain]
            if some := [played for played in self.consultations if played.domain == domain]:
                cells += self._group(some, domain, names, (FIGURE_3, "Figure 9", "Figure 13", "Figure 11"))
        return cells

    def by_temperament(self) -> list[Result]:
        cells: list[Result] = []
        for temperament, some in self._temperaments().items():
            cells += self._group(some, temperament, NAMES, ("Figure 5", "Figure 10", "Figure 12", FIGURE_4))
        return cells + self._phlegmatic()

    def _group(
        self, some: Sequence[Consultation], group: str, names: Sequence[str], figures: tuple[str, str, str, str]
    ) -> list[Result]:
        """The numbers of a part of the cases; `figures` show its F1, overall quality, all items and utterances."""
        f1, overall, items, utterances = figures
        answers = self._answers(some)
        readings = ("F1", authors_samples(answers), ""), ("F1 (strict)", strict_samples(answers), taken_for_none(some))
        cells = [
            self._f1(f1, column, weighted_f1(samples, names, **self.draws), group=group, note=note)
            for column, samples, note in readings
        ]
        if any(played.assessment for played in some):
            cells.append(self._mean(overall, self._items[-1], some, group=group))
            cells += [self._mean(items, item, some, group=group) for item in self._items]
        if self._dialogue:
            cells.append(self._mean(utterances, self._length, some, group=group))
        return cells

    def _phlegmatic(self) -> list[Result]:
        """How many turns shorter dialogues with phlegmatic patients are than the others (3M-G34)."""
        marks = np.array([played.temperament == "phlegmatic" for played in self.consultations])
        if not self._dialogue or marks.all() or not marks.any():
            return []
        counts = np.array([played.utterances for played in self.consultations], dtype=np.float64)
        kinds = np.stack([marks, ~marks], axis=1).astype(np.float64)
        clusters = [played.cluster for played in self.consultations]
        try:
            spread = bootstrap_ratios(kinds * counts[:, None], kinds, **self.draws | {"clusters": clusters})
            ci95 = percentile_interval(spread.replicates[:, 1] - spread.replicates[:, 0])
        except InputError:  # most resamples hold only one kind of patient
            ci95 = None
        value = float(counts[~marks].mean() - counts[marks].mean())
        return [
            self._cell(
                FIGURE_4, "Fewer turns with phlegmatic patients", value, "turns", group="phlegmatic",
                ci95=ci95, n=len(counts), note="mean of the other temperaments less that of phlegmatic patients",
            )
        ]  # fmt: skip

    # --- Tests between temperaments (3M-G34) --------------------------------------------------------------------------

    def temperament_tests(self) -> list[Result]:
        """Kruskal-Wallis over the temperaments, then every two by Mann-Whitney, adjusted by Benjamini and Hochberg.

        Repetitions of a case are averaged first, since rank tests take rows as independent.
        """
        groups = self._temperaments()
        length = {"utterances": self._length} if self._dialogue else {}
        measures = {"diagnosis correct (strict)": self._right, **length, "Criterion 4.1": self._items[-1]}
        cells: list[Result] = []
        for about, measure in measures.items():
            means = {name: list(case_means(some, measure.value).values()) for name, some in groups.items()}
            values = {name: given for name, given in means.items() if len(given) > 1}
            if len(values) < 2:
                continue
            n = sum(map(len, values.values()))
            _, p = kruskal_wallis(list(values.values()))
            cells.append(self._cell(TEMPERAMENT_TESTS, "Kruskal-Wallis p", p, "p", group=about, n=n))
            pairs = list(combinations(values, 2))
            adjusted = benjamini_hochberg([mann_whitney(values[first], values[second])[1] for first, second in pairs])
            cells += [
                self._cell(TEMPERAMENT_TESTS, f"{first} / {second} p (BH)", q, "p", group=about,
                           n=len(values[first]) + len(values[second]))
                for (first, second), q in zip(pairs, adjusted.tolist(), strict=True)
            ]  # fmt: skip
        return cells

    # --- Columns of the user's own ------------------------------------------------------------------------------------

    def by_slice(self, sides: Sides) -> list[Result]:
        measures = []
        for one in (self._right, *self._items, *([self._length] if self._dialogue else [])):
            if values := case_means(self.consultations, one.value):
                measures.append(Measure(one.column, one.unit, one.direction, values, one.scale, one.within))
        return sliced(
            measures, sides, record=self.record, paper=PAPER,
            row=doctor_name(self.record), setting=setting_name(self.consultations[0].setting),
            groups={played.case_id: played.cluster for played in self.consultations}, **self.draws,
        )  # fmt: skip

    # --- Parts --------------------------------------------------------------------------------------------------------

    @property
    def _dialogue(self) -> bool:
        return any(played.ended != "answer" for played in self.consultations)

    def _answers(self, some: Sequence[Consultation]) -> list[Extracted]:
        return [extracted(played, self.unfinished) for played in some]

    def _temperaments(self) -> dict[str, list[Consultation]]:
        groups = {name: [one for one in self.consultations if one.temperament == name] for name in PERSONALITIES}
        return {name: some for name, some in groups.items() if some}

    @property
    def _right(self) -> _Measure:
        def right(played: Consultation) -> float:
            return float(first_name(extracted(played, self.unfinished).text) == played.gold)

        return _Measure("Accuracy (strict)", "percent", "up", right, PERCENT, (0, 1))

    @property
    def _items(self) -> list[_Measure]:
        units = {1: "mean of 0/1", 2: "mean of 0/1/2"}
        return [
            _Measure(f"Criterion {item}", units[most], "up", partial(graded, item=item, unfinished=self.unfinished),
                     within=(0, most))
            for item, most in HIGHEST.items()
        ]  # fmt: skip

    @property
    def _length(self) -> _Measure:
        return _Measure("Number of utterances (mean)", "utterances", "none", lambda played: float(played.utterances))

    def _f1(self, table: str, column: str, estimate: Estimate, *, group: str | None = None, note: str = "") -> Result:
        cell = partial(self._cell, table, column, unit="percent", direction="up", group=group, n=estimate.n)
        if estimate.value is None or estimate.ci95 is None:
            return cell(None, note="no answer to score")
        low, high = estimate.ci95
        return cell(PERCENT * estimate.value, ci95=(PERCENT * low, PERCENT * high), note=note)

    def _mean(self, table: str, measure: _Measure, some: Sequence[Consultation], *, group: str | None = None) -> Result:
        given = [(one.cluster, value) for one in some if (value := measure.value(one)) is not None]
        cell = partial(self._cell, table, measure.column, unit=measure.unit, direction=measure.direction, group=group)
        if not given:
            return cell(None, n=0, note="nothing was assessed")
        left = len(some) - len(given)
        note = f"{how_many(left, 'consultation')} without an assessment that counts left out" if left else ""
        clusters, values = zip(*given, strict=True)
        mean, ci95 = bootstrap_means(values, within=measure.within, **self.draws | {"clusters": clusters}).estimate()
        return cell(mean, n=len(given), ci95=ci95, note=note)

    def _rate(self, column: str, clusters: Sequence[str], marks: Sequence[bool], note: str = "") -> Result:
        """A share of the consultations, with Wilson's interval, or the bootstrap if a cluster has several."""
        if len(set(clusters)) == len(marks):
            return self._share(column, sum(marks), len(marks), wilson_interval(sum(marks), len(marks)), note)
        spread = bootstrap_means(np.array(marks, float), within=(0, 1), **self.draws | {"clusters": clusters})
        return self._share(column, sum(marks), len(marks), spread.estimate()[1], note)

    def _share(self, column: str, count: int, n: int, ci95: Interval, note: str = "") -> Result:
        return self._cell(
            "Table 5", column, PERCENT * count / n, "percent", "down", n=n, numerator=float(count),
            denominator=float(n), ci95=(PERCENT * ci95[0], PERCENT * ci95[1]), note=note,
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
        cases = len({played.case_id for played in self.consultations})
        whole = f"{self.record.data.split} ({cases} {in_number(cases, 'case')})"
        return Result(
            paper=PAPER, table=table, row=doctor_name(self.record), setting=setting_name(self.consultations[0].setting),
            column=column, split_or_group=whole if group is None else group, value=value, unit=unit,
            direction=direction, record=self.record, **more,
        )  # fmt: skip


def graded(played: Consultation, item: str, unfinished: Unfinished = "paper") -> float | None:
    """The score of an item; None if it was not assessed or, in mode `paper`, the dialogue was not finished."""
    items = played.assessment.items if played.assessment else None
    return float(items[item]) if items is not None and (played.finished or unfinished == "authors") else None


def case_means(
    consultations: Sequence[Consultation], value: Callable[[Consultation], float | None]
) -> Mapping[str, float]:
    """Case -> mean value over its repetitions, in the order of the ids; cases without a value left out."""
    given: dict[str, list[float]] = {}
    for played in consultations:
        if (number := value(played)) is not None:
            given.setdefault(played.case_id, []).append(number)
    return {case: float(np.mean(given[case])) for case in sorted(given)}
