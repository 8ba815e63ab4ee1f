"""Which of many names have been seen before, without holding the names."""

from __future__ import annotations

import hashlib
from unicodedata import normalize

import numpy as np

_SIZE = 16


def in_one_form(name: str) -> str:
    """A name as it is compared with others: a Mac writes the "é" of a file's name as two letters."""
    return normalize("NFC", name)


class Keys:
    """The digests of names in one form, in the order of arrival: 16 bytes each, and 25 more while they are compared."""

    def __init__(self) -> None:
        self._digests = bytearray()

    def __len__(self) -> int:
        return len(self._digests) // _SIZE

    def add(self, name: str) -> None:
        """Add the next name."""
        self._digests += hashlib.blake2b(in_one_form(name).encode(), digest_size=_SIZE).digest()

    @property
    def digests(self) -> bytes:
        """The digests so far, to be continued elsewhere."""
        return bytes(self._digests)

    def extend(self, digests: bytes) -> None:
        """Append the names that another instance went through."""
        self._digests += digests

    def repeats(self) -> dict[int, int]:
        """The places of names that came before, each with the place of its first occurrence, counted from 0."""
        halves = np.frombuffer(self._digests, dtype="u8").reshape(-1, 2)
        order = np.lexsort((halves[:, 1], halves[:, 0]))  # stable: of equal names, the first stays in front
        first = halves[order, 0]
        alike = np.flatnonzero(first[1:] == first[:-1])  # few: halves collide by chance once in 10^19 pairs
        second = halves[:, 1]
        alike = alike[second[order[alike]] == second[order[alike + 1]]]
        found: dict[int, int] = {}
        for before, place in zip(order[alike].tolist(), order[alike + 1].tolist(), strict=True):
            found[place] = found.get(before, before)
        return found

    def distinct(self) -> int:
        """How many different names there are."""
        return len(self) - len(self.repeats())
