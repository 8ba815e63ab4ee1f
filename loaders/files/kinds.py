"""What a file really is, by its first bytes."""

from __future__ import annotations

import re

PARQUET = b"PAR1"
POINTER = b"version https://git-lfs.github.com/spec/"
OF_POINTER = "is a pointer of Git LFS, not the file that it stands for (`git lfs pull` fetches that)"
AS_UTF8 = 'Save it again as UTF-8 (in a spreadsheet: "CSV UTF-8")'
_UNPACK = "Unpack it, and name the unpacked file"
_OTHERS = (
    (POINTER, OF_POINTER, ""),
    (
        b"PK\x03\x04",
        "is a ZIP archive, as spreadsheets (.xlsx, .ods) are",
        f'{_UNPACK}; a sheet: save it as "CSV UTF-8"',
    ),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "is a spreadsheet or document of an office program",
        'Save it as "CSV UTF-8"',
    ),
    (b"\x1f\x8b\x08", "is compressed (gzip)", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "is compressed (Zstandard)", _UNPACK),
    (b"\xfd7zXZ\x00", "is compressed (xz)", _UNPACK),
    (b"%PDF-", "is a PDF", ""),
    (PARQUET, "is a Parquet file", ""),
    (b"\xff\xfe\x00\x00", "is text in UTF-32, not UTF-8", AS_UTF8),
    (b"\xff\xfe", "is text in UTF-16, not UTF-8", AS_UTF8),
    (b"\xfe\xff", "is text in UTF-16, not UTF-8", AS_UTF8),
)
_PICTURES = ((b"\x89PNG", "PNG"), (b"\xff\xd8\xff", "JPEG"), (b"GIF8", "GIF"), (b"II*\0", "TIFF"), (b"MM\0*", "TIFF"))
_PAGE = re.compile(rb"\s*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE)


def mistaken(head: bytes) -> tuple[str, str] | None:
    """What a file really is, by its first bytes, if it is not a table, text or picture, and what to do about it.

    >>> mistaken(b"<!DOCTYPE html><title>404")[0]
    'is a web page, as servers send instead of a file'
    """
    if _PAGE.match(head):
        return "is a web page, as servers send instead of a file", "Download the file again"
    return next(((found, do) for start, found, do in _OTHERS if head.startswith(start)), None)


def picture_format(head: bytes) -> str | None:
    """The format of a picture, None for anything else."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WEBP"
    return next((name for start, name in _PICTURES if head.startswith(start)), None)
