"""Values that changed labels: "proven in segment VIII, presumed in segment III" told the other way round.

A label tells one of several things from the others: a mark, a letter, a segment, a level, a side, a phase, a time. A
value's label is the only one of its kind in the smallest part of the caption that holds both: a phrase, a clause, a
sentence. Two values that stand with two labels, and each with the other's in the lay caption, were exchanged. Of 1,665
broken and 1,714 faithful pairs of nineteen writers 92 and none have such an exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence, Set
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
from builders.medlaybench_v.facts.reading import Reading
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
    for _, _, ours, theirs in _both_labelled(expert, lay, _both(expert, lay), 2):
        for one, other in combinations(sorted(ours.keys() & theirs.keys()), 2):
            if ours[one] != ours[other] and (ours[one], ours[other]) == (theirs[other], theirs[one]):
                pairs = ((one, ours[one]), (other, ours[other]))
                return " and ".join(f"{_told(expert, value)} with {_told(expert, label)}" for value, label in pairs)
    return ""


def other_label(expert: Reading, lay: Reading) -> str:
    """A value that has another label in the lay caption, where both captions name both labels, in words; or "".

    Of 1,665 broken and 1,714 faithful pairs 24 and none have one.
    """
    both = {of: labels for of, labels in _both(expert, lay).items() if of in _TELLING}
    for kind, of, ours, theirs in _both_labelled(expert, lay, both, 1):
        for value in sorted(ours.keys() & theirs.keys()) if _is_enough(kind, of) else ():
            if ours[value] != theirs[value] and both[of] >= {ours[value], theirs[value]}:
                return (
                    f"{_told(expert, value)} with {_told(expert, ours[value])} became with {_told(lay, theirs[value])}"
                )
    return ""


def _is_enough(kind: str, of: str) -> bool:
    """Whether one label of a sort tells whose a value of a kind is: a caption hardly comes back to a segment."""
    certainty, pole = kind == _CERTAINTY, kind.startswith("pole ")
    if of in _ONCE:
        return certainty or pole or kind.startswith("of ") or kind == _FINDING or kind in _MEASURES
    return (of == "letter" and (certainty or pole)) or (of == "side" and certainty)


_ONCE = frozenset(("grade", "level", "stage", "heart layer", "phases"))
_TELLING = _ONCE | {"letter", "side"}


def _told(reading: Reading, value: str) -> str:
    """The word by which a caption tells a value or a label."""
    return next(reading.texts[at.word] for at in (*_labels(reading), *_values(reading)) if at.value == value)


_Named = dict[str, dict[str, list[int]]]  # by its kind and value, the words at which each is named


def _both(expert: Reading, lay: Reading) -> dict[str, Set[str]]:
    """By their kind, the labels that both captions name; where they share no two, nothing could have changed."""
    here = expert.get(_by_kind)
    there = lay.get(_by_kind) if here else here
    return {of: both for of in here if of in there and len(both := here[of].keys() & there[of].keys()) > 1}


def _both_labelled(
    expert: Reading, lay: Reading, kinds: Collection[str], least: int
) -> Iterator[tuple[str, str, dict[str, str], dict[str, str]]]:
    """Kinds of values of which both captions name some (`least`), and those of labels; of each caption the label of
    each value that stands with one alone."""
    if not kinds:
        return
    valued = _valued_beside_parts if set(kinds) == {_PART} else _valued
    here, there = expert.get(valued), lay.get(valued)
    for kind in filter(there.__contains__, here):
        values = here[kind].keys() & there[kind].keys()
        for of in kinds if len(values) >= least else ():
            if of != kind and not (of == _PART and kind in _TOLD_BY_PARTS):
                ours = _labelled(expert, of, here[kind], values)
                if len(ours) >= least:
                    yield kind, of, ours, _labelled(lay, of, there[kind], values)


def _by_kind(reading: Reading) -> _Named:
    """The labels of which a caption names more than one."""
    return {kind: labels for kind, labels in _grouped(_labels(reading)).items() if len(labels) > 1}


def _valued(reading: Reading) -> _Named:
    """The values of a caption, labels among them, which may stand with those of another kind."""
    labels = {kind: found for kind, found in reading.get(_by_kind).items() if kind != _PART}
    return labels | _grouped(_values(reading))


def _valued_beside_parts(reading: Reading) -> _Named:
    """Those that may have a body part for their label."""
    labels = {kind: found for kind, found in reading.get(_by_kind).items() if kind != _PART}
    return labels | _grouped(_values(reading, beside_parts=True))


def _grouped(found: Iterator[_At]) -> _Named:
    named: _Named = {}
    for kind, value, word in found:
        named.setdefault(kind, {}).setdefault(value, []).append(word)
    return named


def _cuts(reading: Reading) -> list[list[int]]:
    """The part of a caption that each word is in, of small parts and of larger ones."""
    return [numbered(reading.get(unit)) for unit in _UNITS]


def _labelled(reading: Reading, of: str, words: dict[str, list[int]], values: Set[str]) -> dict[str, str]:
    """The label of each of the values that stands with one alone, in the smallest part of the caption with both."""
    cuts = reading.get(_cuts)
    labels = [(label, at) for label, places in reading.get(_by_kind)[of].items() for at in places]
    found = {}
    for value in values:
        told: set[str] = set()
        for word in words[value]:
            for cut in cuts:
                with_it = {label for label, at in labels if cut[at] == cut[word]}
                if len(with_it) == 1:
                    break
            told |= with_it
        if len(told) == 1:
            found[value] = told.pop()
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


def _values(reading: Reading, *, beside_parts: bool = False) -> Iterator[_At]:
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
            if kind_of(concept) in _FOUND and sign > 0 and not beside_parts:
                yield _At(_FINDING, concept, said.first)
    if not beside_parts:
        yield from _parts(reading, _PLACE)
        for first, _, key, _ in reading.get(keys):
            if key[0] == "=":
                yield _At(_WORD, key, first)
    for quantity in reading.get(quantities):
        if quantity.kind in _MEASURES and not quantity.loose:
            yield _At(quantity.kind, f"{quantity.value:g}", quantity.first)
