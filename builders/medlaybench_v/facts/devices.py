"""Devices that the lay caption alone says were put in, or taken out."""

from __future__ import annotations

from builders.medlaybench_v.facts.explanations import is_explained
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import concepts_of, kind_of, senses


def taken_away(expert: Reading, lay: Reading) -> list[str]:
    """A device that the lay caption alone says is gone: "the drain has been removed"."""
    if _GONE.isdisjoint(lay.bag) or not _GONE.isdisjoint(expert.bag):
        return []
    if any(t.startswith(("remov", "withdr", "extract", "explant")) for t in expert.bag):
        return []
    known = expert.get(concepts_of)
    found = []
    for said in lay.get(senses):
        devices = {s.concept for s in said.senses if kind_of(s.concept) == "device"} & known
        behind = lay.texts[said.last + 1 : said.last + 9]
        gone = next((i for i, word in enumerate(behind) if word in _GONE and behind[i - 1] not in _SEEN_OUT), -1)
        told = behind[max(0, gone - 3) : gone] if gone > 0 else []
        if devices and not _AUXILIARIES.isdisjoint(told) and "not" not in told:
            found.append(f"{sorted(devices)[0]} became {' '.join(behind[: gone + 1])}")
    return found


def put_in(expert: Reading, lay: Reading) -> list[str]:
    """A device that the lay caption alone says was given to the patient: "braces were fitted"."""
    if _FITTED.isdisjoint(lay.bag) or not _FITTED.isdisjoint(expert.bag):
        return []
    if any(kind_of(c) in ("device", "treatment") for c in expert.get(concepts_of)):
        return []
    found = []
    for said in lay.get(senses):
        behind = lay.texts[said.last + 1 : said.last + 5]
        device = all(kind_of(sense.concept) == "device" for sense in said.senses)
        if is_explained(lay, said.first):
            continue  # "SEMS (a metal stent) was placed"
        if device and behind[:1] in _WAS and not _FITTED.isdisjoint(behind):
            found.append(" ".join((lay.said(said), *behind[:2])))
    return found


_WAS = (["was"], ["were"], ["has"], ["have"], ["had"])
_FITTED = frozenset("fitted inserted placed implanted prescribed given put applied".split())
_GONE = frozenset("removed out off withdrawn gone".split())
_SEEN_OUT = frozenset("picked points pointed made stands laid".split())  # "is picked out by the arrow"
_AUXILIARIES = frozenset("was were been is are had has came come taken pulled".split())
