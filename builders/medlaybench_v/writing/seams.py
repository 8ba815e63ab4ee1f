"""What a reader stumbles over where plain words meet what stands beside them, and how it is mended.

A lay phrase is written without its neighbours. Beside them it may say a word twice ("the tip of the heart tip"), break
the grammar ("was before surgery misdiagnosed"), or tell a place that the caption tells itself ("abnormal area in the
kidney within the lower pole of the kidney").

    >>> without_place("abnormal area in the kidney", " within the lower pole of the kidney")
    'abnormal area'
"""

from __future__ import annotations

import re
from functools import lru_cache

_FAR = 60  # characters beside a lay phrase that are looked at
_HEAD_END = re.compile(
    r" (?:of|in|on|at|with|from|around|under|between|to|that|behind|beside|inside|outside|near|above|below|"
    r"through|over|along|for|into|atop|due)\b| \("
)
# "Was before surgery misdiagnosed".
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|be|been|has|have|had|not) \Z")
_ADVERBIAL = re.compile(r"(?:before|after|during|in|on|at|from|through) ")
_PARTICIPLE = re.compile(r" (?:(?:mis)?[a-z]+ed|shown|seen|found|proven|known|taken)\b")
# The place that a phrase or its bracket ends with, and the same place behind.
_PLACE_AT_END = re.compile(
    r" (?:in|of|from|into) (?:the |a )?(?:(?:left|right) )?(?P<place>[a-z]+(?: [a-z]+)?)(?P<end>\)?)\Z"
)
_PLACE_BEHIND = (
    r" (?:in|of|within|into) (?:the |both |an? )?"
    r"(?:(?:(?!and |or |in |with |to |for |is |are |was |by |around )[A-Za-z\d-]+|of the) ){0,4}?%s(?:s|es)?\b"
)
# "The tip of the" + "heart tip", "in the area of the" + "abnormal area".
_OF_BEFORE = re.compile(r"\b([a-z]{3,}?)s? of(?: the| an?| this| its)?(?: [a-z]+)? \Z", re.IGNORECASE)
# "Caused by" and "diagnosed with diverticulosis and", "indirect signs of gastroduodenal" + "hole".
_UNCOUNTED = re.compile(
    r"\b(?:by|with|of|from|and|or|showing|shows|showed|suggesting|due to) ((?:[a-z]+(?:al|ic|ed) )?)\Z"
)
_THE_PATIENT = re.compile(
    r"\bpatients?(?: (?:who )?(?:is|was))?(?: (?:placed|positioned|put|turned|examined|scanned))? \Z",
    re.IGNORECASE,
)


def without_place(said: str, behind: str) -> str:
    """A phrase without the place that it ends with, where the caption tells that place behind it."""
    place = _PLACE_AT_END.search(said)
    if place is None or not _told_behind(place["place"]).match(behind):
        return said
    return f"{said[: place.start()]}{place['end']}"


@lru_cache(maxsize=1024)
def _told_behind(place: str) -> re.Pattern[str]:
    return re.compile(_PLACE_BEHIND % place)


def says_again(before: str, said: str) -> bool:
    """Whether a phrase says the word again that it is joined to: "the tip of the" + "heart tip"."""
    near = before[-_FAR:]
    joined = _OF_BEFORE.search(near) if " of" in near.lower() else None
    if joined is None:
        return False
    named = said.partition(" (")[0].lower()
    word = joined[1].lower()
    return any(part in (word, f"{word}s") for part in _HEAD_END.split(named, maxsplit=1)[0].split())


def behind_participle(before: str, said: str, behind: str) -> tuple[str, str] | None:
    """ "Was" + "before surgery" + "misdiagnosed as": what is said, and what follows it, in the right order."""
    if not (_ADVERBIAL.match(said) and _AUXILIARY.search(before[-_FAR:])):
        return None
    participle = _PARTICIPLE.match(behind)
    return (participle[0].lstrip(), f" {said}{behind[participle.end() :]}") if participle else None


def with_hole(before: str, said: str) -> str:
    """What stands before a "hole" with the article that a "perforation" does without: "caused by a"."""
    bare = _UNCOUNTED.search(before) if said.startswith("hole") else None
    return f"{before[: bare.start(1)]}a {bare[1]}" if bare else before


def without_patient(before: str, said: str) -> str:
    """ "The patient in" + "with the patient lying on the belly": one patient is enough."""
    return said.removeprefix("with the patient ") if _THE_PATIENT.search(before[-_FAR:]) else said
