"""What each marker of a figure points to, and markers that point to what another one pointed to.

An arrow in parentheses follows what it marks; a lay caption may put it first ("the white arrows point to …").
"""

from __future__ import annotations

from bisect import bisect_right

from builders.medlaybench_v.facts.binding import Exchange, Placed, exchanged, in_order, keys, likeness, only
from builders.medlaybench_v.facts.markers import POINTS, SHAPES, TRAITS, Marker, name
from builders.medlaybench_v.facts.order import moments
from builders.medlaybench_v.facts.phrases import moved, phrase_of, replaced
from builders.medlaybench_v.facts.poles import poles
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.wordings import IMAGING


def letters_moved(expert: Reading, here: list[Marker], lay: Reading, there: list[Marker]) -> list[str]:
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
    told: dict[str, dict[str, set[str]]] = {}
    for marker, (first, last) in zip(found, _spans(reading, found), strict=True):
        if not marker.shape.startswith("letter"):
            continue
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


def _placed(reading: Reading, found: list[Marker]) -> list[Placed]:
    """Each marker with the words that describe it: "thick" of a thick arrow is no finding."""
    ahead = _ahead(reading, found)
    return [
        Placed(name(m), *_described(reading, m), *_directions(reading, m, tells))
        for m, tells in zip(found, ahead, strict=True)
    ]


def _described(reading: Reading, marker: Marker) -> tuple[int, int]:
    first, last = marker.first, marker.last
    while first and (reading.texts[first - 1] in TRAITS or reading.texts[first - 1] in SHAPES):
        first -= 1
    if reading.texts[last + 1 : last + 2] and reading.texts[last + 1] in _POINTING:
        last += 1
    return first, last


def _opens(reading: Reading, marker: Marker) -> bool:
    """Whether a mark in parentheses opens a statement: "(A) CT without dye. (B) MRI"."""
    before = reading.text[: reading.starts[marker.first]].rstrip(" (")
    return not before or before[-1] in ".:;"


def _tells_ahead(reading: Reading, marker: Marker) -> bool:
    """Whether a mark is the subject of what follows: "the arrow shows", "A: before", "(A) before"."""
    if marker.inside:
        return _opens(reading, marker)
    behind = reading.behind(marker.last)
    if behind in (".", ";") or reading.word(marker.first - 1) in ("labelled", "labeled"):
        return False
    following = reading.texts[marker.last + 1 : marker.last + 2]
    return behind in (":", "=", ",") or (bool(following) and following[0] in POINTS)


def _ahead(reading: Reading, found: list[Marker]) -> list[bool]:
    """Of each mark what `_tells_ahead` says; where one mark does, "and the curved arrow Y" does too."""
    ahead = []
    opened = told = False  # by an earlier letter in parentheses; by an earlier mark outside of them
    for marker in found:
        tells = _tells_ahead(reading, marker)
        if marker.inside:  # "(A) axial and (B) sagittal"
            letter = marker.shape.startswith("letter")
            ahead.append(tells or (letter and opened))
            opened |= letter and tells
        else:
            ahead.append(tells or (told and reading.behind(marker.last) == " "))
            told |= tells
    return ahead


def moved_marks(expert: Reading, here: list[Marker], lay: Reading, there: list[Marker]) -> Exchange | None:
    """Two marks that changed places."""
    if len(here) < 2 or len(there) < 2:
        return None
    ours, theirs = [name(m) for m in here], [name(m) for m in there]
    if len(set(ours) & set(theirs)) < 2 or (ours == theirs and in_order(expert, lay)):
        return None
    swap = exchanged(expert, _placed(expert, here), lay, _placed(lay, there))
    return swap if swap and swap.sure else exchanged_marks(expert, here, lay, there) or swap


def exchanged_marks(expert: Reading, here: list[Marker], lay: Reading, there: list[Marker]) -> Exchange | None:
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
            if inside and not key.startswith(("@", "side ")) and (reading.texts[start] not in TRAITS or key == "fat"):
                bag[key] = max(bag.get(key, 0.0), weight)
        if marker.shape.startswith("letter"):  # panels are told apart by how they were made
            made = (named for i, matches in IMAGING.matches(reading) if first <= i < last for named in matches[0][1])
            bag |= {f"{says} {value}": 1.0 for says, value in made}
        bags[name(marker)] = {**bags.get(name(marker), {}), **bag}
    return bags


def _spans(reading: Reading, found: list[Marker]) -> list[tuple[int, int]]:
    """The words [first, last) that each mark is said of, up to the next stop or mark."""
    stops = [i for i, gap in enumerate(reading.gaps) if i and gap != " " and not _STOPS.isdisjoint(gap)]
    stops = [0, *stops, len(reading.texts) + 1]
    starts = [*(marker.first for marker in found), len(reading.texts) + 1]
    spans = []
    for n, (marker, ahead) in enumerate(zip(found, _ahead(reading, found), strict=True)):
        if ahead:
            first = marker.last + 1
            spans.append((first, min(stops[bisect_right(stops, first)], starts[bisect_right(starts, first)])))
        else:
            before = found[n - 1].last + 1 if n else 0
            spans.append((max(stops[bisect_right(stops, marker.first) - 1], before), marker.first))
    return spans


_STOPS = frozenset(".;:")
_POINTING = frozenset("mark marks show shows indicate indicates point points denote denotes".split())


def _directions(reading: Reading, marker: Marker, ahead: bool) -> tuple[float, float]:
    """How much what stands before a marker counts, and what stands behind it."""
    if reading.behind(marker.last) in (":", "=") or (marker.shape.startswith("letter") and ahead):
        return 0.2, 1.0
    return (1.0, 0.25) if marker.inside else (1.0, 1.0)
