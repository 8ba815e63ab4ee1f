"""Curation of files, from the first look to a decision on each; and what crosses a boundary: one picture in two splits,
under two labels, of two patients or from two sources; the photos of one patient in two splits; one picture in two sets.

A collage is left out, but still shows its photos to whoever has it: it may cross into another split, source or set than
theirs. Its label and group cannot be right for all of them, so they tell nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.progress import Progress

from builders.curation import duplicates
from builders.curation.duplicates import Groups
from builders.curation.examine import Examined, by_content, examine
from builders.curation.folders import TOLD, File
from builders.curation.index import Index
from builders.curation.quality import Judgement, judge
from builders.curation.verification import PairVerdict
from loaders.engines.engine import Engine
from loaders.engines.threads import Threads
from loaders.errors import InputError, how_many

KEPT = ("unique", "best_copy", "same_scene")
DROPPED = ("same_bytes", "same_pixels", "near_copy", "collage", "unreadable")

OWN = "this set"
"""The name of the set whose files are compared with others (`beside`)."""

SET = "set"
PICTURE, GROUP = "picture", "group"
_OF_ONE = ("label", "group")
"""Boundaries that a collage does not cross."""


@dataclass(frozen=True, slots=True)
class Leak:
    """Files that belong together and lie on both sides of a boundary.

    What they share is a `picture` (`cluster` names it) or, between splits, a `group` (a patient; `cluster` is the
    group). `values` are the sides, sorted; `same_bytes` counts the contents that lie on several sides byte for byte;
    `files` are those of the cluster, with collages that show any of it, in order.
    """

    by: str
    boundary: str
    cluster: str
    values: tuple[str, ...]
    same_bytes: int
    files: tuple[Examined, ...]

    @property
    def exact(self) -> bool:
        """Do files with identical bytes cross?"""
        return self.same_bytes > 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The decision on a file. `cluster` is empty if the file cannot be read."""

    cluster: str
    kept: bool
    reason: str
    detail: str


@dataclass(frozen=True)
class Curation:
    """Everything that was found out, file by file in the order of their names."""

    files: tuple[Examined, ...]
    judgements: tuple[Judgement | None, ...]
    decisions: tuple[Outcome, ...]
    groups: Groups
    leaks: tuple[Leak, ...]


def curate(
    files: Sequence[File], *, index: Path | None = None, engine: Engine | None = None, progress: Progress | None = None
) -> Curation:
    """Examine files, judge their quality, find their copies and leaks.

    `index` is a file that serves as a cache (see `index.Index`); without one, everything is measured anew. The `engine`
    (default: this thread) reads and measures files, and compares pairs, in parallel.

    Raises: InputError when no file can be read as an image, or one changes meanwhile; KeyboardInterrupt with a message.
    """
    engine = engine or Threads()
    try:
        with Index(index) as memory:
            examined = examine(files, memory, engine=engine, progress=progress)
            first = {digest: picture.file for digest, picture in by_content(examined).items()}
            if not first:
                reasons = ", ".join(sorted({picture.reason for picture in examined}))
                found = f"none of {how_many(len(examined), 'file')} is a readable image ({reasons})"
                found += "".join(f"; {picture.file.name}: {picture.detail}" for picture in examined[:1])
                raise InputError(files[0].path.parent if files else "no file", found=found, expected="images")
            distinct = {picture.content.digest: picture.content for picture in examined if picture.content}
            ordered = [distinct[digest] for digest in sorted(distinct)]
            groups = duplicates.group(ordered, first, memory, engine=engine, progress=progress)
    except KeyboardInterrupt:
        kept = f" Measurements are kept in {index}; run the same command again to resume" if index else ""
        raise KeyboardInterrupt(f"Stopped.{kept}") from None
    return Curation(
        tuple(examined),
        _judgements(examined),
        tuple(_decide(examined, groups, first)),
        groups,
        tuple(_leaks(examined, groups)),
    )


def beside(files: Sequence[File], others: Mapping[str, Sequence[File]]) -> list[File]:
    """Some files together with those of other sets, each marked with its set: the files given first belong to the set
    OWN, files of the others are called `SET: FILE`."""
    named = [replace(file, set=OWN) for file in files]
    for name, members in others.items():
        named += [replace(file, name=f"{name}: {file.name}", set=name) for file in members]
    return named


def shared(curation: Curation) -> tuple[Leak, ...]:
    """For files put `beside` others, the pictures that lie on both sides, in whatever disguise."""
    return tuple(leak for leak in curation.leaks if leak.boundary == SET and OWN in leak.values)


def counted(leaks: Sequence[Leak]) -> tuple[int, int]:
    """Photos of this set in the leaks, and how many contents cross byte for byte; those of other sets do not count."""
    photos, same, crossing = set[str](), 0, set[str]()  # sets: a collage may be in several leaks
    for leak in leaks:
        own = [one for one in leak.files if one.file.set in ("", OWN)]
        photos |= {one.file.name for one in own}
        if leak.boundary == SET:
            others = {one.content.digest for one in leak.files if one.content and one.file.set != OWN}
            crossing |= {one.content.digest for one in own if one.content} & others
        else:
            same += leak.same_bytes
    return len(photos), same + len(crossing)


