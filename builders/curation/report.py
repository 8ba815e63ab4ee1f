"""The page of a curation: what crosses a boundary, copies, doubts, and the quality of the pictures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.curation.candidates import CLOSEST
from builders.curation.curate import (
    DROPPED,
    GROUP,
    KEPT,
    PICTURE,
    Curation,
    Leak,
    Outcome,
    calibrated_by,
    counted,
    side,
)
from builders.curation.duplicates import POLICY
from builders.curation.examine import Examined, by_content, read_again
from builders.curation.folders import TOLD
from builders.curation.photo_sets import PhotoSet
from builders.curation.quality import FLAGS
from builders.curation.verification import UNSURE
from loaders.pages import thumbnail, write_page

THUMBNAIL = 176  # pixels of the longer side
MOST_LEAKS = 60  # shown for each boundary
MOST_BETWEEN = 40  # pairs of sides that are counted in a table
MOST_CLUSTERS = 80
MOST_FLAGGED = 24  # shown for each flag
MOST_UNSURE = 24
MOST_MEMBERS = 12  # pictures shown of a cluster


@dataclass(frozen=True)
class Audit:
    """The findings about a set of photos: `overlaps` are pictures that it shares with the sets `against`, of which the
    `unread` cannot be opened, so that nobody knows."""

    photos: PhotoSet
    curation: Curation
    against: Sequence[str]
    overlaps: tuple[Leak, ...]
    unread: tuple[Examined, ...]


def write_report(audit: Audit, page: Path) -> None:
    """Write the page. Raises: BedsideError when the disk is full."""
    curation = audit.curation
    shown = _Shown(curation)
    flags = _flagged(curation, shown)
    write_page(
        page,
        "builders/curation/report.html",
        name=audit.photos.name,
        summary=_summary(curation) | {"flags": [(_words(flag["flag"]), flag["count"]) for flag in flags]},
        leaks=[_boundary(curation, boundary, shown) for boundary in TOLD],
        torn=_crossing([leak for leak in curation.leaks if leak.by == GROUP], shown),
        columns=[(what, told or "not told") for what, told in audit.photos.columns.items()],
        overlap={"against": list(audit.against), **_crossing(audit.overlaps, _Shown())},
        clusters=_clusters(curation, shown),
        collages=_collages(curation, shown),
        unsure=_unsure(curation, shown),
        flags=flags,
        calibration=_calibration(curation),
        unreadable=[
            (examined.file.name, _words(examined.reason), examined.detail)
            for examined in (*curation.files, *audit.unread)
            if examined.content is None
        ],
        policy=POLICY,
        crowded=curation.groups.crowded,
        closest=CLOSEST,
    )


def _words(name: str) -> str:
    return name.replace("_", " ")


class _Shown:
    """Thumbnails by content, each made once, since a picture may be shown in several places."""

    def __init__(self, curation: Curation | None = None) -> None:
        decided = zip(curation.files, curation.decisions, strict=True) if curation else ()
        self.decisions: dict[str, Outcome] = {picture.file.name: decision for picture, decision in decided}
        self._made: dict[str, str] = {}

    def picture(self, picture: Examined, again: Sequence[Examined] = ()) -> dict[str, Any]:
        """A file's thumbnail and description; `again` are files with the same bytes, which are only named."""
        assert picture.content is not None
        digest = picture.content.digest
        if digest not in self._made:
            self._made[digest] = thumbnail(read_again(picture.file, digest), THUMBNAIL)
        decision = self.decisions.get(picture.file.name)
        return {
            "file": picture.file,
            "again": [other.file.name for other in again],
            "quality": picture.content.quality,
            "decision": decision,
            "image": self._made[digest],
        }


def _summary(curation: Curation) -> dict[str, Any]:
    reasons = Counter(decision.reason for decision in curation.decisions)
    return {
        "files": len(curation.files),
        "readable": sum(picture.content is not None for picture in curation.files),
        "kept": sum(decision.kept for decision in curation.decisions),
        "reasons": [(_words(reason), reasons[reason]) for reason in (*KEPT, *DROPPED) if reasons[reason]],
    }


def _boundary(curation: Curation, boundary: str, shown: _Shown) -> dict[str, Any]:
    leaks = [leak for leak in curation.leaks if leak.boundary == boundary and leak.by == PICTURE]
    known = any(side(examined, boundary) for examined in curation.files)
    return {"boundary": boundary, "known": known, **_crossing(leaks, shown)}


