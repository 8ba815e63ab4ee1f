"""What every source of photos yields, and where its facts come from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from builders.threemdbench.labels import LabelMap
from builders.threemdbench.sources.traits import UNTOLD, Traits
from loaders.files.untrusted import BadRow


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a source as a whole; `licence` is empty where its publisher states none that we could read."""

    name: str
    title: str
    url: str | None
    licence: str
    licence_asserted_by: str
    attribution: str


@dataclass(frozen=True, slots=True)
class Photo:
    """A photo as its source describes it; none of this has been checked against the image yet.

    `labels` are the source's own words with their weights. `group` names the lesion, case or patient that other photos
    may share. `file` says where the photo is in its source; it lies at `path`, or is to be fetched from `url`. `where`
    is for errors. `problem`, where not empty, is why it cannot be used: "reason" or "reason: detail".
    """

    image_id: str
    source: str
    labels: tuple[tuple[str, float], ...]
    file: str
    path: Path | None
    url: str | None
    md5: str | None
    group: str | None
    licence: str
    licence_asserted_by: str
    attribution: str
    where: str
    problem: str = ""
    traits: Traits = UNTOLD


@dataclass(frozen=True)
class PhotoSource:
    """A source, opened and checked: its facts, label table, and a way to go through its photos."""

    facts: Facts
    labels: LabelMap
    each: Callable[[], Iterator[Photo | BadRow]]

    def photos(self) -> Iterator[Photo | BadRow]:
        """The photos in the source's order, and rows of its tables that cannot be read."""
        return self.each()


def opaque_id(source: str, name: str) -> str:
    """An identifier that does not give away the folder a photo lay in, which is often named after its diagnosis."""
    return f"{source}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
