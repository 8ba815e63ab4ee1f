"""Which picture formats can be read here, and what to do about a file in any other.

JPEG, PNG, GIF, BMP, TIFF and WEBP always; AVIF and JPEG 2000 if this Pillow was built with them, as those from PyPI
are (AVIF from 11.3 on); HEIC and HEIF with the extra `heic`, which installs pillow-heif. The format is detected from
the bytes, never from the file name. Messages name no path on this machine, since they may end up in a release.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version

import PIL
from PIL import features

ALWAYS = ("JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP")
AVIF, HEIF, JPEG2000 = "AVIF", "HEIF", "JPEG2000"

_CONVERT = "or convert it to JPEG or PNG first, such as by"
_HEIC = f"Install the extra `heic`, which brings pillow-heif, {_CONVERT} `heif-convert PHOTO.heic PHOTO.png`"
_NEWER = "Install a Pillow from PyPI, 11.3 or newer"
_ANY = "Convert it to JPEG or PNG first, such as by"
_RAW = f"{_ANY} `darktable-cli PHOTO PHOTO.jpg`"


@cache
def readable() -> tuple[str, ...]:
    """The formats that Pillow is asked to open, by its names."""
    there = {AVIF: features.check("avif"), JPEG2000: features.check("jpg_2000"), HEIF: _heif()}
    return (*ALWAYS, *(name for name, is_there in there.items() if is_there))


@cache
def decoders() -> str:
    """The versions of the decoders: they change when a picture could decode differently, or become readable at all."""
    return f"pillow {PIL.__version__} " + (f"pillow-heif {version('pillow-heif')}" if HEIF in readable() else "")


def _heif() -> bool:
    """Whether pillow-heif is installed; Pillow then knows its format."""
    try:
        from pillow_heif import register_heif_opener

        version("pillow-heif")
    except (ImportError, PackageNotFoundError):
        return False
    # No thumbnails, no other picture of the file, and the size in its header must be true.
    register_heif_opener(thumbnails=False, depth_images=False, aux_images=False)
    return True


def refused(data: bytes) -> tuple[str, str] | None:
    """What a file is that Pillow could not open, by its first bytes, and what to do about it; None if it does not look
    like a picture."""
    return next(((what, do) for at, starts, what, do in _OTHERS if data.startswith(starts, at)), None)


_HEIF_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
_OTHERS: tuple[tuple[int, bytes | tuple[bytes, ...], str, str], ...] = (
    (4, (b"ftypavif", b"ftypavis"), "an AVIF picture", f"{_NEWER}, {_CONVERT} `avifdec PHOTO.avif PHOTO.png`"),
    (4, tuple(b"ftyp" + brand for brand in _HEIF_BRANDS), "a HEIC (HEIF) picture", _HEIC),
    (
        0,
        (b"\0\0\0\x0cjP  \r\n\x87\n", b"\xff\x4f\xff\x51"),
        "a JPEG 2000 picture",
        f"{_NEWER}, {_CONVERT} `opj_decompress -i PHOTO.jp2 -o PHOTO.png`",
    ),
    (0, (b"\xff\x0a", b"\0\0\0\x0cJXL \r\n\x87\n"), "a JPEG XL picture", f"{_ANY} `djxl PHOTO.jxl PHOTO.png`"),
    (0, (b"FUJIFILMCCD-RAW", b"IIU\0", b"IIRO", b"IIRS"), "a raw file of a camera", _RAW),
    (0, b"8BPS", "a Photoshop file", f"{_ANY} `magick PHOTO.psd[0] PHOTO.png`"),
    (0, b"%PDF", "a PDF", "Take its pictures out first, such as by `pdfimages -all FILE.pdf PHOTO`"),
    (
        0,
        (b"II*\0", b"MM\0*"),
        "a TIFF of another kind, such as a raw photo",
        f"{_ANY} `magick PHOTO.tif PHOTO.png`",
    ),
    (0, b"<?xml", "a drawing (SVG) or another XML file, no photo", f"{_ANY} `rsvg-convert FILE.svg -o FILE.png`"),
    (0, b"<svg", "a drawing (SVG), no photo", f"{_ANY} `rsvg-convert FILE.svg -o FILE.png`"),
    (128, b"DICM", "a DICOM file", f"{_ANY} `dcmj2pnm +on FILE.dcm FILE.png`, and look at it for names"),
    (4, b"ftypcrx", "a raw file of a camera", _RAW),
    (4, b"ftyp", "a film", f"{_ANY} `ffmpeg -i FILM -frames:v 1 PHOTO.png`"),
)
"""Where a file has which bytes, what it is, and what to do; the first that fits counts."""


def raw(data: bytes, tags: Mapping[int, object]) -> tuple[str, str] | None:
    """As `refused`, of a camera's raw file, a TIFF, by its tags: its first picture is a small preview, not a photo."""
    dng, kind, others = 50706, 254, 330
    preview = tags.get(kind, 0)
    if data[8:10] == b"CR" or dng in tags or (isinstance(preview, int) and preview & 1 and others in tags):
        return "a raw file of a camera", _RAW
    return None


def stated_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    """The sizes in pixels that parts of a file state where Pillow would look too late, or not at all.

    A PNG's header (Pillow warns about it through a process-wide registry), the coded stream in a JPEG 2000, and every
    picture that a HEIF or AVIF file holds (its boxes `ispe`), whichever of them is shown.
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        yield _two(data, 16)
    elif data[4:8] == b"ftyp":
        at = data.find(_SIZE)
        while 0 <= at <= len(data) - 20:
            yield _two(data, at + 12)
            at = data.find(_SIZE, at + 20)
    elif (data[4:8] == b"jP  " or data.startswith(_STREAM)) and 0 <= (at := data.find(_STREAM)) <= len(data) - 24:
        (wide, high), (left, top) = _two(data, at + 8), _two(data, at + 16)
        yield max(0, wide - left), max(0, high - top)


_SIZE = b"\0\0\0\x14ispe\0\0\0\0"  # a box of 20 bytes, version 0
_STREAM = b"\xff\x4f\xff\x51"


def _two(data: bytes, at: int) -> tuple[int, int]:
    first, second = struct.unpack(">II", data[at : at + 8])
    return first, second
