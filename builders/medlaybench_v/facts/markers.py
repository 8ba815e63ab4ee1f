"""Figure markers with their colour, shape and letter, and what each points to.

An arrow in parentheses follows what it marks; a lay caption may put it first ("the white arrows point to …").
"""

from __future__ import annotations

import re
from typing import NamedTuple

from builders.medlaybench_v.facts.binding import STOP_WORDS, Exchange, Placed, exchanged, in_order, keys, likeness, only
from builders.medlaybench_v.facts.order import moments
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.phrases import moved, phrase_of, replaced
from builders.medlaybench_v.facts.poles import poles
from builders.medlaybench_v.facts.scan import OfWords, Reading
from builders.medlaybench_v.facts.sides import sides
from builders.medlaybench_v.facts.wordings import IMAGING
from builders.medlaybench_v.facts.words import ALSO_ANATOMY, COLOURS, MARKERS, by_value, table


class Marker(NamedTuple):
    """`shape` is the kind of mark ("arrow", "letter A"), `looks` its colours and traits; at the words [first, last]."""

    shape: str
    looks: frozenset[str]
    first: int
    last: int
    inside: bool


_SHAPES = MARKERS | table("more marks")
_TRAITS = dict.fromkeys(COLOURS, "") | table("looks")
# What stands for a colour where no other one is named: "the pale arrow", and not "the dark red one".
_SHADES = {"pale": "white", "light": "white", "dark": "black"}
_OPPOSITE = {"straight": "curved", "solid": "open", "thick": "thin", "thin": "thick", "long": "short", "short": "long"}
_CHARTS = frozenset("pie plot plots chart charts graph graphs diagram".split())
_LINES = {look: frozenset(("dashed", "dotted", "solid")) - {look} for look in ("dashed", "dotted", "solid")}
_LINES["dashed"] = _LINES["dotted"] = frozenset(("solid",))
_FILLING = frozenset(
    "and or small large big bold the of in a an with double headed shape shaped measuring coloured colored s".split()
)
_REQUIRED = frozenset(
    ("arrow", "arrowhead", "asterisk", "circle", "oval", "triangle", "box", "calipers", "hash", "plus", "dagger")
)
_SAME = ({"circle", "oval"}, {"calipers", "plus"}, {"oval", "line"}, {"circle", "line"}, {"box", "line"})


def markers(reading: Reading) -> list[Marker]:
    """The markers of a caption, in their order, letters and numbers of a key among them."""
    texts, words, text = reading.texts, reading.words, reading.text
    found: list[Marker] = []
    for i in reading.where(_MAY_MARK):
        word, start, end = words[i]
        if len(word) < 3 and text[start:end].islower() and text[end : end + 1] not in _BEHIND_LETTERS:
            continue  # nearly all that is short: "in", "of", "a"
        shape = _SHAPES.get(word)
        if shape == "arrow" and texts[i + 1 : i + 2] in _HEADS and reading.gaps[i + 1] in (" ", "-"):
            shape = "arrowhead"  # "arrow head"
        if shape and _is_marker(reading, i, shape):
            found.append(Marker(shape, _looks(reading, i), i, i, _in_parentheses(text, start)))
        elif word in COLOURS and text[start - 1 : start] == "(" and text[end : end + 1] == ")":
            found.append(Marker("colour", frozenset((_trait(word),)), i, i, _in_parentheses(text, start)))
        elif len(word) < 3 and _is_letter(reading, i):
            name = f"letter {text[start:end].upper()}"
            found.append(Marker(name, frozenset(), i, i, _in_parentheses(text, start)))
    if not found:
        return found
    numbered = [m for m in found if m.shape[7:].isdigit()]
    if numbered:  # "number 1 is the trunk, 2 is its branch": once a key is one of numbers, a bare one belongs to it
        seen = {m.first for m in found}
        found += [
            Marker(f"letter {word}", frozenset(), i, i, False)
            for i, word in enumerate(texts[:-1])
            if i not in seen and len(word) == 1 and word.isdigit() and texts[i + 1] in _TELLS
        ]
        found.sort(key=lambda marker: marker.first)
    return found


_HEADS = (["head"], ["heads"])
_BEHIND_LETTERS = frozenset("),.;:")


