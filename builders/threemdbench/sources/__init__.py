"""Where photos come from: the paper's sources, each as its publisher ships it, and one's own folders and tables.

    source = open_source("scin=downloads/scin")
    for photo in source.photos(): ...

What is wrong with one photo is no error here: it stands in `photo.problem`, so that the build can count it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from builders.samples.threemdbench import PHOTOS
from builders.threemdbench.labels import BY_NAME, LabelMap, bundled, read_label_map
from builders.threemdbench.sources import catalogue
from builders.threemdbench.sources.class_folders import open_class_folders
from builders.threemdbench.sources.fitzpatrick17k import open_fitzpatrick17k
from builders.threemdbench.sources.isic import open_isic
from builders.threemdbench.sources.photo import Facts, Photo, PhotoSource
from builders.threemdbench.sources.scin import open_scin
from builders.threemdbench.sources.table import open_table
from loaders.errors import InputError

__all__ = ["KINDS", "SAMPLE", "Facts", "Photo", "PhotoSource", "open_source"]

SAMPLE = "sample"
Opener = Callable[[Path, Facts, LabelMap], PhotoSource]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of source: how it is opened, what is known of it, and the name of its label table (empty: none)."""

    open: Opener
    facts: Facts
    labels: str


KINDS: Mapping[str, Kind] = {
    "oral": Kind(open_class_folders, catalogue.ORAL, "oral"),
    "tonsillitis": Kind(open_class_folders, catalogue.TONSILLITIS, "tonsillitis"),
    "nails": Kind(open_class_folders, catalogue.NAILS, "nails"),
    "conjunctivitis": Kind(open_class_folders, catalogue.CONJUNCTIVITIS, "conjunctivitis"),
    "isic": Kind(open_isic, catalogue.ISIC, "isic"),
    "ham10000": Kind(open_isic, catalogue.HAM10000, "ham10000"),
    "scin": Kind(open_scin, catalogue.SCIN, "scin"),
    "fitzpatrick17k": Kind(open_fitzpatrick17k, catalogue.FITZPATRICK17K, "fitzpatrick17k"),
    "web": Kind(open_table, catalogue.WEB, ""),
    "folder": Kind(open_class_folders, catalogue.FOLDER, ""),
    "table": Kind(open_table, catalogue.TABLE, ""),
}
_NAME = re.compile(r"[a-z0-9][a-z0-9_]*\Z")


def open_source(text: str, *, labels: Path | None = None) -> PhotoSource:
    """Open a source written as `KIND=PATH`, as `KIND:NAME=PATH` where a build has several of a kind, or as `sample`.

    `labels` is a label table to use instead of the bundled one. Without any, labels have to name the diagnoses.

    Raises:
        InputError: the text has another form, the kind is unknown, or the source or table cannot be used.
    """
    if text == SAMPLE:
        return open_table(PHOTOS, catalogue.SAMPLE, BY_NAME)
    head, equals, path = text.partition("=")
    kind, colon, name = head.partition(":")
    if not equals or not path or kind not in KINDS or (colon and not _NAME.match(name)):
        raise InputError(
            "--source",
            found=repr(text),
            expected=f"{SAMPLE}, KIND=PATH or KIND:NAME=PATH, KIND one of {', '.join(KINDS)}",
        )
    known = KINDS[kind]
    table = read_label_map(labels) if labels else bundled(known.labels) if known.labels else BY_NAME
    return known.open(Path(path), replace(known.facts, name=name or known.facts.name), table)
