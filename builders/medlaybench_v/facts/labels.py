"""Values that changed labels: "proven in segment VIII, presumed in segment III" told the other way round.

A label tells one of several things from the others: a mark, a letter, a segment, a level, a side, a phase, a time. A
value's label is the only one of its kind in the smallest part of the caption that holds both: a phrase, a clause, a
sentence. Two values that stand with two labels, and each with the other's in the lay caption, were exchanged. Of 1,665
broken and 1,714 faithful pairs of nineteen writers 92 and none have such an exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import combinations
from typing import NamedTuple

from builders.medlaybench_v.facts.binding import keys
from builders.medlaybench_v.facts.certainty import degrees, grouped
from builders.medlaybench_v.facts.clauses import clauses
from builders.medlaybench_v.facts.denials import polarity
from builders.medlaybench_v.facts.imaging import named
from builders.medlaybench_v.facts.markers import markers, name
from builders.medlaybench_v.facts.order import DURING, moments
from builders.medlaybench_v.facts.phrases import TISSUES, numbered, phrases, sentences, with_brackets
from builders.medlaybench_v.facts.poles import SAME, poles
from builders.medlaybench_v.facts.quantities import Quantity, quantities
from builders.medlaybench_v.facts.scan import Reading
from builders.medlaybench_v.facts.senses import ANATOMY, kind_of, senses
from builders.medlaybench_v.facts.sides import sides

_Units = Callable[[Reading], Sequence[tuple[int, int]]]
_UNITS: tuple[_Units, ...] = (phrases, with_brackets, clauses, sentences)
_WAYS_OF_IMAGING = frozenset("phases sequences methods".split())
# Poles that tell of where and when; the others tell what is so there.
_PLACES_AND_TIMES = frozenset(("stage", "end", "vertical", "depth", "sagittal", "before or behind", "heart layer"))
_MEASURES = frozenset("length share angle count volume".split())
_FOUND = frozenset(("finding", "disease"))
_SIGNED = _FOUND | frozenset("symptom treatment state".split())
_PART, _PLACE, _FINDING, _WORD, _CERTAINTY = "part", "place", "finding", "word", "certainty"
# Where a caption finds something it may tell in another part's words; the gates that compare places ask for these.
_TOLD_BY_PARTS = frozenset((_PLACE, _FINDING, _WORD))


class _At(NamedTuple):
    """A value of a kind at a word."""

    kind: str
    value: str
    word: int


def exchanged_labels(expert: Reading, lay: Reading) -> str:
    """Two values of a kind, each of which has the other's label in the lay caption, in words; or ""."""
    here, there = _both_labelled(expert, lay)
    for key in here:
        ours, theirs = here[key], there.get(key, {})
        for one, other in combinations(sorted(ours.keys() & theirs.keys()), 2):
            if ours[one] != ours[other] and (ours[one], ours[other]) == (theirs[other], theirs[one]):
                pairs = ((one, ours[one]), (other, ours[other]))
                return " and ".join(f"{_told(expert, value)} with {_told(expert, label)}" for value, label in pairs)
    return ""


def other_label(expert: Reading, lay: Reading) -> str:
    """A value that has another label in the lay caption, where both captions name both labels, in words; or "".

    Of 1,665 broken and 1,714 faithful pairs 24 and none have one.
    """
    here, there = _both_labelled(expert, lay)
    for (kind, of), ours in here.items():
        theirs = there.get((kind, of), {}) if _is_enough(kind, of) else {}
        for value in sorted(ours.keys() & theirs.keys()):
            label, other = ours[value], theirs[value]
            if label != other and _names(expert, of, other) and _names(lay, of, label):
                return f"{_told(expert, value)} with {_told(expert, label)} became with {_told(lay, other)}"
    return ""


def _is_enough(kind: str, of: str) -> bool:
    """Whether one label of a sort tells whose a value of a kind is: a caption hardly comes back to a segment."""
    certainty, pole = kind == _CERTAINTY, kind.startswith("pole ")
    if of in _ONCE:
        return certainty or pole or kind.startswith("of ") or kind == _FINDING or kind in _MEASURES
    return (of == "letter" and (certainty or pole)) or (of == "side" and certainty)


_ONCE = frozenset(("grade", "level", "stage", "heart layer", "phases"))


def _names(reading: Reading, kind: str, label: str) -> bool:
    return any((at.kind, at.value) == (kind, label) for at in _labels(reading))


def _told(reading: Reading, value: str) -> str:
    """The word by which a caption tells a value or a label."""
    return next(reading.texts[at.word] for at in (*_labels(reading), *_values(reading)) if at.value == value)


_Labelled = dict[tuple[str, str], dict[str, str]]


def _both_labelled(expert: Reading, lay: Reading) -> tuple[_Labelled, _Labelled]:
    """The labels of both captions; none where one caption has no two of a kind."""
    if not expert.get(_by_kind) or not lay.get(_by_kind):
        return {}, {}
    return expert.get(_labelled), lay.get(_labelled)


