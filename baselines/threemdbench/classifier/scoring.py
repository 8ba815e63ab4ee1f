"""The numbers of a classifier on the test photos, beside two that never look (Tables 5 and 8, Figures 14 and 15).

A test photo that cannot be decoded counts as a wrong answer, and is reported; it has no part in calibration.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from baselines.results.run import Direction, Result, RunRecord
from baselines.statistics.arrays import Floats
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
from baselines.threemdbench.classifier.data import FOLDER, Labelled, Photo
from baselines.threemdbench.classifier.network import PAPER as NETWORKS
from baselines.threemdbench.classifier.recipe import key
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


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers about the test photos: logits (M, classes) of the decodable ones; `readable` (N,) says which those are.

    `temperature` was fitted on validation.
    """

    logits: Floats
    readable: NDArray[np.bool_]
    temperature: float

    def ranked(self) -> list[list[int] | None]:
        """Classes of each test photo, most likely first; None if it could not be decoded."""
        order = iter(np.argsort(-self.logits, axis=1, kind="stable").tolist())
        return [next(order) if can else None for can in self.readable]


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """A classifier named `row` on the test photos, with 95 % intervals over patients or clusters if they are known.

    Macro F1 is over the classes of `labelled` that a test photo shows; its note says so if those are not all of them.
    `train_labels` are the training photos' classes, on which the two blind baselines are based.
    """

    labelled: Labelled
    train_labels: Sequence[int]
    answers: Answers
    row: str
    setting: str
    record: RunRecord
    resamples: int = 10_000
    seed: int = 0

    def scored(self) -> tuple[list[Result], dict[str, Any]]:
        """All numbers, and what the report draws: tables by class and domain, confusions, calibration."""
        ranked = self.answers.ranked()
        predicted = [order[0] if order else None for order in ranked]
        in_top = np.array(
            [order is not None and true in order[:TOP] for order, true in zip(ranked, self.truth, strict=True)]
        )
        rivals: dict[tuple[str, str], Sequence[int | None]] = {
            (self.row, self.setting): predicted,
            (MAJORITY, _BLIND): self._majority(),
            (STRATIFIED, _BLIND): self._stratified(),
        }
        boots = {who: self._bootstrap(given) for who, given in rivals.items()}
        overall = [cell for who, boot in boots.items() for cell in self._overall(*who, boot)]
        overall.append(self._lead(boots))
        top = bootstrap_means(in_top, **self._draws, within=(0, 1))
        overall.append(self._cell("Top-3", top, 0))
        by_class, rows = self._by_class(predicted, in_top)
        by_domain, domains = self._by_domain(predicted)
        calibrated, calibration = self._calibration()
        content = {
            "row": self.row,
            "setting": self.setting,
            "n": len(self.truth),
            "units": len(set(self.groups)),
            "scores": [{"row": who[0], "setting": who[1], **_triples(boot)} for who, boot in boots.items()],
            "top3": _triple(top, 0),
            "top": TOP,
            "classes": rows,
            "domains": domains,
            "confusions": self._confusions(predicted),
            "calibration": calibration,
        }
        return overall + calibrated + by_domain + by_class, content

    def by_slice(self, sides: Sides) -> list[Result]:
        """Share of right answers, and of right ones among the first three, by the columns of `sides`."""
        first, three = {}, {}
        for photo, order in zip(self.photos, self.answers.ranked(), strict=True):
            first[photo.key] = float(order is not None and order[0] == photo.label)
            three[photo.key] = float(order is not None and photo.label in order[:TOP])
        marks = {"Accuracy": first, "Top-3": three}
        measures = [Measure(name, "percent", "up", values, 100, (0, 1)) for name, values in marks.items()]
        groups = {photo.key: photo.group for photo in self.photos}
        return sliced(
            measures, sides, record=self.record, paper=paper_of(self.labelled), row=self.row, setting=self.setting,
            groups=groups, **self._draws,
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------------ what is asked

    @property
    def photos(self) -> Sequence[Photo]:
        return self.labelled.splits["test"]

    @cached_property
    def truth(self) -> list[int]:
        return [photo.label for photo in self.photos]

    @cached_property
    def groups(self) -> list[str]:
        return [photo.group for photo in self.photos]

    @property
    def labels(self) -> range:
        return range(len(self.labelled.classes))

    @property
    def _draws(self) -> Draws:
        """The same resamples for every number, so that differences are paired."""
        return {"resamples": self.resamples, "seed": self.seed, "clusters": self.groups}

    def _bootstrap(self, predicted: Sequence[Hashable]) -> Bootstrap:
        labels, _ = occurring(self.truth, self.labels)
        return bootstrap_classification(self.truth, predicted, labels, **self._draws)

    def _majority(self) -> list[int]:
        counts = np.bincount(self.train_labels, minlength=len(self.labels))
        return [int(counts.argmax())] * len(self.photos)

    def _stratified(self) -> list[int]:
        """Classes drawn with the training photos' class shares, seeded for each photo by its id."""
        counts = np.bincount(self.train_labels, minlength=len(self.labels))
        ends = np.cumsum(counts)
        points = [key(self.seed, "stratified", photo.key) % int(ends[-1]) for photo in self.photos]
        return [int(np.searchsorted(ends, point, side="right")) for point in points]

    # ---------------------------------------------------------------------------------------------------- the numbers

    def _overall(self, row: str, setting: str, boot: Bootstrap) -> list[Result]:
        cells = [self._cell(column, boot, at, row=row, setting=setting) for at, column in enumerate(_SCORES)]
        if self.labelled.corpus == FOLDER:
            return cells
        cells.append(self._cell("Macro F1", boot, 1, table="Table 8", group=_SPLIT, row=row, setting=setting))
        if row in NETWORKS and setting == FINE_TUNED:
            cases = f"{self.labelled.data.split} ({len(self.truth)} {in_number(len(self.truth), 'case')})"
            own = "fine-tuned on the train part"
            cells.append(self._cell("F1", boot, 2, table="Table 5", group=cases, row=row, setting=own))
        return cells

    def _lead(self, boots: dict[tuple[str, str], Bootstrap]) -> Result:
        own, other = boots[self.row, self.setting], boots[MAJORITY, _BLIND]
        gap = Bootstrap(own.estimates - other.estimates, own.replicates - other.replicates, (-1, 1), own.units)
        return self._cell("Macro F1, lead over majority", gap, 1, unit="percentage points")

    def _by_class(self, predicted: Sequence[int | None], in_top: Any) -> tuple[list[Result], list[dict[str, Any]]]:
        scores = classification_scores(self.truth, predicted, self.labels)
        true = np.array(self.truth)
        boot = bootstrap_f1(self.truth, predicted, self.labels, **self._draws)
        trained = np.bincount(self.train_labels, minlength=len(self.labels))
        results, rows = [], []
        for at, name in enumerate(self.labelled.classes):
            support = int(scores.support[at])
            results.append(self._cell("F1", boot, at, table=BY_CLASS, row=name, setting=self.row, n=support))
            rows.append(
                {
                    "name": name,
                    "domain": self.labelled.domains[at],
                    "train": int(trained[at]),
                    "test": support,
                    "precision": float(scores.precision[at]),
                    "recall": float(scores.recall[at]),
                    "f1": _triple(boot, at),
                    "top3": float(in_top[true == at].mean()) if support else None,
                }
            )
        return results, rows

    def _by_domain(self, predicted: Sequence[int | None]) -> tuple[list[Result], list[dict[str, Any]]]:
        """Cases with gold in the domain, weighted F1 over the domain's labels (3M-G33)."""
        results, rows = [], []
        for domain, classes in self._domains():
            inside = [at for at, label in enumerate(self.truth) if label in classes]
            if not inside:
                continue
            truth = [self.truth[at] for at in inside]
            boot = bootstrap_classification(
                truth,
                [predicted[at] for at in inside],
                occurring(truth, classes)[0],
                **self._draws | {"clusters": [self.groups[at] for at in inside]},
            )
            for at, column in enumerate(_SCORES):
                of: dict[str, Any] = {"table": BY_DOMAIN, "row": domain, "setting": self.row, "n": len(inside)}
                results.append(self._cell(column, boot, at, **of, classes=classes))
            rows.append({"domain": domain, "n": len(inside), "classes": len(classes), **_triples(boot)})
        return results, rows

    def _domains(self) -> list[tuple[str, list[int]]]:
        names = dict.fromkeys(domain for domain in self.labelled.domains if domain)
        return [(name, [at for at, domain in enumerate(self.labelled.domains) if domain == name]) for name in names]

    def _confusions(self, predicted: Sequence[int | None]) -> list[dict[str, Any]]:
        """Counts of answers, true class down: a domain's classes, those of all other domains together, no answer."""
        tables = []
        for domain, classes in self._domains() or [("all classes", list(self.labels))]:
            counts = confusion(self.truth, predicted, classes)
            if counts.sum():
                names = [self.labelled.classes[label] for label in classes]
                tables.append({"domain": domain, "classes": names, "counts": counts.tolist()})
        return tables

    def _calibration(self) -> tuple[list[Result], dict[str, Any]]:
        logits, temperature = self.answers.logits, self.answers.temperature
        readable = np.flatnonzero(self.answers.readable)
        labels = np.array(self.truth)[readable]
        groups = [self.groups[at] for at in readable]
        results: list[Result] = []
        content: dict[str, Any] = {"temperature": temperature}
        for name, used in (("before", 1.0), ("after", temperature)):
            shares = probabilities(logits, used)
            boot = bootstrap_ece(shares, labels, **self._draws | {"clusters": groups})
            column = f"ECE {name} scaling"
            results.append(self._cell(column, boot, 0, n=len(labels), direction="down"))
            loss = log_loss(logits, labels, used)
            content[name] = {
                "ece": _triple(boot, 0),
                "log_loss": loss,
                "bins": [asdict(bar) for bar in bins(shares, labels)],
            }
        return results, content

    def _cell(
        self,
        column: str,
        boot: Bootstrap,
        at: int,
        *,
        table: str = TABLE,
        group: str | None = None,
        row: str | None = None,
        setting: str | None = None,
        unit: str = "percent",
        direction: Direction = "up",
        n: int | None = None,
        classes: Sequence[int] | None = None,
    ) -> Result:
        value, low, high = _triple(boot, at)
        missing = n == 0
        note = f"{row}: no test photo" if missing else ""
        if column.startswith("Macro F1"):
            note = occurring(self.truth, self.labels if classes is None else classes)[1]
        return Result(
            paper=paper_of(self.labelled), table=table, row=row or self.row,
            setting=setting or self.setting, column=column,
            split_or_group=self.labelled.data.split if group is None else group,
            value=None if missing else 100 * value, unit=unit, direction=direction,
            note=note, n=len(self.truth) if n is None else n,
            ci95=None if missing else (100 * low, 100 * high), record=self.record,
        )  # fmt: skip


def paper_of(labelled: Labelled) -> str:
    """The paper in whose tables the numbers belong."""
    return PAPER if labelled.corpus != FOLDER else "Own photos"


def coverage(labelled: Labelled, answered: int, row: str, setting: str, record: RunRecord) -> Result:
    """The only number for answers about photos without labels: how many of them were answered."""
    photos = len(labelled.splits["test"])
    return Result(
        paper=paper_of(labelled), table=TABLE, row=row, setting=setting, column="Photos answered about",
        split_or_group=labelled.data.split, value=100 * answered / photos, unit="percent", direction="none", n=photos,
        numerator=answered, denominator=photos, record=record,
    )  # fmt: skip


def _triple(boot: Bootstrap, at: int) -> tuple[float, float, float]:
    """Estimate and interval, as proportions."""
    value, (low, high) = boot.estimate(at)
    return value, low, high


def _triples(boot: Bootstrap) -> dict[str, tuple[float, float, float]]:
    return {name.lower().replace(" ", "_"): _triple(boot, at) for at, name in enumerate(_SCORES)}
