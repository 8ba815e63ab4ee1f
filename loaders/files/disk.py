"""Writes that are whole or absent, and one clear error when the disk is full.

A file that is still being written is called `.bedside-HOST-PID-RANDOM.tmp`, and its writer holds a lock on it. A
process that is killed releases the lock; the next one that writes into the folder removes every such file that nobody
holds, and `sweep` does so in all folders below one.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO

from loaders.errors import NAME_FILE, BedsideError, InputError

FULL = (errno.ENOSPC, errno.EDQUOT)
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
NO_ROOM = (*FULL, errno.EFBIG)
"""Errors that only writing meets."""
_TROUBLE = (*NO_ROOM, *FORBIDDEN, errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE)

HOST = re.sub(r"\W", "_", os.uname().nodename)[:40]
"""The name of this machine, as it stands in names of files."""
_TEMPORARY = re.compile(r"\.bedside-(?P<host>\w*)-\d+-[0-9a-f]+\.tmp")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_PATIENCE = 3600.0
"""Seconds after which a file last written by another host, whose lock may be invisible here, counts as abandoned."""

_swept: set[tuple[int, Path]] = set()
_made: ContextVar[list[tuple[Path, os.stat_result | None]] | None] = ContextVar("_made", default=None)
"""What is new within `all_or_nothing`: files, each with what it was when it was written, and folders, with None."""


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn the system's errors about a full or read-only disk into an error that the user can act on.

    Raises: BedsideError if the disk is full; InputError if `path` cannot be written or is not a folder.
    """
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            do = "Free some space there and run the same command again"
            if _made.get() is None:
                do += ": what builds and runs have finished is kept"
            raise BedsideError(path, found="the disk is full", do=do) from error
        if error.errno in FORBIDDEN:
            do = "Name another place, or change its permissions"
            raise InputError(path, found="may not be written", expected="a place you can write to", do=do) from error
        if error.errno in (errno.ENOTDIR, errno.EEXIST):
            file = next((one for one in path.parents if one.is_file()), path)
            found = "is a link that leads nowhere" if file.is_symlink() and not file.exists() else "is a file"
            raise InputError(file, found=f"{found}, not a folder", expected="a folder", do="Name another") from error
        if error.filename is None and error.errno not in (errno.EFBIG, errno.EIO):  # not about the disk
            raise
        found = f"cannot be written ({error.strerror or error})"
        do = "Allow files of that size (ulimit -f), or name" if error.errno == errno.EFBIG else "Name"
        raise InputError(path, found=found, expected="a place you can write to", do=f"{do} another place") from error
    except (RecursionError, UnicodeEncodeError) as error:
        deep = isinstance(error, RecursionError)
        found = "too many nested folders" if deep else "is not a valid name in this locale"
        raise InputError(path, found=found, expected="another path") from error


def refuse_disk(error: BaseException, place: Path) -> None:
    """Raise a clear error if what a library failed on is the disk; do nothing if it is what the library read. `place`
    is where, unless the error says so itself.

    Raises: as `writing` if something could not be written; InputError if something could not be used otherwise.
    """
    for cause in causes(error):
        if not isinstance(cause, OSError) or cause.errno not in _TROUBLE:
            continue
        where = Path(os.fsdecode(cause.filename)) if isinstance(cause.filename, str | bytes) else place
        if cause.errno in NO_ROOM:
            with writing(where):
                raise cause
        found = f"cannot be used ({cause.strerror or cause})"
        do = "Check that disk, the permissions and the limits of this machine"
        raise InputError(where, found=found, expected="a disk that can be used", do=do) from error


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that it was raised for, from the last to the first."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


@contextmanager
def all_or_nothing() -> Iterator[None]:
    """For commands that refuse files that exist: what fails or is stopped takes back the new files and folders that
    this module wrote for it, so that the same command can be run again. What replaced an older file stays."""
    outer, made = _made.get(), list[tuple[Path, os.stat_result | None]]()
    token = _made.set(made)
    try:
        yield
    except BaseException:
        for path, written in reversed(made):
            with suppress(OSError):  # absent, or no longer ours: a folder in which somebody else has written
                if written is None:
                    path.rmdir()
                elif os.path.samestat(path.lstat(), written):
                    path.unlink()
        raise
    else:
        if outer is not None:
            outer += made
    finally:
        _made.reset(token)


def _note_file(path: Path, file: IO[bytes]) -> None:
    """Before a new file gets its name, so that no interrupt comes between."""
    if (made := _made.get()) is not None and not os.path.lexists(path):
        made.append((path, os.fstat(file.fileno())))


def _note_folders(path: Path) -> None:
    """Before a folder and its parents are made."""
    if (made := _made.get()) is not None:
        made += [(one, None) for one in reversed((path, *path.parents)) if not os.path.lexists(one)]


def make_folder(path: Path) -> None:
    """Create the folder and its parents if missing.

    Raises: as `writing`; InputError for an address, from which a path would make a folder called `s3:`.
    """
    with writing(path):
        _refuse_address(path)
        _note_folders(path)
        path.mkdir(parents=True, exist_ok=True)


def check_folder(path: Path) -> None:
    """Find out before long work whether `make_folder` and a first file in it would fail; nothing is created.

    Raises: as `writing`; InputError for an address.
    """
    with writing(path):
        _refuse_address(path)
        there = next(place for place in (path, *path.absolute().parents) if os.path.lexists(place))
        if not there.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(there))
        if not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(there))


