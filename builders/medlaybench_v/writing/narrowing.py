"""Narrows a lay phrase that leaves open which of two things is meant, if the caption decides it.

>>> narrowed("finger or toe bones", "Fractures of two phalanges of the left hand.")
'finger bones'

`either.csv` names the two, and the words of a caption by which each is recognised (`topics`); if both or neither are
mentioned, the phrase stays open.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from builders.medlaybench_v.words.lists import any_of
from builders.medlaybench_v.writing.topics import pattern, table


class _Either(NamedTuple):
    either: re.Pattern[str]
    one: str
    for_one: re.Pattern[str]
    other: str
    for_other: re.Pattern[str]


# "Pushed anteriorly" says whither, "seen anteriorly" where.
_WHERE = {
    "toward the front": "at the front", "toward the rear": "at the rear", "toward the top": "at the top",
    "toward the bottom": "at the bottom", "toward the side": "at the side", "toward the middle": "on the inner side",
    "toward the lower end": "at the lower end",
}  # fmt: skip
_MOVES = re.compile(
    rf"\b(?:(?:{any_of('moves')})\w*|(?:{any_of('moves by form')})(?:e|es|s|ed|d|n|ing|ning)?|bent|drawn|"
    r"risen|fallen)\b[^.;:]*\Z",
    re.IGNORECASE,
)
# "Posterior wall (at the rear)" is a place; "posterior dislocation (toward the rear)" goes there.
_WHITHER = re.compile(
    r"\(toward the (?P<end>(?:upper |lower )?(?:rear|front|top|bottom|lower end|side|middle))(?P<and> and \w+)?\)"
)
_GOES = re.compile(rf"[ ](?:\w+[ ])?(?:{any_of('goes')})", re.IGNORECASE)
_NEARBY = 60  # characters before a word that are looked at
_OUTER = re.compile(r"outer (?:layer of bone, brain or kidney|bone, brain or kidney layer)")
_OTHER = "other organ"  # of `layers.csv`: nothing is said


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


def may_narrow(lay: str) -> bool:
    """Whether a phrase leaves something open that a caption may decide."""
    return lay in _WHERE or " or " in lay or _WHITHER.search(lay) is not None


def narrowed(lay: str, text: str, start: int = 0) -> str:
    """A phrase that leaves open which of two places is meant, as the caption decides it; of an outer layer nothing is
    said where that is not one organ's. `start` is where the phrase stands in for the expert's word."""
    if lay in _WHERE and _MOVES.search(text, max(0, start - _NEARBY), start) is None:
        return _WHERE[lay]
    if (whither := _WHITHER.search(lay)) and not _GOES.match(text, start + whither.start() - 1):
        return lay[: whither.start()] + _as_place(whither["end"], whither["and"] or "")
    if " or " not in lay:
        return lay
    lower = text.lower()
    if _OUTER.search(lay):
        organs = [organ for organ, told in read_layers() if told.search(lower)]
        if len(organs) != 1 or organs == [_OTHER]:
            return lay.partition(" (")[0]
        return _OUTER.sub(f"outer layer of the {organs[0]}", lay)
    for either, one, for_one, other, for_other in read_either():
        if either.search(lay):
            here, there = for_one.search(lower), for_other.search(lower)
            if bool(here) != bool(there):
                lay = either.sub(one if here else other, lay)
    return lay


def _as_place(end: str, more: str) -> str:
    """ "(toward the rear and middle)" as a place: "(at the rear and inner side)"."""
    where = _WHERE.get(f"toward the {end}", f"at the {end}")
    return f"({where}{more.replace('middle', 'inner side')})"
