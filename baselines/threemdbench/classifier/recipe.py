"""How a network is trained (Appendix E says "full fine-tuning"; the rest is ours): numbers, sampling, schedule.

All randomness is a function of (seed, epoch, step, photo), never of what was drawn before, so a training that was
stopped anywhere continues with the same bits.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from baselines.statistics.arrays import Ints
from loaders.errors import InputError


@dataclass(frozen=True, slots=True)
class Recipe:
    """What determines the weights besides network, data and library versions.

    learning_rate is that of the head; it falls geometrically to `depth_decay` of that in the first layer. `crop` is the
    smallest share of a picture's area that a training crop shows. Training ends after `patience` epochs without a
    better macro F1 on validation.
    """

    epochs: int = 30
    batch_size: int = 32
    learning_rate: float = 3e-4
    depth_decay: float = 0.1
    weight_decay: float = 0.05
    warmup: float = 0.1  # share of all steps
    label_smoothing: float = 0.1
    drop_path: float = 0.1
    dropout: float = 0.2
    randaugment: int = 9  # magnitude of 30; 0 leaves it out
    crop: float = 0.35
    ema: float = 0.998
    clip: float = 5.0
    patience: int = 8
    precision: str = "fp32"
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.learning_rate > 0:
            raise InputError("learning rate", found=str(self.learning_rate), expected="a number > 0")
        for name in ("depth_decay", "crop"):
            if not 0 < getattr(self, name) <= 1:
                raise InputError(name, found=str(getattr(self, name)), expected="a number > 0, at most 1")
        if not 0 <= self.ema < 1:
            raise InputError("ema", found=str(self.ema), expected="a number from 0 to below 1")

    def steps(self, photos: int) -> int:
        """Steps per epoch: the last incomplete batch is dropped, unless it is the only one."""
        return max(1, photos // self.batch_size)

    def rate(self, step: int, steps: int) -> float:
        """The share of the learning rate at a step of all `steps`: linear warm-up, then half a cosine."""
        warm = max(1, round(self.warmup * steps))
        if step < warm:
            return (step + 1) / warm
        return 0.5 * (1 + math.cos(math.pi * (step - warm) / max(1, steps - warm)))


def key(*parts: int | str) -> int:
    """A seed (63 bits) that depends on nothing but its parts."""
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:8], "little") >> 1


def epoch_order(labels: Sequence[int], recipe: Recipe, epoch: int) -> Ints:
    """The photos of an epoch (N,), sampled in proportion to one over the root of their class's size.

    This is halfway between the natural class shares and equal shares. Systematic sampling: each photo comes as often as
    its share says, rounded up or down.
    """
    generator = np.random.default_rng(key(recipe.seed, "order", epoch))
    sizes = Counter(labels)
    shuffled = generator.permutation(len(labels))
    shares = np.array([1 / math.sqrt(sizes[labels[at]]) for at in shuffled])
    ends = np.cumsum(shares / shares.sum())
    points = (generator.random() + np.arange(len(labels))) / len(labels)
    drawn = np.minimum(np.searchsorted(ends, points, side="right"), len(labels) - 1)
    order: Ints = generator.permutation(shuffled[drawn]).astype(np.int64)
    return order
