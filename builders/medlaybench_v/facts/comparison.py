"""Comparisons and directions: which of two poles a caption names in each dimension of `poles.csv`.

Larger and smaller, up and down, front and back, towards and away, bright and dark, mild and severe, flexion and
extension. A caption that names only one pole must not become one that names only the other, unless the two things
compared also changed places ("A is larger than B" = "B is smaller than A").
"""

from __future__ import annotations

import re

from builders.medlaybench_v.facts.binding import Placed, exchanged
from builders.medlaybench_v.facts.binding import turned as turned_at
from builders.medlaybench_v.facts.compared import (
    by_dimension,
    compares,
    is_compared,
    is_name,
    other_way,
    subject_side,
    turned,
    turned_round,
)
from builders.medlaybench_v.facts.exchanges import (
    SENSES,
    exchanged_roles,
    exchanged_things,
    found_or_done,
    keeps_order,
    located_parts,
    placed_degrees,
)
from builders.medlaybench_v.facts.labels import exchanged_labels, other_label
from builders.medlaybench_v.facts.leftover import told_anew
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.poles import MINUS, PLUS, SAME, Pole
from builders.medlaybench_v.facts.qualifiers import COURSES, courses, ends, unqualified
from builders.medlaybench_v.facts.quantities import quantities
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import senses

# Dimensions in which one pole alone in each text, and not the same, is a contradiction.
_STRICT = (
    *"sagittal position breath beat gender vertical severity course brightness size depth end onset lying".split(),
    *("result", "viability", "pace", "approach", "before or behind", "completeness", "stage", "heading", "same side"),
    *("number", "persistence", "begun", "extent", "surface", "consistency", "hand side"),
    *"firmness outline edge pattern symmetry spread twin supply flow shape speed birth".split(),
    *"visibility immunity mother voiding meal exertion union communication reducibility resectability origin".split(),
    *"violence within build activity alignment rotation spreading access rank lumen dependence".split(),
    *("growth plate", "blood pressure", "spinal curve", "ankle bend", "heart layer", "limb of aorta", "fat signal"),
    *("load side", "hand used"),
)
_EXCHANGED = frozenset("size sagittal brightness end breath beat position stage severity".split())


def compare(expert: Reading, lay: Reading, allowed: Reading) -> Outcome:
    """No comparison or direction is lost or turned round."""
    here, there = expert.get(by_dimension), lay.get(by_dimension)
    outcome = Outcome()
    shared = here.keys() & there.keys()
    for dimension in filter(shared.__contains__, _STRICT) if shared else ():
        ours, theirs = here[dimension], there[dimension]
        if dimension == "size":  # "the lower pole" compares nothing
            ours, theirs = [p for p in ours if not is_name(expert, p)], [p for p in theirs if not is_name(lay, p)]
            if not ours or not theirs:
                continue
        _one(expert, ours, lay, theirs, dimension, outcome)
    if shared and not outcome.failed:
        _turned_beside(expert, here, lay, there, outcome)
    if not outcome.decided:
        ends(expert, here, lay, there, outcome)
    if not outcome.decided:
        course, told = expert.get(courses), lay.get(courses)
        if len(course) == len(told) == 1 and course != told:
            outcome.add("changed", f"{COURSES[min(course)]} became {COURSES[min(told)]}")
    if not outcome.decided and not _GONE.isdisjoint(expert.bag) and "course" not in there and "size" not in here:
        grown = _GROWN & lay.bag
        if grown and _GONE.isdisjoint(lay.bag):
            outcome.add("changed", f"{min(_GONE & expert.bag)} became {min(grown)}", Basis.READ)
    if not outcome.decided:
        unqualified(expert, lay, there, outcome)
    compared = [p for p in here.get("size", ()) if is_compared(expert, p)]
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
        outcome.add("swapped", "the two sides of a comparison")
    if shared and not outcome.decided:
        for dimension in sorted(shared & _EXCHANGED):
            placed = placed_degrees if dimension == "severity" else lambda _, found: _placed(found)
            one, other = (placed(r, at[dimension]) for r, at in ((expert, here), (lay, there)))
            several = all(len({p.value for p in found}) > 1 for found in (one, other))
            swap = exchanged(expert, one, lay, other) if several and not turned(expert, lay) else None
            if swap:
                outcome.moved(" and ".join(sorted({expert.said(p) for p in one})), sure=swap.sure)
    ordered = outcome.failed or keeps_order(expert, lay)  # so does nearly every draft: labels and partners are kept
    if not ordered and (labels := exchanged_labels(expert, lay)):
        outcome.add("swapped", labels, Basis.CONTRADICTED)
    if not ordered and not outcome.decided and (labels := other_label(expert, lay)):
        outcome.add("changed", labels, Basis.READ)
    if not outcome.decided and (roles := exchanged_roles(expert, lay)):
        outcome.moved(roles, sure=True)
    if not outcome.decided:
        ours, theirs = (list(map(SENSES, reading.get(senses))) for reading in (expert, lay))
        swapped = ""
        if ours != theirs:
            swapped = exchanged_things(expert, lay, found_or_done) or exchanged_things(expert, lay, located_parts)
        if swapped and not told_anew(expert, lay):
            outcome.moved(swapped, sure=False)
    return outcome


