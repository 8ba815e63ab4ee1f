"""Finds what crosses a boundary: one picture in two splits, under two labels, of two patients or from two sources; the
photos of one patient in two splits; one picture in two sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from builders.curation.examine import Examined

BOUNDARIES = ("split", "label", "group", "source")
SET = "set"
PICTURE, GROUP = "picture", "group"


@dataclass(frozen=True, slots=True)
class Leak:
    """Files that belong together and lie on both sides of a boundary.

    What they share is a `picture` (`cluster` names it) or, between splits, a `group` (a patient; `cluster` is the
    group). `values` are the sides, sorted; `same_bytes` counts the contents that lie on several sides byte for byte;
    `files` are those of the cluster, in order.
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


def leaks(examined: Sequence[Examined], cluster_of: dict[str, str]) -> list[Leak]:
    """All leaks, by boundary, those with identical bytes first; a file without a side does not cross a boundary.

    `cluster_of` maps each content's digest to its cluster.
    """
    clusters: dict[str, list[Examined]] = defaultdict(list)
    groups: dict[str, list[Examined]] = defaultdict(list)
    for picture in examined:
        if picture.content:
            clusters[cluster_of[picture.content.digest]].append(picture)
        if picture.file.group:
            groups[picture.file.group].append(picture)
    crossings = [
        Leak(by, boundary, name, tuple(sorted(sides)), _same_bytes(files, boundary), tuple(files))
        for by, joined, boundaries in ((PICTURE, clusters, (*BOUNDARIES, SET)), (GROUP, groups, ("split",)))
        for boundary in boundaries
        for name, files in joined.items()
        if len(sides := {side(picture, boundary) for picture in files} - {""}) > 1
    ]
    order = [*BOUNDARIES, SET]
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
