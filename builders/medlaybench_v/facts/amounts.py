"""Whether two captions give the same amounts: equal after conversion, or rounded as a writer rounds who says so."""

from __future__ import annotations

import re
from itertools import pairwise

from builders.medlaybench_v.facts.binding import Placed, exchanged, turned
from builders.medlaybench_v.facts.leftover import told_anew
from builders.medlaybench_v.facts.markers import markers
from builders.medlaybench_v.facts.outcome import Basis, Outcome
from builders.medlaybench_v.facts.phrases import named
from builders.medlaybench_v.facts.quantities import ABOVE, BELOW, DECADE, Quantity, quantities
from builders.medlaybench_v.facts.ranges import may_stand_for, ranges, told_by_range
from builders.medlaybench_v.facts.scan import Reading
from builders.medlaybench_v.facts.units import UNITS


def same(expert: Quantity, lay: Quantity) -> bool:
    """Whether a lay quantity states an expert one: equal after conversion, or rounded as its digits or words say."""
    if not _kinds_meet(expert, lay):
        return False
    if {expert.bound, lay.bound} == {">", "<"}:
        return False
    if "stage" in (expert.kind, lay.kind) and (expert.kind, expert.letter) != (lay.kind, lay.letter):
        return False
    if expert.letter and lay.letter and expert.letter[:1] != lay.letter[:1]:
        return False
    if (expert.kind, lay.kind) == ("count", "share") and 0 < expert.value < 1:
        return abs(expert.value * 100 - lay.value) < 0.5
    if (expert.kind, lay.kind) == ("mass", "volume"):  # an ounce is a weight, too
        return abs(expert.value - lay.raw * 28.35) <= 0.13 * expert.value
    if expert.kind != lay.kind and {expert.kind, lay.kind} != {"French", "length"}:
        return expert.raw == lay.raw or expert.raw == -lay.raw < 0  # "fifteen points below zero"
    value = expert.value / 3.0 if (expert.kind, lay.kind) == ("French", "length") else expert.value
    other = lay.value / 3.0 if (lay.kind, expert.kind) == ("French", "length") else lay.value
    if (value < 0) != (other < 0):
        return False
    if value == other:
        return True
    if expert.kind in _NAMES_ONE or expert.kind.startswith("level"):
        return False
    if lay.bound == DECADE:  # "in her sixties"
        years = expert.raw % 10
        part = _PARTS_OF_DECADE.get(lay.letter, (0, 9))
        in_decade = int(expert.raw // 10) == int(lay.raw // 10) and part[0] <= years <= part[1]
        return in_decade and abs(expert.value / expert.raw - 365.25) < 0.01
    gap = abs(value - other)
    if lay.bound in (ABOVE, BELOW) and not expert.bound:  # "a little over an inch"
        most = 0.25 if lay.loose else 0.2
        return 0 <= (value - other if lay.bound == ABOVE else other - value) <= most * abs(value)
    if gap <= 1e-6 * max(abs(value), 1.0):
        return True
    if expert.step and expert.bound != lay.bound and lay.bound in ("<", ">"):  # "less than 100" of 99
        beyond = other - value if lay.bound == "<" else value - other
        if 0 < beyond <= expert.step * 1.01:
            return True
    if expert.kind == "time":  # eight weeks are two months; nine months, told so, are no ten
        return gap <= (0.035 if _same_unit(expert, lay) else 0.15 if lay.bound == "~" else 0.09) * abs(value)
    size = max(abs(value), 1e-9)
    if lay.step and lay.step > expert.step and gap <= lay.step / 2 * 1.02:
        return gap <= 0.12 * size
    if lay.bound == "~" and lay.loose:  # "close to a centimetre"
        return gap <= 0.25 * size
    if lay.bound:
        rounder = lay.raw % 5 == 0 and lay.raw >= 10 and expert.raw % 5 != 0  # 30 for 29, and not 31
        return gap <= 0.13 * size and (lay.step != expert.step or rounder)
    if not lay.step:  # told in words: "half an inch"
        return gap <= 0.06 * size
    imperial = abs(lay.value / lay.raw - 25.4) < 0.01 if lay.raw else False
    return imperial and gap <= 0.07 * size


_PARTS_OF_DECADE = {"early": (0, 4), "mid": (3, 7), "middle": (3, 7), "late": (6, 9)}


def _same_unit(one: Quantity, other: Quantity) -> bool:
    return abs(one.value * other.raw - other.value * one.raw) < 1e-6 * abs(one.value * other.raw)


_NAMES_ONE = frozenset(
    ("date", "stage", "grade", "ordinal", "trimester")
)  # no amounts: a number near it is another one
_COUNTS = frozenset(("count", "grade", "ordinal", "fold", "date", "rate"))


def _kinds_meet(expert: Quantity, lay: Quantity) -> bool:
    if expert.kind == lay.kind:
        return True
    if {expert.kind, lay.kind} == {"French", "length"}:
        return True
    if (expert.kind, lay.kind) == ("mass", "volume"):
        return abs(lay.value - lay.raw * UNITS["ounce"][1]) < 1e-6
    if expert.kind.startswith("level"):
        return lay.kind in ("ordinal", "count", "grade") and not lay.letter
    if lay.kind.startswith("level"):
        return expert.kind in ("ordinal", "count")
    if "stage" in (expert.kind, lay.kind):
        return False
    if {expert.kind, lay.kind} == {"angle", "temperature"}:
        return True
    if expert.kind in _COUNTS:
        return lay.kind in _COUNTS or (
            expert.kind in ("ordinal", "grade", "count") and lay.kind in ("time", "share", "French", "rate")
        )
    return lay.kind in ("count", "date") and expert.kind != "trimester"


# ------------------------------------------------------------------------------------------------------------ compare


def compare(expert: Reading, lay: Reading, allowed: Reading) -> Outcome:
    """Every quantity is kept, none is new, and none changed places with another."""
    here, there = expert.get(quantities), lay.get(quantities)
    outcome = Outcome()
    if not here and not there:
        return outcome
    ours, theirs = expert.get(_ratios), lay.get(_ratios)
    for one, other in sorted(ours - theirs):
        if (other, one) in theirs - ours:
            outcome.add("swapped", f"{one}:{other} became {other}:{one}", Basis.CONTRADICTED)
    if [q[:5] + q[8:] for q in here] != [q[:5] + q[8:] for q in there]:  # the same amounts in the same order are kept
        _kept(expert, here, lay, there, allowed, outcome)
        several = expert.get(ranges) or lay.get(ranges)
        if not outcome.failed and not several and (recounted := _recounted_beside(expert, here, lay, there)):
            outcome.add("changed", recounted, Basis.CONTRADICTED)
    for text in _left_over(expert, here, lay, there):
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
    lost = [q for q in lost if not _is_of_a_ratio(expert, q, there)]
    lost = [q for q in lost if not (_named_otherwise(q, lay) or _told_by_another(q, there, lay))]
    lost = [q for q in lost if not _is_reckoned(q, here, unmet, lay)]
    new = [q for q in unmet if not q.loose and not _derived(q, here) and not _is_ratio(q, here)]
    if new:
        keys = {m.shape for m in expert.get(markers) if m.shape.startswith("letter")}
        new = [q for q in new if q.kind != "count" or f"letter {q.text}" not in keys]
        known_there = allowed.get(quantities)
        new = [q for q in new if not any(same(k, q) for k in known_there)]
        new = [q for q in new if not _is_added(q, here, there)]
        stages = {q.value for q in here if q.kind == "stage"}  # "its lymph node stage is 1" of T3N1M0
        new = [q for q in new if not (q.kind in ("count", "grade") and q.raw in stages)]
        new = [q for q in new if not _is_of_a_scale(lay, q, there)]
    told, met = _told_as_part(lost, lay, there)
    for quantity, bare in _with_sign_in_words(lost, lay, there):
        told, met = told | {quantity}, met | {bare}
    if expert.get(ranges) or lay.get(ranges):
        by_range, met_by_range, broken = told_by_range(expert, lost, lay, new)
        told, met = told | by_range, met | met_by_range
        for text in broken:
            outcome.add("changed", text, Basis.READ)
    new = [q for q in new if q not in met]
    for quantity in (q for q in lost if q not in told):
        other = next((q for q in new if _kinds_meet(quantity, q) and (q.kind == quantity.kind or not _small(q))), None)
        if other is not None:
            new.remove(other)
            if _is_complement(expert, quantity, lay, other):
                continue
            basis = _basis_of_change(expert, quantity, lay, other)
            outcome.add("changed", f"{quantity.text} became {other.text}", basis)
        elif quantity.kind == "ordinal" and not _is_digit(quantity):
            if not (_DIGITS_OF_THE_BODY | {quantity.text.lower()}) & lay.bag:
                outcome.doubts.append(f"lost: {quantity.text}")
        else:
            outcome.add("lost", quantity.text, _basis(expert, quantity, unmet, lay))
    for quantity in new:
        if not _small(quantity):
            counted = (q.text for q in here if q.kind == quantity.kind and _is_recounted(expert, q, lay, quantity))
            basis = _basis_of_new(quantity, here)
            if counted_here := next(counted, ""):
                outcome.changed.append(f"{counted_here} became {quantity.text}")
            elif basis is Basis.MISSING or not told_anew(expert, lay):
                outcome.add("new", quantity.text, basis)


def _recounted_beside(expert: Reading, here: list[Quantity], lay: Reading, there: list[Quantity]) -> str:
    """A count of some things that became another one of the same things: "two rows of teeth", "three rows"."""
    ours, theirs = (
        [Placed(f"{q.value:g}", q.first, q.last) for q in found if _counts_things(r, q)]
        for r, found in ((expert, here), (lay, there))
    )
    turn = turned(expert, ours, lay, theirs, behind=True)
    if not turn:
        return ""
    return f"{expert.said(turn.ours)} became {lay.said(turn.theirs)}"


def _counts_things(reading: Reading, quantity: Quantity) -> bool:
    behind = reading.texts[quantity.last + 1 : quantity.last + 2]
    return (
        quantity.kind == "count" and 2 <= quantity.value <= 12 and behind not in (["chamber"], ["chambers"], ["upper"])
    )


def _is_recounted(expert: Reading, one: Quantity, lay: Reading, other: Quantity) -> bool:
    """Whether two counts in words are said of the same things: "two nodules", "five small round nodules"."""
    if one.kind == "fold":
        return True
    ours = named(expert, one.last + 1, one.last + 3)
    return one.kind == "count" and not one.loose and bool(ours & named(lay, other.last + 1, other.last + 4))


def _with_sign_in_words(lost: list[Quantity], lay: Reading, there: list[Quantity]) -> list[tuple[Quantity, Quantity]]:
    """Negative values whose sign is told: "2.8 standard deviations below", "the shortfall is 1.6"."""
    if _BELOW_ZERO.isdisjoint(lay.bag):
        return []
    pairs = ((q, other) for q in lost if q.value < 0 for other in there)
    return [(q, other) for q, other in pairs if other.value == -q.value and other.kind == q.kind]


_BELOW_ZERO = frozenset("below under beneath less lower short shortfall deficit minus negative lacks".split())


def _left_over(expert: Reading, here: list[Quantity], lay: Reading, there: list[Quantity]) -> list[str]:
    """Shares by which something shrank that became what is left of it: "a 90% stenosis", "narrowed to 90 percent"."""
    found = []
    for other in (q for q in there if q.kind == "share" and _is_left(lay, q)):
        for quantity in (q for q in here if q.kind == "share" and same(q, other) and not _is_left(expert, q)):
            loss = next(filter(_LOSSES.__contains__, expert.texts[quantity.last + 1 : quantity.last + 4]), "")
            if loss and abs(other.value - 50.0) > 3.0:
                found.append(f"{quantity.text} {loss} became {other.text} left")
    for other in (q for q in there if q.kind == "share" and "to" in lay.texts[max(0, q.first - 3) : q.first]):
        shrinks = not _SHRINKS.isdisjoint(lay.texts[max(0, other.first - 7) : other.first])
        shrinks = shrinks and abs(other.value - 50.0) > 3.0
        for quantity in (q for q in here if shrinks and q.kind == "share" and same(q, other)):
            if "to" not in expert.texts[max(0, quantity.first - 3) : quantity.first]:
                found.append(f"{quantity.text} became to {other.text}")
    return found


_SHRINKS = frozenset(
    "narrowed narrows narrow reduced reduces shrunk shrank shrinks fallen fell dropped decreased cut down".split()
)


def _is_left(reading: Reading, share: Quantity) -> bool:
    """Whether a share is followed by what says that it is there: "70% of it is open"."""
    return not _REST.isdisjoint(reading.texts[share.last + 1 : share.last + 8])


_LOSSES = frozenset("stenosis stenoses loss lost narrowing obstruction reduction compression".split())


def _told_as_part(lost: list[Quantity], lay: Reading, there: list[Quantity]) -> tuple[set[Quantity], set[Quantity]]:
    """Shares told by two counts, with these counts: "four in five", "95 out of 100"."""
    told: set[Quantity] = set()
    met: set[Quantity] = set()
    shares = [q for q in lost if q.kind == "share"]
    for part, whole in pairwise(there) if shares else ():
        between = tuple(lay.texts[part.last + 1 : whole.first])
        if between in _OUT_OF and whole.kind == "count" and 0 < part.value <= whole.value:
            share = 100.0 * part.value / whole.value
            for quantity in shares:
                if abs(quantity.value - share) <= (0.12 if part.bound else 0.04) * share:
                    told.add(quantity)
                    met |= {part, whole}
    return told, met


_OUT_OF = frozenset((("in",), ("out", "of"), ("of", "every"), ("in", "every"), ("out", "of", "every")))


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


def _roughly(quantity: Quantity, other: Quantity) -> bool:
    """Whether an amount is told as no exact one, and not far from it: only a reader can tell how roughly one may."""
    if quantity.kind != other.kind or quantity.kind in _NAMES_ONE or quantity.kind[:5] == "level" or not quantity.value:
        return False
    if {quantity.bound, other.bound} == {"<", ">"}:
        return False
    gap = abs(other.value - quantity.value) / abs(quantity.value)
    if other.bound in (ABOVE, BELOW):  # "just over a third" of 28 % is none
        beyond = quantity.value - other.value if other.bound == ABOVE else other.value - quantity.value
        return beyond >= 0 and gap <= 0.35
    if quantity.kind == "share":
        return other.bound == "~" and abs(other.value - quantity.value) <= 6.0
    return gap <= (0.3 if other.bound == "~" else 0.12 if not _same_unit(quantity, other) else 0.0)


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
            ages = {q.value for q in old if sum(_same_unit(q, other) for other in ours) == 1}
            ours, theirs = ([q for q in found if q.value not in ages] for found in (ours, theirs))
            if len(ours) < 2:
                continue
        earlier = _earlier(expert, ours), _earlier(lay, theirs)
        if all(earlier):
            if earlier[0] != earlier[1]:
                outcome.add("swapped", " and ".join(q.text for q in ours), Basis.READ)
            continue
        apart = ours[-1].first - ours[0].last > 3  # "24 weeks + 3 days" is one time
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
    words, text = reading.words, reading.text
    start, end = quantity.first, quantity.last + 1
    others = {
        i
        for q in reading.get(quantities)
        if q.kind == quantity.kind and q is not quantity
        for i in range(q.first, q.last + 1)
    }
    while start and start - 1 not in others and not _parted(text[words[start - 1].end : words[start].start]):
        start -= 1
    while end < len(words) and end not in others and not _parted(text[words[end - 1].end : words[end].start]):
        end += 1
    return start, end


def _parted(gap: str) -> bool:
    return any(char in gap for char in ".;:?")


_AGO = frozenset("ago earlier previously before formerly".split())


def _basis_of_change(expert: Reading, quantity: Quantity, lay: Reading, other: Quantity) -> Basis:
    """Only amounts of one kind, each with its unit, exactly told, and names of one scale contradict each other."""
    if _nearly_one_time(quantity, other) or _roughly(quantity, other):
        return Basis.UNMET
    if quantity.value == -other.value:
        return Basis.UNMET  # "3 mm behind"
    if other.value == 2 * quantity.value and not _HALF.isdisjoint(lay.texts[max(0, other.first - 8) : other.first]):
        return Basis.UNMET  # "halfway through a pregnancy of forty weeks"
    if quantity.kind != other.kind:
        named = quantity.kind[:5] == "level" and other.kind == "ordinal"  # "T11", "the tenth"
        return Basis.CONTRADICTED if named else Basis.READ
    if quantity.kind in _WITHOUT_UNIT:
        return Basis.CONTRADICTED if _is_recounted(expert, quantity, lay, other) else Basis.READ
    if other.bound in _LIMITS and not quantity.bound and abs(other.value - quantity.value) <= 0.4 * abs(quantity.value):
        return Basis.READ
    return Basis.CONTRADICTED


_HALF = frozenset(("halfway", "midway"))


def _is_complement(expert: Reading, one: Quantity, lay: Reading, other: Quantity) -> bool:
    """Whether one share is what the other one leaves: of a narrowing by 70% three tenths stay open."""
    if not one.kind == other.kind == "share" or abs(one.value + other.value - 100.0) > 3.0:
        return False
    rests = [not _REST.isdisjoint(r.texts[max(0, q.first - 8) : q.last + 9]) for r, q in ((expert, one), (lay, other))]
    return rests[0] != rests[1]


_REST = frozenset(
    "open remain remains remaining remained free spared preserved kept keeps retained patent normal usual "
    "original".split()
)


_LIMITS = frozenset(("<", ">", ABOVE, BELOW))
_WITHOUT_UNIT = frozenset(("count", "ordinal", "rate"))


def _basis_of_new(quantity: Quantity, here: list[Quantity]) -> Basis:
    """A measure in digits of a kind that the expert caption does not give; others may be told from what it gives."""
    years = quantity.kind == "time" and quantity.value > 3650  # an age
    measured = _is_digit(quantity) and (years or quantity.kind in _MEASURED)
    return Basis.MISSING if measured and all(q.kind != quantity.kind for q in here) else Basis.UNMET


def _basis(expert: Reading, quantity: Quantity, unmet: list[Quantity], lay: Reading) -> Basis:
    """A measure can hardly be told without a number; a count, a share, a time or a level can."""
    if quantity.kind not in _MEASURED or quantity.bound or unmet or not _LIKENED.isdisjoint(lay.bag):
        return Basis.UNMET
    return Basis.UNMET if may_stand_for(expert, quantity, lay) else Basis.MISSING


_MEASURED = frozenset(("grade", "length", "volume", "mass", "HU", "French", "gauge", "pressure", "temperature", "dose"))
# Words by which a size is told through another thing: "twice as wide", "like a pea".
_LIKENED = frozenset("half third quarter twice double fingertip pea grape".split())


def _nearly_one_time(quantity: Quantity, other: Quantity) -> bool:
    """Whether two times in different units may be one, roundly told: "eight weeks", "two months"."""
    if not quantity.kind == other.kind == "time" or _same_unit(quantity, other):
        return False
    return 0.7 <= other.value / quantity.value <= 1.4 if quantity.value else False


def _told_by_another(quantity: Quantity, there: list[Quantity], lay: Reading) -> bool:
    """A quantity told by others: "half as wide", "a third of that", "7 mm slimmer", "six weeks later and six more"."""
    if quantity.value == 0 and {"start", "beginning", "first", "once", "immediately"} & set(lay.texts):
        return True
    alike = [q for q in there if q.kind == quantity.kind and not (q.loose and q.kind == "count")]
    if quantity.kind == "length" and re.search(r"\bhalf (?:as|the|that|of that|its)\b", lay.lower):
        return any(abs(q.value - 2 * quantity.value) < 0.05 * q.value for q in alike)
    shares = [q.value / 100.0 for q in there if q.kind == "share"] if quantity.kind in _MEASURED else []
    if any(abs(q.value * share - quantity.value) <= 0.03 * quantity.value for q in alike for share in shares):
        return True
    further = _FURTHER if quantity.kind == "count" else _FURTHER | _APART
    if quantity.kind not in ("time", "length", "count") or further.isdisjoint(lay.bag):
        return False
    return any(
        abs(a.value + b.value - quantity.value) < 1e-6 or abs(abs(a.value - b.value) - quantity.value) < 1e-6
        for i, a in enumerate(alike)
        for b in alike[:i]
    )


def _is_reckoned(quantity: Quantity, here: list[Quantity], unmet: list[Quantity], lay: Reading) -> bool:
    """A quantity told from another one of the expert caption: "four weeks afterwards" of week 9 and week 13, "half of
    them" of 1,200, "cut in half" of 6.0 and 3.0."""
    others = [q for q in here if q is not quantity and q.kind == quantity.kind and q.kind not in _NAMES_ONE and q.value]
    factors = [_FACTORS[word] for word in _FACTORS.keys() & lay.bag]
    factors += [q.value / 100.0 for q in unmet if q.kind == "share"] if quantity.kind == "count" else []
    factors += [q.value for q in unmet if q.kind == "fold"]  # "three times as much" of 75% and 25%
    steps = [q.value for q in unmet if q.kind == quantity.kind and (q.kind == "time" or _is_a_step(q, lay))]
    close = 0.01 * abs(quantity.value)
    return any(
        any(abs(other.value * factor - quantity.value) <= close for factor in factors)
        or any(abs(abs(other.value - quantity.value) - step) <= close for step in steps)
        for other in others
    )


def _is_a_step(quantity: Quantity, lay: Reading) -> bool:
    """Whether an amount with a unit is told as a difference: "put on 4 mm", "fell by 20 mmHg", "7 mm more"."""
    near = {*lay.texts[max(0, quantity.first - 3) : quantity.first], *lay.texts[quantity.last + 1 : quantity.last + 3]}
    return quantity.kind in _MEASURED and not (_FURTHER | _APART | _GAINS).isdisjoint(near)


_GAINS = frozenset("by gained gains put lost added adding shed difference growth drop rise".split())


_FACTORS = {"half": 0.5, "halved": 0.5, "doubled": 2.0, "twice": 2.0, "tripled": 3.0}


def _is_of_a_ratio(expert: Reading, quantity: Quantity, there: list[Quantity]) -> bool:
    """Whether a number stands in a ratio that the lay caption tells otherwise: 2:1 as "twice as wide"."""
    if quantity.kind != "count" or ":" not in expert.text:
        return False
    at = expert.words[quantity.first].start
    ratio = next((match for match in _RATIO.finditer(expert.text) if match.start() <= at < match.end()), None)
    if ratio is None or not float(ratio[1]) or not float(ratio[2]):
        return False
    values = float(ratio[1]) / float(ratio[2]), float(ratio[2]) / float(ratio[1])
    told = [q.value / (100.0 if q.kind == "share" else 1.0) for q in there if q.kind in ("fold", "share")]
    return any(abs(value - other) <= 0.03 * value for value in values for other in told)


def _ratios(reading: Reading) -> frozenset[tuple[str, str]]:
    """The ratios that a caption gives in figures: "2:1"."""
    return frozenset(_RATIO.findall(reading.text)) if ":" in reading.text else frozenset()


_RATIO = re.compile(r"(?<![\w:.])(\d+(?:\.\d+)?) ?: ?(\d+(?:\.\d+)?)(?![\w:]|\.\d)")


_APART = frozenset(
    "wider slimmer narrower thicker thinner longer shorter taller larger smaller bigger over above under below between "
    "passed apart".split()
)
_FURTHER = frozenset("more further another additional fewer less later earlier extra".split())


def _is_added(quantity: Quantity, here: list[Quantity], there: list[Quantity]) -> bool:
    """ "Three days past the 28-week mark" of 28 weeks and 3 days, "7 mm slimmer" than 38 mm."""
    if quantity.kind not in ("time", "length"):
        return False
    wanted = {round(q.value - quantity.value, 6) for q in here if q.kind == quantity.kind}
    return any(round(q.value, 6) in wanted for q in there if q is not quantity and q.kind == quantity.kind)


def _is_digit(quantity: Quantity) -> bool:
    return quantity.text[:1].isdigit()


_DIGITS_OF_THE_BODY = frozenset("little big thumb pinky ring index forefinger great".split())


def _small(quantity: Quantity) -> bool:
    """A count in words that a plain sentence may need: "three things", "the fourth"."""
    return quantity.kind in ("count", "ordinal") and quantity.value <= 4 and not _is_digit(quantity)


def _named_otherwise(quantity: Quantity, lay: Reading) -> bool:
    """A count told by listing or by a word: two by "both", one by the singular, S1 by "the sacrum"."""
    if quantity.kind == "level S" and "sacrum" in lay.bag:
        return True
    return quantity.kind in ("count", "ordinal") and quantity.value <= 2 and not _is_digit(quantity)


def _derived(quantity: Quantity, known_here: list[Quantity]) -> bool:
    """The difference or the sum of two known ones: "four weeks earlier"."""
    values = [q.value for q in known_here if q.kind == quantity.kind]
    years = [q.value for q in known_here if q.kind == "date" and q.value > 1900]
    if quantity.kind == "time" and any(abs(a - b) * 365.25 == quantity.value for a in years for b in years):
        return True  # "three years on" of 2015 and 2018
    return quantity.kind in ("time", "length") and any(
        abs(abs(a - b) - quantity.value) < 1e-6 * max(a, 1.0) for i, a in enumerate(values) for b in values[:i]
    )


def _is_ratio(quantity: Quantity, here: list[Quantity]) -> bool:
    """What one of two known numbers is of the other, or by how much they differ: 12.4 and 3.1, "a quarter"."""
    if quantity.kind not in ("share", "fold"):
        return False
    share = quantity.value * (1.0 if quantity.kind == "share" else 100.0)
    amounts = [q for q in here if q.kind not in _NAMES_ONE and q.kind[:5] != "level" and q.value > 0]
    pairs = ((a.value, b.value) for a in amounts for b in amounts if a.kind == b.kind and a.value != b.value)
    return any(abs(told - share) <= 0.03 * share for a, b in pairs for told in (100.0 * a / b, 100.0 * abs(a - b) / b))


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
        behind = reading.text[reading.words[q.last].end :][:1]
        before = 0.0 if behind == ":" else 1.0  # "Third day: the fluid is drained"
        # "an effusion on day 1, tamponade on day 2"
        closes = q.kind == "time" and reading.texts[max(0, q.first - 1)] == "on" and behind in (",", ";", ".")
        if not q.loose:
            name = f"{q.kind}:{q.value:.6g}{q.letter[:1]} {q.text}"
            placed.append(Placed(name, q.first, q.last, before, 0.2 if closes else 1.0))
    return placed
