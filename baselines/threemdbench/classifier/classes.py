"""The classes of a network, named as what it is to answer about: the 34 diagnoses if all of them are diagnoses.

classes = Classes.of(("pink eye", "stye"))
classes.names, classes.places       the 34 names, (9, 28): a class by any name of a diagnosis is that diagnosis
classes.label("Hordeolum")          28
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from baselines.statistics.arrays import Floats
from loaders.errors import InputError
from loaders.threemdbench import DIAGNOSES, NAMES, diagnosis_of

_NEVER = 50.0  # how far below a row's lowest logit a class is put that the network does not know


@dataclass(frozen=True, slots=True)
class Classes:
    """What answers are called, the domain of each, and the positions of the network's own classes among them.

    `diagnoses` says whether they are the 34 of 3MDBench.
    """

    names: tuple[str, ...]
    domains: tuple[str, ...]
    places: tuple[int, ...]
    diagnoses: bool

    @classmethod
    def of(cls, known: Sequence[str]) -> Classes:
        """The classes of a network. Raises InputError if two of them are the same diagnosis."""
        meant = [diagnosis_of(name) for name in known]
        if not all(meant):
            return cls(tuple(known), ("",) * len(known), tuple(range(len(known))), False)
        places = tuple(NAMES.index(diagnosis.name) for diagnosis in meant if diagnosis)
        if len(set(places)) < len(places):
            twice = next(NAMES[place] for place in places if places.count(place) > 1)
            both = ", ".join(name for name, place in zip(known, places, strict=True) if NAMES[place] == twice)
            raise InputError("classes", found=f"{both}, which are one diagnosis ({twice})", expected="each once")
        return cls(NAMES, tuple(diagnosis.domain for diagnosis in DIAGNOSES), places, True)

    def label(self, text: str) -> int | None:
        """The class that a label means; None if it is none of them."""
        if self.diagnoses:
            diagnosis = diagnosis_of(text)
            return None if diagnosis is None else NAMES.index(diagnosis.name)
        wanted = text.strip().casefold()
        return next((at for at, name in enumerate(self.names) if name.strip().casefold() == wanted), None)

    def spread(self, logits: Floats) -> Floats:
        """Logits (N, classes of the network) -> (N, names); a class that the network does not know never leads."""
        if self.places == tuple(range(len(self.names))):
            return logits
        least = logits.min(axis=1, keepdims=True) - _NEVER
        spread: Floats = np.repeat(least, len(self.names), axis=1)
        spread[:, list(self.places)] = logits
        return spread

    def moved(self, labels: Sequence[int]) -> list[int]:
        """Labels by the network's classes -> by these names."""
        return [self.places[label] for label in labels]