def _may_mark(word: str) -> bool:
    return word in _SHAPES or word in COLOURS or len(word) < 3


_MAY_MARK = OfWords(_may_mark)


_TELLS = frozenset("is are the marks shows".split())


def _trait(word: str) -> str:
    return _TRAITS.get(word) or word


_COLOURS = frozenset(map(_trait, COLOURS))


def _looks(reading: Reading, i: int) -> frozenset[str]:
    """Colours and traits beside the mark: "black and white arrows", "the arrows in white", "circled in red"."""
    texts = reading.texts
    looks = set()
    for j in range(i - 1, max(-1, i - 5), -1):
        if any(c in ".;:()" for c in reading.gaps[j + 1]):
            break
        if texts[j + 1] in ("the", "a", "an") and "," in reading.gaps[j + 1]:
            break  # "lies on the fat, the dotted line …"
        if texts[j] in _TRAITS:
            looks.add(_trait(texts[j]))
        elif texts[j] in _SHADES and texts[j + 1] not in COLOURS:
            looks.add(_SHADES[texts[j]])
        elif texts[j] not in _FILLING or "," in reading.gaps[j + 1]:
            break
    if i + 2 < len(texts) and texts[i + 1] == "in" and texts[i + 2] in COLOURS:
        looks.add(_trait(texts[i + 2]))
    return frozenset(looks)


def _is_marker(reading: Reading, i: int, shape: str) -> bool:
    texts, words, text = reading.texts, reading.words, reading.text
    word = texts[i]
    after = texts[i + 1] if i + 1 < len(texts) else ""
    before = texts[i - 1] if i else ""
    inside = _in_parentheses(text, words[i].start)
    if (word in ALSO_ANATOMY and after == "of") or (
        word == "egg" and after in ("tube", "tubes", "cell", "cells", "sac")
    ):
        return False
    if shape == "asterisk" and before in ("t1", "t2"):
        return False  # "T2*-weighted", "T2-star"
    if shape in _ALSO_THINGS or word in _ALSO_WORDS:
        looks = _looks(reading, i)
        if word in ("+", "#", "*"):
            return not after[:1].isdigit()
        if inside and (looks or shape != "line"):
            return len(_parenthesis(text, words[i].start).split()) <= 6
        if word == "ring" and (looks & _DRAWN or after == "drawn"):
            return True
        if word in ("ring", "egg"):
            return False
        if shape == "line":
            return bool(looks - _OF_ANY_LINE) and before != "central"
        if word in ("circled", "boxed", "asterisk"):
            return True
        if word in ("star", "stars") and after == "shaped":
            return texts[i + 2 : i + 3] in (["sign"], ["mark"], ["symbol"])
        if word in ("plus", "hash"):
            return after == "sign"
        if shape == "box" and word == "square" and after in ("millimetres", "millimeters", "centimetres", "mm", "cm"):
            return False
        by_means = before in ("with", "by") and texts[i - 2] in _MARKED
        return bool(looks) or after in _MARKING or by_means or (before in ("the", "a", "red") and word != "frame")
    return True


# Marks that have other meanings, by their shape or their word, and looks of a line of the body.
_ALSO_THINGS = frozenset("line circle oval triangle box inset".split())
_ALSO_WORDS = frozenset("star stars plus + crosses cursor ring #".split())
_OF_ANY_LINE = frozenset("thick thin long short dark black white".split())
# Looks by which a ring is drawn on a picture: one of the body may be white, black or thin.
_DRAWN = frozenset("red blue green yellow orange purple pink dashed dotted".split())
_MARKING = frozenset(
    "marks shows outlines indicates points lies encloses surrounds sits sign mark show outline indicate point lie "
    "enclose surround sit stand stands".split()
)


_MARKED = frozenset("marked labelled labeled shown indicated denoted highlighted flagged picked".split())


def _in_parentheses(text: str, at: int) -> bool:
    return text.rfind("(", 0, at) > text.rfind(")", 0, at)


def _parenthesis(text: str, at: int) -> str:
    start = text.rfind("(", 0, at) + 1
    end = text.find(")", at)
    return text[start : end if end >= 0 else len(text)]


