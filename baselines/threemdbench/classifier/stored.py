"""A classifier's answers on test as its run stores them, to be scored again without photos or a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from baselines.statistics.arrays import Floats
from baselines.threemdbench.classifier.data import Labelled
from loaders.files.json_values import read_json
from loaders.files.records import from_json

NAME = "answers.json"
"""Name of the file of a run folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswers:
    """The test photos by key, class and group, and the logits of those that could be decoded (`readable`).

    `temperature` was fitted on validation. `train_labels` are the classes of the training photos, `row` and `setting`
    the labels of the numbers.
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
    def of(
        cls,
        labelled: Labelled,
        logits: Floats,
        readable: Sequence[bool],
        temperature: float,
        *,
        train_labels: Sequence[int],
        row: str,
        setting: str,
    ) -> StoredAnswers:
        """The answers about `test`: logits (M, classes) of the readable ones of its N photos."""
        photos = labelled.splits["test"]
        return cls(
            row=row,
            setting=setting,
            classes=labelled.classes,
            domains=labelled.domains,
            keys=tuple(photo.key for photo in photos),
            labels=tuple(photo.label for photo in photos),
            groups=tuple(photo.group for photo in photos),
            readable=tuple(map(bool, readable)),
            logits=tuple(map(tuple, logits.tolist())),
            precision="float32" if logits.dtype == np.float32 else "float64",
            temperature=float(temperature),
            train_labels=tuple(map(int, train_labels)),
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

    def matrix(self) -> Floats:
        """The logits (M, classes) of the readable photos."""
        logits: Floats = np.array(self.logits, dtype=self.precision).reshape(-1, len(self.classes))
        return logits


def ranked(logits: Floats, readable: Sequence[bool]) -> list[list[int] | None]:
    """Classes of each photo, most likely first; None if it could not be decoded."""
    order = iter(np.argsort(-logits, axis=1, kind="stable").tolist())
    return [next(order) if can else None for can in readable]


def read_stored(run: Path) -> StoredAnswers:
    """The answers that a run stored. Raises: InputError if it stored none, or something else is there."""
    path, do = run / NAME, "Run the classifier again"
    stored = read_json(path, expected="the answers stored by the run", do=do)
    return from_json(StoredAnswers, stored, path, do=do, ours=True)
