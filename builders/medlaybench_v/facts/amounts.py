"""Whether two captions give the same amounts: equal after conversion, or rounded as a writer rounds who says so."""

from __future__ import annotations

from builders.medlaybench_v.facts.binding import Placed, exchanged, turned
from builders.medlaybench_v.facts.bounds import ABOVE, BELOW
from builders.medlaybench_v.facts.leftover import told_anew
from builders.medlaybench_v.facts.markers import markers
from builders.medlaybench_v.facts.numerals import in_figures
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.phrases import named
from builders.medlaybench_v.facts.quantities import Quantity, quantities
from builders.medlaybench_v.facts.ranges import ranges, told_by_range
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.reckoning import (
    MEASURED,
    derived,
    is_added,
    is_complement,
    is_of_a_ratio,
    is_of_a_size,
    is_ratio,
    is_reckoned,
    left_over,
    ratios,
    told_as_part,
    told_by_another,
)
from builders.medlaybench_v.facts.rounding import in_millimetres, kinds_meet, nearly_one_time, roughly, same, same_unit


def compare(expert: Reading, lay: Reading, allowed: Reading) -> Outcome:
    """Every quantity is kept, none is new, and none changed places with another."""
    here, there = expert.get(quantities), lay.get(quantities)
    outcome = Outcome()
    if not here and not there:
        return outcome
    ours, theirs = expert.get(ratios), lay.get(ratios)
    for one, other in sorted(ours - theirs):
        if (other, one) in theirs - ours:
            outcome.add("swapped", f"{one}:{other} became {other}:{one}", Basis.CONTRADICTED)
    if [q[:5] + q[8:] for q in here] != [q[:5] + q[8:] for q in there]:  # the same amounts in the same order are kept
        _kept(expert, here, lay, there, allowed, outcome)
        several = expert.get(ranges) or lay.get(ranges)
        if not outcome.failed and not several and (recounted := _recounted_beside(expert, here, lay, there)):
            outcome.add("changed", recounted, Basis.CONTRADICTED)
    for text in left_over(expert, here, lay, there):
        outcome.add("changed", text, Basis.READ)
    if not outcome.decided:
        _amounts_moved(expert, here, lay, there, outcome)
    return outcome


def _kept(
    expert: Reading, here: list[Quantity], lay: Reading, there: list[Quantity], allowed: Reading, outcome: Outcome
) -> None:
    """Which quantities are lost, changed and new."""
    unmet = [q for q in there if not any(same(e, q) for e in here)]
    taken = {other for other in there if any(q.kind == other.kind and same(q, other) for q in here)}
    lost = [q for q in here if not q.loose and not any(same(q, o) for o in there if q.kind == o.kind or o not in taken)]
    lost = [q for q in lost if not is_of_a_ratio(expert, q, there)]
    lost = [q for q in lost if not (_named_otherwise(q, lay) or told_by_another(q, there, lay))]
    lost = [q for q in lost if not is_reckoned(q, here, unmet, lay)]
    sides = {q for q in there if is_of_a_size(q, lay)}  # that one is the difference of two others is chance
    new = [q for q in unmet if not q.loose and (q in sides or not (derived(q, here) or is_ratio(q, here)))]
    if new:
        keys = {m.shape for m in expert.get(markers) if m.shape.startswith("letter")}
        new = [q for q in new if q.kind != "count" or f"letter {q.text}" not in keys]
        known_there = allowed.get(quantities)
        new = [q for q in new if not any(same(k, q) for k in known_there)]
        new = [q for q in new if q in sides or not is_added(q, here, there)]
        new = [q for q in new if not _is_of_a_scale(lay, q, there)]
    told, met = told_as_part(lost, lay, there)
    for quantity, bare in _with_sign_in_words(lost, lay, there):
        told, met = told | {quantity}, met | {bare}
    if expert.get(ranges) or lay.get(ranges):
        by_range, met_by_range, broken = told_by_range(expert, lost, lay, new)
        told, met = told | by_range, met | met_by_range
        for text in broken:
            outcome.add("changed", text, Basis.READ)
    new = [q for q in new if q not in met]
    for quantity in (q for q in lost if q not in told):
        other = next((q for q in new if kinds_meet(quantity, q) and (q.kind == quantity.kind or not _small(q))), None)
        if other is not None:
            new.remove(other)
            if is_complement(expert, quantity, lay, other):
                continue
            basis = _basis_of_change(expert, quantity, lay, other)
            outcome.add("changed", f"{quantity.text} became {other.text}", basis)
        elif quantity.kind == "ordinal" and not in_figures(quantity.text):
            if not (_DIGITS_OF_THE_BODY | {quantity.text.lower()}) & lay.bag:
                outcome.add("lost", quantity.text, Basis.SOUGHT)
        else:
            outcome.add("lost", quantity.text, _basis(quantity, unmet, lay))
    for quantity in new:
        if not _small(quantity):
            basis = _basis_of_new(quantity, here)
            if basis is Basis.MISSING or not told_anew(expert, lay):
                outcome.add("new", quantity.text, basis)


