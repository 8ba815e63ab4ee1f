"""The embeddings an encoder has made so far: files of records that are only ever appended to.

    <folder>/identity.json    what the embeddings depend on besides the items
    <folder>/images-0.bin     records of images; one file for each of several processes
    <folder>/texts-0.bin      records of texts

A record is the SHA-256 of the item, whether it was truncated, its vector and a checksum over these. Records that fail
their checksum, as a killed process leaves one at the end, count as absent, and the next process that writes removes
them. The folder may be deleted at any time; that only costs computing time.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO

import filelock
import numpy as np
from numpy.typing import NDArray

from loaders.errors import BedsideError
from loaders.files.disk import replacing, write_whole, writing
from loaders.files.opening import open_file
from loaders.files.paths import entries, is_there

_DIGEST = 32
_CHECK = 4
_READ_RECORDS = 4096
_MOST_DIM = 8192


Append = Callable[[Sequence[bytes], NDArray[np.float32], Sequence[bool]], None]
"""Takes digests, vectors, and whether each item was truncated."""


@dataclass(slots=True)
class Found:
    """What is present of the requested items; `damaged` counts broken records that were skipped."""

    vectors: NDArray[np.float32]  # (items, dim), zero where absent
    truncated: NDArray[np.bool_]  # (items,)
    present: NDArray[np.bool_]  # (items,)
    damaged: int = 0


class EmbeddingCache:
    """The records of one encoder, of `dim` dimensions."""

    def __init__(self, folder: Path, dim: int) -> None:
        self.folder = folder
        self._dim = dim
        self._size = _DIGEST + 1 + 4 * dim + _CHECK

    def describe(self, identity: bytes) -> None:
        """Record what the folder belongs to. Raises BedsideError or InputError if the disk does not accept it."""
        path = self.folder / "identity.json"
        if not is_there(path):  # a complete cache may be on a read-only disk
            write_whole(path, identity)

    def read(self, kind: str, digests: Sequence[bytes]) -> Found:
        """The records of these items (SHA-256 each). Memory: the result and a few thousand records."""
        found = Found(
            vectors=np.zeros((len(digests), self._dim), dtype=np.float32),
            truncated=np.zeros(len(digests), dtype=np.bool_),
            present=np.zeros(len(digests), dtype=np.bool_),
        )
        rows = {digest: row for row, digest in enumerate(digests)}
        for path in self._files(kind):
            with open_file(path) as file:
                for record in self._records(file):
                    if not _whole(record):
                        found.damaged += 1
                    elif (row := rows.get(record[:_DIGEST])) is not None:
                        found.truncated[row] = record[_DIGEST] != 0
                        found.vectors[row] = np.frombuffer(record, "<f4", self._dim, offset=_DIGEST + 1)
                        found.present[row] = True
        return found

    @contextmanager
    def writer(self, kind: str, process: int) -> Iterator[Append]:
        """Appends batches to the file of this process, without its broken records; each is on disk once it returns.

        Raises BedsideError if another run is writing to it or the disk is full.
        """
        path = self.folder / f"{kind}-{process}.bin"
        with writing(path):
            try:
                lock = filelock.FileLock(path.with_suffix(".lock"), timeout=0).acquire()
            except filelock.Timeout:
                raise BedsideError(
                    path, found="another run is adding to these embeddings", do="Wait for it to end, then run again"
                ) from None
        with lock:
            self._repair(path)
            with writing(path), path.open("ab", buffering=0) as file:
                yield partial(_append, file)

    def _files(self, kind: str) -> list[Path]:
        there = entries(self.folder) if is_there(self.folder) else []
        return [path for path in there if path.match(f"{kind}-*.bin")]

    def _records(self, file: IO[bytes]) -> Iterator[bytes]:
        while block := file.read(self._size * _READ_RECORDS):
            for start in range(0, len(block) - self._size + 1, self._size):
                yield block[start : start + self._size]

    def _repair(self, path: Path) -> None:
        if not is_there(path):
            return
        with open_file(path) as file:
            good = all(_whole(record) for record in self._records(file))
        length = path.stat().st_size
        if good and length % self._size == 0:
            return
        with writing(path), open_file(path) as file, replacing(path) as copy:
            copy.writelines(record for record in self._records(file) if _whole(record))


def _append(file: IO[bytes], digests: Sequence[bytes], vectors: NDArray[np.float32], truncated: Sequence[bool]) -> None:
    """One record for each item."""
    records = []
    for digest, vector, cut in zip(digests, vectors, truncated, strict=True):
        content = digest + bytes([cut]) + vector.astype("<f4").tobytes()
        records.append(content + zlib.crc32(content).to_bytes(_CHECK, "little"))
    data = memoryview(b"".join(records))
    while data:  # an unbuffered file may accept only a part
        data = data[file.write(data) :]
    os.fsync(file.fileno())


def stored_dim(folder: Path) -> int | None:
    """The dimensions of the records in a cache's folder, None if it holds no complete record.

    They follow from the checksum of the first record, which is right for one length only.
    """
    for path in entries(folder) if is_there(folder) else []:
        if path.suffix != ".bin":
            continue
        with open_file(path) as file:
            head = file.read(_DIGEST + 1 + 4 * _MOST_DIM + _CHECK)
        for dim in range(1, (len(head) - _DIGEST - 1 - _CHECK) // 4 + 1):
            if _whole(head[: _DIGEST + 1 + 4 * dim + _CHECK]):
                return dim
    return None


def _whole(record: bytes) -> bool:
    return zlib.crc32(record[:-_CHECK]) == int.from_bytes(record[-_CHECK:], "little")
