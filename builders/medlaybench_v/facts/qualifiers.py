"""Places, directions and comparisons of the expert caption that the lay one tells nothing of."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.poles import Pole, poles
from builders.medlaybench_v.facts.quantities import quantities
from builders.medlaybench_v.facts.reading import Reading


def unqualified(expert: Reading, lay: Reading, there: Collection[str], outcome: Outcome) -> None:
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


def ends(
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


_HEIGHTS = frozenset("upper lower top bottom".split())
COURSES = {-1: "a fall", 1: "a rise"}


def courses(reading: Reading) -> frozenset[int]:
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
