"""A lay phrase that leaves open which of two things is meant, as the caption decides it.

>>> narrowed("finger or toe bones", "Fractures of two phalanges of the left hand.")
'finger bones'

`either.csv` names the two, and by which words of a caption each is known (`topics`); where both or neither are spoken
of, the phrase stays open.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from builders.medlaybench_v.topics import pattern, speaks_of, table


class _Either(NamedTuple):
    either: re.Pattern[str]
    one: str
    for_one: re.Pattern[str]
    other: str
    for_other: re.Pattern[str]


_OUTER = " (outer layer of bone, brain or kidney)"


@cache
def read_either() -> tuple[_Either, ...]:
    """The rows of `either.csv`."""
    return tuple(
        _Either(
            re.compile(rf"\b{row['either']}\b"), row["one"], pattern(row["for_one"]), row["other"],
            pattern(row["for_other"]),
        )
        for row in table("either.csv")
    )  # fmt: skip


@cache
def read_layers() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The organs that have an outer layer, and what tells of each (`layers.csv`)."""
    return tuple((row["organ"], pattern(row["told_by"])) for row in table("layers.csv"))


def narrowed(lay: str, text: str) -> str:
    """A phrase that leaves open which of two places is meant, as the caption decides it; of an outer layer nothing is
    said where that is not one organ's."""
    if " or " not in lay:
        return lay
    lower = text.lower()
    if _OUTER in lay:
        organs = [organ for organ, told in read_layers() if told.search(lower)]
        return lay.replace(_OUTER, f" (outer layer of the {organs[0]})" if len(organs) == 1 else "")
    for either, one, for_one, other, for_other in read_either():
        if either.search(lay):
            here, there = speaks_of(for_one, lower), speaks_of(for_other, lower)
            if here is not there:
                lay = either.sub(one if here else other, lay)
    return lay
