"""Texts of others: UTF-8, lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from loaders.errors import InputError
from loaders.files.texts import decode, lines_of, read_text, stream_lines


def test_text_is_utf8_without_its_mark(tmp_path: Path) -> None:
    assert decode(b"\xef\xbb\xbfa\xc3\xa9", "f") == "aé"
    assert decode(b"\xef\xbb\xbf\xef\xbb\xbfa", "f") == "a"
    with pytest.raises(InputError, match="f:2: byte 0xff at offset 2 is not UTF-8"):
        decode(b"a\n\xff", "f")
    with pytest.raises(InputError, match="f:2: byte 0xff at offset 5 is not UTF-8"):  # of the file, its mark included
        decode(b"\xef\xbb\xbfa\n\xff", "f")
    with pytest.raises(InputError, match="byte 0x00 at offset 1"):
        decode(b"a\0", "f")
    (tmp_path / "t").write_bytes(b"a\r\nb\rc")
    assert read_text(tmp_path / "t") == "a\nb\nc"


def test_only_a_line_feed_ends_a_line() -> None:
    data = "\ufeffa\u2028b\u2029c\x85d\x0be\r\n\n \nf".encode()
    lines = [(1, "a\u2028b\u2029c\x85d\x0be".encode()), (4, b"f")]
    assert list(lines_of(data)) == lines
    for size in (1, 2, 5, 100):
        blocks = [data[at : at + size] for at in range(0, len(data), size)]
        assert list(stream_lines(blocks, "f")) == lines
    with pytest.raises(InputError, match="f:2: a line without end"):
        list(stream_lines([b"a\nbbbb", b"bbbb"], "f", 5))


@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_line_that_is_too_long_takes_no_other_with_it(size: int) -> None:
    data = b"a\n" + 20 * b"b" + b"\nc\nd"
    blocks = [data[at : at + size] for at in range(0, len(data), size)]
    assert list(stream_lines(blocks, "f", 5, skip=True)) == [(1, b"a"), (2, b""), (3, b"c"), (4, b"d")]
