"""Image files below folders, in the same order on every machine, whatever characters their names contain."""

from __future__ import annotations

import os
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from loaders.errors import InputError
from loaders.files.untrusted import is_folder, is_inside, is_text, is_there

# Formats that cannot be opened here are listed too: a photo in one of them is counted, not overlooked.
SUFFIXES = frozenset(
    ".jpg .jpeg .jpe .jfif .png .apng .gif .bmp .dib .tif .tiff .webp .mpo .avif .avifs .heic .heif .heics .heifs .hif "
    ".jp2 .j2k .j2c .jpc .jpf .jpx .jxl .dng .cr2 .cr3 .nef .arw .orf .rw2 .raf".split()
)


@dataclass(frozen=True, slots=True)
class ImageFile:
    """A file and its name relative to the folder, with slashes; bytes that are no UTF-8 stand in it as \\xNN.

    `problem`, where not empty, is why it is not used.
    """

    name: str
    path: Path
    problem: str

    @property
    def usable(self) -> Path | None:
        """Where it lies; None where it is not used."""
        return None if self.problem else self.path


def image_files(folder: Path) -> list[ImageFile]:
    """All files at any depth that look like images, by name.

    Raises:
        InputError: the folder is missing, is a file, has a name that is not UTF-8, or a folder in it cannot be read.
    """
    if not is_folder(folder):
        what = "is a file" if is_there(folder) else "does not exist"
        raise InputError(folder, found=what, expected="a folder of images")
    if not is_text(str(folder)):
        raise InputError(folder, found="has a name that is not UTF-8", expected="another name", do="Rename the folder")

    def refuse(error: OSError) -> None:
        raise InputError(error.filename, found=f"cannot be read ({error.strerror})", expected="a readable folder")

    found = []
    for here, _, names in os.walk(folder, onerror=refuse):
        for name in names:
            path = Path(here, name)
            if path.suffix.casefold() in SUFFIXES:
                found.append(_file(path, path.relative_to(folder).as_posix(), folder))
    return sorted(found, key=lambda file: file.name)


def _file(path: Path, relative: str, folder: Path) -> ImageFile:
    if not is_text(relative):
        name = os.fsencode(relative).decode("utf-8", "backslashreplace")
        return ImageFile(name, path, "unreadable file name")
    problem = _of_link(path, folder) if path.is_symlink() else ""
    # One spelling of accented letters, whatever the file system's.
    return ImageFile(unicodedata.normalize("NFC", relative), path, problem)


def _of_link(path: Path, folder: Path) -> str:
    with suppress(InputError):  # the system does not say: it leads to where nobody may look
        if not is_there(path):
            return "image missing: a link leads nowhere"
    return "" if is_inside(path, folder) else "image outside its folder: a link leads there"


class ImageIndex:
    """The images below some folders, found by relative name, file name or stem; the first in order wins.

    Raises:
        InputError: as `image_files`.
    """

    def __init__(self, *folders: Path) -> None:
        self._by_name: dict[str, ImageFile] = {}
        files = sorted((file for folder in folders for file in image_files(folder)), key=lambda file: file.name)
        for name_of in (_whole, _last, _stem):
            for file in files:
                self._by_name.setdefault(name_of(file.name), file)
        # Counted once: whoever asks for each row whether there are any would count them all each time.
        self._count = len({file.path for file in self._by_name.values()})

    def __len__(self) -> int:
        return self._count

    def named(self, name: str) -> ImageFile | None:
        """The image that has this very name, with or without its folder and ending."""
        return self._by_name.get(unicodedata.normalize("NFC", name)) if name else None

    def find(self, *names: str) -> ImageFile | None:
        """The image of one of the names: as given before by its last part, and that before without its ending."""
        tried = (self.named(name_of(name)) for name_of in (_whole, _last, _stem) for name in names)
        return next((file for file in tried if file is not None), None)


def _whole(name: str) -> str:
    return name


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _stem(name: str) -> str:
    return Path(name).stem