def judged_alone(curation: Curation, first: int) -> Curation:
    """A curation whose `first` files are judged as if the others were not there."""
    return replace(curation, judgements=_judgements(curation.files[:first]))


def _decide(examined: Sequence[Examined], groups: Groups, first: Mapping[str, File]) -> Iterator[Outcome]:
    """The decision on each file. `first` is the file that represents each content (`examine.by_content`)."""
    files: Counter[str] = Counter()
    sets: dict[str, set[str]] = defaultdict(set)
    for picture in examined:
        if picture.content:
            place = groups.places[picture.content.digest]
            files[place.best] += 1
            sets[place.cluster].add(place.best)
    for picture in examined:
        if picture.content is None:
            yield Outcome("", False, "unreadable", f"{picture.reason}: {picture.detail}")
            continue
        digest = picture.content.digest
        place = groups.places[digest]
        best, same = first[place.best].name, first[digest].name
        others = sorted(first[other].name for other in sets[place.cluster] if other != place.best)
        named = ", ".join(others[:3]) + (" …" if len(others) > 3 else "")
        scene = [f"another photo of what {named} shows"] if others else []
        if picture.file.name != same:
            yield Outcome(place.cluster, False, "same_bytes", f"the same bytes as {same}")
        elif place.same_pixels:
            yield Outcome(place.cluster, False, "same_pixels", f"the same pixels as {best}")
        elif digest == place.best and place.shows:
            shown = ", ".join(sorted(first[one].name for one in place.shows if not groups.places[one].shows))
            yield Outcome(place.cluster, False, "collage", f"several photos in one picture: {shown}")
        elif digest != place.best:
            detail = f"a copy of {best}" + (disguise(place.verdict) if place.verdict else " through other copies")
            yield Outcome(place.cluster, False, "near_copy", detail)
        elif files[place.best] > 1:
            detail = "; ".join([f"the best of {files[place.best]} copies", *scene])
            yield Outcome(place.cluster, True, "best_copy", detail)
        else:
            yield Outcome(place.cluster, True, "same_scene" if others else "unique", "".join(scene))


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


def _judgements(examined: Sequence[Examined]) -> tuple[Judgement | None, ...]:
    readable = [picture for picture in examined if picture.content]
    qualities = [picture.content.quality for picture in readable if picture.content]
    judged = iter(judge(qualities, [calibrated_by(picture) for picture in readable]))
    return tuple(next(judged) if picture.content else None for picture in examined)


def calibrated_by(examined: Examined) -> str:
    """The group in which sharpness is calibrated: the source, or the label if the source is unknown."""
    return examined.file.source or examined.file.label


def _leaks(examined: Sequence[Examined], found: Groups) -> list[Leak]:
    """All leaks, by boundary, those with identical bytes first; a file without a side does not cross a boundary."""
    clusters: dict[str, list[Examined]] = defaultdict(list)
    seen: dict[str, list[Examined]] = defaultdict(list)  # a cluster, and the collages that show any of it
    groups: dict[str, list[Examined]] = defaultdict(list)
    for picture in examined:
        if picture.content:
            place = found.places[picture.content.digest]
            clusters[place.cluster].append(picture)
            for cluster in {place.cluster, *(found.places[photo].cluster for photo in place.shows)}:
                seen[cluster].append(picture)
        if picture.file.group:
            groups[picture.file.group].append(picture)
    crossings = [
        Leak(by, boundary, name, tuple(sorted(sides)), _same_bytes(own[name], boundary), tuple(files))
        for by, joined, own, boundaries in (
            (PICTURE, clusters, clusters, _OF_ONE),
            (PICTURE, seen, clusters, [boundary for boundary in (*TOLD, SET) if boundary not in _OF_ONE]),
            (GROUP, groups, groups, ("split",)),
        )
        for boundary in boundaries
        for name, files in joined.items()
        if len(sides := {side(picture, boundary) for picture in files} - {""}) > 1
    ]
    order = [*TOLD, SET]
    return sorted(
        crossings,
        key=lambda leak: (leak.by != PICTURE, order.index(leak.boundary), not leak.exact, leak.files[0].file.name),
    )


def side(examined: Examined, boundary: str) -> str:
    """On which side of a boundary a file lies."""
    return str(getattr(examined.file, boundary))


def _same_bytes(files: Sequence[Examined], boundary: str) -> int:
    sides: dict[str, set[str]] = defaultdict(set)
    for picture in files:
        if picture.content and side(picture, boundary):
            sides[picture.content.digest].add(side(picture, boundary))
    return sum(len(places) > 1 for places in sides.values())