_GONE = frozenset("resolved resolution vanished disappeared disappearance gone".split())
_GROWN = frozenset("increased increase increases grown grew larger bigger enlarged worse worsened".split())
_COMPARATIVE = re.compile(
    r"\b(?:the \w+er one|\w+er (?:than|of the two)|at its \w+est|is the \w+er|(?:less|more) \w+)\b"
)
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


def _one(expert: Reading, ours: list[Pole], lay: Reading, theirs: list[Pole], dimension: str, outcome: Outcome) -> None:
    values, told = {p.value for p in ours}, {p.value for p in theirs}
    if values == told and dimension != "size":
        return
    beside = values & told & {SAME}  # "darker than muscle and as bright as fat"
    if (values - beside, told - beside) in (({PLUS}, {MINUS}), ({MINUS}, {PLUS})):
        if dimension in ("size", "brightness") and other_way(expert, ours, lay, theirs):
            return
        sure = _is_plain(expert, ours, dimension) and _is_plain(lay, theirs, dimension) and not beside
        basis = Basis.CONTRADICTED if sure else Basis.READ
        outcome.add("changed", f"“{expert.said(ours[0])}” became “{lay.said(theirs[0])}”", basis)
    elif values == told and len(values) == 1 and compares(expert, ours[0]):
        one, other = subject_side(expert, ours[0]), subject_side(lay, theirs[0])
        if one and other and one != other and (compares(lay, theirs[0]) or lay.texts[theirs[0].first - 1] == "the"):
            outcome.add("changed", f"the {one} “{expert.said(ours[0])}” became the {other}")
    elif dimension == "brightness" and values == {SAME} and len(told) == 1 and told != {SAME}:
        outcome.add("changed", f"“{expert.said(ours[0])}” became “{lay.said(theirs[0])}”")
    elif dimension == "size" and SAME in values | told and len(values) == len(told) == 1 and values != told:
        sure = all(
            any(is_compared(r, p) or p.value == SAME for p in found) for r, found in ((expert, ours), (lay, theirs))
        )
        basis = Basis.CONTRADICTED if sure else Basis.UNMET
        outcome.add("changed", f"“{expert.said(ours[0])}” became “{lay.said(theirs[0])}”", basis)
    elif dimension == "size" and values == {PLUS, MINUS} and len(told) == 1 and told != {SAME}:
        lost = [p for p in ours if p.value not in told and is_compared(expert, p)]
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
        if dimension in _TOLD_FROM_BOTH_ENDS and any(map(_compares_two, (expert, lay))):
            continue
        ours = _placed(_said_of_things(expert, here[dimension]))
        theirs = _placed(_said_of_things(lay, there[dimension]))
        turn = turned_at(expert, ours, lay, theirs)
        if turn:
            text = f"“{expert.said(turn.ours)}” became “{lay.said(turn.theirs)}”"
            outcome.add("changed", text, Basis.CONTRADICTED)


def _compares_two(reading: Reading) -> bool:
    """Whether a caption compares two things, or one with what it was; "thinner than normal" compares with a norm."""
    words = zip(reading.texts, [*reading.texts[1:], ""], strict=True)
    return not _COMPARED.isdisjoint(reading.bag) and any(w in _COMPARED and after not in _NORM for w, after in words)


_NORM = frozenset("normal usual expected".split())


def _said_of_things(reading: Reading, found: list[Pole]) -> list[Pole]:
    """The poles that describe a thing: no part of a name ("inferior vena cava"), no way to lie ("on top of")."""
    names = {i for s in reading.get(senses) if s.last > s.first for i in range(s.first, s.last + 1)}
    return [
        p
        for p in found
        if p.first not in names
        and not (p.dimension == "size" and is_name(reading, p))
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


def _placed(found: list[Pole]) -> list[Placed]:
    return [Placed(p.value, p.first, p.last) for p in found if p.value != SAME or p.dimension == "size"]
