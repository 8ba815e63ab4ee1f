"""Photos by split: of a 3MDBench release, of a folder of class folders, or of whatever a network is to answer about.

runs/photos/train/pharyngitis/a.jpg        split folders with class folders in them: train, validation, test
runs/photos/train/clinic/stye/b.jpg        the innermost folder is the class, as for bedside curate and --predict

Classes are named as what a network is to answer about: the 34 diagnoses if all of them are diagnoses.

classes = Classes.of(("pink eye", "stye"))
classes.names, classes.places       the 34 names, (9, 28): a class by any name of a diagnosis is that diagnosis
classes.label("Hordeolum")          28
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import datasets
import numpy as np
from PIL import Image

from baselines.results.run import DataUsed, because
from baselines.statistics.arrays import Floats
from loaders.errors import InputError, how_many
from loaders.files.cells import plain_label
from loaders.files.image_files import image_files, linked_folders
from loaders.files.images import image_bytes, open_image
from loaders.files.layout import SPLIT_NAMES, first_spelling, layout
from loaders.files.opening import digest_of
from loaders.files.paths import is_folder, is_there
from loaders.files.texts import is_text
from loaders.opened import Opened
from loaders.threemdbench import DIAGNOSES, NAMES, diagnosis_of, group_of

_NEVER = 50.0  # how far below a row's lowest logit a class is put that the network does not know


@dataclass(frozen=True, slots=True)
class Classes:
    """What answers are called, the domain of each, and the positions of the network's own classes among them.

    `diagnoses` says whether they are the 34 of 3MDBench.
    """

    names: tuple[str, ...]
    domains: tuple[str, ...]
    places: tuple[int, ...]
    diagnoses: bool

    @classmethod
    def of(cls, known: Sequence[str]) -> Classes:
        """The classes of a network. Raises InputError if two of them are the same diagnosis."""
        meant = [diagnosis_of(name) for name in known]
        if not all(meant):
            return cls(tuple(known), ("",) * len(known), tuple(range(len(known))), False)
        places = tuple(NAMES.index(diagnosis.name) for diagnosis in meant if diagnosis)
        if len(set(places)) < len(places):
            twice = next(NAMES[place] for place in places if places.count(place) > 1)
            both = ", ".join(name for name, place in zip(known, places, strict=True) if NAMES[place] == twice)
            raise InputError("classes", found=f"{both}, which are one diagnosis ({twice})", expected="each once")
        return cls(NAMES, tuple(diagnosis.domain for diagnosis in DIAGNOSES), places, True)

    def label(self, text: str) -> int | None:
        """The class that a label means; None if it is none of them."""
        if self.diagnoses:
            diagnosis = diagnosis_of(text)
            return None if diagnosis is None else NAMES.index(diagnosis.name)
        wanted = plain_label(text)
        return next((at for at, name in enumerate(self.names) if plain_label(name) == wanted), None)

    def spread(self, logits: Floats) -> Floats:
        """Logits (N, classes of the network) -> (N, names); a class that the network does not know never leads."""
        if self.places == tuple(range(len(self.names))):
            return logits
        least = logits.min(axis=1, keepdims=True) - _NEVER
        spread: Floats = np.repeat(least, len(self.names), axis=1)
        spread[:, list(self.places)] = logits
        return spread


SPLITS = ("train", "validation", "test")
FOLDER = "folder of class folders"
"""The corpus name in a record for photos that are not from a release."""

UNKNOWN = -1
"""The label of a photo without one."""


@dataclass(frozen=True, slots=True)
class Photo:
    """A photo: its id, the position of its label among the classes (or UNKNOWN), its resampling group, its bytes.

    `group` names its patient, lesion or cluster of near copies; photos without one are independent. `patient` is the
    group that its publisher names, with the publisher, so that it means the same in every release; "" if there is none.
    `read` raises ImageError if there are no bytes.
    """

    key: str
    label: int
    group: str
    read: Callable[[], bytes]
    patient: str = ""

    def load(self) -> Image.Image:
        """The picture, upright. Raises: ImageError as `loaders.files.images.open_image`."""
        return open_image(self.read(), name=self.key)


@dataclass(frozen=True, slots=True)
class Labelled:
    """The photos of each split; `domains` holds the domain of each class, "" where classes have none.

    `digests` are the content digests of the splits. `data` is what a record says about the split to be answered about,
    which is `test` here, whatever it is called in the data. `beside` counts the pictures of a folder that are left out
    because they lie beside its class folders.
    """

    classes: tuple[str, ...]
    domains: tuple[str, ...]
    splits: Mapping[str, Sequence[Photo]]
    digests: Mapping[str, str]
    data: DataUsed
    stand_in: str | None
    beside: int = 0

    @property
    def corpus(self) -> str:
        return self.data.corpus

    def counts(self, split: str) -> list[int]:
        """Photos of each class."""
        photos = Counter(photo.label for photo in self.splits[split])
        return [photos[at] for at in range(len(self.classes))]

    def check(self, *, allow_untrained: bool = False) -> None:
        """Raises InputError if a split has no photo, fewer than two classes have training photos or, unless
        `allow_untrained`, a class of validation or test has none."""
        for split in SPLITS:
            if not self.splits[split]:
                raise InputError(self.corpus, found=f"no photo in {split}", expected="one or more")
        trained = self.counts("train")
        if sum(count > 0 for count in trained) < 2:
            raise InputError(self.corpus, found="training photos of only one class", expected="at least two classes")
        if not allow_untrained:
            for split in SPLITS[1:]:
                self.check_trained(split, trained)

    def check_trained(self, split: str, trained: Sequence[int]) -> None:
        """Raises InputError if a class of the split has no training photo; `trained` counts them by class."""
        never = [self.classes[at] for at, count in enumerate(self.counts(split)) if count and not trained[at]]
        if never:
            several = how_many(len(never), "class", "classes")
            raise InputError(
                f"{self.corpus}, {split}",
                found=f"photos of {several} without a training photo: {', '.join(never)}",
                expected="a training photo of every class",
                do="Pass --allow-untrained to continue; these photos then count as errors",
            )


def from_release(opened: Mapping[str, Opened]) -> Labelled:
    """The photos of a 3MDBench release, opened split by split. The classes are all 34 diagnoses.

    The photos to answer about are `test`, or the last ones given: one split, or all in one.

    Raises InputError for a diagnosis outside the 34 and a row without image.
    """
    answered = opened.get("test", list(opened.values())[-1])
    return Labelled(
        classes=NAMES,
        domains=tuple(diagnosis.domain for diagnosis in DIAGNOSES),
        splits={split: _release_photos(part) for split, part in opened.items()},
        digests={split: part.content_digest for split, part in opened.items()},
        data=DataUsed.of(answered),
        stand_in=_of_photos(answered.stand_in),
    )


def _of_photos(stand_in: str | None) -> str | None:
    """The reasons of a release why its numbers are no results, without those that lie in the complaints: a classifier
    reads none."""
    return because(*(reason for reason in (stand_in or "").split("; ") if not reason.startswith("the complaints ")))


def _release_photos(opened: Opened) -> list[Photo]:
    photos = []
    for split, part in opened.splits.items():
        rows = part.cast_column("image", datasets.Image(decode=False))
        for at, row in enumerate(rows.select_columns(["image_id", "diagnosis", "group_id", "cluster_id"])):
            if row["diagnosis"] not in NAMES:
                raise InputError(
                    f"{split}, {row['image_id']}",
                    found=f"diagnosis {row['diagnosis']!r}",
                    expected="one of the 34 of 3MDBench",
                    do="For other labels, use a folder of class folders",
                )
            group = group_of(row) or row["image_id"]
            label, data = NAMES.index(row["diagnosis"]), partial(_row_bytes, rows, at)
            photos.append(Photo(row["image_id"], label, group, data, patient=row["group_id"] or ""))
    return photos


def _row_bytes(rows: Any, at: int) -> bytes:
    return (rows[at]["image"] or {}).get("bytes") or b""


def from_folder(folder: Path, splits: Sequence[str] = SPLITS) -> Labelled:
    """The photos of train/CLASS, validation/CLASS and test/CLASS (`class_folders`), under any usual name of a split.

    Raises InputError if a split or a class folder is missing, or if one photo, byte for byte, is in two splits; what
    `pictures_below` raises.
    """
    files: dict[str, list[tuple[str, Path]]] = {}
    beside = 0
    for split in splits:
        names = [name for name, meant in SPLIT_NAMES.items() if meant == split]
        place = next((folder / name for name in names if is_folder(folder / name)), folder / split)
        if not is_folder(place):
            raise InputError(
                folder,
                found=f"no folder {split}",
                expected="train, validation and test with class folders in each, or a release with manifest.json",
                do="For one folder of class folders, run bedside curate on it and pass --clusters "
                "REPORT/photos.parquet",
            )
        pictures = pictures_below(place)
        files[split] = class_folders(place, pictures)
        beside += len(pictures) - len(files[split])
    return replace(from_files(files, root=folder), beside=beside)


def class_folders(folder: Path, pictures: Iterable[Path]) -> list[tuple[str, Path]]:
    """(class, file) of the pictures of a folder (`pictures_below`) but those beside its class folders, sorted. The
    class is the innermost folder, unless that is named like a split (`loaders.files.layout`).

    Raises InputError for a picture without class folder below one named like a split.
    """
    found = []
    for path in pictures:
        if path.parent == folder:
            continue
        label = layout(path.relative_to(folder).as_posix()).label
        if not label:
            expected = f"a class folder in {folder}, which is not called {path.parent.name}, as a split is"
            raise InputError(path, found="lies in no class folder", expected=expected, do="Rename or move its folder")
        found.append((label, path))
    return sorted(found)


def pictures_below(folder: Path) -> list[Path]:
    """Every picture below a folder but hidden ones; links may lead to files elsewhere.

    Raises InputError for a link that leads nowhere, or to a folder elsewhere, which is not entered, and for a name that
    is not UTF-8.
    """
    for link in linked_folders(folder):
        found, do = "is a link to a folder outside, whose photos are not read", "Copy or move that folder here"
        raise InputError(link.path, found=found, expected="a folder", do=do)
    files = [file for file in image_files(folder) if not file.hidden]
    for file in files:
        if file.problem and not (is_text(str(file.path)) and is_there(file.path)):
            expected = "a photo that can be opened, with a name in UTF-8"
            raise InputError(folder / file.name, found=file.problem, expected=expected, do="Take it away or mend it")
    return [file.path for file in files]


def from_files(
    files: Mapping[str, Sequence[tuple[str, Path]]], *, root: Path, groups: Mapping[Path, str] | None = None
) -> Labelled:
    """The photos of (class, file) pairs by split, named by their path below `root`. Classes that differ only in
    spelling are one, called as the first, from the first split on: test cannot rename what was trained.

    Raises InputError when two splits share the bytes of a photo.
    """
    called = first_spelling(label for pairs in files.values() for label, _ in pairs)
    classes = tuple(sorted(set(called.values())))
    splits: dict[str, list[Photo]] = {}
    digests: dict[str, str] = {}
    owner: dict[str, tuple[str, Path]] = {}
    for split in files:
        lines = []
        splits[split] = []
        for named, path in files[split]:
            label, content = called[named], digest_of(path)
            before, other = owner.setdefault(content, (split, path))
            if before != split:
                raise InputError(
                    path,
                    found=f"the same bytes as {other}",
                    expected="no photo in two splits",
                    do="bedside curate lists all of them, near-duplicates included",
                )
            lines.append(f"{label}\0{content}\n")
            group = (groups or {}).get(path, content)
            splits[split].append(
                Photo(path.relative_to(root).as_posix(), classes.index(label), group, partial(image_bytes, path))
            )
        digests[split] = digest_of_lines(lines)
    if not classes:
        raise InputError(root, found="no picture in class folders", expected="files ending in .jpg, .png or the like")
    answered = "test" if "test" in digests else list(digests)[-1]
    data = DataUsed(FOLDER, answered, None, digests[answered])
    return Labelled(classes, ("",) * len(classes), splits, digests, data, None)


def digest_of_lines(lines: Iterable[str]) -> str:
    """The content digest of photos outside a release, from one line each: its label, NUL, the SHA-256 of its bytes."""
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()
