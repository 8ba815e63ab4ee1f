"""All texts that a file holds, however it is packed: what a search for hidden texts has to cover.

A text is given as it stands, and again with the escapes of JSON, HTML and URLs undone. Archives, compressed files,
SQLite databases, Arrow tables and the compressed texts of PNG are opened, also inside each other. The bytes of anything
else are read as text, in UTF-8, UTF-16, UTF-32 (as NumPy has it) or Windows-1252. Base64 is not undone.
"""

from __future__ import annotations

import bz2
import gzip
import html
import io
import lzma
import re
import sqlite3
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any
from urllib.parse import unquote_plus

import pyarrow as pa
import pyarrow.parquet as pq

MOST_BYTES = 1 << 30
"""Limit for a file once everything packed in it is unpacked."""
_MOST_DEPTH = 5
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")
# Formats whose texts cannot be extracted here: 7z, RAR, PDF, LZ4.
_CLOSED = (b"7z\xbc\xaf", b"Rar!", b"%PDF", b"\x04\x22\x4d\x18")
_STREAMS: dict[bytes, Callable[[io.BytesIO], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
    b"\x28\xb5\x2f\xfd": lambda data: pa.CompressedInputStream(data, "zstd"),
}
_PNG = b"\x89PNG\r\n\x1a\n"


class Unreadable(Exception):
    """The file's packing cannot be opened, so nobody can say what it holds."""


def texts_of(data: bytes) -> Iterator[str]:
    """Every text of a file, some of them more than once. Raises: Unreadable."""
    room = [MOST_BYTES]
    for raw in _opened(data, 0, room):
        yield from _forms(raw)


def _forms(text: str) -> Iterator[str]:
    """A text, and the same with escapes undone, one kind after another."""
    yield text
    undoing: tuple[tuple[str, Callable[[str], str]], ...] = (
        ("\\", lambda text: _ESCAPE.sub(_character, text)),
        ("\\", lambda text: _ESCAPE.sub(_character, text)),  # JSON in JSON
        ("<", lambda text: _TAG.sub(" ", text)),
        ("&", html.unescape),
        ("%", unquote_plus),
    )
    for sign, undo in undoing:
        if sign in text and (plain := undo(text)) != text:
            text = plain
            yield text


def _character(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return found[2] if found[2] in "\\\"'/" else " "


def _opened(data: bytes, depth: int, room: list[int]) -> Iterator[str]:
    room[0] -= len(data)
    if depth > _MOST_DEPTH or room[0] < 0:
        raise Unreadable("packed too deep, or too much of it")
    if data.startswith(_CLOSED):
        raise Unreadable("a format whose texts cannot be read")
    try:
        for inner in _unpacked(data, room):
            yield from _opened(inner, depth + 1, room) if isinstance(inner, bytes) else iter((inner,))
    except Unreadable:
        raise
    except (ImportError, RuntimeError, NotImplementedError) as error:  # zipfile: a cipher or a method it has not
        raise Unreadable(f"packed in a way that cannot be undone ({error})") from None
    except Exception as error:  # a damaged archive may raise anything
        raise Unreadable(f"damaged ({type(error).__name__})") from None
    text = data.decode("utf-8", "replace")
    yield text
    if "\ufffd" in text:  # a table as Excel saves it, the text of a PNG
        yield data.decode("cp1252", "replace")
    if b"\x00" in data:
        for order, width in (("utf-16-le", 2), ("utf-16-be", 2), ("utf-32-le", 4)):
            yield from (data[shift:].decode(order, "replace") for shift in range(width))


def _unpacked(data: bytes, room: list[int]) -> Iterator[bytes | str]:
    """What is packed in the data: files as bytes, cells as texts."""
    if data.startswith(b"SQLite format 3\0"):
        yield from _cells(data)
    elif data.startswith(b"PAR1"):
        yield from _columns(pq.ParquetFile(pa.BufferReader(data)).iter_batches())
    elif data.startswith(b"ARROW1"):
        reader = pa.ipc.open_file(pa.BufferReader(data))
        yield from _columns(reader.get_batch(at) for at in range(reader.num_record_batches))
    elif data.startswith(b"\xff\xff\xff\xff"):
        with suppress(pa.ArrowInvalid, OSError):  # or an array that begins with -1, white pixels
            yield from _columns(pa.ipc.open_stream(pa.BufferReader(data)))
    elif data.startswith(_PNG):
        yield from (_inflated(packed, room) for packed in _packed_texts(data))
    elif data.startswith(tuple(_STREAMS)):
        opened = next(opened for start, opened in _STREAMS.items() if data.startswith(start))
        with opened(io.BytesIO(data)) as stream:
            yield _bounded(stream, room)
    elif zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.infolist():
                yield member.filename
                with archive.open(member) as stream:
                    yield _bounded(stream, room)
    elif data[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(data)) as archive_of_tar:
            for entry in archive_of_tar:
                yield entry.name
                if (inner := archive_of_tar.extractfile(entry)) is not None:
                    yield _bounded(inner, room)
    elif data[:1] == b"\x78":  # a bare stream of zlib, or text that begins with an x
        try:
            yield _inflated(data, room)
        except zlib.error:
            return


def _packed_texts(data: bytes) -> Iterator[bytes]:
    """The compressed texts of a PNG; the others stand in its bytes as they are."""
    at = len(_PNG)
    while kind := data[at + 4 : at + 8]:
        end = at + 8 + int.from_bytes(data[at : at + 4], "big")
        _, _, said = data[at + 8 : end].partition(b"\0")
        if kind == b"zTXt":
            yield said[1:]
        elif kind == b"iTXt" and said[:1] == b"\1":
            yield said[2:].split(b"\0", 2)[2]
        at = end + 4


def _inflated(data: bytes, room: list[int]) -> bytes:
    return _bounded(io.BytesIO(zlib.decompressobj().decompress(data, room[0] + 1)), room)


def _bounded(stream: Any, room: list[int]) -> bytes:
    data: bytes = stream.read(room[0] + 1)
    if len(data) > room[0]:
        raise Unreadable("too much is packed in it")
    return data


def _cells(data: bytes) -> Iterator[bytes | str]:
    """Every cell of a SQLite database, and the bytes of deleted content."""
    plain = bytearray(data)
    plain[18:20] = b"\x01\x01"  # a database in memory has no log beside it
    with closing(sqlite3.connect(":memory:")) as base:
        base.deserialize(bytes(plain))
        base.text_factory = lambda raw: raw.decode("utf-8", "replace")
        tables = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in tables:
            for row in base.execute('SELECT * FROM "' + name.replace('"', '""') + '"'):
                yield from (cell for cell in row if isinstance(cell, bytes | str))


def _columns(batches: Any) -> Iterator[bytes | str]:
    for batch in batches:
        for row in batch.to_pylist():
            waiting = [row]
            while waiting:
                value = waiting.pop()
                if isinstance(value, bytes | str):
                    yield value
                elif isinstance(value, dict):
                    waiting += value.values()
                elif isinstance(value, list | tuple):  # a map is a list of pairs
                    waiting += value