_KEY_WORDS = frozenset(
    "panel panels image images picture pictures letter letters labelled labeled marked figure label in and "
    "marks".split()
)


_NO_KEYS = frozenset("HU HZ KV MM CM ML CT MR US AP PA IV ED ER GE OR TB II IV VI MS".split())


def _is_letter(reading: Reading, i: int) -> bool:
    """A letter or number that is the name of a panel or of a structure in a key."""
    words, text = reading.words, reading.text
    word = words[i]
    raw = text[word.start : word.end]
    if raw.islower() and (len(raw) > 1 or text[word.end : word.end + 1] != ")"):
        return len(raw) == 1 and raw in _PANELS and _ends_phrase(reading, i)
    if len(raw) > 2 or not (
        (raw.isalpha() and (raw[0].isupper() or len(raw) == 1)) or (raw.isdigit() and len(raw) == 1)
    ):
        return False
    around = text[max(0, word.start - 1) : word.start], text[word.end : word.end + 1]
    if around == ("(", ")"):
        return raw not in _NO_KEYS
    if len(raw) > 1:
        after = reading.texts[i + 1] if i + 1 < len(words) else ""
        key = around[1] in ("=", ":") or (around[1] == "," and text[word.end + 1 : word.end + 3].strip()[:1].islower())
        told = after in ("marks", "is", "stands", "shows", "indicates", "the")
        return raw not in _NO_KEYS and (key or (told and (raw.isupper() or word.text not in STOP_WORDS)))
    if raw.isdigit():
        before = reading.texts[i - 1] if i else ""
        if before in ("fig", "figure"):
            return False
        return (
            (around[1] == "," and text[max(0, word.start - 2) : word.start].strip() in (":", ";", "", "."))
            or before == "number"
            or before == "marked"
        )
    if _is_unit_or_side(reading, i, raw):
        return False
    before = reading.texts[i - 1] if i else ""
    named = (raw.isupper() and (raw not in "IAT" or before in _CALLED)) or (raw == "A" and not _article(reading, i))
    if (named or (raw == "T" and around[1] in ",)=:")) and around[1] in tuple(",=: .;"):
        return around[0] != "-" and before not in _BEFORE_A_CLASS
    return False


def _ends_phrase(reading: Reading, i: int) -> bool:
    """Whether a small letter is the name of a panel that ends a phrase: "an X-ray in a, an ultrasound in b"."""
    after = reading.text[reading.words[i].end : reading.words[i].end + 1]
    return i > 0 and reading.texts[i - 1] in _IN_PANELS and after in _BEHIND_LETTERS


_PANELS = frozenset("abcdefgh")
_IN_PANELS = frozenset("in panel image picture part".split())
_CALLED = frozenset(("labelled", "labeled", "marked", "letter"))
_BEFORE_A_CLASS = frozenset("vitamin hepatitis type stanford child weber factor class".split())


def _is_unit_or_side(reading: Reading, i: int, raw: str) -> bool:
    """1.2 L, 60 °C, 3D, grade V, the R hip."""
    before = reading.texts[i - 1] if i else ""
    if reading.text[reading.words[i].start - 1 : reading.words[i].start] == "/":
        return True  # B/L
    if before in ("°", "grade", "stage", "type", "class", "segment") or (before[:1].isdigit() and raw in "LCFTGD"):
        return True
    return raw in "RL" and any(s.value in ("left", "right") and s.first == i for s in reading.get(sides))


def _article(reading: Reading, i: int) -> bool:
    """Whether "A" is the article at the start of a sentence."""
    words, text = reading.words, reading.text
    before = reading.texts[i - 1] if i else ""
    after = reading.texts[i + 1] if i + 1 < len(words) else ""
    if before in _KEY_WORDS or after in ("and", "is", "shows", "was", "came", "to", "marks", "has"):
        return False
    return text[words[i].end : words[i].end + 1] == " " and (
        i == 0 or any(c in ".:;?!" for c in text[words[i - 1].end : words[i].start])
    )


