"""Photos in folders named after their class, like the four Kaggle sources and most people's own collections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from builders.threemdbench.labels import LabelMap
from builders.threemdbench.sources.photo import Facts, Photo, PhotoSource, opaque_id
from loaders.errors import CHECK_FOLDER, InputError
from loaders.files.image_files import image_files, linked_folders, unopened


def open_class_folders(folder: Path, facts: Facts, labels: LabelMap) -> PhotoSource:
    """The images below `folder`; a photo's label is the outermost folder on its path that the label table knows.

    Publishers nest their classes (`train/Caries/…`, `Data caries/caries augmented/…`). If the table knows none of
    the folders, the innermost one is the label, so that it can be counted as unknown. Hidden files are left out. Links
    to folders elsewhere are not entered; archives, films and formats that nothing here reads are not opened. Each is
    counted like one photo that cannot be used.

    Raises: InputError if the folder is missing, cannot be read, or holds no image in any class folder.
    """
    files, linked = [file for file in image_files(folder) if not file.hidden], linked_folders(folder)
    shut = unopened(folder)
    if not any("/" in file.name for file in files):
        found = "holds images but no class folders" if files else "holds no image"
        found += f", and {linked[0].name} is a link to a folder outside it, which is not entered" if linked else ""
        found += f", and {shut[0].name}: {shut[0].problem}" if shut else ""
        do = "" if files or linked or shut else CHECK_FOLDER
        raise InputError(folder, found=found, expected="folders of images, each named after a class", do=do)

    def each() -> Iterator[Photo]:
        for file in (*files, *linked, *shut):
            label = _label(file.name, labels)
            yield Photo(
                image_id=opaque_id(facts.name, file.name),
                labels=((label, 1.0),) if label else (),
                file=file.name,
                image=file,
                where=f"{facts.name}: {file.name}",
            )

    return PhotoSource(facts, labels, each)


def _label(name: str, labels: LabelMap) -> str:
    folders = name.split("/")[:-1]
    known = [folder for folder in folders if labels.entry(folder) is not None]
    return known[0] if known else (folders[-1] if folders else "")
