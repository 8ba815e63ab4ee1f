"""What a network is to classify: a release, the authors' photos, any image data set, any folder of photos.

A photo keeps its id: that of its row, or its path below the folder. Labels are matched to the network's classes by any
name of a diagnosis; if none of them matches, the photos count as unlabelled.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from baselines.results.run import DataUsed
from baselines.threemdbench.classifier.data import (
    FOLDER,
    UNKNOWN,
    Classes,
    Labelled,
    Photo,
    digest_of_lines,
    from_release,
)
from builders.curation.folders import File
from builders.curation.photo_sets import photo_set
from loaders.corpus import OFFICIAL, is_path
from loaders.errors import InputError, ReleaseError, first_of, how_many
from loaders.files.image_files import SUFFIXES
from loaders.files.images import ImageError
from loaders.files.layout import SPLIT_NAMES
from loaders.files.paths import is_file
from loaders.manifest import NAME
from loaders.opened import open_corpus
from loaders.registry import corpora
from scripts.run.classifier.options import ALL


@dataclass(frozen=True)
class Target:
    """The photos, all of them as `test`, with labels as classes of a network; `digests` are those of each split, if
    there are several; `told` is what a user should read about them."""

    labelled: Labelled
    digests: Mapping[str, str] = field(default_factory=dict)
    told: tuple[str, ...] = ()


def target_of(data: str, split: str, classes: Classes) -> Target:
    """The photos of one split of what `data` names, or of `all` splits; for a folder without splits always all.

    Raises: InputError for a split that does not exist, no photo, and labels of which only some are classes of the
    network; what `open_data` and `photo_set` raise.
    """
    place = data.partition("@")[0]
    if is_file(Path(data) / NAME) or place == OFFICIAL or place in corpora():
        return _of_release(data, split, classes)
    if not is_path(data):
        try:
            return _of_release(data, split, classes)
        except ReleaseError as error:
            if error.found != f"holds no {NAME}":
                raise
    return _of_files(data, split, classes)


def _of_release(data: str, split: str, classes: Classes) -> Target:
    opened = open_corpus("3mdbench", data, None if split == ALL else split)
    if not classes.diagnoses:
        never = next(name for name in classes.names if Classes.of((name,)).diagnoses is False)
        raise InputError(
            data,
            found=f"a release, and a network that answers {never!r}",
            expected="a network whose classes are all among the 34 diagnoses",
        )
    several = list(opened.splits) if len(opened.splits) > 1 else []
    return Target(
        from_release({"test": opened}), {one: open_corpus("3mdbench", data, one).content_digest for one in several}
    )


def _of_files(data: str, split: str, classes: Classes) -> Target:
    listed = photo_set(data).files
    images = [file for file in listed if file.held or file.path.suffix.casefold() in SUFFIXES]
    files = _of_split(images, data, split)
    others = how_many(len(listed) - len(images), "file is not an image, by its name", "files are not images, by name")
    told = [others] if len(images) < len(listed) else []
    labels = {name: classes.label(name) for name in dict.fromkeys(file.label for file in files) if name}
    strange = [name for name, label in labels.items() if label is None]
    if strange and len(strange) == len(labels):
        told.append(f"{first_of(strange)}: not a class of the network, so these photos count as unlabelled")
        labels = {}
    elif strange:
        photos = Counter(file.label for file in files)
        found = f"{how_many(sum(photos[name] for name in strange), 'photo')} called {first_of(strange)}"
        expected = f"classes of the network ({first_of(classes.names)})"
        raise InputError(data, found=found, expected=expected, do="Rename these photos' folders or leave them out")
    photos_of, lines = [], []
    for file in files:
        label = labels.get(file.label)
        content = _digest(file)
        lines.append(f"{file.label}\0{content}\n")
        photos_of.append(Photo(file.name, UNKNOWN if label is None else label, file.group or content, file.read))
    without = sum(photo.label == UNKNOWN for photo in photos_of)
    if 0 < without < len(photos_of):
        told.append(f"{without:,} of {len(photos_of):,} photos have no label: classified but not scored")
    digest = digest_of_lines(lines)
    used = DataUsed(FOLDER, split if len({file.split for file in files} - {""}) == 1 else ALL, None, digest)
    labelled = Labelled(classes.names, classes.domains, {"test": photos_of}, {"test": digest}, used, None)
    return Target(labelled, told=tuple(told))


def _of_split(files: Sequence[File], data: str, split: str) -> list[File]:
    splits = dict.fromkeys(SPLIT_NAMES.get(file.split, file.split) for file in files)
    if split == ALL or list(splits) == [""]:
        chosen = list(files)
    else:
        chosen = [file for file in files if SPLIT_NAMES.get(file.split, file.split) == split]
    if not chosen:
        found = f"no photo in {split}" if files else "no photo"
        named = ", ".join(name for name in splits if name)
        raise InputError(data, found=found, expected=f"--split of {named or 'images'}, or {ALL}")
    return chosen


def _digest(file: File) -> str:
    try:
        return hashlib.sha256(file.read()).hexdigest()
    except ImageError as error:
        return error.reason  # it will count as unreadable when it is opened
