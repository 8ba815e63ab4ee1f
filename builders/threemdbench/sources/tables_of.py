"""Which table a user means who names a file, or the folder that a publisher's archive was unpacked into."""

from __future__ import annotations

from pathlib import Path

from loaders.errors import InputError
from loaders.files.untrusted import files_below, is_folder, is_inside


def table_in(place: Path, pattern: str) -> Path:
    """`place` itself, or the one file below the folder `place` whose name fits the pattern.

    Raises:
        InputError: there is none, or more than one.
    """
    if not is_folder(place):
        return place
    found = [path for path in files_below(place) if path.match(pattern) and is_inside(path, place)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(path.relative_to(place).as_posix() for path in found[:5])
    raise InputError(
        place,
        found=f"{len(found)} files that fit {pattern}" + (f": {names}" if found else ""),
        expected="one",
        do="Name the file itself",
    )
