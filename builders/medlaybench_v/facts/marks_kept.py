"""Whether a lay caption keeps the markers of a figure, each with its looks and pointing to what it pointed to."""

from __future__ import annotations

import re

from builders.medlaybench_v.facts.markers import POINTS, Marker, markers, trait
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.pointing import exchanged_marks, letters_moved, moved_marks
from builders.medlaybench_v.facts.reading import OfWords, Reading
from builders.medlaybench_v.facts.words import COLOURS, by_value, table

_OPPOSITE = {"straight": "curved", "solid": "open", "thick": "thin", "thin": "thick", "long": "short", "short": "long"}
_CHARTS = frozenset("pie plot plots chart charts graph graphs diagram".split())
_LINES = {look: frozenset(("dashed", "dotted", "solid")) - {look} for look in ("dashed", "dotted", "solid")}
_LINES["dashed"] = _LINES["dotted"] = frozenset(("solid",))
_REQUIRED = frozenset(
    ("arrow", "arrowhead", "asterisk", "circle", "oval", "triangle", "box", "calipers", "hash", "plus", "dagger")
)
_SAME = ({"circle", "oval"}, {"calipers", "plus"}, {"oval", "line"}, {"circle", "line"}, {"box", "line"})
_COLOURS = frozenset(map(trait, COLOURS))


def compare(expert: Reading, lay: Reading, allowed: Reading) -> Outcome:
    """Every marker is kept with its looks, and points to what it pointed to."""
    here, there = expert.get(markers), lay.get(markers)
    outcome = Outcome()
    coloured = not (_IN_COLOUR.isdisjoint(expert.bag) or _IN_COLOUR.isdisjoint(lay.bag))
    if not here and not there and not coloured:
        return outcome
    if coloured:
        _recoloured(expert, lay, outcome)
    _relettered(expert, here, lay, there, outcome)
    if [m[:2] for m in here] != [m[:2] for m in there]:  # the same marks in the same order are all kept
        _kept(expert, here, lay, there, outcome)
    if not outcome.decided:
        swap = moved_marks(expert, here, lay, there)
        if swap and swap.sure:
            outcome.moved(f"{swap.one} and {swap.other}", sure=True)
    if coloured and not outcome.decided:
        ours, theirs = _keyed_by_colour(expert), _keyed_by_colour(lay)
        if len(ours) > 1 and len(theirs) > 1 and (swap := exchanged_marks(expert, ours, lay, theirs)):
            outcome.moved(f"{swap.one} and {swap.other}", sure=True)
    if not outcome.decided:
        for letter in letters_moved(expert, here, lay, there):
            outcome.add("swapped", letter)
    return outcome


def _recoloured(expert: Reading, lay: Reading, outcome: Outcome) -> None:
    """Adds a colour in which something is drawn that has become another one: "red indicates" told as "blue is for"."""
    ours, theirs = (_drawn_in(reading) for reading in (expert, lay))
    lost, new = ours - theirs, theirs - ours
    if lost and new:
        outcome.add("changed", f"{', '.join(sorted(lost))} became {', '.join(sorted(new))}", Basis.CONTRADICTED)


def _drawn_in(reading: Reading) -> set[str]:
    """The colours of a caption by their families, but those of the body ("red blood cells", "brown fat")."""
    return {
        _FAMILIES[reading.texts[i]]
        for i in reading.where(_IS_COLOUR)
        if _OF_THE_BODY.isdisjoint(reading.texts[i + 1 : i + 2])
    }


def _keyed_by_colour(reading: Reading) -> list[Marker]:
    """Colours that tell by themselves what is what, as marks: "the anterior column is yellow, the posterior purple"."""
    found, texts = [], reading.texts
    for i in reading.where(_IS_COLOUR):
        ends = i + 1 == len(texts) or reading.gaps[i + 1] != " " or texts[i + 1] == "and"
        if (
            ends or texts[i + 1] in POINTS
        ):  # what ends a statement is said of what stands before, as a mark in parentheses
            found.append(Marker("colour", frozenset((_FAMILIES[texts[i]],)), i, i, ends))
    return found


def _relettered(expert: Reading, here: list[Marker], lay: Reading, there: list[Marker], outcome: Outcome) -> None:
    """Adds a letter of a key that has become another one: "(C)" told as "labelled T"."""
    ours, theirs = ({m.shape for m in found if m.shape.startswith("letter")} for found in (here, there))
    lost, new = sorted(s for s in ours - theirs if not _letter_told(s, lay)), sorted(theirs - ours)
    if len(lost) == len(new) == 1 and not _letter_told(new[0], expert):
        outcome.add("changed", f"{lost[0]} became {new[0]}", Basis.CONTRADICTED)


