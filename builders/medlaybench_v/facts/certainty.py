"""How certain a caption is: confirmed, stated, probable, possible, open, unlikely, ruled out.

A degree belongs to what it is said of. The two degrees between "stated" and "open" may be exchanged in plain words
("suspicious for" = "may be"); certain and uncertain may not.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from builders.medlaybench_v.facts.binding import Placed, exchanged
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import ANATOMY, kind_of, senses
from builders.medlaybench_v.facts.wordings import DEGREES

CONFIRMED, PROBABLE, POSSIBLE, OPEN, UNLIKELY, RULED_OUT, SEEMING = (
    "confirmed", "probable", "possible", "open", "unlikely", "ruled out", "seeming",
)  # fmt: skip
_UNSURE = frozenset((PROBABLE, POSSIBLE, OPEN))


class Degree(NamedTuple):
    """A degree of certainty at the words [first, last]."""

    value: str
    first: int
    last: int


_EVIDENCE = frozenset(
    "suggest suggests suggesting suggestive indicate indicates indicating evidence point points sign signs hint "
    "hints".split()
)
_NOT_OPINION = frozenset(
    "arrow arrows arrowhead arrowheads asterisk star circle line lines letter letters number numbers panel "
    "panels label labels".split()
)
_LOOKS = frozenset(
    "dark darker bright brighter white black pale visible seen shown marked defined outlined separate separated larger "
    "bigger smaller wider thicker thinner enlarged".split()
)
_MONTH_MAY = frozenset("in of since last".split())
_MODAL_VERBS = frozenset("could can may might".split())
_DONE_BY_LOOKING = frozenset(
    "seen made detected found visualized visualised identified told felt settle demonstrated".split()
)
_DONE = frozenset(
    "seen made detected found told compared felt excluded ruled drained crossed struck dismissed discounted "
    "discarded".split()
)
_POINTS = frozenset("indicate point points pointing indicating indicates represents represent representing".split())
_FITS = frozenset("fit fits match matches fitting".split())
_FIT_THE_PICTURE = frozenset("with a an the what both for best".split())


def degrees(reading: Reading) -> list[Degree]:
    """The degrees of certainty of a caption, in their order."""
    found: list[Degree] = []
    end = 0
    for i, matches in DEGREES.matches(reading):
        for size, ((value,), *_) in matches if i >= end else ():
            if _meant(reading, i, size, value):
                found.append(Degree(_denied(reading.texts, i, value), i, i + size - 1))
                end = i + size
                break
    return found


def _meant(reading: Reading, i: int, size: int, value: str) -> bool:
    """Whether a wording tells a degree here: it may be a month, an ability, an arrow that points, a thing that fits."""
    texts = reading.texts
    word = texts[i]
    before, after = reading.word(i - 1), reading.word(i + size)
    if word in ("may", "march") and (
        before in _MONTH_MAY or after[:1].isdigit() or reading.gaps[i + 1 : i + 2] == ["-"]
    ):
        return False  # "May-Thurner" is a name
    # "could be seen", "could not be seen", "can be made out": ability, not doubt
    able = word == "can" or texts[i : i + 2] == ["could", "not"] or _DONE_BY_LOOKING & set(texts[i + 1 : i + 5])
    if word == "clearly" and size == 1 and after in _LOOKS:
        return False  # "one clearly dark spot"
    if word in _MODAL_VERBS and size == 1 and able:
        return False
    if word in _MODAL_VERBS - {"can"} and size == 2 and after in _DONE:
        return False
    if word in _POINTS and set(texts[max(0, i - 4) : i]) & _NOT_OPINION:
        return False
    if word == "indicated" and set(texts[i + 1 : i + 7]) & _NOT_OPINION:
        return False  # "is indicated by the blue arrow"
    if word in _POINTS and _is_direction(reading, i + size):
        return False
    if word == "differential" and after not in ("diagnosis", "diagnoses", "includes", "is", "was", "of", ""):
        return False  # "differential function"
    if word in ("candidate", "candidates") and after == "for":
        return False
    if word in _FITS and size == 1 and after not in _FIT_THE_PICTURE and before not in ("which", "this"):
        return False
    if word in ("sign", "signs", "evidence"):
        return False
    # "an age-matched control", "a certain", "by chance"
    return not (
        word == "matched"
        or (word == "certain" and size == 1 and before in ("a", "in"))
        or (word == "chance" and (before in ("by", "to") or after in ("finding", "findings", "discovery")))
        or (word in ("versus", "vs") and _compares(reading, i))
    )


def _compares(reading: Reading, i: int) -> bool:
    """Whether "versus" parts values or curves, and no two diagnoses: "0.9 vs 1.5", "treated (blue) versus not"."""
    beside = [*reading.texts[max(0, i - 1) : i], *reading.texts[i + 1 : i + 2]]
    return any(word[0].isdigit() for word in beside) or not _OF_A_GRAPH.isdisjoint(reading.bag)


_OF_A_GRAPH = frozenset("graph graphs plot plots plotted curve curves chart charts axis percentage".split())


def _is_direction(reading: Reading, start: int) -> bool:
    """Whether what is pointed to is a place alone: "to the right", "towards the midline", "to the upper lung"."""
    texts = reading.texts
    end = start
    while end < len(texts) and texts[end] not in _JOINTS:
        if end > start and not _ENDINGS.isdisjoint(reading.gaps[end]):
            break
        end += 1
    said = [s for s in reading.get(senses) if start <= s.first < end]
    if any(kind_of(x.concept) != ANATOMY for s in said for x in s.senses):
        return False
    named = {i for s in said for i in range(s.first, s.last + 1)}
    rest = {texts[i] for i in range(start, end) if i not in named}
    return end > start and rest <= _DIRECTIONS | _ARTICLES and bool(named or rest & _DIRECTIONS)


_JOINTS = frozenset("and but while whereas".split())
_ENDINGS = frozenset(",.;:()?!")
_ARTICLES = frozenset("the its his her their patient s of".split())
_DIRECTIONS = frozenset(
    "left right up down front back side sides midline middle upward upwards downward downwards forward forwards "
    "backward backwards inward inwards outward outwards upper lower outer inner top bottom other opposite same".split()
)


def _denied(texts: list[str], i: int, value: str) -> str:
    """The degree of the wording at word i where it is denied, else its own."""
    # "cannot be made out for certain": what stands at the end is denied from afar
    before = set(texts[max(0, i - (12 if texts[i] in ("with", "for", "beyond") else 3)) : i])
    if value == RULED_OUT and {"not", "cannot", "t", "never", "neither"} & before:
        return OPEN
    if value == CONFIRMED and {"not", "no", "neither", "cannot", "t", "without"} & before:
        return OPEN
    if value == CONFIRMED and texts[i - 1 : i] == ["to"] and not _NOBODY.isdisjoint(texts[max(0, i - 14) : i]):
        return OPEN  # "nobody took a sample to prove it"
    likely, near = value in (PROBABLE, POSSIBLE), set(texts[max(0, i - 2) : i])
    if likely and texts[i] in _EVIDENCE and {"not", "no", "nothing", "t", "neither", "or", "to"} & near:
        return "denied"
    if likely and {"not", "no", "nothing", "t", "neither", "less"} & near:
        return UNLIKELY
    if value == UNLIKELY and "not" in before:
        return POSSIBLE
    return value


_NOBODY = frozenset(("nobody", "none", "never", "nothing"))


def compare(expert: Reading, lay: Reading, allowed: Reading) -> Outcome:
    """What is possible does not become certain, nor what is certain possible."""
    here, there = expert.get(degrees), lay.get(degrees)
    outcome = Outcome()
    if not here and not there:
        return outcome
    ours, theirs = {d.value for d in here}, {d.value for d in there}
    unsure_here, unsure_there = ours & (_UNSURE | {UNLIKELY}), theirs & (_UNSURE | {UNLIKELY})
    shown = ", ".join(f"“{lay.said(degree)}”" for degree in there) or "a plain statement"
    for degree in here:
        if degree.value in _UNSURE and not unsure_there:
            if SEEMING in theirs and degree.value == PROBABLE:
                break  # "suggestive of" = "looks like"
            excluded = RULED_OUT in theirs - ours and _DENIES.isdisjoint(expert.texts)
            if SEEMING in theirs or (degree.value == PROBABLE and _soft(expert, degree) and not excluded):
                break  # many say so what they hold for certain
            if CONFIRMED in theirs or RULED_OUT in theirs:
                outcome.add("changed", f"“{expert.said(degree)}” became {shown}")
            else:
                outcome.add("lost", f"“{expert.said(degree)}”", Basis.SOUGHT)
            break
    if outcome.failed:
        return outcome
    if CONFIRMED in theirs and CONFIRMED not in ours and ours & _UNSURE and len(here) >= len(there):
        outcome.add("changed", f"{', '.join(sorted(ours & _UNSURE))} became {shown}")
    if UNLIKELY in ours and RULED_OUT in theirs and RULED_OUT not in ours and UNLIKELY not in theirs:
        outcome.add("changed", f"{UNLIKELY} became {RULED_OUT}", Basis.READ)
    if UNLIKELY in ours and not theirs and not _DENIES.isdisjoint(lay.bag - expert.bag):
        outcome.add("lost", f"{UNLIKELY}", Basis.SOUGHT)
    if UNLIKELY in ours and UNLIKELY not in theirs and theirs & _UNSURE and not {"denied", RULED_OUT} & theirs:
        outcome.add("changed", f"{UNLIKELY} became {shown}")
    if (
        RULED_OUT in ours
        and not {RULED_OUT, "denied", UNLIKELY} & theirs
        and theirs & _UNSURE
        and not _denies_more(lay, there)
    ):
        outcome.add("changed", f"{RULED_OUT} became {shown}")
    if PROBABLE in ours and UNLIKELY in theirs and not {UNLIKELY, RULED_OUT, "denied"} & ours:
        outcome.add("changed", f"{PROBABLE} became {shown}")
    if OPEN in ours and RULED_OUT in theirs and RULED_OUT not in ours:
        outcome.add("changed", f"{OPEN} became {shown}")
    if unsure_there and not unsure_here and SEEMING not in ours:
        hedge = next((d for d in there if d.value in unsure_there and not _of_no_known_cause(expert, lay, d)), None)
        if hedge and hedge.value != PROBABLE and CONFIRMED not in ours and not _soft(lay, hedge):
            outcome.add("new", f"“{lay.said(hedge)}”", Basis.UNMET)
    if CONFIRMED in ours and CONFIRMED not in theirs:
        unsure = [sum(d.value in _UNSURE or d.value == UNLIKELY for d in found) for found in (here, there)]
        alike = not unsure[0] or len(there) <= len(here)  # many words for one doubt are no new one
        if (unsure[1] > unsure[0] and alike) or RULED_OUT in theirs - ours:
            outcome.add("changed", f"{CONFIRMED} became {shown}")
    if not outcome.failed:
        swap = exchanged(expert, _placed(here), lay, _placed(there))
        if swap:
            outcome.moved(f"{swap.one} and {swap.other}", sure=swap.sure)
    return outcome


def _denies_more(lay: Reading, there: list[Degree]) -> bool:
    """Whether a caption denies something apart from its degrees of certainty."""
    own = {i for d in there for i in range(d.first - 2, d.last + 1)}
    return any(word in _DENIES for i, word in enumerate(lay.texts) if i not in own)


_DENIES = frozenset("no not none without cannot nothing never neither nor free absent".split())
_SOFT = frozenset(
    "indicated consistent compatible indicating indicates representing represent represents typical characteristic "
    "supports fits fitting match matches look features fit".split()
)


_IDIOPATHIC = frozenset("idiopathic cryptogenic agnogenic ipf".split())
_UNKNOWN = frozenset("unknown unexplained known knows unclear".split())


def _of_no_known_cause(expert: Reading, lay: Reading, degree: Degree) -> bool:
    """Whether an open question is what the expert's word means: "of unknown cause" of "idiopathic"."""
    said = lay.texts[degree.first : degree.last + 1]
    return not (_IDIOPATHIC.isdisjoint(expert.bag) or _UNKNOWN.isdisjoint(said))


_SUPPOSES = frozenset("mean represent indicate signal reflect have also well possibly perhaps point suggest".split())
_PARTICIPLE = re.compile(r"(?:ed|en|wn|seen|found|told|made|shut|felt|put)\Z").search


def _soft(reading: Reading, degree: Degree) -> bool:
    """Words that many use for a plain statement too, and "could" where it tells an ability: "none could be seen"."""
    following = reading.texts[degree.last + 1 : degree.last + 2]
    if reading.texts[degree.first] == "could" and following != ["be"]:
        if degree.last > degree.first:  # "could be"
            return bool(following) and _PARTICIPLE(following[0]) is not None
        return _SUPPOSES.isdisjoint(following)
    return reading.texts[degree.first] in _SOFT


def grouped(degree: Degree) -> str:
    """A degree of certainty, those that plain words may exchange as one; "" of one that stands apart."""
    return _GROUPS.get(degree.value, "")


_GROUPS = {PROBABLE: "likely", POSSIBLE: "likely", OPEN: "open", UNLIKELY: UNLIKELY, CONFIRMED: CONFIRMED}


def _placed(found: list[Degree]) -> list[Placed]:
    return [Placed(grouped(d), d.first, d.last) for d in found if grouped(d)]
