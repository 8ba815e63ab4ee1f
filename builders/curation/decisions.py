"""The outcome for each file: kept or not, and why, in words for people."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from builders.curation.duplicates import Groups, Place
from builders.curation.examine import Examined
from builders.curation.folders import File
from builders.curation.verification import PairVerdict

KEPT = ("unique", "best_copy", "same_scene")
DROPPED = ("same_bytes", "same_pixels", "near_copy", "unreadable")


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on a file. `cluster` is empty if the file cannot be read."""

    cluster: str
    kept: bool
    reason: str
    detail: str


def decide(examined: Sequence[Examined], groups: Groups, first: Mapping[str, File]) -> list[Decision]:
    """The decision on each file. `first` is the file that represents each content (`examine.by_content`)."""
    files: Counter[str] = Counter()
    sets: dict[str, set[str]] = defaultdict(set)
    for picture in examined:
        if picture.content:
            place = groups.places[picture.content.digest]
            files[place.best] += 1
            sets[place.cluster].add(place.best)
    decisions = []
    for picture in examined:
        if picture.content is None:
            decisions.append(Decision("", False, "unreadable", f"{picture.reason}: {picture.detail}"))
            continue
        place = groups.places[picture.content.digest]
        decisions.append(_decision(picture, place, files[place.best], sets[place.cluster], first))
    return decisions


def _decision(picture: Examined, place: Place, files: int, sets: set[str], first: Mapping[str, File]) -> Decision:
    assert picture.content is not None
    best, same = first[place.best].name, first[picture.content.digest].name
    if picture.file.name != same:
        return Decision(place.cluster, False, "same_bytes", f"the same bytes as {same}")
    if picture.content.digest != place.best:
        if place.same_pixels:
            return Decision(place.cluster, False, "same_pixels", f"the same pixels as {best}")
        detail = f"a copy of {best}" + (disguise(place.verdict) if place.verdict else " through other copies")
        return Decision(place.cluster, False, "near_copy", detail)
    others = sorted(first[other].name for other in sets if other != place.best)
    named = ", ".join(others[:3]) + (" …" if len(others) > 3 else "")
    scene = [f"another photo of what {named} shows"] if others else []
    if files > 1:
        return Decision(place.cluster, True, "best_copy", "; ".join([f"the best of {files} copies", *scene]))
    return Decision(place.cluster, True, "same_scene" if others else "unique", "".join(scene))


def disguise(verdict: PairVerdict) -> str:
    """What was done to a picture to make the copy: ": mirrored, turned by 90°"; empty if nothing is known."""
    parts = ["mirrored"] if verdict.mirrored else []
    if verdict.turn:
        parts.append(f"turned by {verdict.turn}°")
    if verdict.of_first < 0.97:
        parts.append(f"{verdict.of_first:.0%} of it")
    if verdict.of_second < 0.97:
        parts.append(f"with {1 - verdict.of_second:.0%} more around it")
    return ": " + ", ".join(parts) if parts else ""
