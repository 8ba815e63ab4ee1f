"""Writes that are whole or absent, what killed processes leave behind, and files that are their owner's alone."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from loaders.errors import BedsideError, InputError
from loaders.files import disk
from loaders.files.disk import (
    all_or_nothing,
    beside,
    make_folder,
    private_folder,
    refuse_disk,
    replacing,
    scratch,
    sweep,
    write_first,
    write_whole,
    writing,
)
from tests.parts.full_disk import FULL, stopped_after
from tests.parts.privileges import unprivileged
from tests.parts.processes import python, started

DYING = """
import os, signal, sys
from pathlib import Path
from loaders.files import disk
what, folder = sys.argv[1], Path(sys.argv[2])
def die(*_): os.kill(os.getpid(), signal.SIGKILL)
if what == "write":
    os.replace = die
    disk.write_whole(folder / "answer.json", b"half")
if what == "scratch":
    with disk.scratch(folder) as place:
        (place / "part").write_text("half")
        die()
"""
HOLDING = """
import sys
from pathlib import Path
from loaders.files.disk import replacing
with replacing(Path(sys.argv[1])) as file:
    file.write(b"mine")
    print("holding", flush=True)
    sys.stdin.read()
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("what", ["write", "scratch"])
@pytest.mark.parametrize("below", ["", "images/ab"])
def test_what_a_killed_process_left_is_swept_at_the_next_start(what: str, below: str, tmp_path: Path) -> None:
    folder = tmp_path / below
    folder.mkdir(parents=True, exist_ok=True)
    assert python("-c", DYING, what, folder).returncode == -9
    (left,) = names(folder)
    assert re.fullmatch(rf"\.bedside-{disk.HOST}-\d+-[0-9a-f]{{12}}\.tmp", left)
    if below:
        sweep(tmp_path)
        assert names(folder) == []
    else:  # the next to write there
        write_whole(folder / "other.json", b"whole")
        assert names(folder) == ["other.json"]


def test_what_another_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "answer.json"
    with started("-c", HOLDING, target) as other:
        assert other.stdout is not None and other.stdout.readline() == "holding\n"
        (temporary,) = names(tmp_path)
        sweep(tmp_path)
        write_whole(target, b"another's")
        assert names(tmp_path) == [temporary, "answer.json"]
        other.communicate(timeout=120)
    assert (names(tmp_path), target.read_bytes()) == (["answer.json"], b"mine")


def test_another_hosts_are_left_for_an_hour(tmp_path: Path) -> None:
    place = tmp_path / ".bedside-elsewhere-7-0123456789ab.tmp"
    place.write_bytes(b"")
    sweep(tmp_path)
    assert place.exists(), "its lock may not be seen here"
    os.utime(place, (time.time() - 3700,) * 2)
    sweep(tmp_path)
    assert not place.exists()


@pytest.mark.parametrize("name", [".bedside-x.tmp", "notes.tmp", "a.12.tmp.json", "scan.2023.tmp"])
def test_nothing_else_is_swept(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"")
    os.utime(tmp_path / name, (0, 0))
    sweep(tmp_path)
    assert names(tmp_path) == [name]


def test_writers_of_equal_process_ids_do_not_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk.os, "getpid", lambda: 1)  # as in containers of several hosts
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: write_whole(tmp_path / "answer", b"%d" % number), range(600)))
    assert names(tmp_path) == ["answer"]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / ("n" * 255)  # there is no room for a longer name
    write_whole(place, b"old")
    with pytest.raises(KeyError), replacing(place) as file:
        file.write(b"new")
        raise KeyError
    with pytest.raises(KeyError), scratch(tmp_path):
        raise KeyError
    assert (names(tmp_path), place.read_bytes()) == ([place.name], b"old")


@pytest.mark.parametrize(("write", "named"), [(write_whole, "replace"), (write_first, "link")])
def test_a_file_has_its_name_only_once_it_is_on_the_disk(
    write: Any, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, int]] = []
    sync, name = os.fsync, getattr(os, named)

    def synced(number: int) -> None:
        done.append(("synced", os.fstat(number).st_size))
        sync(number)

    def given_name(temporary: Path, path: Path) -> None:
        done.append(("named", temporary.stat().st_size))
        name(temporary, path)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, named, given_name)
    write(tmp_path / "answer", b"whole")
    assert done == [("synced", 5), ("named", 5)]  # otherwise a power cut may leave an empty file of that name