def _recounted_beside(expert: Reading, here: list[Quantity], lay: Reading, there: list[Quantity]) -> str:
    """A count of some things that became another one of the same things: "two rows of teeth", "three rows"."""
    ours, theirs = (
        [Placed(f"{q.value:g}", q.first, q.last) for q in found if _counts_things(r, q, alone=r is lay)]
        for r, found in ((expert, here), (lay, there))
    )
    turn = turned(expert, ours, lay, theirs, behind=True)
    if not turn:
        return ""
    return f"{expert.said(turn.ours)} became {lay.said(turn.theirs)}"


def _counts_things(reading: Reading, quantity: Quantity, *, alone: bool) -> bool:
    """Whether a number counts things; `alone`: also "one", where no other one is told of."""
    behind = reading.texts[quantity.last + 1 : quantity.last + 2]
    least = 1 if alone and not _NOT_ALONE.intersection(reading.bag) and behind != ["of"] else 2
    return quantity.kind == "count" and least <= quantity.value <= 12 and behind not in _NO_THINGS


_NO_THINGS = (["chamber"], ["chambers"], ["upper"])
_NOT_ALONE = frozenset("other another second both two pair each twin".split())


def _is_recounted(expert: Reading, one: Quantity, lay: Reading, other: Quantity) -> bool:
    """Whether two counts in words are said of the same things: "two nodules", "five small round nodules"."""
    ours = named(expert, one.last + 1, one.last + 3)
    return one.kind == "count" and not one.loose and bool(ours & named(lay, other.last + 1, other.last + 4))


def _with_sign_in_words(lost: list[Quantity], lay: Reading, there: list[Quantity]) -> list[tuple[Quantity, Quantity]]:
    """Negative values whose sign is told: "2.8 standard deviations below", "the shortfall is 1.6"."""
    if _BELOW_ZERO.isdisjoint(lay.bag):
        return []
    pairs = ((q, other) for q in lost if q.value < 0 for other in there)
    return [(q, other) for q, other in pairs if other.value == -q.value and other.kind == q.kind]


_BELOW_ZERO = frozenset("below under beneath less short shortfall deficit minus negative lacks".split())


def _is_of_a_scale(lay: Reading, quantity: Quantity, there: list[Quantity]) -> bool:
    """Whether a number is an end of the scale on which another one is told: "from 0 to 6", "out of five"."""
    if quantity.kind not in ("count", "grade"):
        return False
    before = lay.texts[max(0, quantity.first - 2) : quantity.first]
    if before == ["out", "of"] or (quantity.value == 100.0 and before[-1:] in (["in"], ["of"])):
        return True
    start, end = _statement(lay, quantity)
    end = max(end, *(q.last + 4 for q in there if quantity.first < q.first < quantity.first + 5), quantity.last + 1)
    named = not _SCALE.isdisjoint(lay.texts[max(0, start - 12) : end])
    at_end = before[-1:] in (["from"], ["to"], ["and"]) or lay.texts[quantity.last + 1 : quantity.last + 2] == ["to"]
    return named and at_end


