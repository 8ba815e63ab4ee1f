"""Which temperament a case has: balanced within each class and over all, by a seeded shuffle (3M-G10)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, cycle

from builders.curation.sampling import shuffled
from loaders.threemdbench import NAMES, PERSONALITIES


def temperaments(diagnosis_of: Mapping[str, str], *, seed: int) -> dict[str, str]:
    """The temperament of each case, given its diagnosis; counts differ by one at most in each class, and over all.

    >>> sorted(temperaments({"a": "acne", "b": "acne", "c": "acne", "d": "acne", "e": "warts"}, seed=1).values())[:2]
    ['choleric', 'choleric']
    """
    classes = ([key for key, diagnosis in diagnosis_of.items() if diagnosis == name] for name in NAMES)
    keys = chain.from_iterable(shuffled(cases, seed=seed, purpose="temperament") for cases in classes)
    # Dealt like cards: each class goes on with the temperament after the last one of the class before.
    return dict(zip(keys, cycle(PERSONALITIES), strict=False))