def _crossing(leaks: Sequence[Leak], shown: _Shown) -> dict[str, Any]:
    between = Counter(", ".join(leak.values) for leak in leaks)
    files, same_bytes = counted(leaks)
    return {
        "count": len(leaks),
        "same_bytes": same_bytes,
        "files": files,
        "between": sorted(between.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_BETWEEN],
        "shown": [_leak(leak, shown) for leak in leaks[:MOST_LEAKS]],
    }


def _leak(leak: Leak, shown: _Shown) -> dict[str, Any]:
    sides = [
        {"value": value, **_some([picture for picture in leak.files if side(picture, leak.boundary) == value], shown)}
        for value in leak.values
    ]
    return {"leak": leak, "sides": sides, "wide": sum(len(picture["pictures"]) for picture in sides) > 3}


def _some(files: Sequence[Examined], shown: _Shown) -> dict[str, Any]:
    """Files of a cluster or a group, those with the same bytes as one picture; of a group, some may be unreadable."""
    same: dict[str, list[Examined]] = defaultdict(list)
    for picture in files:
        if picture.content:
            same[picture.content.digest].append(picture)
    shown_groups = list(same.values())[:MOST_MEMBERS]
    return {
        "pictures": [shown.picture(first, again) for first, *again in shown_groups],
        "more": len(files) - sum(map(len, shown_groups)),
    }


def _clusters(curation: Curation, shown: _Shown) -> dict[str, Any]:
    """The clusters of more than one file: the largest first."""
    members: dict[str, list[Examined]] = defaultdict(list)
    for picture, decision in zip(curation.files, curation.decisions, strict=True):
        if decision.cluster:
            members[decision.cluster].append(picture)
    several = sorted((files for files in members.values() if len(files) > 1), key=lambda f: (-len(f), f[0].file.name))
    for files in several:
        files.sort(key=lambda picture: (not shown.decisions[picture.file.name].kept, picture.file.name))
    return {
        "count": len(several),
        "files": sum(len(files) for files in several),
        "shown": [_some(files, shown) for files in several[:MOST_CLUSTERS]],
    }


def _collages(curation: Curation, shown: _Shown) -> dict[str, Any]:
    """The collages, each with the photos that it shows."""
    first = by_content(curation.files)
    found = []
    for picture, decision in zip(curation.files, curation.decisions, strict=True):
        if picture.content and decision.reason == "collage":
            shows = curation.groups.places[picture.content.digest].shows
            found.append([picture, *sorted((first[digest] for digest in shows), key=lambda one: one.file.name)])
    return {"count": len(found), "shown": [_some(files, shown) for files in found[:MOST_CLUSTERS]]}


def _unsure(curation: Curation, shown: _Shown) -> dict[str, Any]:
    """Pairs that were not joined, most alike first."""
    first = by_content(curation.files)
    cluster = {digest: place.cluster for digest, place in curation.groups.places.items()}
    pairs = [
        link
        for link in curation.groups.links
        if link.verdict.kind == UNSURE and cluster[link.first] != cluster[link.second]
    ]
    pairs.sort(key=lambda link: (-link.verdict.explained - link.verdict.agreement, link.first, link.second))
    return {
        "count": len(pairs),
        "shown": [
            {"pictures": [shown.picture(first[link.first]), shown.picture(first[link.second])], "verdict": link.verdict}
            for link in pairs[:MOST_UNSURE]
        ],
    }


def _flagged(curation: Curation, shown: _Shown) -> list[dict[str, Any]]:
    flagged: dict[str, list[Examined]] = {flag: [] for flag in FLAGS}
    for picture, judgement in zip(curation.files, curation.judgements, strict=True):
        for flag in judgement.flags if judgement else ():
            flagged[flag].append(picture)
    flagged["blurred"].sort(
        key=lambda picture: (picture.content.quality.sharpness if picture.content else 0.0, picture.file.name)
    )
    return [
        {
            "flag": flag,
            "meaning": FLAGS[flag],
            "count": len(files),
            "pictures": [shown.picture(picture) for picture in files[:MOST_FLAGGED]],
        }
        for flag, files in flagged.items()
    ]


def _calibration(curation: Curation) -> list[tuple[str, int, str, int]]:
    """Source, pictures, the sharpness below which it counts as blurred, and how many do."""
    sources: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for examined, judgement in zip(curation.files, curation.judgements, strict=True):
        if judgement:
            sources[calibrated_by(examined)].append((judgement.least_sharpness, "blurred" in judgement.flags))
    rows = []
    for source, judged in sorted(sources.items()):
        least = f"{judged[0][0]:.1f}" if judged[0][0] else "too few to judge"
        rows.append((source or "(not told)", len(judged), least, sum(blurred for _, blurred in judged)))
    return rows