_SCALE = frozenset("scale scales score scores scored system grades graded categories classes runs".split())


def _amounts_moved(
    expert: Reading, here: list[Quantity], lay: Reading, there: list[Quantity], outcome: Outcome
) -> None:
    kinds = [q.kind for q in here]
    several = sorted({kind for kind in kinds if kinds.count(kind) > 1})
    written = _as_written(here, there) if several else []
    for kind in several:
        ours, theirs = ([q for q in found if q.kind == kind] for found in (here, written))
        if kind == "time":  # an age in a unit of its own cannot take the place of another time
            old = [q for q in ours if "old" in expert.texts[q.last : q.last + 2] or expert.texts[q.first - 1] == "aged"]
            ages = {q.value for q in old if sum(same_unit(q, other) for other in ours) == 1}
            ours, theirs = ([q for q in found if q.value not in ages] for found in (ours, theirs))
            if len(ours) < 2:
                continue
        earlier = _earlier(expert, ours), _earlier(lay, theirs)
        if all(earlier):
            if earlier[0] != earlier[1]:
                outcome.add("swapped", " and ".join(q.text for q in ours), Basis.READ)
            continue
        one = kind in ("time", "length")  # "24 weeks + 3 days", "4 × 3 cm" are one
        apart = ours[-1].first - ours[0].last > (3 if one else 1)
        swap = exchanged(expert, _placed(expert, ours), lay, _placed(lay, theirs)) if apart else None
        if swap:
            outcome.moved(f"{swap.one.partition(' ')[2]} and {swap.other.partition(' ')[2]}", sure=False)


def _earlier(reading: Reading, found: list[Quantity]) -> frozenset[float]:
    """Of two amounts the one told as that of an earlier time: "5.6 cm a year ago", "up from 5.6", "which was 5.6"."""
    if len({q.value for q in found}) != 2 or found[0].kind in ("time", "date", "ordinal", "trimester"):
        return frozenset()
    past = set()
    for quantity in found:
        start, end = _statement(reading, quantity)
        ahead = reading.texts[max(start, quantity.first - 3) : quantity.first]
        told = not _AGO.isdisjoint(reading.texts[start:end])
        if "to" not in ahead[-1:] and ("from" in ahead[-1:] or told):
            past.add(quantity.value)
    return frozenset(past) if len(past) == 1 else frozenset()


def _statement(reading: Reading, quantity: Quantity) -> tuple[int, int]:
    """The words around a quantity, up to a stop, and to another amount of its kind."""
    gaps = reading.gaps
    start, end = quantity.first, quantity.last + 1
    others = {
        i
        for q in reading.get(quantities)
        if q.kind == quantity.kind and q is not quantity
        for i in range(q.first, q.last + 1)
    }
    while start and start - 1 not in others and not _parted(gaps[start]):
        start -= 1
    while end < len(gaps) and end not in others and not _parted(gaps[end]):
        end += 1
    return start, end


def _parted(gap: str) -> bool:
    return any(char in gap for char in ".;:?")


_AGO = frozenset("ago earlier previously before formerly".split())