def test_what_is_private_is_so_from_its_first_byte(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        place = private_folder(tmp_path / "private")
        with replacing(place / "hidden", private=True) as file:
            file.write(b"secret")
            assert [stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()] == [0o600]
        assert stat.S_IMODE((place / "hidden").stat().st_mode) == 0o600
        for mode in (0o755, 0o750):  # as somebody's copy has it; the group is not the owner either
            place.chmod(mode)
            assert stat.S_IMODE(private_folder(place).stat().st_mode) == 0o700
        write_whole(tmp_path / "public", b"")
        assert stat.S_IMODE((tmp_path / "public").stat().st_mode) == 0o666
    finally:
        os.umask(before)


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("x" * 300, "too long"),
        ("a/" * 1_500 + "x", "too many nested folders"),
        ("file/below", "^file: is a file, not a folder"),
        ("circle/below", "is a link that leads nowhere|Too many levels"),
        ("s3://bucket/below", "^s3://bucket.*: is a URL"),
    ],
)
def test_a_place_that_cannot_be(name: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("circle").symlink_to("circle")
    with pytest.raises(InputError, match=found):
        write_whole(Path(name), b"x")
    with pytest.raises(InputError, match=found):
        make_folder(Path(name) / "folder")
    with pytest.raises(InputError, match=found):
        private_folder(Path(name) / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["circle", "file"]


def test_a_folder_may_be_called_as_an_address_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s3:").mkdir()
    write_whole(Path("s3:/below/a"), b"x")
    assert Path("s3:/below/a").read_bytes() == b"x"


@pytest.mark.parametrize("place", ["/", "."])
def test_a_folder_is_no_file(place: str) -> None:
    with pytest.raises(InputError, match="is a folder"):
        write_whole(Path(place), b"x")


def test_a_folder_that_belongs_to_another(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir(mode=0o555)
    with unprivileged(), pytest.raises(InputError, match="may not be written"):
        write_whole(tmp_path / "theirs" / "below" / "x", b"x")


def test_folders_above_a_file_are_made(tmp_path: Path) -> None:
    write_whole(tmp_path / "a" / "b" / "c", b"x")
    assert (tmp_path / "a" / "b" / "c").read_bytes() == b"x"


@pytest.mark.parametrize("path", ["", ".", "..", "/", "a/.."])
def test_what_has_no_name_of_its_own_has_no_neighbour_and_is_not_written(path: str) -> None:
    with pytest.raises(InputError, match=r"names no file or folder.*runs/new"):
        beside(Path(path), "{}.work")
    with pytest.raises(InputError, match="is a folder"):
        write_whole(Path(path), b"")


def test_a_neighbour_is_named_after_a_place_whatever_that_is_called() -> None:
    assert beside(Path("runs/{v1}"), ".{}.lock") == Path("runs/.{v1}.lock")


@pytest.mark.parametrize("moment", ["open", "flock"])
def test_a_folder_that_another_process_swept_before_it_was_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    where = os if moment == "open" else fcntl
    real, swept = getattr(where, moment), list[Path]()

    def sweeping(*given: Any, **more: Any) -> Any:
        found = [path for path in tmp_path.iterdir() if path.is_dir()]
        if not swept and found:
            swept.append(found[0])
            found[0].rmdir()
        return real(*given, **more)

    monkeypatch.setattr(where, moment, sweeping)
    with scratch(tmp_path) as folder:
        assert folder.is_dir() and swept not in ([], [folder])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", [errno.EFBIG, errno.EIO])
def test_what_a_disk_refuses_while_it_is_written_to_names_the_file(code: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"x: cannot be written \({os.strerror(code)}\)"), writing(tmp_path / "x"):
        raise OSError(code, os.strerror(code))  # as `write` does, without a name


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (errno.ENOSPC, "here: the disk is full"),
        (errno.EFBIG, "here: cannot be written .File too large.* .expected a place you can write to.. Allow files of"),
        (errno.EIO, "here: cannot be used .Input/output error"),
        (errno.EACCES, "here: cannot be used .Permission denied"),
    ],
)
def test_what_a_library_says_of_the_disk_is_not_said_of_what_it_read(code: int, says: str) -> None:
    try:
        try:
            raise OSError(code, os.strerror(code))
        except OSError as cause:
            raise ValueError("a damaged archive") from cause
    except ValueError as error:
        with pytest.raises(BedsideError, match=says) as told:
            refuse_disk(error, Path("here"))
        assert told.value.do
    refuse_disk(ValueError("a damaged archive"), Path("here"))
    refuse_disk(FileNotFoundError(errno.ENOENT, "no such file"), Path("here"))


@pytest.mark.parametrize("error", [FULL, KeyboardInterrupt()])
def test_of_what_fails_nothing_new_is_left(error: BaseException, tmp_path: Path) -> None:
    """Several files that would refuse the same command: also their folders, and those of a step that was finished."""
    (tmp_path / "old").write_text("old")
    with pytest.raises((BedsideError, KeyboardInterrupt)), stopped_after(4, error), all_or_nothing():
        write_whole(tmp_path / "a" / "b" / "one", b"1")
        with all_or_nothing():
            assert write_first(tmp_path / "a" / "two", b"2")
        make_folder(private_folder(tmp_path / "c") / "d")
        write_whole(tmp_path / "old", b"new")
        assert not write_first(tmp_path / "old", b"newer")
        write_whole(tmp_path / "a" / "three", b"3")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"old": "new"}


def test_what_somebody_else_has_written_meanwhile_is_not_taken_back(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), all_or_nothing():
        write_whole(tmp_path / "a" / "one", b"1")
        (tmp_path / "a" / "one").rename(tmp_path / "kept")
        (tmp_path / "a" / "one").write_text("theirs")
        raise KeyboardInterrupt
    assert (tmp_path / "a" / "one").read_text() == "theirs"


def test_a_full_disk_promises_only_what_is_kept(tmp_path: Path) -> None:
    with stopped_after(0), pytest.raises(BedsideError, match="what builds and runs have finished is kept"):
        write_whole(tmp_path / "one", b"1")
    with stopped_after(0), pytest.raises(BedsideError, match="run the same command again$"), all_or_nothing():
        write_whole(tmp_path / "one", b"1")
