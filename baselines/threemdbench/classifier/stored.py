"""A classifier's answers on test as its run stores them, to be scored again without photos or a network."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn

import numpy as np

from baselines.results.run import RunRecord
from baselines.threemdbench.classifier.data import Labelled, Photo
from baselines.threemdbench.classifier.scoring import Answers, Scoring
from loaders.errors import InputError
from loaders.files.json_values import read_json
from loaders.files.paths import is_there
from loaders.files.records import from_json

NAME = "answers.json"
"""Name of the file of a run folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswers:
    """The test photos by key, class and group, and the logits of those that could be decoded (`readable`).

    `train_labels` are the classes of the training photos, `row` and `setting` the labels of the numbers.
    """

    row: str
    setting: str
    classes: tuple[str, ...]
    domains: tuple[str, ...]
    keys: tuple[str, ...]
    labels: tuple[int, ...]
    groups: tuple[str, ...]
    readable: tuple[bool, ...]
    logits: tuple[tuple[float, ...], ...]
    precision: Literal["float32", "float64"]
    temperature: float
    train_labels: tuple[int, ...]

    @classmethod
    def of(cls, scoring: Scoring) -> StoredAnswers:
        """Everything that a scoring is made of, except its record."""
        photos, answers = scoring.photos, scoring.answers
        return cls(
            row=scoring.row,
            setting=scoring.setting,
            classes=scoring.labelled.classes,
            domains=scoring.labelled.domains,
            keys=tuple(photo.key for photo in photos),
            labels=tuple(photo.label for photo in photos),
            groups=tuple(photo.group for photo in photos),
            readable=tuple(answers.readable.tolist()),
            logits=tuple(tuple(row) for row in answers.logits.tolist()),
            precision="float32" if answers.logits.dtype == np.float32 else "float64",
            temperature=float(answers.temperature),
            train_labels=tuple(int(label) for label in scoring.train_labels),
        )

    def __post_init__(self) -> None:
        lengths = {len(self.keys), len(self.labels), len(self.groups), len(self.readable)}
        if len(lengths) != 1 or len(self.logits) != sum(self.readable) or len(self.classes) != len(self.domains):
            raise ValueError("lists of unequal length")
        places = range(len(self.classes))
        if not all(label in places for label in (*self.labels, *self.train_labels)):
            raise ValueError("a label that is no class")
        if any(len(row) != len(places) for row in self.logits):
            raise ValueError("logits of other classes")

    def scoring(self, record: RunRecord, *, resamples: int, seed: int) -> Scoring:
        """The scoring that it was made from, for the record of a run."""
        photos = [Photo(*one, _no_photo) for one in zip(self.keys, self.labels, self.groups, strict=True)]
        return Scoring(
            labelled=Labelled(self.classes, self.domains, {"test": photos}, {}, record.data, record.stand_in),
            train_labels=self.train_labels,
            answers=Answers(
                np.array(self.logits, dtype=self.precision).reshape(-1, len(self.classes)),
                np.array(self.readable),
                self.temperature,
            ),
            row=self.row,
            setting=self.setting,
            record=record,
            resamples=resamples,
            seed=seed,
        )


def read_stored(run: Path) -> StoredAnswers:
    """The answers that a run stored. Raises: InputError if it stored none, or something else is there."""
    path, do = run / NAME, "Run the classifier again"
    if not is_there(path):
        raise InputError(
            run, found=f"no {NAME}: the run is from an earlier version", expected="the answers of the run", do=do
        )
    return from_json(StoredAnswers, read_json(path, expected="the answers stored by the run"), path, do=do, ours=True)


def _no_photo() -> NoReturn:
    """Raised on access to a photo: only answers are stored."""
    raise InputError(NAME, found="no photo", expected="answers only")
