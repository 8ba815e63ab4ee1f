"""The places of which a caption denies or affirms, and two that changed places."""

from __future__ import annotations

from builders.medlaybench_v.facts.clauses import WELL_OFF, clauses
from builders.medlaybench_v.facts.denials import Polarity, is_opposite, judged, polarity
from builders.medlaybench_v.facts.order import moments
from builders.medlaybench_v.facts.poles import Pole, poles
from builders.medlaybench_v.facts.reading import Reading
from builders.medlaybench_v.facts.senses import ANATOMY, implied, kind_of, senses
from builders.medlaybench_v.facts.sides import sides


def signs_of_places(reading: Reading) -> dict[str, set[int]]:
    """Of each body part and side, whether it stands in clauses that deny, that affirm, or in both."""
    found = reading.get(polarity)
    signs: dict[str, set[int]] = {}
    sign = 1
    at: list[int] = []  # the sign of each word's clause
    for start, end in reading.get(clauses):
        # "A is whole, but B is not" tells of B the opposite of what it tells of A
        sign = -sign if _is_elliptic(reading, start, end) else _sign_of(reading, found, start, end)
        at += [sign] * (end - start)
    for said in reading.get(senses):
        for sense in said.senses:
            if kind_of(sense.concept) == ANATOMY:
                signs.setdefault(sense.concept, set()).add(at[said.first])
    for moment in reading.get(moments):
        if moment.value != "during":
            signs.setdefault(f"{moment.value}wards", set()).add(at[moment.first])
    for pole in filter(_is_end, reading.get(poles)):
        signs.setdefault(f"{pole.dimension} {pole.value}", set()).add(at[pole.first])
    for side in reading.get(sides):
        if side.value != "both":
            signs.setdefault(side.value, set()).add(at[side.first])
    return signs


def _is_elliptic(reading: Reading, start: int, end: int) -> bool:
    """Whether a clause ends with its verb: "but the cerebellum has not"; a stop or the end of the text follows."""
    if not 1 < end - start < 9 or reading.texts[end - 1] not in ("not", "is", "are", "does", "has"):
        return False
    return end == len(reading.texts) or not _STOPS_OF_CLAUSES.isdisjoint(reading.gaps[end])


_STOPS_OF_CLAUSES = frozenset(".;,)")


def also(reading: Reading) -> frozenset[str]:
    """The body parts and sides in clauses that say the same of one more thing: "the left one holds some as well"."""
    if _TOO.isdisjoint(reading.bag):
        return frozenset()
    found: set[str] = set()
    for start, end in reading.get(clauses):
        texts = reading.texts[start:end]
        too = not _ONE_MORE.isdisjoint(texts) and any(
            (w in ("too", "likewise", "either") and i + 1 == len(texts))
            or (w == "also" and texts[i - 1] in ("is", "are", "has", "have") and texts[max(0, i - 2)] != "there")
            or (w == "also" and texts[i + 1 : i + 2] in (["affects"], ["involves"]))
            or (w == "as" and texts[i + 1 :] == ["well"])
            or (w in ("however", "though") and i < 2)
            for i, w in enumerate(texts)
        )
        if too or _is_elliptic(reading, start, end):
            named = [s for s in reading.get(senses) if start <= s.first < end]
            found |= {x.concept for s in named for x in s.senses if kind_of(x.concept) == ANATOMY}
            found |= {s.value for s in reading.get(sides) if start <= s.first < end and s.value != "both"}
            found |= {f"{p.dimension} {p.value}" for p in reading.get(poles) if _is_end(p) and start <= p.first < end}
    return frozenset(found)


_ONE_MORE = frozenset("too likewise either also as however though".split())
_TOO = _ONE_MORE | frozenset("not is are does has".split())


def _is_end(pole: Pole) -> bool:
    """Whether a pole names one of two like structures: the front ligament and the back one."""
    return pole.dimension in ("sagittal", "vertical", "depth", "stage")


def _sign_of(reading: Reading, found: Polarity, start: int, end: int) -> int:
    """Whether a clause denies; one that denies an opposite affirms: "the other one is not in one piece"."""
    cues = [cue for cue in found.cues if start <= cue.first < end]
    opposites = [i for i in reading.get(_opposites) if start <= i < end]
    if cues and opposites and all(any(cue.last < i < cue.end for cue in cues) for i in opposites):
        return 1
    return -1 if cues or opposites or not WELL_OFF.isdisjoint(reading.texts[start:end]) else 1


def _opposites(reading: Reading) -> list[int]:
    """The words at which a finding is denied by its opposite, as "patent" does."""
    said = [s for s in reading.get(senses) if is_opposite(s.senses)]
    return [s.first for s in said if any(x.sign < 0 and judged(x.concept) for x in s.senses)]


def exchanged_places(here: dict[str, set[int]], there: dict[str, set[int]]) -> str:
    """Two places of which the expert caption denies one and the lay caption the other."""
    shared = sorted(set(here) & set(there))
    lost = [p for p in shared if here[p] == {-1} and there[p] == {1}]
    new = [p for p in shared if here[p] == {1} and there[p] == {-1}]
    pairs = ((one, other) for one in lost for other in new if _place_kind(one) == _place_kind(other))
    apart = ((one, other) for one, other in pairs if not _is_part(one, other) and not _is_part(other, one))
    return next((f"{one} and {other}" for one, other in apart), "")


def _is_part(one: str, other: str) -> bool:
    """Whether a place is a part of another one, of which a caption may tell the same."""
    return _place_kind(one) == ANATOMY and other in implied(one)


def _place_kind(place: str) -> str:
    """A side is exchanged for a side, a time for a time, a structure for a structure."""
    if place[-1] in "+-":
        return place[:-1]
    return "side" if place in ("left", "right") else "time" if place.endswith("wards") else ANATOMY
