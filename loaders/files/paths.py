"""What is at a path: a file, a folder, what it holds, where it leads.

A file below a folder is used only if it still lies below it once links are resolved. Every question raises InputError
if the system will not say; `Path.exists` and the like let such errors through.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from loaders.errors import CHECK_PATH, NAME_FOLDER, InputError


def unreadable(path: Path, error: OSError, expected: str = "", do: str = "") -> InputError:
    do = do or ("Ask for permission to read it" if error.errno in (errno.EACCES, errno.EPERM) else "")
    return InputError(path, found=f"cannot be read ({error.strerror or error})", expected=expected, do=do)


def is_no_name(error: ValueError) -> bool:
    """Whether the error says that this cannot be a name: it holds NUL, or characters that this locale lacks."""
    return isinstance(error, UnicodeEncodeError) or "embedded null" in str(error)


def is_there(path: Path) -> bool:
    """Whether something exists at the path once links are followed.

    Raises: InputError, like `is_file` and `is_folder`, if the system will not say: a folder above may not be
    entered, a name is too long. (`Path.exists` and the like let such errors through.)
    """
    return _mode(path) is not None


def is_file(path: Path) -> bool:
    """Whether it is a regular file. Raises: InputError as `is_there`."""
    mode = _mode(path)
    return mode is not None and stat.S_ISREG(mode)


def is_folder(path: Path) -> bool:
    """Whether it is a folder. Raises: InputError as `is_there`."""
    mode = _mode(path)
    return mode is not None and stat.S_ISDIR(mode)


def check_folder(path: Path, expected: str = "a folder") -> None:
    """Raises: InputError for what is not there, and for what is no folder; and as `is_there`."""
    if not is_folder(path):
        found, do = ("is not a folder", NAME_FOLDER) if is_there(path) else ("does not exist", CHECK_PATH)
        raise InputError(path, found=found, expected=expected, do=do)


def _mode(path: Path) -> int | None:
    try:
        return os.stat(path).st_mode  # noqa: PTH116 - one call for all three
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise unreadable(path, error) from None
    except ValueError as error:
        if not is_no_name(error):
            raise
        return None


def entries(folder: Path) -> list[Path]:
    """The content of a folder, sorted by name. Raises: InputError if it is not a folder or cannot be read."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise unreadable(folder, error, "a folder that can be read") from None


def files_below(folder: Path) -> list[Path]:
    """The regular files at any depth, by name; links to folders are not followed.

    Raises: InputError if a folder cannot be read, since its content would silently be missing.
    """

    def refuse(error: OSError) -> None:
        raise unreadable(Path(error.filename), error, "a folder that can be read")

    paths = (Path(here, name) for here, _, names in os.walk(folder, onerror=refuse) for name in names)
    return sorted(path for path in paths if is_file(path))


def refuse_releases(path: Path, expected: str) -> None:
    """A release holds what its manifest lists, and nothing else. Raises: InputError for one, and for a place in one."""
    place = resolved(path)
    for folder in (place, *place.parents):
        if is_there(folder / "manifest.json") and is_there(folder / "exclusions.parquet"):
            found = "is a release" if folder == place else f"lies in the release {folder}"
            raise InputError(path, found=found, expected=expected)


# By which files and folders a run and the workspace of a build are known.
_OF_OURS = {"a run": ("run.json", "results.jsonl"), "the workspace of a build": ("lock", "batches", "results")}


def run_or_workspace(folder: Path) -> str:
    """What a folder is that holds no data for others, or the first such folder in it; nothing for any other place:
    "is a run", "holds the workspace of a build (v1.work)"."""
    for within in (folder, *(filter(is_folder, entries(folder)) if is_folder(folder) else ())):
        for kind, names in _OF_OURS.items():
            if all(is_there(within / name) for name in names):
                return f"is {kind}" if within is folder else f"holds {kind} ({name_of(within)})"
    return ""


def name_of(path: Path) -> str:
    """The name of a file as text; bytes that are not UTF-8 appear in it as \\xNN."""
    return os.fsencode(path.name).decode("utf-8", "backslashreplace")


def resolved(path: Path) -> Path:
    """The path with all links resolved, whether or not it exists. Raises: InputError for a circle of links."""
    try:
        place = path.resolve()
        if _is_circle(place):
            raise RuntimeError  # as `resolve` itself did until Python 3.13
    except (OSError, RuntimeError, ValueError) as error:
        found = "is a circular link" if isinstance(error, RuntimeError) else f"is not a valid path ({error})"
        raise InputError(path, found=found, expected="a place") from None
    return place


def _is_circle(path: Path) -> bool:
    try:
        os.stat(path)  # noqa: PTH116 - as everywhere here
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


_HIDDEN = ("thumbs.db", "desktop.ini")


def is_hidden(name: str) -> bool:
    """Whether a file, by its name below a folder, or a folder that it is in, is hidden: a copy that a tool keeps, not
    what a user put there. Windows hides some without a point before their names.

    >>> is_hidden("data/.DS_Store"), is_hidden(".git/config"), is_hidden("data/Thumbs.db"), is_hidden("data/a.csv")
    (True, True, True, False)
    """
    return any(part.startswith(".") or part.casefold() in _HIDDEN for part in name.split("/"))


def is_inside(path: Path, folder: Path) -> bool:
    """Whether a path leads to something in the folder once all links are resolved."""
    try:
        return resolved(path).is_relative_to(resolved(folder))
    except InputError:
        return False
