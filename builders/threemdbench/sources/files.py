"""Image files below a folder, in one order everywhere, whatever their names are made of."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from loaders.errors import InputError

# Formats that cannot be opened here are listed too: a photo in one of them is counted, not overlooked.
SUFFIXES = frozenset(
    ".jpg .jpeg .jpe .jfif .png .apng .gif .bmp .dib .tif .tiff .webp .mpo .heic .heif .avif .jp2".split()
)


@dataclass(frozen=True, slots=True)
class ImageFile:
    """A file and its name relative to the folder, with slashes; bytes that are no UTF-8 stand in it as \\xNN."""

    name: str
    path: Path
    readable: bool


def image_files(folder: Path) -> list[ImageFile]:
    """All files at any depth that look like images, by name.

    Raises:
        InputError: the folder is missing, is a file, or a folder in it cannot be read.
    """
    if not folder.is_dir():
        what = "is a file" if folder.exists() else "does not exist"
        raise InputError(folder, found=what, expected="a folder of images")

    def refuse(error: OSError) -> None:
        raise InputError(error.filename, found=f"cannot be read ({error.strerror})", expected="a readable folder")

    found = []
    for here, _, names in os.walk(folder, onerror=refuse):
        for name in names:
            path = Path(here, name)
            if path.suffix.casefold() in SUFFIXES:
                found.append(_file(path, path.relative_to(folder).as_posix()))
    return sorted(found, key=lambda file: file.name)


def _file(path: Path, relative: str) -> ImageFile:
    try:
        relative.encode("utf-8")
    except UnicodeEncodeError:
        return ImageFile(os.fsencode(relative).decode("utf-8", "backslashreplace"), path, readable=False)
    # One spelling of accented letters, whatever the file system's.
    return ImageFile(unicodedata.normalize("NFC", relative), path, readable=True)


class ImageIndex:
    """The images below a folder, found by relative name, file name or stem; the first in order wins."""

    def __init__(self, folder: Path) -> None:
        self._by_name: dict[str, Path] = {}
        files = [file for file in image_files(folder) if file.readable]
        for file in files:
            self._by_name.setdefault(file.name, file.path)
        for file in files:
            self._by_name.setdefault(Path(file.name).name, file.path)
        for file in files:
            self._by_name.setdefault(Path(file.name).stem, file.path)

    def __len__(self) -> int:
        return len(set(self._by_name.values()))

    def find(self, *names: str) -> Path | None:
        """The image of the first name that is known, as given or by its last part."""
        for name in names:
            for known in (name, name.rpartition("/")[2], Path(name).stem):
                if known and known in self._by_name:
                    return self._by_name[known]
        return None


def opaque_id(source: str, name: str) -> str:
    """An identifier that does not give away the folder a photo lay in, which is often named after its diagnosis."""
    return f"{source}-{hashlib.sha256(name.encode()).hexdigest()[:16]}"