def _basis_of_change(expert: Reading, quantity: Quantity, lay: Reading, other: Quantity) -> Basis:
    """Only amounts of one kind, each with its unit, exactly told, and names of one scale contradict each other."""
    if {quantity.kind, other.kind} == {"French", "length"}:
        quantity, other = in_millimetres(quantity), in_millimetres(other)
    if nearly_one_time(quantity, other) or roughly(quantity, other):
        return Basis.UNMET
    if quantity.value == -other.value and quantity.kind != "HU":
        return Basis.UNMET  # "3 mm behind"
    if other.value == 2 * quantity.value and not _HALF.isdisjoint(lay.texts[max(0, other.first - 8) : other.first]):
        return Basis.UNMET  # "halfway through a pregnancy of forty weeks"
    if quantity.kind != other.kind:
        named = quantity.kind[:5] == "level" and other.kind[:5] in ("level", "ordin")  # "T11", "the tenth"
        return Basis.CONTRADICTED if named or quantity.kind == "French" else Basis.READ
    if quantity.kind in _WITHOUT_UNIT:
        return Basis.CONTRADICTED if _is_recounted(expert, quantity, lay, other) else Basis.READ
    if other.bound in _LIMITS and not quantity.bound and abs(other.value - quantity.value) <= 0.4 * abs(quantity.value):
        return Basis.READ if quantity.step else Basis.UNMET  # "under 3 mm" of 8 French
    return Basis.CONTRADICTED


_HALF = frozenset(("halfway", "midway"))
_LIMITS = frozenset(("<", ">", ABOVE, BELOW))
_WITHOUT_UNIT = frozenset(("count", "ordinal", "rate"))


def _basis_of_new(quantity: Quantity, here: list[Quantity]) -> Basis:
    """A measure in digits of a kind that the expert caption does not give; others may be told from what it gives."""
    years = quantity.kind == "time" and quantity.value > 3650  # an age
    measured = in_figures(quantity.text) and (years or quantity.kind in MEASURED)
    return Basis.MISSING if measured and all(q.kind != quantity.kind for q in here) else Basis.UNMET


def _basis(quantity: Quantity, unmet: list[Quantity], lay: Reading) -> Basis:
    """A measure can hardly be told without a number; a count, a share, a time or a level can."""
    told = quantity.kind not in MEASURED or quantity.bound or unmet or not _LIKENED.isdisjoint(lay.bag)
    return Basis.SOUGHT if told else Basis.MISSING


# Words by which a size is told through another thing: "twice as wide", "like a pea".
_LIKENED = frozenset("half third quarter twice double fingertip pea grape".split())


_DIGITS_OF_THE_BODY = frozenset("little big thumb pinky ring index forefinger great".split())


def _small(quantity: Quantity) -> bool:
    """A count in words that a plain sentence may need: "three things", "the fourth"."""
    return quantity.kind in ("count", "ordinal") and quantity.value <= 4 and not in_figures(quantity.text)


def _named_otherwise(quantity: Quantity, lay: Reading) -> bool:
    """A count told by listing or by a word: two by "both", one by the singular, S1 by "the sacrum"."""
    if quantity.kind == "level S" and "sacrum" in lay.bag:
        return True
    return quantity.kind in ("count", "ordinal") and quantity.value <= 2 and not in_figures(quantity.text)


def _as_written(here: list[Quantity], there: list[Quantity]) -> list[Quantity]:
    """The lay quantities under the values of the expert ones that they state."""
    written = []
    for quantity in there:
        match = next((e for e in here if not e.loose and same(e, quantity)), None)
        if match is not None:
            written.append(match._replace(first=quantity.first, last=quantity.last))
    return written


def _placed(reading: Reading, found: list[Quantity]) -> list[Placed]:
    placed = []
    for q in found:
        behind = reading.behind(q.last)
        before = 0.0 if behind == ":" else 1.0  # "Third day: the fluid is drained"
        # "an effusion on day 1, tamponade on day 2", "a peak gradient of 92 mmHg, a mean of 55 mmHg"
        joint = reading.texts[max(0, q.first - 1)]
        closes = (joint == "of" or (q.kind == "time" and joint == "on")) and behind in (",", ";", ".")
        if not q.loose:
            name = f"{q.kind}:{q.value:.6g}{q.letter[:1]} {q.text}"
            placed.append(Placed(name, q.first, q.last, before, 0.2 if closes else 1.0))
    return placed