def compare(expert: Reading, lay: Reading, allowed: Reading) -> Outcome:
    """Every marker is kept with its looks, and points to what it pointed to."""
    here, there = expert.get(markers), lay.get(markers)
    outcome = Outcome()
    coloured = not (_IN_COLOUR.isdisjoint(expert.bag) or _IN_COLOUR.isdisjoint(lay.bag))
    if coloured:
        _recoloured(expert, lay, outcome)
    _relettered(expert, here, lay, there, outcome)
    if [m[:2] for m in here] != [m[:2] for m in there]:  # the same marks in the same order are all kept
        _kept(expert, here, lay, there, outcome)
    if not outcome.decided:
        swap = _moved(expert, here, lay, there)
        if swap and swap.sure:
            outcome.moved(f"{swap.one} and {swap.other}", sure=True)
    if coloured and not outcome.decided:
        ours, theirs = _keyed_by_colour(expert), _keyed_by_colour(lay)
        if len(ours) > 1 and len(theirs) > 1 and (swap := _exchanged(expert, ours, lay, theirs)):
            outcome.moved(f"{swap.one} and {swap.other}", sure=True)
    if not outcome.decided:
        outcome.swapped += _letters_moved(expert, here, lay, there)
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
            ends or texts[i + 1] in _POINTS
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
                outcome.add("lost", shape, Basis.UNMET)
            continue
        like = set().union(*(group for group in _SAME if shape in group)) & shapes_there
        if shape == "arrowhead" and "arrow" in shapes_there - shapes_here:
            shapes_here = shapes_here | {"arrow"}  # to call an arrowhead an arrow points to the same place
            continue
        if not like and _HINTS.get(shape, _NO_HINTS).isdisjoint(lay.bag):
            outcome.add("lost", shape, Basis.MISSING if shape in _BY_NAME else Basis.UNMET)
    for shape in sorted(shapes_there - shapes_here):
        if shape in ("circle", "box") and not _CHARTS.isdisjoint(expert.bag):
            continue  # slices of a pie chart, boxes of a plot
        if (shape in _REQUIRED and not set().union(*(g for g in _SAME if shape in g)) & shapes_here) or (
            shape.startswith("letter")
            and any(m.shape.startswith("letter") for m in here)
            and len(shape) == 8
            and outcome.lost
        ):
            outcome.new.append(shape)
    mentioned = set(map(_trait, lay.bag)) | {look for word, look in _DRAWN_AS.items() if word in lay.bag}
    looks_here = {look for m in here for look in m.looks}
    looks_there = {look for m in there for look in m.looks}
    mentioned |= {"double"} if {"both", "each"} & mentioned and {"end", "ends"} & mentioned else set()
    lost = {look for look in looks_here - looks_there if look not in mentioned}
    new = looks_there - looks_here
    new = new - set(map(_trait, expert.bag)) if new else new
    likened = not _LIKENED.isdisjoint(lay.bag)
    if likened:
        lost -= {_COLOUR_OF.get(word, "") for word in lay.bag}
    for look in sorted(lost):
        instead = bool(_LINES.get(look, frozenset()) & looks_there - looks_here)  # a dotted line became a solid one
        kind = "colour" if look in _COLOURS else "shape"
        basis = Basis.MISSING if look in _COLOURS and not likened else Basis.UNMET
        outcome.add("lost", f"{look} {kind}", Basis.READ if instead else basis)
    outcome.new += sorted(
        f"{look} {'colour' if look in _COLOURS else 'shape'}"
        for look in new
        if look in _COLOURS
        or look in ("dashed", "dotted", "curved", "open")
        or (look in _OPPOSITE and looks_here & {_OPPOSITE[look]})
    )


_FAMILIES = table("families of colours")
_IN_COLOUR = frozenset(_FAMILIES)
_IS_COLOUR = OfWords(_FAMILIES.__contains__)
_OF_THE_BODY = frozenset("blood cell cells marrow fat ligament spot spots eye eyes nucleus pulp".split())


# "In the colour of grass".
_COLOUR_OF = table("colours of things")
# "In the colour of grass", "light-coloured".
_LIKENED = frozenset("colour color colours colors coloured colored".split())


