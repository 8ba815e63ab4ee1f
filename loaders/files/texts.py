"""Text of somebody else: UTF-8 without its byte-order mark, also where joined files have left more than one.

Bytes that are not UTF-8, NUL and unpaired surrogates are refused. Lines end at a line feed, with or without a carriage
return: U+2028, U+2029 and U+0085 are ordinary characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from loaders.errors import CHECK_LINES, InputError
from loaders.files.bad_rows import BadRow
from loaders.files.kinds import AS_UTF8, mistaken, picture_format
from loaders.files.opening import MOST_BYTES, read_file

MOST_LINE = 4 << 20
NOT_UTF8 = "not UTF-8 text"
"""The reason of a row that is in another encoding, such as that of Windows."""
MARK = "\ufeff"
"""The byte-order mark that some editors put in front of UTF-8."""
_MARK = MARK.encode()
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")


def decode(data: bytes, path: object) -> str:
    """UTF-8 text, without its byte-order mark.

    Raises: InputError with the line and byte offset of the first byte that is not UTF-8, or of a NUL.
    """
    try:
        text = data.decode().lstrip(MARK)
    except UnicodeDecodeError as error:
        raise _not_text(data, error.start, path) from None
    if "\x00" in text:
        raise _not_text(data, data.index(b"\x00"), path)
    return text


def _not_text(data: bytes, offset: int, path: object) -> InputError:
    line = data.count(b"\n", 0, offset) + 1
    picture = picture_format(data)
    if other := (f"is a picture ({picture})", "Name another file") if picture else mistaken(data):
        return InputError(path, found=other[0], expected="a file encoded as UTF-8", do=other[1])
    found = f"byte 0x{data[offset]:02x} at offset {offset} is not UTF-8 text"
    return InputError(f"{path}:{line}", found=found, expected="a file encoded as UTF-8", do=AS_UTF8)


def read_text(path: Path, *, most: int = MOST_BYTES, expected: str = "a text") -> str:
    """The text of a file, its line endings as line feeds. Raises: InputError as `read_file` and `decode`."""
    return decode(read_file(path, most=most, expected=expected), path).replace("\r\n", "\n").replace("\r", "\n")


def lines_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers from 1; only a line feed ends one."""
    return stream_lines([data], "", len(data))


def _unmarked(data: bytes) -> bytes:
    while data.startswith(_MARK):
        data = data.removeprefix(_MARK)
    return data


def stream_lines(
    blocks: Iterable[bytes], path: object, most: int = MOST_LINE, *, skip: bool = False
) -> Iterator[tuple[int, bytes]]:
    """Like `lines_of`, from blocks that are read one after another.

    Raises: InputError for a line of more bytes; with `skip` it becomes an empty line, and no more of it is held.
    """
    number, rest, over = 0, b"", False
    for block in chain(blocks, (b"\n",)):  # which ends the last line, and is blank where that has ended
        lines = (rest + block).split(b"\n")
        rest = lines.pop()
        if not skip and max(map(len, (*lines, rest))) > most:
            where, limit = f"{path}:{number + len(lines) + 1}", f"at most {most:,} bytes a line"
            raise InputError(where, found="a line without end", expected=limit, do=CHECK_LINES)
        for line in lines:
            number += 1
            line = _unmarked(line)
            if over or len(line) > most:
                over = False
                yield number, b""
            elif line.strip():
                yield number, line.removesuffix(b"\r")
        if len(rest) > most:
            rest, over = b"", True


def line_text(line: bytes, where: object) -> str:
    """A line as text. Raises: BadRow if it is not text."""
    return check_text(line.decode("utf-8", "surrogateescape"), where)


def is_text(text: str) -> bool:
    """Whether it is free of bytes that were not UTF-8, of unpaired surrogates and of NUL."""
    return (text.isascii() and "\0" not in text) or _NO_TEXT.search(text) is None


def check_text(text: str, where: object, name: str = "") -> str:
    """The text, if it is valid. Raises: BadRow for bytes that were not UTF-8, unpaired surrogates, and NUL."""
    wrong = _NO_TEXT.search(text)
    if wrong is None:
        return text
    place = f"character {wrong.start() + 1}" + f" of {name}" * bool(name)
    if wrong[0] == "\x00":
        raise BadRow(where, reason="a NUL character", found=f"{place} is NUL", expected="text", do=AS_UTF8)
    raise BadRow(where, reason=NOT_UTF8, found=f"{place} is not UTF-8", expected="text in UTF-8", do=AS_UTF8)
