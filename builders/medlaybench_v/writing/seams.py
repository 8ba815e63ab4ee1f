"""What a reader stumbles over where plain words meet what stands beside them, and how it is mended.

A lay phrase is written without its neighbours. Beside them it may say a word twice ("the tip of the heart tip"), break
the grammar ("was before surgery misdiagnosed", "there are no fluid around the lung"), or tell a place that the caption
tells itself ("abnormal area in the kidney within the lower pole of the kidney").

    >>> agreeing("There are no ", "fluid around the lung", " is seen", many=True)
    ('There is no ', ' is seen')
    >>> without_place("abnormal area in the kidney", " within the lower pole of the kidney")
    'abnormal area'
"""

from __future__ import annotations

import re
from functools import lru_cache

from builders.medlaybench_v.writing.surfaces import looks_plural

_FAR = 60  # characters beside a lay phrase that are looked at
_HEAD_END = re.compile(
    r" (?:of|in|on|at|with|from|around|under|between|to|that|behind|beside|inside|outside|near|above|below|"
    r"through|over|along|for|into|atop|due)\b| \("
)
# "There are no effusions", "nodules are seen"; of several things joined each number may be meant.
_THERE = re.compile(
    r"\b(there) (is|are|was|were)((?: (?:also|again|no|still|now|clearly))*(?: a [a-z]+ amount of)?) \Z",
    re.IGNORECASE,
)
# "Small effusions" are "a small amount of fluid".
_FLUID = re.compile(r"fluid (?:around|in|between|inside) ")
_SIZED = re.compile(r"(?:\b(an?|the) )?\b(small|large|tiny|moderate|massive|huge) \Z", re.IGNORECASE)
_VERB = re.compile(r" (is|are|was|were|has|have)\b")
_NUMBER = {"is": "are", "was": "were", "has": "have", "are": "is", "were": "was", "have": "has"}
_ONE = frozenset(("is", "was", "has"))
# Begins a clause, in which nothing but the thing itself can be the subject.
_SUBJECT = re.compile(
    r"(?:\A|[.;,] |\b(?:that|while|and) )(?:[Tt]he |[Nn]o |[Aa]n? )?(?:(?!of |in |with |and )\w+ ){0,3}\Z"
)
_JOINED = re.compile(r"\b(?:and|or|nor)(?: \w+)? \Z|, \Z")
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
_BETWEEN_BEFORE = re.compile(r"\b(between|behind|around|inside|outside)(?: the| an?)? \Z", re.IGNORECASE)
_NO_HEADS = frozenset("patient patients case cases with from".split())
# "Were highly" + "suggesting".
_IS_BEFORE = re.compile(r"\b(is|are|was|were)((?: (?:also|highly|very|most|\w+ly))*) \Z")
_FINITE = {"suggesting": ("suggests", "suggest", "suggested"), "pointing": ("points", "point", "pointed")}
_AGENT = re.compile(r" (?:medium|media|materials?|agents?)\b")
_ECHOES = {
    "shaped": re.compile(r"(?P<again> in shape\b)| shapes?\b"),
    "edged": re.compile(r"(?P<again> in (?:margin|edge|border)s?\b)| (?:margin|edge|border|contour|outline)s?\b"),
    "growing": re.compile(r"(?P<again>\b\B)| growths?\b"),
    "side": re.compile(r"(?P<again>\b\B)| (?:left |right )?side\b"),
}
# "Caused by" and "diagnosed with diverticulosis and", "indirect signs of gastroduodenal" + "hole".
_UNCOUNTED = re.compile(
    r"\b(?:by|with|of|from|and|or|showing|shows|showed|suggesting|due to) ((?:[a-z]+(?:al|ic|ed) )?)\Z"
)
_DYE = {"brightening with contrast dye": "contrast dye", "with contrast dye brightening": "with contrast dye"}
_PICTURE_WITH = re.compile(r"\b(?:scan|image|CT|MRI|picture)s? (?P<with>with )?\Z", re.IGNORECASE)
_FILLED = re.compile(r"\b([a-z]+)(?: [a-z]+)? (?:filled with|containing) \Z", re.IGNORECASE)
_GAP = re.compile(r"\b(?:[Aa]n?|[Tt]he|\d+) (?:[\w-]+,? ){0,2}[a-z-]+, \Z")
_THE_PATIENT = re.compile(r"\bpatients?(?: (?:is|was|who is))? \Z", re.IGNORECASE)
_NOT_MANY = frozenset("gas lens pancreas ascites diabetes series".split())


