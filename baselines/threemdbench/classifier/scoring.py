"""The numbers of a classifier on the test photos, beside two that never look (Tables 5 and 8, Figures 14 and 15).

A test photo that cannot be decoded counts as a wrong answer, and is reported; it has no part in calibration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.results.run import Result, RunRecord
from baselines.statistics.arrays import Floats, Ints
from baselines.statistics.classification import (
    bootstrap_classification,
    bootstrap_f1,
    classification_scores,
    confusion,
    occurring,
)
from baselines.statistics.resampling import Bootstrap, Draws, bootstrap_means
from baselines.threemdbench.classifier.calibration import bins, bootstrap_ece, log_loss, probabilities
from baselines.threemdbench.classifier.cues import TOP
from baselines.threemdbench.classifier.data import FOLDER
from baselines.threemdbench.classifier.network import PAPER as NETWORKS
from baselines.threemdbench.classifier.recipe import key
from baselines.threemdbench.classifier.stored import StoredAnswers, ranked
from baselines.threemdbench.slices import Measure, Sides, sliced
from loaders.errors import in_number

PAPER = "3MDBench"
TABLE, BY_DOMAIN, BY_CLASS = "Image classifier", "Image classifier by domain", "Image classifier by diagnosis"
"""The tables of numbers that the paper does not print."""

FINE_TUNED = "full fine-tuning on the train part"
SCRATCH = "from random weights"
PROBED = "linear probe"
MAJORITY, STRATIFIED = "Majority class", "Stratified random"
_BLIND = "blind"
_SPLIT = "evaluation split not stated"  # of Table 8; ours is test, as the table's note says
_SCORES = ("Accuracy", "Macro F1", "Weighted F1")


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """A classifier's answers scored, with 95 % intervals over patients or clusters if they are known.

    Macro F1 is over the classes that a test photo shows; its note says so if those are not all of them. Two baselines
    that never look are based on the classes of the training photos.
    """

    answers: StoredAnswers
    record: RunRecord
    resamples: int = 10_000
    seed: int = 0

    def scored(self) -> tuple[list[Result], dict[str, Any]]:
        """All numbers, and what the report draws: tables by class and domain, confusions, calibration."""
        rivals: dict[tuple[str, str], Sequence[int | None]] = {
            self.own: self.predicted,
            (MAJORITY, _BLIND): [int(self._trained.argmax())] * len(self.truth),
            (STRATIFIED, _BLIND): self._stratified(),
        }
        there, _ = occurring(self.truth, self.labels)
        boots = {
            who: bootstrap_classification(self.truth, given, there, **self._draws) for who, given in rivals.items()
        }
        overall = [cell for who, boot in boots.items() for cell in self._overall(*who, boot)]
        own, other = boots[self.own], boots[MAJORITY, _BLIND]
        lead = Bootstrap(own.estimates - other.estimates, own.replicates - other.replicates, (-1, 1), own.units)
        overall.append(self._cell("Macro F1, lead over majority", lead, 1, unit="percentage points"))
        top = bootstrap_means(self.in_top, **self._draws, within=(0, 1))
        overall.append(self._cell("Top-3", top, 0))
        by_class, rows = self._by_class()
        by_domain, domains = self._by_domain()
        calibrated, calibration = self._calibration()
        content = {
            "row": self.answers.row,
            "setting": self.answers.setting,
            "n": len(self.truth),
            "units": len(set(self.answers.groups)),
            "scores": [{"row": who[0], "setting": who[1], **_triples(boot)} for who, boot in boots.items()],
            "top3": _triple(top, 0),
            "top": TOP,
            "classes": rows,
            "domains": domains,
            "confusions": self._confusions(),
            "calibration": calibration,
        }
        return overall + calibrated + by_domain + by_class, content

    def by_slice(self, sides: Sides) -> list[Result]:
        """Share of right answers, and of right ones among the first three, by the columns of `sides`."""
        first = [given == label for given, label in zip(self.predicted, self.truth, strict=True)]
        marks = {
            name: dict(zip(self.answers.keys, map(float, right), strict=True))
            for name, right in (("Accuracy", first), ("Top-3", self.in_top))
        }
        measures = [Measure(name, "percent", "up", values, 100, (0, 1)) for name, values in marks.items()]
        return sliced(
            measures, sides, record=self.record, paper=paper_of(self.record), row=self.answers.row,
            setting=self.answers.setting, groups=dict(zip(self.answers.keys, self.answers.groups, strict=True)),
            **self._draws,
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------------ what is asked

    @cached_property
    def logits(self) -> Floats:
        return self.answers.matrix()

    @cached_property
    def order(self) -> list[list[int] | None]:
        return ranked(self.logits, self.answers.readable)

    @cached_property
    def predicted(self) -> list[int | None]:
        return [places[0] if places else None for places in self.order]

    @cached_property
    def in_top(self) -> NDArray[np.bool_]:
        return np.array([true in (places or [])[:TOP] for places, true in zip(self.order, self.truth, strict=True)])

    @property
    def own(self) -> tuple[str, str]:
        return self.answers.row, self.answers.setting

    @property
    def truth(self) -> tuple[int, ...]:
        return self.answers.labels

    @property
    def labels(self) -> range:
        return range(len(self.answers.classes))

    @property
    def _draws(self) -> Draws:
        """The same resamples for every number, so that differences are paired."""
        return {"resamples": self.resamples, "seed": self.seed, "clusters": self.answers.groups}

    @cached_property
    def _trained(self) -> Ints:
        """Training photos of each class."""
        return np.bincount(self.answers.train_labels, minlength=len(self.labels))

    def _stratified(self) -> list[int]:
        """Classes drawn with the training photos' class shares, seeded for each photo by its id."""
        ends = np.cumsum(self._trained)
        points = [key(self.seed, "stratified", photo) % int(ends[-1]) for photo in self.answers.keys]
        return [int(at) for at in np.searchsorted(ends, points, side="right")]

    # ---------------------------------------------------------------------------------------------------- the numbers

    def _overall(self, row: str, setting: str, boot: Bootstrap) -> list[Result]:
        cells = [self._cell(column, boot, at, row=row, setting=setting) for at, column in enumerate(_SCORES)]
        if self.record.data.corpus == FOLDER:
            return cells
        cells.append(self._cell("Macro F1", boot, 1, table="Table 8", split_or_group=_SPLIT, row=row, setting=setting))
        if row in NETWORKS and setting == FINE_TUNED:
            cases = f"{self.record.data.split} ({len(self.truth)} {in_number(len(self.truth), 'case')})"
            own = "fine-tuned on the train part"
            cells.append(self._cell("F1", boot, 2, table="Table 5", split_or_group=cases, row=row, setting=own))
        return cells

    def _by_class(self) -> tuple[list[Result], list[dict[str, Any]]]:
        scores = classification_scores(self.truth, self.predicted, self.labels)
        true = np.array(self.truth)
        boot = bootstrap_f1(self.truth, self.predicted, self.labels, **self._draws)
        results, rows = [], []
        for at, name in enumerate(self.answers.classes):
            support = int(scores.support[at])
            results.append(self._cell("F1", boot, at, table=BY_CLASS, row=name, setting=self.answers.row, n=support))
            rows.append(
                {
                    "name": name,
                    "domain": self.answers.domains[at],
                    "train": int(self._trained[at]),
                    "test": support,
                    "precision": float(scores.precision[at]),
                    "recall": float(scores.recall[at]),
                    "f1": _triple(boot, at),
                    "top3": float(self.in_top[true == at].mean()) if support else None,
                }
            )
        return results, rows

    def _by_domain(self) -> tuple[list[Result], list[dict[str, Any]]]:
        """Cases with gold in the domain, weighted F1 over the domain's labels (3M-G33)."""
        results, rows = [], []
        for domain, classes in self._domains():
            inside = [at for at, label in enumerate(self.truth) if label in classes]
            if not inside:
                continue
            truth = [self.truth[at] for at in inside]
            boot = bootstrap_classification(
                truth,
                [self.predicted[at] for at in inside],
                occurring(truth, classes)[0],
                **self._draws | {"clusters": [self.answers.groups[at] for at in inside]},
            )
            for at, column in enumerate(_SCORES):
                of: dict[str, Any] = {"table": BY_DOMAIN, "row": domain, "setting": self.answers.row, "n": len(inside)}
                results.append(self._cell(column, boot, at, **of, classes=classes))
            rows.append({"domain": domain, "n": len(inside), "classes": len(classes), **_triples(boot)})
        return results, rows

    def _domains(self) -> list[tuple[str, list[int]]]:
        names = dict.fromkeys(domain for domain in self.answers.domains if domain)
        return [(name, [at for at, domain in enumerate(self.answers.domains) if domain == name]) for name in names]

    def _confusions(self) -> list[dict[str, Any]]:
        """Counts of answers, true class down: a domain's classes, those of all other domains together, no answer."""
        tables = []
        for domain, classes in self._domains() or [("all classes", list(self.labels))]:
            counts = confusion(self.truth, self.predicted, classes)
            if counts.sum():
                names = [self.answers.classes[label] for label in classes]
                tables.append({"domain": domain, "classes": names, "counts": counts.tolist()})
        return tables

    def _calibration(self) -> tuple[list[Result], dict[str, Any]]:
        logits, temperature = self.logits, self.answers.temperature
        readable = np.flatnonzero(self.answers.readable)
        labels = np.array(self.truth)[readable]
        groups = [self.answers.groups[at] for at in readable]
        results: list[Result] = []
        content: dict[str, Any] = {"temperature": temperature}
        for name, used in (("before", 1.0), ("after", temperature)):
            shares = probabilities(logits, used)
            boot = bootstrap_ece(shares, labels, **self._draws | {"clusters": groups})
            column = f"ECE {name} scaling"
            results.append(self._cell(column, boot, 0, n=len(labels), direction="down"))
            loss = log_loss(logits, labels, used)
            content[name] = {"ece": _triple(boot, 0), "log_loss": loss, "bins": bins(shares, labels)}
        return results, content

    def _cell(
        self, column: str, boot: Bootstrap, at: int, *, classes: Sequence[int] | None = None, **other: Any
    ) -> Result:
        """A statistic of `boot`; `other` are fields of the result that differ from those of the first table."""
        of: dict[str, Any] = {"table": TABLE, "row": self.answers.row, "setting": self.answers.setting}
        of |= {"split_or_group": self.record.data.split, "unit": "percent", "direction": "up", "n": len(self.truth)}
        of |= other
        value, low, high = _triple(boot, at)
        number: dict[str, Any] = {"value": 100 * value, "ci95": (100 * low, 100 * high)}
        if column.startswith("Macro F1"):
            number["note"] = occurring(self.truth, self.labels if classes is None else classes)[1]
        if of["n"] == 0:
            number = {"value": None, "note": f"{of['row']}: no test photo"}
        return Result(paper=paper_of(self.record), column=column, record=self.record, **of, **number)


def paper_of(record: RunRecord) -> str:
    """The paper in whose tables the numbers belong."""
    return PAPER if record.data.corpus != FOLDER else "Own photos"


def coverage(photos: int, answered: int, row: str, setting: str, record: RunRecord) -> Result:
    """The only number for answers about photos without labels: how many of them were answered."""
    return Result(
        paper=paper_of(record), table=TABLE, row=row, setting=setting, column="Photos answered about",
        split_or_group=record.data.split, value=100 * answered / photos, unit="percent", direction="none", n=photos,
        numerator=answered, denominator=photos, record=record,
    )  # fmt: skip


def _triple(boot: Bootstrap, at: int) -> tuple[float, float, float]:
    """Estimate and interval, as proportions."""
    value, (low, high) = boot.estimate(at)
    return value, low, high


def _triples(boot: Bootstrap) -> dict[str, tuple[float, float, float]]:
    return {name.lower().replace(" ", "_"): _triple(boot, at) for at, name in enumerate(_SCORES)}
