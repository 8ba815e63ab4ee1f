"""Photos in folders named after their class, like the four Kaggle sources and most people's own collections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from builders.threemdbench.labels import LabelMap
from builders.threemdbench.sources.photo import Facts, Photo, PhotoSource, opaque_id
from loaders.errors import InputError
from loaders.files.image_files import image_files


def open_class_folders(folder: Path, facts: Facts, labels: LabelMap) -> PhotoSource:
    """The images below `folder`; a photo's label is the outermost folder on its path that the label table knows.

    Publishers nest their classes (`train/Caries/…`, `Data caries/caries augmented/…`). If the table knows none of
    the folders, the innermost one is the label, so that it can be counted as unknown. Hidden files are left out.

    Raises:
        InputError: the folder is missing, cannot be read, or holds no image in any class folder.
    """
    files = [file for file in image_files(folder) if not file.hidden]
    if not any("/" in file.name for file in files):
        found = "holds no image" if not files else "holds images but no class folders"
        raise InputError(folder, found=found, expected="folders of images, each named after a class")

    def each() -> Iterator[Photo]:
        for file in files:
            label = _label(file.name, labels)
            yield Photo(
                image_id=opaque_id(facts.name, file.name),
                labels=((label, 1.0),) if label else (),
                file=file.name,
                path=file.usable,
                where=f"{facts.name}: {file.name}",
                problem=file.problem,
            )

    return PhotoSource(facts, labels, each)


def _label(name: str, labels: LabelMap) -> str:
    folders = name.split("/")[:-1]
    known = [folder for folder in folders if labels.entry(folder) is not None]
    return known[0] if known else (folders[-1] if folders else "")