def _letters_moved(expert: Reading, here: list[Marker], lay: Reading, there: list[Marker]) -> list[str]:
    """Letters of a key that stand for another structure than they stood for."""
    found = []
    for marker in here:
        if not marker.shape.startswith("letter") or sum(m.shape == marker.shape for m in here) > 1:
            continue
        others = [m for m in there if m.shape == marker.shape]
        if len(others) != 1:
            continue
        ours = phrase_of(expert, marker.first, marker.last, ahead=_tells_ahead(expert, marker))
        theirs = phrase_of(lay, others[0].first, others[0].last, ahead=_tells_ahead(lay, others[0]))
        if moved(expert, ours, lay, theirs) or replaced(expert, ours, lay, theirs):
            found.append(f"{marker.shape} ({', '.join(sorted(ours))} became {', '.join(sorted(theirs))})")
    if not found and len({m.shape for m in here if m.shape.startswith("letter")}) > 1:
        ours_of, theirs_of = _told_of(expert, here), _told_of(lay, there)
        for name in sorted(set(ours_of) & set(theirs_of)):
            for told in sorted(ours_of[name].keys() & theirs_of[name].keys()):
                mine, yours = ours_of[name][told], theirs_of[name][told]
                # a plane has many wordings, and a CT may be an X-ray: two panels have to have exchanged theirs
                other_way = told not in _MADE or any(
                    yours & own.get(told, set()) and mine & theirs_of.get(other, {}).get(told, set())
                    for other, own in ours_of.items()
                )
                if mine.isdisjoint(yours) and other_way:
                    found.append(name)
    return found


def _told_of(reading: Reading, found: list[Marker]) -> dict[str, dict[str, set[str]]]:
    """What time, breath, position, plane or method a caption tells of each of its panels."""
    spans = _spans(reading, found)
    told: dict[str, dict[str, set[str]]] = {}
    for marker in found:
        if not marker.shape.startswith("letter"):
            continue
        first, last = spans[found.index(marker)]
        own = told.setdefault(marker.shape, {})
        for moment in reading.get(moments):
            if first <= moment.first < last and moment.value != "during":
                own.setdefault("time", set()).add(moment.value)
        for pole in reading.get(poles):
            if first <= pole.first < last and pole.dimension in _OF_PANELS:
                own.setdefault(pole.dimension, set()).add(pole.value)
        for i, ((_, named), *_) in IMAGING.matches(reading):
            for says, value in named if first <= i < last else ():
                if says in _MADE:
                    own.setdefault(says, set()).add(value)
    return told


_MADE = frozenset(("planes", "methods", "sequences", "phases"))


_OF_PANELS = frozenset("breath position beat lying stage".split())


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


def _placed(reading: Reading, found: list[Marker]) -> list[Placed]:
    """Each marker with the words that describe it: "thick" of a thick arrow is no finding."""
    return [Placed(name(m), *_described(reading, m), *_directions(reading, m, found)) for m in found]


def _described(reading: Reading, marker: Marker) -> tuple[int, int]:
    first, last = marker.first, marker.last
    while first and (reading.texts[first - 1] in _TRAITS or reading.texts[first - 1] in _SHAPES):
        first -= 1
    if reading.texts[last + 1 : last + 2] and reading.texts[last + 1] in _POINTING:
        last += 1
    return first, last


def _opens(reading: Reading, marker: Marker) -> bool:
    """Whether a mark in parentheses opens a statement: "(A) CT without dye. (B) MRI"."""
    before = reading.text[: reading.words[marker.first].start].rstrip(" (")
    return not before or before[-1] in ".:;"


def _tells_ahead(reading: Reading, marker: Marker) -> bool:
    """Whether a mark is the subject of what follows: "the arrow shows", "A: before", "(A) before"."""
    if marker.inside:
        return _opens(reading, marker)
    behind = reading.text[reading.words[marker.last].end : reading.words[marker.last].end + 1]
    if behind in (".", ";"):
        return False
    following = reading.texts[marker.last + 1 : marker.last + 2]
    return behind in (":", "=", ",") or (bool(following) and following[0] in _POINTS)


def _ahead(reading: Reading, marker: Marker, found: list[Marker]) -> bool:
    """As `_tells_ahead`; where one mark does, "and the curved arrow Y" does too."""
    if _tells_ahead(reading, marker):
        return True
    if marker.inside and marker.shape.startswith("letter"):  # "(A) axial and (B) sagittal"
        return any(
            m.inside and m.first < marker.first and m.shape[:6] == "letter" and _opens(reading, m) for m in found
        )
    if marker.inside or reading.text[reading.words[marker.last].end :][:1] != " ":
        return False
    return any(not m.inside and m.first < marker.first and _tells_ahead(reading, m) for m in found)


