"""Weights of the latent policy from labelled turns.

    fitted = fit(read_labels(Path("labels.jsonl")), DEFAULT)

A label says of one turn, from 0 to 1, whether a patient would disclose a concern ("reveal") or feel that it was
addressed ("address") (MC-G16; `labelling` makes them, `acceptance` tests a policy before it is used). Each model is a
logistic regression on the ten features, the overlap and an intercept, with one vector for all categories and a
deviation per category that a ridge holds near 0 (MC-G12); what the policy adds for a person or a deep concern is an
offset. Quality is measured on held-out cases: the
split is by case. The features of a label must come from the evaluator that will be used: weights belong to an evaluator
as much as to its data, and a policy says which it was. A handful of turns repeated a thousand times fits nothing: fewer
than 100 different feature vectors of a kind are refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from baselines.medconceal.policy import INPUTS, Logistic, PolicyConfig
from baselines.medconceal.record import FEATURES, Features
from baselines.statistics.arrays import Floats
from baselines.statistics.resampling import Bootstrap, Interval
from loaders.errors import InputError, how_many
from loaders.files.bad_rows import BadRow
from loaders.files.records import from_json, to_json
from loaders.files.tables import read_records
from loaders.medconceal import CATEGORIES

Kind = Literal["reveal", "address"]
KINDS: tuple[Kind, ...] = get_args(Kind)

HELD_OUT = 0.2
RIDGE, BASE_RIDGE = 10.0, 0.1
FEWEST = 100  # different feature vectors per kind; with fewer, nothing is fitted
BINS = 10
RESAMPLES = 500
BY_RULES = "rules"


@dataclass(frozen=True, slots=True)
class Label:
    """One labelled turn: `label` in [0, 1], and `source`, who gave it (a model's name, or `scripted/...`).

    `evaluator` is who gave the features; labels of earlier versions do not say, and have theirs from the rules. `shift`
    is what the policy added to the intercept for this person and the depth of the concern (`Concern.shift`), 0
    where that is not known.
    """

    case_id: str
    kind: Kind
    category: str
    features: Features
    overlap: float
    label: float
    source: str
    evaluator: Annotated[str, Field(exclude_if=BY_RULES.__eq__)] = BY_RULES
    shift: Annotated[float | None, Field(exclude_if=lambda value: value is None)] = None

    def __post_init__(self) -> None:
        if not self.case_id:
            raise ValueError("case_id is empty", "the id of a case")
        if self.category not in CATEGORIES:
            raise ValueError(f"category {self.category[:40]!r}", f"one of {', '.join(CATEGORIES)}")
        for name, value in (("overlap", self.overlap), ("label", self.label)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} is {value}", "a number in [0, 1]")

    @property
    def row(self) -> dict[str, Any]:
        """The label as a row of JSONL or Parquet: features in columns of their own."""
        written = to_json(self)
        return {**written.pop("features"), **written}


@dataclass(frozen=True, slots=True)
class Quality:
    """How good a model is on the cases that were held out.

    `auc` is None if all labels are on one side of 0.5; `reference` is the Brier score of always predicting the mean
    training label. Both Brier scores are None if no case was held out. Intervals are 95 %, by resampling cases.
    `reliability` holds, for each tenth of the prediction range that is not empty, the mean prediction, the mean label
    and the count.
    """

    n: int
    cases: int
    auc: float | None
    brier: float | None
    reference: float | None
    auc_interval: tuple[float, float] | None = None
    brier_interval: tuple[float, float] | None = None
    reliability: tuple[tuple[float, float, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Fitted:
    """The policy with its new weights, and their quality by kind; a kind without labels keeps its weights."""

    policy: PolicyConfig
    quality: Mapping[str, Quality]


def read_labels(path: Path) -> list[Label]:
    """The labels of a JSONL or Parquet file.

    Raises InputError, with the number of the row, for anything that is not a label.
    """
    labels = []
    for at, placed in enumerate(read_records(path).each(None), start=1):
        if isinstance(placed, BadRow):
            where = f"{path}: row {at}"
            raise InputError(where, found=placed.found, expected="a labelled turn", do=placed.do) from None
        labels.append(_label(placed[1], f"{path}: row {at}"))
    return labels


def _label(row: Mapping[str, Any], where: str) -> Label:
    do = "Pass labels as `bedside fit-policy` writes them, beside its --out"
    if missing := [key for key in FEATURES if key not in row]:
        raise InputError(where, found=f"no feature {missing[0]}", expected="a labelled turn", do=do)
    own = {name: row[name] for name in Label.__dataclass_fields__ if name in row}
    return from_json(Label, own | {"features": {key: row[key] for key in FEATURES}}, where, do=do)


def held_out(case_id: str, seed: int = 0) -> bool:
    """Whether a case is in the held-out fifth; this depends only on the case's id and the seed."""
    digest = hashlib.sha256(f"{seed}:{case_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") < HELD_OUT * 2**64


def fit(
    labels: Sequence[Label], base: PolicyConfig, *, seed: int = 0, ridge: float = RIDGE, where: object = "labels"
) -> Fitted:
    """The policy `base` with weights fitted on four fifths of the cases, and their quality on the others.

    `ridge`, above 0, shrinks the deviations of the categories; `where` says in errors where the labels are from. The
    policy's `training` says what it was fitted on; it is a stand-in if that includes labels of a scripted judge, or
    features from the rules or a scripted evaluator.

    Raises InputError if a labelled kind has fewer than 100 different feature vectors to fit on, or all its labels on
    one side of 0.5; if features of several evaluators are mixed; if there is no label at all.
    """
    evaluators = sorted({label.evaluator for label in labels})
    if len(evaluators) > 1:
        found = f"features from {', '.join(evaluators)}"
        do = "Divide the labels by `evaluator`, and fit a policy on each"
        raise InputError(where, found=found, expected="features from one evaluator", do=do)
    # A policy that is the same for every person and depth has no shift to leave out of its weights.
    personal = any((base.depth, *base.openness.values(), *base.literacy.values()))
    models: dict[str, Logistic] = {}
    quality: dict[str, Quality] = {}
    for kind in KINDS:
        own = [label if personal else replace(label, shift=0.0) for label in labels if label.kind == kind]
        if not own:
            continue
        train = [label for label in own if not held_out(label.case_id, seed)]
        test = [label for label in own if held_out(label.case_id, seed)]
        _check_enough(train, kind, where)
        # v looks at o only in a policy whose hits have to touch the concern (MC-G15).
        models[kind] = _logistic(train, ridge=ridge, overlap=kind == "reveal" or base.touch > 0)
        quality[kind] = _quality(models[kind], test, float(np.mean([label.label for label in train])))
    if not models:
        expected = f"turns with at least {FEWEST} different feature vectors"
        do = "Pass a file that holds labels (--labels), or a --judge whose answers can be read"
        raise InputError(where, found="no label", expected=expected, do=do)
    sources = sorted({label.source for label in labels})
    digest = hashlib.sha256("\n".join(json.dumps(label.row, sort_keys=True) for label in labels).encode())
    training = {
        "source": f"{len(labels)} labelled turns of {len({label.case_id for label in labels})} cases",
        "judges": sources,
        "evaluator": evaluators[0],
        "stand_in": any(name == BY_RULES or name.startswith("scripted/") for name in (*sources, *evaluators)),
        "labels_sha256": digest.hexdigest(),
        "fitted": sorted(models),
        "quality": {kind: to_json(found) for kind, found in quality.items()},
        "seed": seed,
        "ridge": ridge,
    }
    policy = replace(
        base,
        reveal=models.get("reveal", base.reveal),
        address=models.get("address", base.address),
        training=training,
    )
    return Fitted(policy, quality)


def _check_enough(labels: Sequence[Label], kind: Kind, where: object) -> None:
    """Raises InputError if these labels cannot determine eleven weights."""
    different = len({label.features.vector for label in labels})
    sides = {label.label >= 0.5 for label in labels}
    if different < FEWEST or len(sides) < 2:
        found = f"{how_many(len(labels), 'label')} of kind {kind!r} with {different} different feature vectors"
        found += ", outside the held-out fifth"
        found += ", all on one side of 0.5" * (len(sides) < 2)
        expected = f"at least {FEWEST} different vectors there, and labels on both sides"
        do = "Label more turns (--most), of more cases (--corpus) or of models' dialogues (--clinician), or use an "
        do += "evaluator that distinguishes turns (--evaluator)"
        raise InputError(where, found=found, expected=expected, do=do)


def _logistic(labels: Sequence[Label], *, ridge: float, overlap: bool) -> Logistic:
    """Penalised maximum likelihood by Newton's method with step halving; the penalty makes the solution unique. The
    shift of a label is an offset: the policy adds it to whatever is fitted."""
    shared = [label.overlap if overlap else 0.0 for label in labels]
    x = np.array([(1.0, *label.features.vector, part) for label, part in zip(labels, shared, strict=True)])
    y = np.array([label.label for label in labels])
    offset = np.array([label.shift or 0.0 for label in labels])
    category = np.array([CATEGORIES.index(label.category) for label in labels])
    width = len(INPUTS)
    blocks = [np.where((category == at)[:, None], x, 0.0) for at in range(len(CATEGORIES))]
    design = np.hstack([x, *blocks])
    penalty = np.concatenate([[1e-6], np.full(width - 1, BASE_RIDGE), np.full(width * len(CATEGORIES), ridge)])
    weights = np.zeros(design.shape[1])

    def loss(w: Floats) -> float:
        score = design @ w + offset
        return float(np.sum(np.logaddexp(0.0, score) - y * score) + 0.5 * np.sum(penalty * w**2))

    current = loss(weights)
    for _ in range(100):
        p = 1 / (1 + np.exp(-np.clip(design @ weights + offset, -500, 500)))
        gradient = design.T @ (p - y) + penalty * weights
        hessian = (design.T * (p * (1 - p))) @ design + np.diag(penalty)
        move = np.linalg.lstsq(hessian, gradient, rcond=None)[0]  # the shortest, where almost no penalty leaves several
        size = 1.0
        while size > 1e-8 and loss(weights - size * move) > current:
            size /= 2
        weights = weights - size * move
        previous, current = current, loss(weights)
        if previous - current <= 1e-12 * max(1.0, abs(current)):
            break
    # More digits than the data support would only make the digest depend on the machine's linear algebra.
    rounded = [round(float(value), 6) + 0.0 for value in weights]
    deltas: dict[str, tuple[float, ...]] = {
        name: tuple(rounded[width * (at + 1) : width * (at + 2)])
        for at, name in enumerate(CATEGORIES)
        if np.any(category == at)
    }
    return Logistic(tuple(rounded[:width]), deltas)


def _quality(model: Logistic, labels: Sequence[Label], mean: float) -> Quality:
    p = np.array(
        [model.probability(one.features.vector, one.overlap, one.category, shift=one.shift or 0.0) for one in labels]
    )
    y = np.array([label.label for label in labels])
    if not labels:
        return Quality(0, 0, None, None, None)
    cases = np.unique([label.case_id for label in labels], return_inverse=True)[1]
    of_case = [np.flatnonzero(cases == number) for number in range(int(cases.max()) + 1)]
    draw = np.random.default_rng(0)
    aucs, briers = [], []
    for _ in range(RESAMPLES):
        rows = np.concatenate([of_case[number] for number in draw.integers(0, len(of_case), len(of_case))])
        briers.append(float(np.mean((p[rows] - y[rows]) ** 2)))
        if (one := auc(p[rows], y[rows] >= 0.5)) is not None:
            aucs.append(one)
    area, brier = auc(p, y >= 0.5), float(np.mean((p - y) ** 2))
    return Quality(
        n=len(labels),
        cases=len(of_case),
        auc=area,
        brier=brier,
        reference=float(np.mean((mean - y) ** 2)),
        auc_interval=None if area is None or not aucs else _interval(area, aucs, len(of_case)),
        brier_interval=_interval(brier, briers, len(of_case)),
        reliability=reliability(p, y),
    )


def _interval(estimate: float, replicates: list[float], cases: int) -> Interval:
    """95 %, by resampling whole cases; if every resample gives the same, as wide as the number of cases allows."""
    drawn = Bootstrap(np.array([estimate]), np.array(replicates)[:, None], within=(0, 1), units=cases)
    return drawn.estimate()[1]


def reliability(p: Floats, y: Floats) -> tuple[tuple[float, float, int], ...]:
    """For each tenth of [0, 1] that holds predictions: their mean, that of the labels, how many.

    >>> reliability(np.array([0.11, 0.13, 0.9]), np.array([0.0, 0.5, 1.0]))
    ((0.12, 0.25, 2), (0.9, 1.0, 1))
    """
    bins = np.minimum((p * BINS).astype(int), BINS - 1)
    return tuple(
        (round(float(p[bins == at].mean()), 4), round(float(y[bins == at].mean()), 4), int((bins == at).sum()))
        for at in range(BINS)
        if np.any(bins == at)
    )


def auc(scores: Floats, positive: NDArray[np.bool_]) -> float | None:
    """The chance that a positive scores above a negative, ties counted half; None without both.

    >>> auc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, False, True, True]))
    0.875
    >>> auc(np.array([0.1, 0.4]), np.array([True, True])) is None
    True
    """
    from scipy.stats import rankdata

    up, down = int(positive.sum()), int((~positive).sum())
    if not up or not down:
        return None
    return float((np.asarray(rankdata(scores))[positive].sum() - up * (up + 1) / 2) / (up * down))
