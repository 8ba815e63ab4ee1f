"""Where photos come from: the paper's sources, each as its publisher ships it, and a user's own folders and tables.

    source = open_source("scin=downloads/scin")
    for photo in source.photos(): ...

A fault in one photo is not an error here: it goes into `photo.problem`, so that the build can count it.

`catalogue.csv` holds the sources of the paper (S1), with their licences as far as their publishers state them, and who
says so. Where no licence could be read, none is claimed: such photos are left out unless whoever builds vouches for
them by name (`--licence SOURCE=NAME`) or allows unknown licences (`--allow-licence unknown`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from builders.samples.threemdbench import PHOTOS
from builders.threemdbench.labels import BY_NAME, LabelMap, bundled, read_label_map
from builders.threemdbench.sources.class_folders import open_class_folders
from builders.threemdbench.sources.fitzpatrick17k import open_fitzpatrick17k
from builders.threemdbench.sources.isic import open_isic
from builders.threemdbench.sources.photo import Facts, Photo, PhotoSource
from builders.threemdbench.sources.scin import open_scin
from builders.threemdbench.sources.table import open_table
from loaders.errors import InputError
from loaders.files.tables import read_table

__all__ = ["DRAWN", "KINDS", "OWN", "PUBLISHED", "SAMPLE", "Facts", "Photo", "PhotoSource"]
__all__ += ["open_source", "origin_of", "source_name"]

SAMPLE = "sample"
DRAWN, PUBLISHED, OWN = "drawn", "published", "own"  # for this project, by others, by the user
_OWN_KINDS = ("folder", "table")
Opener = Callable[[Path, Facts, LabelMap], PhotoSource]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of source: how it is opened, what is known about it, and the name of its label table (empty: none)."""

    open: Opener
    facts: Facts
    labels: str


_READERS: Mapping[str, Opener] = {
    "class_folders": open_class_folders,
    "isic": open_isic,
    "scin": open_scin,
    "fitzpatrick17k": open_fitzpatrick17k,
    "table": open_table,
}
_FACTS = ("kind", "title", "url", "licence", "licence_asserted_by", "attribution")
KINDS: Mapping[str, Kind] = {
    row["kind"]: Kind(_READERS[row["reader"]], Facts(*(row[name] for name in _FACTS)), row["labels"])
    for _, row in read_table(Path(__file__).with_name("catalogue.csv")).rows
}
_NAME = re.compile(r"[a-z0-9][a-z0-9_]*\Z")


def open_source(text: str, *, labels: Path | None = None) -> PhotoSource:
    """Open a source written as `KIND=PATH`, as `KIND:NAME=PATH` if a build has several of a kind, or as `sample`.

    `labels` is a label table to use instead of the bundled one. Without either, labels must name the diagnoses.

    Raises: InputError for another form or kind, and for a source or table that cannot be used.
    """
    if text == SAMPLE:
        return open_table(PHOTOS, Facts("sample", "bundled sample of drawn photos"), BY_NAME)
    head, equals, path = text.partition("=")
    kind, colon, name = head.partition(":")
    if not equals or not path or kind not in KINDS or (colon and not _NAME.match(name)):
        raise InputError(
            "--source",
            found=repr(text),
            expected=f"{SAMPLE}, KIND=PATH or KIND:NAME=PATH, KIND one of {', '.join(KINDS)}; NAME of a to z, 0 to 9 "
            "and _",
        )
    known = KINDS[kind]
    table = read_label_map(labels) if labels else bundled(known.labels) if known.labels else BY_NAME
    return known.open(Path(path), replace(known.facts, name=name or known.facts.name), table)


def source_name(text: str) -> str:
    """The name of a source, written as for `open_source`: its kind, unless it has one of its own."""
    kind, colon, name = text.partition("=")[0].partition(":")
    return name if colon else kind


def origin_of(text: str) -> str:
    """Who is behind the photos of a source, written as for `open_source`: DRAWN, PUBLISHED or OWN."""
    if text == SAMPLE:
        return DRAWN
    kind = text.partition("=")[0].partition(":")[0]
    return OWN if kind in _OWN_KINDS else PUBLISHED
