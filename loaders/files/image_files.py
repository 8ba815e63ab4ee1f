"""Image files below folders, in the same order on every machine, whatever characters their names contain."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, starmap
from pathlib import Path

from loaders.errors import InputError
from loaders.files.kinds import picture_format
from loaders.files.opening import digest_of, open_file
from loaders.files.paths import check_folder, is_hidden, is_inside, is_there
from loaders.files.texts import is_text

UNENDING = "image format not read: its name has no ending of a picture, such as .jpg"
AMBIGUOUS = "image ambiguous"
"""How the `problem` begins of a name that fits several images."""

# Formats that cannot be opened here are listed too, so that a photo in one of them is counted, not overlooked.
SUFFIXES = frozenset(
    ".jpg .jpeg .jpe .jfif .png .apng .gif .bmp .dib .tif .tiff .webp .mpo .avif .avifs .heic .heif .heics .heifs .hif "
    ".jp2 .j2k .j2c .jpc .jpf .jpx .jxl .dng .cr2 .cr3 .nef .arw .orf .rw2 .raf".split()
)

# What may hold photos and is not opened. A DICOM file or a PDF often stands beside the picture made of it, under the
# same name, so no table means it by that.
_UNOPENED = {
    **dict.fromkeys(".zip .tar .tgz .gz .bz2 .xz .zst .7z .rar".split(), "archive not opened: unpack it"),
    **dict.fromkeys(
        ".dcm .dicom .psd .psb .pdf .svg .eps .tga .pcx .ppm .pgm .pnm .pef .nrw .srw .raw .rwl".split(),
        "image format not read: convert it to JPEG or PNG",
    ),
    **dict.fromkeys(
        ".mp4 .m4v .mov .avi .webm .mkv .mpg .mpeg .wmv .3gp".split(), "film not opened: take its pictures out"
    ),
}


@dataclass(frozen=True, slots=True)
class ImageFile:
    """A file and its name relative to the folder, with slashes; bytes that are not UTF-8 appear in it as \\xNN.

    `problem`, if not empty, is why it is not used.
    """

    name: str
    path: Path
    problem: str

    @property
    def usable(self) -> Path | None:
        """Its path; None if it is not used."""
        return None if self.problem else self.path

    @property
    def hidden(self) -> bool:
        """Whether it, or a folder that it is in, is hidden."""
        return is_hidden(self.name)


def image_files(folder: Path) -> list[ImageFile]:
    """All files at any depth that look like images, by name.

    Raises: InputError if the folder is missing, a file, or not UTF-8 by its name, or a folder in it cannot be read.
    """
    check_folder(folder, "a folder of images")
    if not is_text(str(folder)):
        raise InputError(folder, found="has a name that is not UTF-8", expected="another name", do="Rename the folder")

    def refuse(error: OSError) -> None:
        raise InputError(error.filename, found=f"cannot be read ({error.strerror})", expected="a readable folder")

    paths = (Path(here, name) for here, _, names in os.walk(folder, onerror=refuse) for name in names)
    return _named(folder, ((path, _of_file(path, folder)) for path in paths if _is_image(path)))


def shown_name(path: Path, folder: Path) -> str:
    """The name of a file below a folder, with slashes; bytes that are not UTF-8 appear as \\xNN."""
    return os.fsencode(path.relative_to(folder).as_posix()).decode("utf-8", "backslashreplace")


def _of_file(path: Path, folder: Path) -> str:
    if not is_text(str(path.relative_to(folder))):
        return "unreadable file name"
    return _of_link(path, folder) if path.is_symlink() else ""


def linked_folders(folder: Path) -> list[ImageFile]:
    """Links below a folder, by name, that lead to folders outside it: `image_files` does not enter them.

    Hidden ones, and links to folders inside, whose images are listed anyway, are none of them.
    """
    paths = (Path(here, name) for here, folders, _ in os.walk(folder) for name in folders)
    return _with_problem(folder, ((path, _of_link(path, folder)) for path in paths if path.is_symlink()))


def unopened(folder: Path) -> list[ImageFile]:
    """The archives, films, files of formats that nothing here reads, and pictures whose names do not say that they are
    ("a.jpg.1" and "a.jpg?w=300" of wget, "IM0001" of a hospital's archive) below a folder, by name, hidden ones aside.
    """
    paths = (Path(here, name) for here, _, names in os.walk(folder) for name in names)
    return _with_problem(folder, ((path, not_opened(path) or _by_bytes(path)) for path in paths if not _is_image(path)))


def is_photo(path: Path) -> bool:
    """Whether a file in a folder of photos counts as one: it looks like an image, or is one that `unopened` lists."""
    return _is_image(path) or bool(not_opened(path) or _by_bytes(path))


def not_opened(path: Path) -> str:
    """Why a file that may hold photos is not opened, by its name; "" for any other."""
    return _UNOPENED.get(path.suffix.casefold(), "")


def _is_image(path: Path) -> bool:
    return path.suffix.casefold() in SUFFIXES


def _by_bytes(path: Path) -> str:
    """The problem of a file that is a picture only by its first bytes; "" for any other, also if it cannot be read."""
    head = b""
    with suppress(InputError, OSError), open_file(path) as file:
        head = file.read(132)
    return UNENDING if picture_format(head) or head[128:] == b"DICM" else ""


def _with_problem(folder: Path, paths: Iterable[tuple[Path, str]]) -> list[ImageFile]:
    """Those of the paths that have a problem, by name, hidden ones aside."""
    return [file for file in _named(folder, paths) if file.problem and not file.hidden]


def _named(folder: Path, paths: Iterable[tuple[Path, str]]) -> list[ImageFile]:
    """The files with their problems, by name: one spelling of accented letters, whatever the file system uses."""
    named = ((unicodedata.normalize("NFC", shown_name(path, folder)), path, problem) for path, problem in paths)
    return sorted(starmap(ImageFile, named), key=lambda file: file.name)


def _of_link(path: Path, folder: Path) -> str:
    with suppress(InputError):  # the system does not say: it leads to where nobody may look
        if not is_there(path):
            return "image missing: a link leads nowhere"
    return "" if is_inside(path, folder) else "image outside its folder: a link leads there"


class ImageIndex:
    """The images below some folders, or some files, found by relative name, by the end of it, by file name or by stem.

    A name that fits several is refused (the `problem` of what is found), unless their bytes are the same: whichever
    were taken would be another row's picture.

    Raises: InputError as `image_files`.
    """

    def __init__(self, *folders: Path, files: Iterable[ImageFile] = ()) -> None:
        self._by_name: dict[str, ImageFile] = {}
        self._several: dict[str, list[ImageFile]] = {}
        found = {file.path: file for file in chain(files, *map(image_files, folders))}
        files = sorted(found.values(), key=lambda file: file.name)
        for names_of in (_whole, _ends, _stems):
            closer = frozenset(self._by_name)  # a name that says more of a file goes before one that says less
            for file in files:
                for name in names_of(file.name):
                    first = self._by_name.setdefault(name, file)
                    if first is not file and name not in closer:
                        self._several.setdefault(name, [first]).append(file)
        # Counted once: whoever asks for each row whether there are any would count them all each time.
        self._count = len(files)

    def __len__(self) -> int:
        return self._count

    def named(self, name: str) -> ImageFile | None:
        """The image that has this very name, with or without its folders and ending."""
        plain = unicodedata.normalize("NFC", name)
        if plain in self._several:
            self._by_name[plain] = _only(plain, self._several.pop(plain))
        return self._by_name.get(plain) if plain else None

    def find(self, *names: str) -> ImageFile | None:
        """The image of one of the names: as given, before by its end, and that before without its ending; one that a
        name fits alone goes before those of a name that fits several. A name may be written as Windows does."""
        names = tuple(dict.fromkeys((*names, *(name.replace("\\", "/") for name in names))))
        tried = (
            file
            for names_of in (_whole, _ends, _stems)
            for name in names
            for one in names_of(name)
            if (file := self.named(one)) is not None
        )
        several: ImageFile | None = None
        for file in tried:
            if not file.problem.startswith(AMBIGUOUS):
                return file
            several = several or file
        return several


def _whole(name: str) -> tuple[str]:
    return (name,)


def _ends(name: str) -> Iterator[str]:
    """The path without its first folder, without the next, and so on to the name of the file."""
    while "/" in name:
        name = name.partition("/")[2]
        yield name


def _stems(name: str) -> Iterator[str]:
    """The path and its ends without the ending of the file; digits behind a point are none ("1.2.840.10008")."""
    ending = Path(name).suffix
    if not ending[1:].isdecimal():
        stem = name.removesuffix(ending)
        yield from (stem, *_ends(stem))


def _only(name: str, files: Sequence[ImageFile]) -> ImageFile:
    """The first of the files that a name fits, where all that can be used are the same bytes; else why none is used."""
    usable = [file for file in files if file.usable]
    with suppress(InputError):  # one that cannot be read may be another picture
        if len({digest_of(file.path) for file in usable}) == 1:
            return usable[0]
    if not usable:
        return files[0]
    named = " and ".join(file.name for file in usable[:2]) + f" and {len(usable) - 2} more" * (len(usable) > 2)
    return ImageFile(name, files[0].path, f"{AMBIGUOUS}: {name} may be {named}")
