"""Comparisons and directions: which of two poles a caption names in each dimension of `poles.csv`.

Larger and smaller, up and down, front and back, towards and away, bright and dark, mild and severe, flexion and
extension. A caption that names only one pole must not become one that names only the other, unless the two things
compared also changed places ("A is larger than B" = "B is smaller than A").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import lru_cache
from itertools import chain, pairwise
from operator import attrgetter

from builders.medlaybench_v.facts.binding import STOP_WORDS, Placed, anchors, exchanged, likeness
from builders.medlaybench_v.facts.binding import turned as turned_at
from builders.medlaybench_v.facts.labels import exchanged_labels, other_label
from builders.medlaybench_v.facts.leftover import told_anew
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.phrases import TISSUES, numbered, phrases
from builders.medlaybench_v.facts.poles import MINUS, PLUS, SAME, Pole, poles
from builders.medlaybench_v.facts.quantities import quantities
from builders.medlaybench_v.facts.scan import Reading
from builders.medlaybench_v.facts.senses import ANATOMY, implied, kind_of, senses
from builders.medlaybench_v.facts.sides import sides
from builders.medlaybench_v.facts.than import other_end, turned_round
from builders.medlaybench_v.facts.wordings import Sense

# Dimensions in which one pole alone in each text, and not the same, is a contradiction.
_STRICT = (
    *"sagittal position breath beat gender vertical severity course brightness size depth end onset lying".split(),
    *("result", "viability", "pace", "approach", "before or behind", "completeness", "stage", "heading", "same side"),
    *("persistence", "begun", "extent", "surface", "consistency", "hand side"),
    *"firmness outline edge pattern symmetry spread twin supply flow shape speed birth".split(),
    *"visibility immunity mother voiding meal exertion union communication reducibility resectability origin".split(),
    *"violence within build activity alignment rotation spreading access rank lumen dependence".split(),
    *("growth plate", "blood pressure", "spinal curve", "ankle bend", "heart layer", "limb of aorta", "fat signal"),
    *("load side", "hand used"),
)
_EXCHANGED = frozenset("size sagittal brightness end breath beat position stage severity".split())
_COMPARING = frozenset(
    "larger smaller increase increased increasing decrease decreased decreasing unchanged stable enlarged grown shrunk "
    "wider narrower thicker thinner higher lower progression regression reduced reduction equal exceeds exceed greater "
    "less more fallen risen improved worse worsened shorter longer bigger fewer doubled elevated widened shortened "
    "milder creeping climbed climbing".split()
)
_ALSO_NAMES = frozenset(
    "lower higher longer shorter less more greater reduction reduced larger smaller fallen elevated".split()
)
_THAN = frozenset("than that relative pair exceeds exceed exceeding".split())


def compare(expert: Reading, lay: Reading, allowed: Reading) -> Outcome:
    """No comparison or direction is lost or turned round."""
    here, there = expert.get(_by_dimension), lay.get(_by_dimension)
    outcome = Outcome()
    shared = here.keys() & there.keys()
    for dimension in filter(shared.__contains__, _STRICT) if shared else ():
        ours, theirs = here[dimension], there[dimension]
        if dimension == "size":  # "the lower pole" compares nothing
            ours, theirs = [p for p in ours if not _is_name(expert, p)], [p for p in theirs if not _is_name(lay, p)]
            if not ours or not theirs:
                continue
        _one(expert, ours, lay, theirs, dimension, outcome)
    if shared and not outcome.failed:
        _turned_beside(expert, here, lay, there, outcome)
    if not outcome.decided:
        _ends(expert, here, lay, there, outcome)
    if not outcome.decided:
        course, told = expert.get(_courses), lay.get(_courses)
        if len(course) == len(told) == 1 and course != told:
            outcome.changed.append(f"{_COURSES[min(course)]} became {_COURSES[min(told)]}")
    if not outcome.decided:
        _unqualified(expert, lay, there, outcome)
    compared = [p for p in here.get("size", ()) if _is_compared(expert, p)]
    if compared and there.keys().isdisjoint(("size", "course", "severity", "number", "thickness")):
        told_by_numbers = sum(q.kind == "length" for q in lay.get(quantities)) > 1
        told_by_numbers |= any(q.kind == "fold" for q in lay.get(quantities))
        if not told_by_numbers and not _COMPARATIVE.search(lay.lower):
            outcome.add("lost", f"“{expert.said(compared[0])}”", Basis.UNMET)
    if not _AGAINST.isdisjoint(expert.bag) and _THEN.isdisjoint(lay.bag):
        for match in _WITH_THEN.finditer(expert.lower):
            outcome.add("lost", f"“{match[0]}”", Basis.UNMET)
    since = not _SINCE.isdisjoint(lay.bag) and _EARLIER.isdisjoint(expert.bag)
    if since and here.keys().isdisjoint(("size", "course", "stage")):
        for match in _CHANGED.finditer(lay.lower):
            outcome.add("new", match[0], Basis.UNMET)
    if not outcome.decided and turned_round(expert, lay):
        outcome.swapped.append("the two sides of a comparison")
    if shared and not outcome.decided:
        for dimension in sorted(shared & _EXCHANGED):
            placed = _degrees if dimension == "severity" else lambda _, found: _placed(found)
            one, other = (placed(r, at[dimension]) for r, at in ((expert, here), (lay, there)))
            several = all(len({p.value for p in found}) > 1 for found in (one, other))
            swap = exchanged(expert, one, lay, other) if several and not turned(expert, lay) else None
            if swap:
                outcome.moved(" and ".join(sorted({expert.said(p) for p in one})), sure=swap.sure)
    ordered = outcome.failed or _keeps_order(expert, lay)  # so does nearly every draft: labels and partners are kept
    if not ordered and (labels := exchanged_labels(expert, lay)):
        outcome.add("swapped", labels, Basis.CONTRADICTED)
    if not ordered and not outcome.decided and (labels := other_label(expert, lay)):
        outcome.add("changed", labels, Basis.READ)
    if not outcome.decided:
        ours, theirs = (list(map(_SENSES, reading.get(senses))) for reading in (expert, lay))
        swapped = "" if ours == theirs else _exchanged(expert, lay, _told) or _exchanged(expert, lay, _located)
        if swapped and not told_anew(expert, lay):
            outcome.moved(swapped, sure=False)
    return outcome


def _keeps_order(expert: Reading, lay: Reading) -> bool:
    """Whether the phrases of the expert caption come in their order, as far as its own words tell, and they tell most:
    so does nearly every draft, of which nothing more is to be asked."""
    words = expert.bag - STOP_WORDS
    first = dict(zip(reversed(expert.texts), range(len(expert.texts) - 1, -1, -1), strict=True))
    told = [first[word] for word in dict.fromkeys(lay.texts) if word in words]
    if 2 * len(told) < len(words):
        return False
    if told == sorted(told):
        return True
    at = numbered(expert.get(phrases))
    told = [at[i] for i in told]
    return told == sorted(told)


def _degrees(reading: Reading, found: list[Pole]) -> list[Placed]:
    """The degrees of severity; an adjective is said of what follows it, and one of a mark ("small arrow") is none."""
    texts, gaps = reading.texts, [*reading.gaps, "."]
    placed = []
    for pole in found:
        if not "".join(texts[pole.last + 1 : pole.last + 2]).startswith("arrow"):
            ahead = gaps[pole.last + 1] == " " and not texts[pole.last].endswith("ly")
            placed.append(Placed(pole.value, pole.first, pole.last, 0.4 if ahead else 1.0))
    return placed


_Kind = Callable[[tuple[Sense, ...]], tuple[str, ...]]
_SENSES = attrgetter("senses")


def _exchanged(expert: Reading, lay: Reading, kind: _Kind) -> str:
    """Two findings, or two body parts, that changed places: each stands by what the other stood by."""
    ours = dict.fromkeys(chain.from_iterable(map(kind, map(_SENSES, expert.get(senses)))))
    if len(ours) < 2:
        return ""
    theirs = dict.fromkeys(chain.from_iterable(map(kind, map(_SENSES, lay.get(senses)))))
    shared = [concept for concept in ours if concept in theirs]
    if len(shared) < 2 or shared == [concept for concept in theirs if concept in ours]:
        return ""
    here, there = (
        [Placed(concept, said.first, said.last) for said in reading.get(senses) for concept in kind(said.senses)]
        for reading in (expert, lay)
    )
    if kind is _told:
        swap = exchanged(expert, here, lay, there)
    else:
        spans, told = _phrases_of(expert, here), _phrases_of(lay, there)

        def apart(one: str, other: str) -> bool:
            """Whether no phrase holds both: of "the bile duct of the liver" either may be told first."""
            same = one in implied(other) or other in implied(one)
            return not same and spans[one].isdisjoint(spans[other]) and told[one].isdisjoint(told[other])

        swap = exchanged(expert, here, lay, there, apart)
    return f"{swap.one} and {swap.other}" if swap and swap.sure else ""


@lru_cache(maxsize=4096)
def _located(named: tuple[Sense, ...]) -> tuple[str, ...]:
    """The body parts that words name; tissues and regions are named of almost anything."""
    return tuple(sense.concept for sense in named if kind_of(sense.concept) == ANATOMY and sense.concept not in _WIDE)


_WIDE = TISSUES | frozenset("abdomen chest head body pelvis septum".split())


def _phrases_of(reading: Reading, found: list[Placed]) -> dict[str, set[int]]:
    """The phrases that name each thing."""
    spans = reading.get(phrases)
    named: dict[str, set[int]] = {}
    for place in found:
        at = next(n for n, (start, end) in enumerate(spans) if start <= place.first < end)
        named.setdefault(place.value, set()).add(at)
    return named


@lru_cache(maxsize=4096)
def _told(named: tuple[Sense, ...]) -> tuple[str, ...]:
    """What words name as found or done."""
    return tuple(x.concept for x in named if kind_of(x.concept) in _TOLD and x.concept != "pregnancy")


_TOLD = frozenset("finding disease symptom treatment device outcome".split())


def _unqualified(expert: Reading, lay: Reading, there: Collection[str], outcome: Outcome) -> None:
    """A place, direction or degree of the expert caption that the lay one tells nothing of, in either direction.

    Most words of a caption have no counterpart in a good paraphrase; these have one (docs/results.md, fact gates).
    """
    if _QUALIFIERS.isdisjoint(expert.bag):
        return
    told = {_STANDS_FOR.get(dimension, dimension) for dimension in there}
    if not _NEAR.isdisjoint(lay.bag):
        told.add("end")  # "near the wrist"
    for pole in expert.get(poles):
        text = expert.texts[pole.first]
        if text == "deep" and not _BENEATH.isdisjoint(lay.bag):
            continue
        if expert.texts[pole.first - 1] == "more" and "worse" in lay.bag:
            continue
        compared = expert.texts[pole.first - 1] in _COMPARES and not _COMPARES.isdisjoint(lay.bag)
        if text in _QUALIFIERS and not compared and _STANDS_FOR.get(pole.dimension, pole.dimension) not in told:
            outcome.add("lost", f"“{expert.said(pole)}”", Basis.UNMET)


_QUALIFIERS = frozenset(
    "proximal proximally distal distally inner outer superficial deep peripheral peripherally medial medially towards "
    "toward away incomplete incompletely partial partially complete completely severe severely massive mild mildly "
    "slight slightly minimal minimally extensive chronic discontinued discontinuation cessation initiation "
    "plantar palmar volar lingual buccal labial palatal supine prone erect upright standing inspiration expiration "
    "inspiratory expiratory".split()
)
_BENEATH = frozenset("beneath under underneath below behind".split())
_NEAR = frozenset(("near", "nearest", "end"))
_COMPARES = frozenset(("more", "less"))
# The near end of a limb is the upper one; what is complete is the whole of it.
_STANDS_FOR = {"vertical": "end", "extent": "completeness"}


def _by_dimension(reading: Reading) -> dict[str, list[Pole]]:
    found: dict[str, list[Pole]] = {}
    for pole in reading.get(poles):
        found.setdefault(pole.dimension, []).append(pole)
    return found


def _ends(
    expert: Reading, here: dict[str, list[Pole]], lay: Reading, there: dict[str, list[Pole]], outcome: Outcome
) -> None:
    """Of what runs down the body the far end is the lower one: "distal" is not "upper"."""
    for dimension, instead in (("end", "vertical"), ("vertical", "end")):  # proximal "+" is the upper "+"
        if dimension not in here or instead not in there or instead in here or dimension in there:
            continue
        one, other = here[dimension][0], there[instead][0]
        ours, theirs = ({p.value for p in found} for found in (here[dimension], there[instead]))
        if len(ours) != 1 or len(theirs) != 1 or ours == theirs:
            continue
        if instead == "end" and _HEIGHTS.isdisjoint(lay.texts[other.first : other.last + 1]):
            continue
        outcome.add("changed", f"“{expert.said(one)}” became “{lay.said(other)}”", Basis.READ)


_COMPARATIVE = re.compile(
    r"\b(?:the \w+er one|\w+er (?:than|of the two)|at its \w+est|is the \w+er|(?:less|more) \w+)\b"
)
_HEIGHTS = frozenset("upper lower top bottom".split())
# A change since an earlier picture, and the words by which an expert tells of one.
_CHANGED = re.compile(
    r"\b(?:grown|shrunk|increased|decreased|worsened|improved|bigger|larger|smaller|better|worse)\b[^.;]{0,30}"
    r"\b(?:since|than (?:last|before|on the last|on the earlier|it was|a (?:week|month|year)))\b"
)
_SINCE = frozenset(("since", "than"))
# A comparison with an earlier picture, and the words by which a lay caption may tell of that one.
_AGAINST = frozenset(("than", "compared", "comparison", "relative"))
_WITH_THEN = re.compile(
    r"\b(?:than|compared|comparison|relative)\b[^.;]{0,40}\b(?:previous|prior|earlier|last|initial|baseline|yesterday)\b"
)
_THEN = frozenset(
    "ago earlier before previous previously prior last used had been then since yesterday still again now longer first "
    "initial initially admission day days week weeks month months past start beginning baseline old older originally "
    "came became become".split()
)
_EARLIER = frozenset(
    "interval previous previously prior earlier follow followup since compared comparison progression recurrence "
    "recurrent new newly now response after later serial".split()
)
_COURSES = {-1: "a fall", 1: "a rise"}


def _courses(reading: Reading) -> frozenset[int]:
    """Rises and falls told by numbers: "from 32 mm to 21 mm" is a fall."""
    if "from" not in reading.bag:
        return frozenset()
    found = set()
    texts = reading.texts
    every = [q for q in reading.get(quantities) if not q.loose]
    for one, other in pairwise(every):
        if (
            one.kind != other.kind
            or one.value == other.value
            or one.kind in ("date", "ordinal")
            or one.kind[:5] == "level"
        ):
            continue
        between = texts[one.last + 1 : other.first]
        if texts[max(0, one.first - 1) : one.first] == ["from"] and between[-1:] == ["to"] and len(between) < 4:
            found.add(1 if other.value > one.value else -1)
    return frozenset(found)


def _is_name(reading: Reading, pole: Pole) -> bool:
    """Whether "lower" or "higher" tells a place, not a comparison."""
    return reading.texts[pole.first] in ("lower", "higher") and "than" not in reading.texts[pole.last : pole.last + 7]


def _is_compared(reading: Reading, pole: Pole) -> bool:
    """Whether a word compares, and is no name: "increased", "larger than", but not "the lower pole"."""
    word = reading.texts[pole.first]
    if word in _ALSO_NAMES:
        return "than" in reading.texts[pole.last : pole.last + 7] and reading.texts[pole.first - 1 : pole.first] != [
            "no"
        ]
    return word in _COMPARING or "than" in reading.texts[pole.last + 1 : pole.last + 4]


def _one(expert: Reading, ours: list[Pole], lay: Reading, theirs: list[Pole], dimension: str, outcome: Outcome) -> None:
    values, told = {p.value for p in ours}, {p.value for p in theirs}
    if values == told and dimension != "size":
        return
    beside = values & told & {SAME}  # "darker than muscle and as bright as fat"
    if (values - beside, told - beside) in (({PLUS}, {MINUS}), ({MINUS}, {PLUS})):
        if dimension in ("size", "brightness") and _other_way(expert, ours, lay, theirs):
            return
        sure = _is_plain(expert, ours, dimension) and _is_plain(lay, theirs, dimension) and not beside
        basis = Basis.CONTRADICTED if sure else Basis.READ
        outcome.add("changed", f"“{expert.said(ours[0])}” became “{lay.said(theirs[0])}”", basis)
    elif values == told and len(values) == 1 and dimension == "size" and _compares(expert, ours[0]):
        one, other = _subject_side(expert, ours[0]), _subject_side(lay, theirs[0])
        if one and other and one != other and (_compares(lay, theirs[0]) or lay.texts[theirs[0].first - 1] == "the"):
            outcome.changed.append(f"the {one} “{expert.said(ours[0])}” became the {other}")
    elif dimension == "brightness" and values == {SAME} and len(told) == 1 and told != {SAME}:
        outcome.changed.append(f"“{expert.said(ours[0])}” became “{lay.said(theirs[0])}”")
    elif dimension == "size" and SAME in values | told and len(values) == len(told) == 1 and values != told:
        sure = all(
            any(_is_compared(r, p) or p.value == SAME for p in found) for r, found in ((expert, ours), (lay, theirs))
        )
        (outcome.changed if sure else outcome.doubts).append(f"“{expert.said(ours[0])}” became “{lay.said(theirs[0])}”")
    elif dimension == "size" and values == {PLUS, MINUS} and len(told) == 1 and told != {SAME}:
        lost = [p for p in ours if p.value not in told and _is_compared(expert, p)]
        if lost and (
            len(theirs) > sum(p.value in told for p in ours) or "than" in expert.texts[lost[0].last : lost[0].last + 3]
        ):
            outcome.add("changed", f"“{expert.said(lost[0])}” became “{lay.said(theirs[-1])}”", Basis.READ)


# Where one pole stands beside a thing, and the other beside the same thing in the other text, they exclude each other.
# Of 1,185 broken and 1,234 faithful pairs of fourteen writers 25 and 0 have such a turn that nothing else had found.
_OF_A_THING = (
    "sagittal", "vertical", "gender", "severity", "thickness", "calibre", "brightness", "approach", "before or behind",
    "heading", "result", "size", "onset", "course", "hand side",
)  # fmt: skip
_COMPARED = frozenset("than exceeds exceed exceeding compared relative does twice been formerly ago".split())


def _turned_beside(
    expert: Reading, here: dict[str, list[Pole]], lay: Reading, there: dict[str, list[Pole]], outcome: Outcome
) -> None:
    """A pole that became the other one of the same thing; two things that are compared may be told from either end."""
    for dimension in _OF_A_THING:
        if dimension not in here or dimension not in there:
            continue
        if sorted(p.value for p in here[dimension]) == sorted(p.value for p in there[dimension]):
            continue
        if dimension in _TOLD_FROM_BOTH_ENDS and not _COMPARED.isdisjoint(expert.bag | lay.bag):
            continue
        ours = _placed(_said_of_things(expert, here[dimension]))
        theirs = _placed(_said_of_things(lay, there[dimension]))
        turn = turned_at(expert, ours, lay, theirs)
        if turn:
            text = f"“{expert.said(turn.ours)}” became “{lay.said(turn.theirs)}”"
            outcome.add("changed", text, Basis.CONTRADICTED)


def _said_of_things(reading: Reading, found: list[Pole]) -> list[Pole]:
    """The poles that describe a thing: no part of a name ("inferior vena cava"), no way to lie ("on top of")."""
    names = {i for s in reading.get(senses) if s.last > s.first for i in range(s.first, s.last + 1)}
    return [
        p
        for p in found
        if p.first not in names
        and not (p.dimension == "size" and _is_name(reading, p))
        and not (reading.texts[p.first] == "top" and reading.texts[p.first - 1] == "on")
    ]


_TOLD_FROM_BOTH_ENDS = frozenset("size severity brightness thickness calibre".split())


def _is_plain(reading: Reading, found: list[Pole], dimension: str) -> bool:
    """Whether a pole can be read in one way only: told once, of now, in a dimension that has no places."""
    if dimension not in _PLAIN or (dimension == "size" and len(found) > 1):
        return False
    if dimension == "size" and reading.texts[found[0].first] in _ALSO_PLACES:
        return False
    return not any(_FORMERLY & set(reading.texts[max(0, p.first - 8) : p.last + 9]) for p in found)


# Of places, degrees, courses, ages and persons two may be told in one caption, each of another thing.
_PLAIN = frozenset("size brightness breath beat position lying heading result stage approach viability pace".split())
_PLAIN |= {"same side", "hand side"}
_ALSO_PLACES = frozenset("above below marked falls fall drop drops better best faint light lighter gained up".split())
_FORMERLY = frozenset("had before earlier formerly previously ago twice".split())


def turned(expert: Reading, lay: Reading) -> bool:
    """Whether the texts compare the same two things from opposite ends: "A is larger than B", "B is smaller than A"."""
    here, there = expert.get(_by_dimension), lay.get(_by_dimension)
    for dimension in ("size", "brightness"):
        ours, theirs = ({p.value for p in found.get(dimension, ())} - {SAME} for found in (here, there))
        if ours and theirs and ours.isdisjoint(theirs):
            return True
    return False


def _other_way(expert: Reading, ours: list[Pole], lay: Reading, theirs: list[Pole]) -> bool:
    """A is larger than B, B is smaller than A."""
    sides_turned = _subject_side(expert, ours[0]), _subject_side(lay, theirs[0])
    if all(sides_turned):
        return sides_turned[0] != sides_turned[1]
    if not (_compares(expert, ours[0]) and _compares(lay, theirs[0])):
        return other_end(expert, lay, theirs[0]) is True
    (before, after), (lay_before, lay_after) = _both_ends(expert, ours[0]), _both_ends(lay, theirs[0])
    straight = likeness(before, lay_before) + likeness(after, lay_after)
    return likeness(before, lay_after) + likeness(after, lay_before) > straight


def _both_ends(reading: Reading, pole: Pole) -> list[dict[str, float]]:
    """What stands nearer to the words before a comparison, and what to those behind it."""
    before, after = anchors(reading, pole.first, pole.last, 1.0, 0.0), anchors(reading, pole.first, pole.last, 0.0, 1.0)
    return [
        {key: weight - other.get(key, 0.0) for key, weight in bag.items() if weight > other.get(key, 0.0) * 1.2}
        for bag, other in ((before, after), (after, before))
    ]


def _compares(reading: Reading, pole: Pole) -> bool:
    return (
        bool(_THAN & set(reading.texts[pole.first : pole.last + 4]))
        or "than" in reading.texts[pole.last : pole.last + 12]
    )


def _subject_side(reading: Reading, pole: Pole) -> str:
    """Which of left and right a comparison is said of: the nearest before it, else the nearest behind it."""
    found = [s for s in reading.get(sides) if s.value in ("left", "right") and s.named]
    before = [s for s in found if s.last < pole.first]
    after = [s for s in found if s.first > pole.last and "than" not in reading.texts[pole.last : s.first]]
    return before[-1].value if before else after[0].value if after else ""


def _placed(found: list[Pole]) -> list[Placed]:
    return [Placed(p.value, p.first, p.last) for p in found if p.value != SAME or p.dimension == "size"]
