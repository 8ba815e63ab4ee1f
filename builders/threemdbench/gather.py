"""From opened sources to the rows that a build starts with: labels mapped, licences read, photos fetched, files hashed.

A photo that is refused for its label or licence is never fetched, and its file is read only if its licence forbids
altered copies: then no copy of it may come in under another licence.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from pathlib import Path

from rich.progress import Progress

from builders.licences import allows_rewriting, read_licence, terms_of
from builders.pipeline.progress import Meter
from builders.pipeline.rows import Row
from builders.threemdbench.download import Downloads, Fetched, Wanted
from builders.threemdbench.labels import LabelMap, assign
from builders.threemdbench.sources import Photo, PhotoSource
from loaders.errors import InputError
from loaders.files.bad_rows import BadRow
from loaders.files.opening import digest_of

# Licences other than Creative Commons that were read, and allow a photo to be shared and adapted.
SHAREABLE = frozenset({"SCIN Data Use License"})
VOUCHED = "whoever built this release (--licence)"
_Why = dict[str, str]


@dataclass(frozen=True, slots=True)
class Admission:
    """What lets a photo in: licences by name, licences that the builder vouches for by source, and mixed classes."""

    licences: frozenset[str] = frozenset()
    vouched: Mapping[str, str] | None = None
    mixed: bool = False

    def vouch(self, photo: Photo) -> Photo:
        """The photo, with the licence that the builder vouches for if its source states none."""
        licence = (self.vouched or {}).get(photo.source, "")
        if photo.licence or not licence:
            return photo
        return replace(photo, licence=licence, licence_asserted_by=VOUCHED)

    def refusal(self, licence: str | None) -> str:
        """Why a licence keeps a photo out; "" if it does not. Without its metadata a photo is altered, which it must
        allow."""
        return allows_rewriting(licence, self.licences | SHAREABLE)[1]

    def forbidden(self, licence: str | None) -> bool:
        """Whether it forbids altered copies, and nobody lets it in by name."""
        return bool(self.refusal(licence)) and read_licence(licence).derivatives == "no"


def gather(
    sources: Sequence[PhotoSource],
    admission: Admission,
    downloads: Downloads,
    *,
    limit: int | None = None,
    progress: Progress | None = None,
) -> tuple[list[Row], list[tuple[str, BadRow]]]:
    """A row for each photo of the sources, in their order, and what could not be read, with the name of its source;
    only the first `limit` of them.

    Raises: InputError as a source that is read; BedsideError if the disk is full.
    """
    read = list(islice(_photos(sources, admission), limit))
    bad = [(source, photo) for source, photo, _ in read if isinstance(photo, BadRow)]
    photos = [(photo, labels) for _, photo, labels in read if not isinstance(photo, BadRow)]
    rows = [_row(photo, labels, admission) for photo, labels in photos]
    ids, addresses = [row["image_id"] for row in rows], [photo.url for photo, _ in photos]
    terms = [row["licence"] and (" ".join(sorted(terms_of(row["licence"]))) or "free") for row in rows]
    forbidden = [str(admission.forbidden(photo.licence)) for photo, _ in photos]
    # Otherwise the first would win, merely by its place.
    _dispute(rows, ids, [row["diagnosis"] for row in rows], "listed under different diagnoses")
    _dispute(rows, ids, terms, "listed under different licences")
    # What is there can be only one of them.
    _dispute(rows, addresses, [photo.md5 for photo, _ in photos], "one address with different digests", named=True)
    said = "one address, also under a licence that forbids altered copies"
    _dispute(rows, addresses, forbidden, said, named=True)
    wanted = [
        Wanted(photo.url, photo.md5)
        for (photo, _), row in zip(photos, rows, strict=True)
        if photo.url and row["refused"] is None
    ]
    fetched = _fetch(downloads, wanted, progress)
    for (photo, _), row in zip(photos, rows, strict=True):
        if row["refused"] is not None:
            row["image_path"] = row["image_path"] if admission.forbidden(row["licence"]) else None
        elif photo.url:
            outcome = fetched[photo.url]
            row["not_fetched"] = _why(f"download: {outcome.reason}", outcome.detail) if outcome.reason else None
            row["image_path"] = str(downloads.path(photo.url)) if outcome.sha256 else None
        row["content"] = _digest(Path(row["image_path"])) if row["image_path"] else None
    return rows, bad


def rows_digest(rows: Iterable[Row]) -> str:
    """SHA-256 over everything in the rows except their place in the source and their files' paths on this machine."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(repr([(name, row[name]) for name in sorted(row) if name not in ("image_path", "where")]).encode())
    return digest.hexdigest()


def _photos(sources: Sequence[PhotoSource], admission: Admission) -> Iterator[tuple[str, Photo | BadRow, LabelMap]]:
    for source in sources:
        for photo in source.photos():
            vouched = photo if isinstance(photo, BadRow) else admission.vouch(photo)
            yield source.facts.name, vouched, source.labels


def _row(photo: Photo, labels: LabelMap, admission: Admission) -> Row:
    assigned = assign(photo.labels, labels, mixed=admission.mixed)
    problem = photo.problem or assigned.problem or admission.refusal(photo.licence)
    return {
        "image_id": photo.image_id,
        "diagnosis": assigned.diagnosis or None,
        "mixed": assigned.mixed,
        "source": photo.source,
        "source_label": assigned.label or None,
        "source_file": photo.file,
        "group_id": f"{photo.source}:{photo.group}" if photo.group else None,
        "licence": photo.licence or None,
        "licence_asserted_by": photo.licence_asserted_by or None,
        "attribution": photo.attribution or None,
        **asdict(photo.traits),
        "refused": _why(*problem.partition(": ")[::2]) if problem else None,
        "not_fetched": None,
        "image_path": str(photo.path) if photo.path else None,
        "content": None,
        "where": photo.where,
    }


def _dispute(
    rows: Sequence[Row], things: Sequence[str | None], claims: Sequence[str | None], reason: str, *, named: bool = False
) -> None:
    """Refuse the rows that claim different things about one and the same; the detail is what it is (`named`), or else
    what is claimed."""
    said: dict[str | None, set[str]] = defaultdict(set)
    for thing, claim in zip(things, claims, strict=True):
        said[thing].update(filter(None, [claim]))
    for row, thing in zip(rows, things, strict=True):
        if thing and row["refused"] is None and len(said[thing]) > 1:
            row["refused"] = _why(reason, thing if named else ", ".join(sorted(said[thing])))


def _why(reason: str, detail: str) -> _Why:
    return {"reason": reason, "detail": detail}


def _fetch(downloads: Downloads, wanted: Sequence[Wanted], progress: Progress | None) -> dict[str, Fetched]:
    if not wanted:
        return {}
    meter = Meter(progress, "download", rows=len(wanted), batches=1, unit="file")
    fetched = downloads.fetch(wanted, lambda: meter.advance(1))
    meter.finish(sum(not outcome.sha256 for outcome in fetched.values()))
    return fetched


def _digest(path: Path) -> str | None:
    """SHA-256 of a file; None if it cannot be read, for which the `images` step reports the reason."""
    try:
        return digest_of(path)
    except InputError:
        return None