def _kept(expert: Reading, here: list[Marker], lay: Reading, there: list[Marker], outcome: Outcome) -> None:
    """Which marks and which of their looks are lost and new."""
    shapes_here, shapes_there = {m.shape for m in here}, {m.shape for m in there}
    for shape in sorted(shapes_here - shapes_there):
        if shape not in _REQUIRED:
            if shape.startswith("letter") and not _letter_told(shape, lay):
                outcome.add("lost", shape, Basis.SOUGHT)
            continue
        like = set().union(*(group for group in _SAME if shape in group)) & shapes_there
        if shape == "arrowhead" and "arrow" in shapes_there - shapes_here:
            shapes_here = shapes_here | {"arrow"}  # to call an arrowhead an arrow points to the same place
            continue
        if not like and _HINTS.get(shape, _NO_HINTS).isdisjoint(lay.bag):
            outcome.add("lost", shape, Basis.MISSING if shape in _BY_NAME else Basis.SOUGHT)
    for shape in sorted(shapes_there - shapes_here):
        if shape in ("circle", "box") and not _CHARTS.isdisjoint(expert.bag):
            continue  # slices of a pie chart, boxes of a plot
        if (shape in _REQUIRED and not set().union(*(g for g in _SAME if shape in g)) & shapes_here) or (
            shape.startswith("letter")
            and any(m.shape.startswith("letter") for m in here)
            and len(shape) == 8
            and outcome.has("lost")
        ):
            outcome.add("new", shape, Basis.MISSING)
    mentioned = set(map(trait, lay.bag)) | {look for word, look in _DRAWN_AS.items() if word in lay.bag}
    looks_here = {look for m in here for look in m.looks}
    looks_there = {look for m in there for look in m.looks}
    mentioned |= {"double"} if {"both", "each"} & mentioned and {"end", "ends"} & mentioned else set()
    lost = {look for look in looks_here - looks_there if look not in mentioned}
    new = looks_there - looks_here
    new = new - set(map(trait, expert.bag)) if new else new
    likened = not _LIKENED.isdisjoint(lay.bag)
    if likened:
        lost -= {_COLOUR_OF.get(word, "") for word in lay.bag}
    for look in sorted(lost):
        instead = bool(_LINES.get(look, frozenset()) & looks_there - looks_here)  # a dotted line became a solid one
        kind = "colour" if look in _COLOURS else "shape"
        basis = Basis.MISSING if look in _COLOURS and not likened else Basis.SOUGHT
        outcome.add("lost", f"{look} {kind}", Basis.READ if instead else basis)
    for look in sorted(new):
        if look in _COLOURS:
            outcome.add("new", f"{look} colour", Basis.MISSING)
        elif look in ("dashed", "dotted", "curved", "open") or _OPPOSITE.get(look) in looks_here:
            outcome.add("new", f"{look} shape", Basis.MISSING)


_FAMILIES = table("families of colours")
_IN_COLOUR = frozenset(_FAMILIES)
_IS_COLOUR = OfWords(_FAMILIES.__contains__)
_OF_THE_BODY = frozenset("blood cell cells marrow fat ligament spot spots eye eyes nucleus pulp".split())
# "In the colour of grass".
_COLOUR_OF = table("colours of things")
# "In the colour of grass", "light-coloured".
_LIKENED = frozenset("colour color colours colors coloured colored".split())
_DRAWN_AS = table("looks by parts")
# Marks that plain captions call by their names; others are told by what they do.
_BY_NAME = frozenset(("arrow", "arrowhead", "asterisk"))
# Plain words by which a mark may be told.
_HINTS = by_value("hints")
_NO_HINTS = frozenset[str]()
_PICTURE_A = re.compile(
    r"\ba[,:]|\b(?:picture|panel|image|part|figure|scan|film|letter)s? a\b(?:[,:]| (?:and|is|shows|was|has|dates|to)\b)"
)


def _letter_told(shape: str, lay: Reading) -> bool:
    """The letter stands in the lay caption in some other way: "on R", "(a)"."""
    letter = shape[7:]
    if letter == "A" and _PICTURE_A.search(lay.lower):
        return True
    return re.search(rf"(?<![\w'’-]){re.escape(letter)}(?![\w'’])", lay.text) is not None or bool(
        letter != "A" and re.search(rf"(?<![\w'’-]){re.escape(letter.lower())}(?![\w'’])", lay.text)
    )
