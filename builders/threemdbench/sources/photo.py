"""What every source of photos yields, and where its facts come from."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from builders.threemdbench.labels import LabelMap
from builders.threemdbench.sources.traits import UNTOLD, Traits
from loaders.files.bad_rows import BadRow
from loaders.files.image_files import ImageFile


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about a source as a whole; `licence` is empty if its publisher states none that we could read."""

    name: str
    title: str
    url: str = ""
    licence: str = ""
    licence_asserted_by: str = ""
    attribution: str = ""


@dataclass(frozen=True, slots=True)
class Photo:
    """A photo as its source describes it; none of this has been checked against the image yet.

    `labels` are the source's own words with their weights. `group` names the lesion, case or patient that other photos
    may share. `file` is the photo's name in its source; `image` is what was found of it, and without that it is to be
    fetched from `url`. `where` is for errors. `problem`, if not empty, is why it cannot be used: "reason" or "reason:
    detail"; without one of its row, that of its image. `source`, the licence and the attribution are those of the
    source as a whole unless its reader says otherwise.
    """

    image_id: str
    labels: tuple[tuple[str, float], ...]
    file: str
    image: ImageFile | None
    where: str
    problem: str = ""
    url: str | None = None
    md5: str | None = None
    group: str | None = None
    source: str = ""
    licence: str = ""
    licence_asserted_by: str = ""
    attribution: str = ""
    traits: Traits = UNTOLD

    @property
    def path(self) -> Path | None:
        """Where it lies, if it can be used."""
        return self.image.usable if self.image else None


@dataclass(frozen=True)
class PhotoSource:
    """A source, opened and checked: its facts, label table, and a way to iterate over its photos. `unread` counts cells
    that should tell of the person and were not understood, each with its column."""

    facts: Facts
    labels: LabelMap
    each: Callable[[], Iterator[Photo | BadRow]]
    unread: Counter[str] = field(default_factory=Counter)

    def photos(self) -> Iterator[Photo | BadRow]:
        """The photos in the source's order, and rows of its tables that cannot be read."""
        for photo in self.each():
            yield photo if isinstance(photo, BadRow) else self._completed(photo)

    def _completed(self, photo: Photo) -> Photo:
        """The photo, completed with what is known about its image and its source where its reader says nothing."""
        return replace(
            photo,
            problem=photo.problem or (photo.image.problem if photo.image else ""),
            url=None if photo.image else photo.url or None,
            source=self.facts.name,
            licence=photo.licence or self.facts.licence,
            licence_asserted_by=photo.licence_asserted_by if photo.licence else self.facts.licence_asserted_by,
            attribution=photo.attribution or self.facts.attribution,
        )


def opaque_id(source: str, name: str) -> str:
    """An identifier that does not reveal the photo's folder, which is often named after its diagnosis."""
    return f"{source}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