def _by_kind(reading: Reading) -> dict[str, list[_At]]:
    """The labels of which a caption names more than one."""
    labels: dict[str, list[_At]] = {}
    for label in _labels(reading):
        labels.setdefault(label.kind, []).append(label)
    return {kind: found for kind, found in labels.items() if len({label.value for label in found}) > 1}


def _labelled(reading: Reading) -> dict[tuple[str, str], dict[str, str]]:
    """By the kinds of values and labels, the label of each value that stands with one alone."""
    labels = reading.get(_by_kind)
    cuts = [numbered(unit(reading)) for unit in _UNITS]
    beside = {kind: [(cut, _by_part(found, cut)) for cut in cuts] for kind, found in labels.items()}
    found: dict[tuple[str, str], dict[str, set[str]]] = {}
    for value in (*(at for kind, found in labels.items() if kind != _PART for at in found), *_values(reading)):
        for kind, by_part in beside.items():
            if kind == value.kind or (kind == _PART and value.kind in _TOLD_BY_PARTS):
                continue
            for cut, named_there in by_part:
                with_it = named_there.get(cut[value.word], _NO_LABELS)
                if len(with_it) == 1:
                    break
            found.setdefault((value.kind, kind), {}).setdefault(value.value, set()).update(with_it)
    return {key: {value: min(told) for value, told in by.items() if len(told) == 1} for key, by in found.items()}


_NO_LABELS = frozenset[str]()


def _by_part(labels: list[_At], cut: list[int]) -> Mapping[int, Set[str]]:
    """The labels in each part of the caption that holds any."""
    found: dict[int, set[str]] = {}
    for label in labels:
        found.setdefault(cut[label.word], set()).add(label.value)
    return found


def _labels(reading: Reading) -> Iterator[_At]:
    for marker in reading.get(markers):
        yield _At("letter" if marker.shape.startswith("letter") else "mark", name(marker), marker.first)
    yield from _levels(reading)
    for side in reading.get(sides):
        if side.value in ("left", "right"):
            yield _At("side", side.value, side.first)
    for word, kind, value in reading.get(named):
        if kind in _WAYS_OF_IMAGING:
            yield _At(kind, value, word)
    for moment in reading.get(moments):
        if moment.value != DURING:
            yield _At("time", moment.value, moment.first)
    for pole in reading.get(poles):
        if pole.dimension in _PLACES_AND_TIMES:
            yield _At(pole.dimension, pole.value, pole.first)
    yield from _parts(reading, _PART)


def _levels(reading: Reading) -> Iterator[_At]:
    """Segments and grades, spans of time, and levels of the spine, of which "L4–L5" is one."""
    before: Quantity | None = None
    for quantity in reading.get(quantities):
        level = quantity.kind.startswith("level")
        if before is not None and level and quantity.first <= before.last + 2 and reading.gaps[quantity.first] in _TO:
            before = None  # told with the one before
            continue
        before = quantity if level else None
        if level or quantity.kind == "grade" or (quantity.kind == "time" and not quantity.loose):
            yield _At("level" if level else quantity.kind, f"{quantity.kind} {quantity.value:g}", quantity.first)


_TO = frozenset(("-", "–", "/"))


def _parts(reading: Reading, kind: str) -> Iterator[_At]:
    """The body parts, each told by words of its own; tissues are named of almost anything."""
    for said in reading.get(senses):
        concepts = [sense.concept for sense in said.senses]
        if len(concepts) == 1 and kind_of(concepts[0]) == ANATOMY and concepts[0] not in TISSUES:
            yield _At(kind, concepts[0], said.first)


def _values(reading: Reading) -> Iterator[_At]:
    for degree in reading.get(degrees):
        if group := grouped(degree):
            yield _At(_CERTAINTY, group, degree.first)
    for pole in reading.get(poles):
        if pole.dimension not in _PLACES_AND_TIMES and pole.dimension != "gender" and pole.value != SAME:
            yield _At(f"pole {pole.dimension}", f"{pole.dimension} {pole.value}", pole.first)
    cues = reading.get(polarity).cues
    for said in reading.get(senses):
        denied = sum(cue.start <= said.first < cue.end and not cue.first <= said.first <= cue.last for cue in cues) % 2
        for concept, sign in said.senses:
            if kind_of(concept) in _SIGNED:
                there = (sign > 0) != bool(denied)
                yield _At(f"of {concept}", concept if there else f"no {concept}", said.first)
            if kind_of(concept) in _FOUND and sign > 0:
                yield _At(_FINDING, concept, said.first)
    yield from _parts(reading, _PLACE)
    for first, _, key, weight in reading.get(keys):
        if key[0] == "=" and weight >= 0.8:
            yield _At(_WORD, key, first)
    for quantity in reading.get(quantities):
        if quantity.kind in _MEASURES and not quantity.loose:
            yield _At(quantity.kind, f"{quantity.value:g}", quantity.first)
