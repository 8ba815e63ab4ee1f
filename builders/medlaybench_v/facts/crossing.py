"""Things that changed partners: "the palmaris is frayed, the gracilis bulky", "the gracilis is frayed, the palmaris …".

A rewrite may join, split and reorder sentences; what one sentence of the expert caption says together stays together or
comes apart. But it does not join two things that were said separately, each together with something else.
Of 1,025 broken and 1,074 faithful pairs of eleven writers, 31 and 4 have such a cross.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from builders.medlaybench_v.facts.binding import STOP_WORDS, keys
from builders.medlaybench_v.facts.clauses import clauses
from builders.medlaybench_v.facts.markers import markers, name
from builders.medlaybench_v.facts.phrases import numbered, phrases
from builders.medlaybench_v.facts.poles import SAME, poles
from builders.medlaybench_v.facts.scan import Reading

Spans = Callable[[Reading], Sequence[tuple[int, int]]]
_CUTS: tuple[tuple[Spans, Spans], ...] = ((phrases, clauses), (clauses, phrases), (clauses, clauses))
# Named of almost anything: they tell nothing apart.
_COMMON = frozenset(
    "wall cavity fat bone body muscle joint vessel gland duct nerve skin lobe visible lesion normal clear flow blood "
    "fluid air".split()
)


def crossed(expert: Reading, lay: Reading) -> str:
    """Two things that the expert caption tells together, and two others, of which each changed partners; or "".

    To ask only of captions that do not keep the order.
    """
    if _is_one(expert) or _is_one(lay):
        return ""
    here, there = expert.get(_places), lay.get(_places)
    shared = [(here[key], there[key]) for key in here if key in there]
    for ours, theirs in _CUTS:
        at_here, at_there = numbered(expert.get(ours)), numbered(lay.get(theirs))
        cells: dict[tuple[int, int], int] = {}  # the first word of the expert caption in two segments
        for places, others in shared:
            rows, columns = {at_here[i] for i in places}, {at_there[i] for i in others}
            if len(rows) == len(columns) == 1:
                cells.setdefault((rows.pop(), columns.pop()), min(places))
        for (row, column), (other_row, other_column) in combinations(cells, 2) if _may_cross(cells) else ():
            if row == other_row or column == other_column:
                continue
            partner, other_partner = cells.get((row, other_column)), cells.get((other_row, column))
            if partner is not None and other_partner is not None:
                pairs = (cells[row, column], partner), (cells[other_row, other_column], other_partner)
                told = (f"{expert.texts[one]} with {expert.texts[other]}" for one, other in map(sorted, sorted(pairs)))
                return " and ".join(told)
    return ""


def _may_cross(cells: Iterable[tuple[int, int]]) -> bool:
    """Whether two parts of the expert caption meet the same two of the lay one; few do."""
    met: dict[int, set[int]] = {}
    for row, column in cells:
        met.setdefault(row, set()).add(column)
    return any(len(one & other) > 1 for one, other in combinations(met.values(), 2))


def _is_one(reading: Reading) -> bool:
    """Whether a caption has no two parts between which anything could change."""
    return len(reading.get(clauses)) < 2 or len(reading.get(phrases)) < 2


def keeps_order(expert: Reading, lay: Reading) -> bool:
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


def _places(reading: Reading) -> dict[str, set[int]]:
    """Where a caption names each thing, place, direction, degree and mark."""
    found: dict[str, set[int]] = {}
    for first, _, key, weight in reading.get(keys):
        if weight >= 0.8 and not key.startswith("@") and key not in _COMMON:
            if key[0] == "=" and len(key) < 4:
                continue  # a short code, "T2", names how the whole picture was made as often as a thing
            found.setdefault(key, set()).add(first)
    for pole in reading.get(poles):
        if pole.value != SAME:
            found.setdefault(f"{pole.dimension} {pole.value}", set()).add(pole.first)
    for marker in reading.get(markers):
        found.setdefault(f"mark {name(marker)}", set()).add(marker.first)
    return found
