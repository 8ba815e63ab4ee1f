"""Files of others: which are opened, and how much of them is read."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from loaders.errors import InputError
from loaders.files.images import ImageError, open_image
from loaders.files.opening import TooLong, digest_of, read_file
from loaders.files.texts import read_text


def pipe(path: Path) -> Path:
    os.mkfifo(path)
    return path


def sock(path: Path) -> Path:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
    return path


@pytest.mark.parametrize("read", [read_file, digest_of, read_text, open_image])
def test_only_regular_files_are_opened(tmp_path: Path, read: object) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for path, found in (
        (pipe(tmp_path / "pipe"), "not a regular file"),
        (sock(tmp_path / "s"), "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path, "is a folder"),
        (tmp_path / "gone", "does not exist"),
        (tmp_path / "s" / "below", "does not exist"),
        (loop, "cannot be read"),
        (tmp_path / ("long" * 100), "cannot be read"),
        (Path("nul\0"), "is not a path"),
    ):
        with pytest.raises(InputError, match=found):
            read(path)  # type: ignore[operator]


def test_a_sparse_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    path.touch()
    os.truncate(path, 40 << 30)
    with pytest.raises(TooLong, match="42,949,672,960 bytes"):
        read_file(path)
    with pytest.raises(ImageError) as error:
        open_image(path)
    assert error.value.reason == "too_large"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc, whose files state no size")
def test_a_file_that_is_longer_than_it_states_is_refused_too() -> None:
    with pytest.raises(TooLong, match="of 5 bytes"):
        read_file(Path("/proc/self/status"), most=4)