def _refuse_address(path: Path) -> None:
    first = path.parts[0] if path.parts else ""
    if _SCHEME.fullmatch(first) and not Path(first).is_dir():
        address = str(path).replace(":/", "://", 1)
        raise InputError(address, found="is a URL", expected="a folder on a disk of this machine")


def beside(path: Path, name: str) -> Path:
    """The path called `name` in the folder of `path`; `{}` stands for the name of `path`.

    Raises: InputError for `.`, `..` and `/`, since a place that names no file or folder in its folder cannot be
    replaced.
    """
    if path.name in ("", ".."):
        raise InputError(path, found="names no file or folder", expected="a name to write to, such as runs/new")
    return path.with_name(name.format(path.name))


def write_whole(path: Path, data: bytes, *, private: bool = False) -> None:
    """Write `data` to `path` so that a reader, at any moment and after any crash, sees all of it or nothing new.

    The folder is created if missing. A `private` file is readable only by its owner from the first byte on.

    Raises: as `writing`.
    """
    if path.name in ("", ".."):
        raise InputError(path, found="is a folder", expected="a file to write", do=NAME_FILE)
    make_folder(path.parent)
    with writing(path), replacing(path, private=private) as file:
        file.write(data)


def write_first(path: Path, data: bytes, *, private: bool = False) -> bool:
    """Like `write_whole`, but only if the file does not exist yet; otherwise returns False and writes nothing. Of
    several writers, on any number of machines, exactly one is first.

    Raises: as `writing`.
    """
    make_folder(path.parent)
    with writing(path), _new_file(path.parent, private) as (temporary, file):
        file.write(data)
        _sync(file)
        _note_file(path, file)
        try:  # a second name, if that is free, in one step
            os.link(temporary, path)
        except FileExistsError:
            return False
        except OSError as error:  # a file system without hard links (FAT, some mounted buckets)
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
                raise
            if path.exists():
                return False
            temporary.replace(path)
        return True


@contextmanager
def replacing(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """A new file that replaces `path` once everything is written to it; an error leaves the old one as it is."""
    with _new_file(path.parent, private) as (temporary, file):
        yield file
        _sync(file)
        _note_file(path, file)
        temporary.replace(path)


@contextmanager
def _new_file(folder: Path, private: bool = False) -> Iterator[tuple[Path, IO[bytes]]]:
    """A new file, whose temporary name is gone in the end, whether it got another or not."""
    temporary, file = _held(folder, private)
    try:
        with file:
            yield temporary, file
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


@contextmanager
def scratch(folder: Path | None = None) -> Iterator[Path]:
    """A temporary folder in `folder`, or in the system's place for temporary files; removed at the end.

    Raises: as `writing`.
    """
    within = folder or Path(tempfile.gettempdir())
    _sweep_once(within)
    path, number = _held_folder(within)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(number)


def sweep(folder: Path) -> None:
    """Remove what killed processes left half-written in a folder and its subfolders. Links are not followed."""
    for place, folders, _ in os.walk(folder):
        folders[:] = [name for name in folders if not _TEMPORARY.fullmatch(name)]
        _sweep(Path(place))


def private_folder(path: Path) -> Path:
    """A folder that only its owner may look into, created or restricted; missing parents get the usual permissions.

    Raises: as `make_folder`.
    """
    with writing(path):
        _refuse_address(path)
        _note_folders(path)
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.stat().st_mode & 0o077:
            path.chmod(0o700)
    return path


def _held(folder: Path, private: bool) -> tuple[Path, IO[bytes]]:
    """A new, empty file with a temporary name, locked until the file is closed."""
    _sweep_once(folder)
    while True:
        path = folder / _temporary_name()
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        file = os.fdopen(os.open(path, flags, 0o600 if private else 0o666), "wb")
        if _locked(file.fileno()) and os.fstat(file.fileno()).st_nlink:
            return path, file
        file.close()  # swept just before it was locked


def _held_folder(within: Path) -> tuple[Path, int]:
    """A new folder with a temporary name, and the descriptor that keeps it open and locked. Raises: as `writing`."""
    while True:
        path = within / _temporary_name()
        with writing(path):
            path.mkdir(mode=0o700)
        with suppress(FileNotFoundError):  # swept just before it was locked
            number = os.open(path, os.O_RDONLY)
            with suppress(FileNotFoundError):
                if _locked(number) and os.path.samestat(path.stat(), os.fstat(number)):
                    return path, number
            os.close(number)


def _temporary_name() -> str:
    return f".bedside-{HOST}-{os.getpid()}-{secrets.token_hex(6)}.tmp"


def _locked(number: int) -> bool:
    """Lock what is open by that descriptor; False if a sweeping process was first."""
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # a file system without locks
    return True


def _sweep_once(folder: Path) -> None:
    """At most once in each process, since it looks at every name."""
    if (os.getpid(), folder) not in _swept:
        _swept.add((os.getpid(), folder))
        _sweep(folder)


def _sweep(folder: Path) -> None:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if name := _TEMPORARY.fullmatch(entry.name):
                with suppress(OSError):
                    _remove_left(Path(entry.path), ours=name["host"] == HOST)


def _remove_left(path: Path, *, ours: bool) -> None:
    """Raises: OSError if somebody holds it, or it belongs to another user."""
    is_folder = path.is_dir() and not path.is_symlink()
    number = os.open(path, os.O_NOFOLLOW | os.O_NONBLOCK | (os.O_RDONLY if is_folder else os.O_RDWR))
    try:
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not ours and time.time() - os.fstat(number).st_mtime < _PATIENCE:
            return
        if is_folder:
            shutil.rmtree(path)
        else:
            path.unlink()
    finally:
        os.close(number)