def _moved(expert: Reading, here: list[Marker], lay: Reading, there: list[Marker]) -> Exchange | None:
    """Two marks that changed places."""
    ours, theirs = [name(m) for m in here], [name(m) for m in there]
    if len(set(ours) & set(theirs)) < 2 or (ours == theirs and in_order(expert, lay)):
        return None
    swap = exchanged(expert, _placed(expert, here), lay, _placed(lay, there))
    return swap if swap and swap.sure else _exchanged(expert, here, lay, there) or swap


def _exchanged(expert: Reading, here: list[Marker], lay: Reading, there: list[Marker]) -> Exchange | None:
    """Two marks of which each stands, in the lay caption, by what the other stood by."""
    ours, theirs = _stretches(expert, here), _stretches(lay, there)
    shared = sorted(set(ours) & set(theirs))
    for i, one in enumerate(shared):
        for other in shared[i + 1 :]:
            mine, yours = only(ours[one], ours[other]), only(theirs[one], theirs[other])
            kept = likeness(mine[0], yours[0]), likeness(mine[1], yours[1])
            turned = likeness(mine[0], yours[1]), likeness(mine[1], yours[0])
            if min(turned) >= 0.3 and sum(turned) > 1.5 * sum(kept) + 0.5:
                return Exchange(one, other, True)
    return None


def _stretches(reading: Reading, found: list[Marker]) -> dict[str, dict[str, float]]:
    """The words that each mark is said of: those since the last mark or stop, or those up to the next."""
    bags: dict[str, dict[str, float]] = {}
    for marker, (first, last) in zip(found, _spans(reading, found), strict=True):
        bag: dict[str, float] = {}
        for start, end, key, weight in reading.get(keys):
            inside = first <= start and end < last
            if inside and not key.startswith(("@", "side ")) and (reading.texts[start] not in _TRAITS or key == "fat"):
                bag[key] = max(bag.get(key, 0.0), weight)
        if marker.shape.startswith("letter"):  # panels are told apart by how they were made
            made = (named for i, matches in IMAGING.matches(reading) if first <= i < last for named in matches[0][1])
            bag |= {f"{says} {value}": 1.0 for says, value in made}
        bags[name(marker)] = {**bags.get(name(marker), {}), **bag}
    return bags


def _spans(reading: Reading, found: list[Marker]) -> list[tuple[int, int]]:
    """The words [first, last) that each mark is said of."""
    texts = reading.texts
    stops = [i for i, gap in enumerate(reading.gaps) if i and gap != " " and not _STOPS.isdisjoint(gap)]
    spans = []
    for marker in found:
        others = [m for m in found if m is not marker]
        ahead = _ahead(reading, marker, found)
        if ahead:
            first = marker.last + 1
            last = min([i for i in stops if i > first] + [m.first for m in others if m.first > first] + [len(texts)])
        else:
            last = marker.first
            before = [i for i in stops if i <= last] + [m.last + 1 for m in others if m.last < last]
            first = max([*before, 0])
        spans.append((first, last))
    return spans


_STOPS = frozenset(".;:")
_POINTING = frozenset("mark marks show shows indicate indicates point points denote denotes".split())
_POINTS = frozenset(
    "was has holds gives depicts represents mark marks show shows indicate indicates point points denote denotes is "
    "are lies lie sits sit stands stand on at to the encloses outlines surrounds follows follow".split()
)


def name(marker: Marker) -> str:
    """A mark with its looks: "black arrow"."""
    return " ".join((*sorted(marker.looks), marker.shape))


def _directions(reading: Reading, marker: Marker, found: list[Marker]) -> tuple[float, float]:
    """How much what stands before a marker counts, and what stands behind it."""
    behind = reading.text[reading.words[marker.last].end : reading.words[marker.last].end + 2]
    if behind[:1] in (":", "=") or (marker.shape.startswith("letter") and _ahead(reading, marker, found)):
        return 0.2, 1.0
    return (1.0, 0.25) if marker.inside else (1.0, 1.0)
