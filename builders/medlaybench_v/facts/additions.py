"""Clauses of a lay caption that add to what the expert caption says: "The wall makes the woman infertile."

A faithful caption may say a thing in words that no table knows, but each of its clauses conveys something from the
expert caption. A clause that names nothing new from it, after clauses that do, says something of its own. Of 1,025
broken and 1,074 faithful pairs of eleven writers, 60 and 17 have such a clause.
"""

from __future__ import annotations

from collections.abc import Iterator

from builders.medlaybench_v.facts.binding import STOP_WORDS, keys
from builders.medlaybench_v.facts.certainty import degrees
from builders.medlaybench_v.facts.clauses import clauses
from builders.medlaybench_v.facts.markers import markers
from builders.medlaybench_v.facts.quantities import quantities
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.wordings import IMAGING


def added(expert: Reading, lay: Reading, allowed: Reading) -> list[tuple[int, int]]:
    """The clauses [first, end) of the lay caption that add to the expert one."""
    return [span for span in _without_a_word(expert, lay) if _adds(expert, lay, allowed, *span)]


def _without_a_word(expert: Reading, lay: Reading) -> Iterator[tuple[int, int]]:
    """The clauses that are statements, and hold no word of the expert caption that was not told before."""
    told: set[str] = set()
    spans = lay.get(clauses)
    for start, end in spans if len(spans) > 1 else ():  # the first clause adds nothing
        here = set(lay.texts[start:end])
        new = (here & expert.bag) - STOP_WORDS
        if start and end - start > 2 and new <= told and _is_statement(lay, start, end, here):
            yield start, end
        told |= new


def _is_statement(lay: Reading, start: int, end: int, here: set[str]) -> bool:
    """Whether a clause says that something is so, and explains no word: "which is a vein", "as it should be"."""
    if _VERBS.isdisjoint(here) or not _OTHERS.isdisjoint(here) or lay.texts[start] in _EXPLAINING:
        return False
    if lay.texts[start] == "this" and lay.texts[start + 1] in ("is", "means"):
        return False
    return not any(start <= degree.first < end for degree in lay.get(degrees))


def _adds(expert: Reading, lay: Reading, allowed: Reading, start: int, end: int) -> bool:
    """Whether a clause names nothing of the expert caption, in whatever words, that was not named before it."""
    known = {key for *_, key, _ in expert.get(keys)} | {key for *_, key, _ in allowed.get(keys)}
    before = {key for first, _, key, _ in lay.get(keys) if first < start}
    here = {key for first, _, key, _ in lay.get(keys) if start <= first < end}
    if not here - known or here & known - before:
        return False
    return not any(
        start <= first < end
        for first in (
            *(q.first for q in lay.get(quantities)),
            *(m.first for m in lay.get(markers)),
            *(i for i, _ in IMAGING.matches(lay)),
        )
    )


_VERBS = frozenset(
    "is are was were has have had will would can could may might makes make leads lies holds grew grows came comes "
    "goes went did does".split()
)
_EXPLAINING = frozenset("which that who whose where while but some fluid".split())
# A clause with one of these tells the norm, what holds of anybody, or that something is not there.
_OTHERS = frozenset(
    "should normally usually called name known means no not none never nothing neither nor without cannot t".split()
)