def agreeing(before: str, said: str, behind: str, many: bool) -> tuple[str, str]:
    """What stands before and behind a thing, with its verb in the thing's number; `many` tells the number of the word
    that the thing is said for."""
    several = is_many(said)
    near = before[-_FAR:]
    if _FLUID.match(said) and (sized := _SIZED.search(near)):
        before = f"{before[: -len(sized[0])]}{sized[1] or 'a'} {sized[2].lower()} amount of "
    if several is many:
        return before, behind
    if (there := _THERE.search(before[-_FAR:])) and (there[2].lower() in _ONE) is several:
        return f"{before[: -len(there[0])]}{there[1]} {_NUMBER[there[2].lower()]}{there[3]} ", behind
    verb = _VERB.match(behind)
    if verb and (verb[1] in _ONE) is several and not _JOINED.search(near) and _SUBJECT.search(near):
        return before, f" {_NUMBER[verb[1]]}{behind[verb.end() :]}"
    return before, behind


def is_many(named: str) -> bool:
    """Whether a name is that of several things."""
    head = _HEAD_END.split(named, maxsplit=1)[0].rpartition(" ")[2].lower()
    return looks_plural(head) and head not in _NOT_MANY


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
    named = said.partition(" (")[0].lower()
    if (within := _BETWEEN_BEFORE.search(before[-_FAR:])) and f" {within[1].lower()} " in named:
        return True
    joined = _OF_BEFORE.search(before[-_FAR:])
    if joined is None or joined[1].lower() in _NO_HEADS:
        return False
    word = joined[1].lower()
    return any(part in (word, f"{word}s") for part in _HEAD_END.split(named, maxsplit=1)[0].split())


def finite(before: str, said: str) -> tuple[str, str]:
    """ "Were highly" + "suggesting": the verb that is left open takes the place of the other."""
    verb, _, of = said.removeprefix("strongly ").partition(" ")
    is_said = _IS_BEFORE.search(before[-_FAR:]) if verb in _FINITE else None
    if is_said is None:
        return before, said
    one, several, once = _FINITE[verb]
    told = once if is_said[1] in ("was", "were") else one if is_said[1] == "is" else several
    how = is_said[2].lstrip() + (" " if is_said[2] else "") + ("strongly " if said.startswith("strongly ") else "")
    return before[: -len(is_said[0])], f"{how}{told} {of}".rstrip()


def behind_participle(before: str, said: str, behind: str) -> tuple[str, str] | None:
    """ "Was" + "before surgery" + "misdiagnosed as": what is said, and what follows it, in the right order."""
    if not (_ADVERBIAL.match(said) and _AUXILIARY.search(before[-_FAR:])):
        return None
    participle = _PARTICIPLE.match(behind)
    return (participle[0].lstrip(), f" {said}{behind[participle.end() :]}") if participle else None


def without_echo(said: str, behind: str) -> tuple[str, str]:
    """ "Egg-shaped" + "in shape", "lumpy-edged" + "margins", "contrast dye" + "medium": one of the two; and what builds
    up builds up in a thing, not of it."""
    if said.lower().endswith(("calcium build-up", "calcium deposits")) and behind.startswith(" of "):
        return said, f" in{behind[3:]}"
    if said.endswith("contrast dye") and (agent := _AGENT.match(behind)):
        return said, behind[agent.end() :]
    stem, hyphen, last = said.rpartition("-")
    echo = _ECHOES[last].match(behind) if hyphen and last in _ECHOES else None
    if echo is None:
        return said, behind
    return (said, behind[echo.end() :]) if echo["again"] else (stem, behind)


def with_hole(before: str, said: str) -> str:
    """What stands before a "hole" with the article that a "perforation" does without: "caused by a"."""
    bare = _UNCOUNTED.search(before) if said.startswith("hole") else None
    return f"{before[: bare.start(1)]}a {bare[1]}" if bare else before


def of_the_picture(before: str, said: str) -> str:
    """ "A CT scan with" + "brightening with contrast dye": a picture has dye, what it shows brightens."""
    picture = _PICTURE_WITH.search(before[-_FAR:]) if said in _DYE else None
    return _DYE[said] if picture and bool(picture["with"]) is not said.startswith("with") else said


def filled(before: str, said: str) -> str:
    """ "A belly cavity filled with" + "fluid build-up in the belly": the place is told."""
    place = _PLACE_AT_END.search(said)
    told = _FILLED.search(before[-_FAR:]) if place else None
    return said[: place.start()] if place and told and told[1].lower() == place["place"] else said


def without_gap(before: str) -> str:
    """ "A large, " before a noun whose adjective is said behind it, or in the noun."""
    gap = _GAP.search(before[-_FAR:])
    return f"{before[:-2]} " if gap else before


def without_patient(before: str, said: str) -> str:
    """ "The patient in" + "with the patient lying on the belly": one patient is enough."""
    return said.removeprefix("with the patient ") if _THE_PATIENT.search(before[-_FAR:]) else said
