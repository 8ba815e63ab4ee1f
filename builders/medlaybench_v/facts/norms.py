"""What one caption tells as normal and the other as ill: "a normal spleen", "a torn spleen".

>>> from builders.medlaybench_v.facts import read
>>> expert, lay = read("CT shows a normal spleen."), read("The CT scan shows a torn spleen.")
>>> ill_for_normal(expert, lay, lay.get(senses), frozenset())
'normal became torn'
"""

from __future__ import annotations

from collections.abc import Iterable, Set

from builders.medlaybench_v.facts.denials import polarity
from builders.medlaybench_v.facts.explanations import definitions, is_explained
from builders.medlaybench_v.facts.leftover import left_over
from builders.medlaybench_v.facts.outcome import Basis
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import Said, concepts_of, implied_by_all, kind_of, naming, senses
from builders.medlaybench_v.facts.wordings import root

_ILL = frozenset(("finding", "disease"))
_NO_ILLNESS = frozenset("pregnancy fluid lesion visible".split())
_WELL = frozenset(("normal", "clear"))
_FOUND = frozenset("found seen shown wrong remarkable visible detected there".split())


# Of a norm that may not be met: "70 percent as wide as it should be", "of its normal width"; and ordinary pictures.
_UNMET = frozenset(("should", "ordinary"))
_MEASURES = frozenset("width size height length calibre caliber diameter".split())
_MARKS = frozenset("arrow arrows arrowhead arrowheads circle circles star stars triangle triangles".split())


def ill_for_normal(expert: Reading, lay: Reading, unfamiliar: Iterable[Said], known: Set[str]) -> str:
    """A finding of the lay caption, `unfamiliar` to the expert one, that tells less as normal and denies nothing
    instead."""
    if _WELL.isdisjoint(expert.get(concepts_of)):
        return ""
    norms = len(_norms(expert))
    if norms <= len(_norms(lay)) + _denials(lay):
        return ""
    for said in unfamiliar:
        ill = {sense.concept for sense in said.senses if sense.sign > 0 and _is_ill(sense.concept)}
        marks = not _MARKS.isdisjoint(lay.texts[said.last + 1 : said.last + 2])  # "the filled-in arrow"
        if ill and ill.isdisjoint(known) and not marks and not is_explained(lay, said.first):
            return f"normal became {lay.said(said)}"
    return ""


def normal_for_ill(expert: Reading, lay: Reading) -> tuple[str, Basis] | None:
    """A finding of an expert caption that tells nothing as normal, and denies nothing, where the lay one tells all as
    normal."""
    if _WELL.isdisjoint(lay.get(concepts_of)) and "nothing" not in lay.bag:
        return None
    norms = [said for said in _norms(lay) if _UNMET.isdisjoint(lay.texts[said.first : said.last + 1])]
    if not norms and not _finds_nothing(lay):
        return None
    if _norms(expert) or _denials(expert) or naming(expert, "clear"):
        return None
    told = lay.get(concepts_of)
    lost = [said for said in findings(expert) if told.isdisjoint(s.concept for s in said.senses if _is_ill(s.concept))]
    if not lost:
        return None
    return f"{expert.said(lost[0])} became normal", Basis.UNMET if findings(lay) else Basis.READ


def dropped(expert: Reading, lay: Reading) -> list[Said]:
    """The findings that a lay caption, which tells nothing in words that only it has, does not name."""
    told = lay.get(concepts_of)
    roots = {root(word)[:6] for word in lay.texts}
    lost = [
        said
        for said in findings(expert)
        if told.isdisjoint(implied_by_all([said]))
        and roots.isdisjoint(root(word)[:6] for word in expert.texts[said.first : said.last + 1])
    ]
    return [] if lost and left_over(lay, expert) else lost


def _is_ill(concept: str) -> bool:
    return kind_of(concept) in _ILL and concept not in _NO_ILLNESS


def _norms(reading: Reading) -> list[Said]:
    """The words that tell something as normal, or the lungs as clear; not those of an explanation."""
    texts = reading.texts
    clear = []
    for said in naming(reading, "clear"):
        near = texts[max(0, said.first - 2) : said.last + 3]
        if "lung" in near or "lungs" in near:
            clear.append(said)
    return [
        said
        for said in (*naming(reading, "normal"), *clear)
        if all(sense.sign > 0 for sense in said.senses)
        and texts[said.first - 1 : said.first] != ["than"]
        and _MEASURES.isdisjoint(texts[said.first : said.last + 2])
    ]


def _finds_nothing(reading: Reading) -> bool:
    at = reading.texts.index("nothing") if "nothing" in reading.bag else -1
    return at >= 0 and not _FOUND.isdisjoint(reading.texts[at + 1 : at + 4])


def _denials(reading: Reading) -> int:
    """The denials of a caption, and the words that tell of something that it is not there: "intact"."""
    negative = sum(any(sense.sign < 0 for sense in said.senses) for said in reading.get(senses))
    return len(reading.get(polarity).cues) + negative


def findings(reading: Reading) -> list[Said]:
    """The findings and diseases that a caption tells of, outside its explanations."""
    return [
        said
        for said in reading.get(senses)
        if any(s.sign > 0 and _is_ill(s.concept) for s in said.senses)
        and not any(a <= reading.starts[said.first] < b for a, b in reading.get(definitions))
    ]
