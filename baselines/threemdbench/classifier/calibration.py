"""How far confidence can be trusted: temperature scaling, expected calibration error (Guo et al. 2017).

ECE: answers in 15 bins of equal width by confidence; the mean over answers of |accuracy - confidence| of their bin.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax

from baselines.statistics.arrays import Floats, Ints
from baselines.statistics.resampling import Bootstrap, Draws, resampled_sums

BINS = 15
_LIMITS = (0.05, 20.0)


def probabilities(logits: Floats, temperature: float = 1.0) -> Floats:
    """Softmax (N, classes) of logits over a temperature."""
    shares: Floats = softmax(logits / temperature, axis=1)
    return shares


def log_loss(logits: Floats, labels: Ints, temperature: float = 1.0) -> float:
    """Mean negative log-likelihood (nats) of the labels."""
    return float(-log_softmax(logits / temperature, axis=1)[np.arange(len(labels)), labels].mean())


def fit_temperature(logits: Floats, labels: Ints) -> float:
    """The temperature, between 0.05 and 20, with the lowest log loss; fit it on validation, never on test."""
    low, high = np.log(_LIMITS)
    least = minimize_scalar(
        lambda log: log_loss(logits, labels, float(np.exp(log))), bounds=(low, high), method="bounded"
    )
    return float(np.exp(least.x))


def bins(shares: Floats, labels: Ints) -> list[dict[str, Any]]:
    """The 15 bins of a reliability diagram: how many answers have a confidence above `low`, up to `high`, their mean
    confidence, their accuracy; an empty one has n 0."""
    confidence, right, place = _answers(shares, labels)
    bars = []
    for at in range(BINS):
        inside = place == at
        count = int(inside.sum())
        mean, accuracy = (float(part[inside].mean()) if count else 0.0 for part in (confidence, right))
        low, high = at / BINS, (at + 1) / BINS
        bars.append({"low": low, "high": high, "n": count, "confidence": mean, "accuracy": accuracy})
    return bars


def bootstrap_ece(shares: Floats, labels: Ints, **draws: Unpack[Draws]) -> Bootstrap:
    """ECE (proportion) as the only statistic of a bootstrap over answers, or over clusters of them."""
    confidence, right, place = _answers(shares, labels)
    gaps = np.zeros((len(labels), BINS + 1))
    gaps[np.arange(len(labels)), place] = confidence - right
    gaps[:, BINS] = 1
    units = len(set(draws.get("clusters") or range(len(labels))))
    return _MeanGap(_ece(gaps.sum(axis=0)[None]), _ece(resampled_sums(gaps, **draws))[:, None], (0, 1), units)


class _MeanGap(Bootstrap):
    """A mean of absolute gaps grows with every scatter, that of resampling too: of small gaps, the percentiles may all
    lie above the estimate. The interval then reaches down to it."""

    def interval(self) -> Floats:
        low, high = super().interval().T
        return np.stack([np.minimum(low, self.estimates), high], axis=1)


def _ece(sums: Floats) -> Floats:
    ece: Floats = np.abs(sums[:, :BINS]).sum(axis=1) / sums[:, BINS]
    return ece


def _answers(shares: Floats, labels: Ints) -> tuple[Floats, Floats, Ints]:
    confidence = shares.max(axis=1)
    right = (shares.argmax(axis=1) == labels).astype(np.float64)
    place = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
    return confidence, right, place
