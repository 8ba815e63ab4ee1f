"""Opens images from strangers safely: nothing is decoded before its size is known, and no metadata survives.

`open_image` gives an upright 8-bit RGB or grey picture; `clean_bytes` gives the bytes to publish, which are the
original ones if they carry no metadata. Both are safe to call from many threads: Pillow's global limits are
left alone.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image, UnidentifiedImageError

from loaders.errors import InputError
from loaders.files.colours import in_srgb
from loaders.files.image_formats import raw, readable, refused, stated_sizes
from loaders.files.kinds import mistaken
from loaders.files.opening import MOST_BYTES, TooLong, read_file

MAX_PIXELS = 50_000_000
_PIXELS = f"at most {MAX_PIXELS:,} pixels"

_ORIENTATION = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_PNG = b"\x89PNG\r\n\x1a\n"
_BEHIND_PIXELS = re.compile(rb"\xff[^\0\xd0-\xd7]", re.DOTALL)  # not a stuffed zero, nor a restart
# What Pillow and pillow-heif raise for a file that breaks off or contradicts itself, depending on where.
_BROKEN = (OSError, SyntaxError, ValueError, EOFError, struct.error, zlib.error, LookupError, TypeError, RuntimeError)


class ImageError(InputError):
    """An image that cannot be used.

    `reason` is one of missing, empty, not_opened, not_an_image, format_not_read, too_large, one_pixel, truncated,
    corrupt.
    """

    def __init__(self, where: object, *, reason: str, found: str, expected: str = "", do: str = "") -> None:
        self.reason = reason
        super().__init__(where, found=found, expected=expected, do=do)

    @property
    def detail(self) -> str:
        """What was found and what to do, for a row that is excluded."""
        return f"{self.found}. {self.do}" if self.do else self.found


def open_image(source: bytes | str | Path, *, name: str = "") -> Image.Image:
    """Decode an image file into an upright 8-bit RGB or L picture without metadata; of an animation, the first frame.
    If a colour profile says that its numbers are not sRGB, they are converted.

    `name` is what errors call bytes.

    Raises: ImageError if the file is missing, empty, not an image, in a format that is not read here, larger than
    MAX_PIXELS by its header, one pixel wide or high, truncated or corrupt.
    """
    data, where = _read(source, name)
    return _upright(_decode(data, where), where)[0]


def clean_bytes(source: bytes | str | Path, *, name: str = "") -> tuple[bytes, int]:
    """The bytes to publish, JPEG or PNG: no EXIF, comments, profiles, thumbnails or trailing data. Also how many
    pictures the file holds, of which the first is used.

    An upright 8-bit RGB or grey JPEG or PNG in sRGB keeps its compressed pixels: only the metadata is cut out, and
    without metadata the bytes stay as they are. Anything else (HEIC, AVIF, JPEG 2000, WEBP, another colour profile,
    …) becomes a lossless PNG of what `open_image` shows, since not every reader of a release opens these formats.

    Raises: ImageError as `open_image`.
    """
    data, where = _read(source, name)
    image = _decode(data, where)
    original = str(image.format)
    picture, changed = _upright(image, where)
    kept = b""
    if original == "PNG" and not changed:
        kept = _strip_png(data)
    elif original in ("JPEG", "MPO") and not changed:
        kept = _strip_jpeg(data)
    if not kept:
        buffer = io.BytesIO()
        picture.save(buffer, format="PNG", compress_level=6)
        kept = buffer.getvalue()
    return kept, 1 if original == "MPO" else getattr(image, "n_frames", 1)  # a phone's other frames are previews


def is_clean(data: bytes) -> bool:
    """Whether these bytes are such as `clean_bytes` makes, by the structure of the file; no pixel is decoded."""
    return len(data) > 24 and data == (_strip_png if data.startswith(_PNG) else _strip_jpeg)(data)


def image_bytes(path: Path) -> bytes:
    """The bytes of an image file, undecoded. Raises: ImageError when it cannot be read, or is too long."""
    try:
        return read_file(path, expected="an image file")
    except InputError as error:
        reason = "too_large" if isinstance(error, TooLong) else "missing"
        raise ImageError(path, reason=reason, found=error.found, expected=error.expected) from None


def cell_bytes(cell: object, where: str) -> bytes | Path:
    """The image that a row holds: the bytes of its cell, or a file that the caller opened it from (a `Path`).

    A row may come from anybody, so a file that it merely names, as text, is never opened.

    Raises: InputError if it holds none.
    """
    held = cell.get("bytes") if isinstance(cell, Mapping) else cell
    if isinstance(held, bytes | Path) and held:
        return held
    named = cell.get("path") if isinstance(cell, Mapping) else cell
    found = f"an image of type {type(named).__name__}" if named else "no image"
    if named and isinstance(named, str):
        found = "the name of a file, not an image"
    do = "Build the release with its images, or load it"
    raise InputError(where, found=found, expected="the bytes of one", do=do)


def _read(source: bytes | str | Path, name: str) -> tuple[bytes, str]:
    if isinstance(source, bytes):
        where, data = name or "image", source
    else:
        where, data = str(source), image_bytes(Path(source))
    if not data:
        raise ImageError(where, reason="empty", found="is empty", expected="an image file")
    if len(data) > MOST_BYTES:
        expected = f"at most {MOST_BYTES:,} bytes"
        raise ImageError(where, reason="too_large", found="is too long a file", expected=expected)
    return data, where


def _decode(data: bytes, where: str) -> Image.Image:
    """The first frame, fully decoded; its size is checked before."""
    for size in stated_sizes(data):
        _check_size(size, where)
    try:
        image = Image.open(io.BytesIO(data), formats=readable())
    except UnidentifiedImageError:
        raise _no_image(data, where) from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise ImageError(where, reason="too_large", found=str(error), expected=_PIXELS) from None
    except _BROKEN as error:
        raise _broken(where, error) from None
    _check_size(image.size, where)
    if image.format == "TIFF" and (other := raw(data, getattr(image, "tag_v2", {}))):
        raise _other_format(*other, where)
    if min(image.size) < 2:
        found = f"is {image.width:,} x {image.height:,} pixels, which show nothing"
        raise ImageError(where, reason="one_pixel", found=found, expected="a picture of at least 2 x 2")
    try:
        image.load()
    except _BROKEN as error:
        raise _broken(where, error) from None
    return image


def _no_image(data: bytes, where: str) -> ImageError:
    if other := refused(data):
        return _other_format(*other, where)
    found, do = mistaken(data) or ("is no image that can be read", "")
    return ImageError(where, reason="not_an_image", found=found, expected="one of " + ", ".join(readable()), do=do)


def _other_format(what: str, do: str, where: str) -> ImageError:
    found, expected = f"is {what}, which is not read here", "one of " + ", ".join(readable())
    return ImageError(where, reason="format_not_read", found=found, expected=expected, do=do)


def _check_size(size: tuple[int, int], where: str) -> None:
    width, height = size
    if width * height > MAX_PIXELS:
        found = f"its header says {width:,} x {height:,} pixels"
        raise ImageError(where, reason="too_large", found=found, expected=_PIXELS)


def _broken(where: str, error: BaseException) -> ImageError:
    text = str(error)
    reason = "truncated" if "truncated" in text.lower() or isinstance(error, EOFError) else "corrupt"
    return ImageError(where, reason=reason, found=f"cannot be decoded ({text})", expected="a whole image file")


def _turn(image: Image.Image) -> Image.Transpose | None:
    """How to turn the picture according to EXIF; None if that says nothing readable."""
    try:
        return _TURNS.get(image.getexif().get(_ORIENTATION, 1))
    except _BROKEN:
        return None


def _upright(image: Image.Image, where: str) -> tuple[Image.Image, bool]:
    """The picture as a viewer shows it, in RGB or L, without metadata; and whether its pixels are not the file's."""
    before = image
    transparent = "transparency" in image.info
    if (turn := _turn(image)) is not None:
        image = image.transpose(turn)
    if (shown := in_srgb(image)) is not None:  # the file has its colours in a space of its own
        image = shown
    if image.mode.startswith(("I", "F")):  # before transparency, which Pillow applies to what it cuts off at 255
        image = _eight_bits(image, where)
    elif transparent or image.mode in ("RGBA", "LA", "PA", "RGBa", "La"):
        grey = image.mode in ("L", "LA", "La", "1")
        layered = image.convert("RGBA")
        ground = Image.new("RGBA", layered.size, "white")
        image = Image.alpha_composite(ground, layered).convert("L" if grey else "RGB")
    elif image.mode not in ("RGB", "L"):
        image = image.convert("L" if image.mode == "1" else "RGB")
    return Image.frombytes(image.mode, image.size, image.tobytes()), image is not before


def _eight_bits(image: Image.Image, where: str) -> Image.Image:
    """Rescale grey levels from the darkest to the brightest pixel: radiographs use only part of the 16 bits. The one
    level that is transparent, if any, becomes white."""
    values = np.asarray(image).astype(np.float64)
    if not np.isfinite(values).all():
        found = "holds pixels that are no numbers"
        raise ImageError(where, reason="corrupt", found=found, expected="finite grey values")
    unseen = values == image.info.get("transparency", np.nan)
    shown = values[~unseen]
    low, high = (shown.min(), shown.max()) if shown.size else (0.0, 0.0)
    scaled = (np.where(unseen, low, values) - low) * (255.0 / (high - low)) if high > low else np.zeros_like(values)
    return Image.fromarray(np.where(unseen, 255, np.round(scaled)).astype(np.uint8))


def _strip_png(data: bytes) -> bytes:
    """A PNG with only its critical chunks; b"" if it has several pictures, a palette, or other than 8 bits a sample."""
    if data[24] != 8:
        return b""
    kept = [_PNG]
    place = len(_PNG)
    while place + 12 <= len(data):
        length, kind = struct.unpack(">I4s", data[place : place + 8])
        chunk = data[place : place + 12 + length]
        place += 12 + length
        if kind in (b"acTL", b"PLTE"):
            return b""
        # A chunk whose name begins in lower case may be ignored by a decoder.
        if kind[0] & 0x20 == 0:
            kept.append(chunk)
        if kind == b"IEND":
            return b"".join(kept)
    return b""


def _strip_jpeg(data: bytes) -> bytes:
    """A JPEG without application segments, comments and whatever follows its end; b"" if its structure is unusual.

    The JFIF header stays (without thumbnail), and so does Adobe's, which says how the colours are encoded.
    """
    kept = [b"\xff\xd8"]
    place = 2
    while place + 4 <= len(data):
        if data[place] != 0xFF:
            return b""
        marker = data[place + 1]
        if marker == 0xFF:
            place += 1
            continue
        (length,) = struct.unpack(">H", data[place + 2 : place + 4])
        end = place + 2 + length
        segment = data[place:end]
        if marker == 0xE0 and segment[4:9] == b"JFIF\x00" and length >= 16:
            kept.append(b"\xff\xe0\x00\x10" + segment[4:16] + b"\x00\x00")
        elif (marker == 0xEE and segment[4:9] == b"Adobe") or not (0xE0 <= marker <= 0xEF or marker == 0xFE):
            kept.append(segment)
        place = end
        if marker == 0xDA:
            found = _BEHIND_PIXELS.search(data, end)
            if found is None:
                return b""
            place = found.start()
            kept.append(data[end:place])
            if data[place + 1] == 0xD9:
                return b"".join([*kept, b"\xff\xd9"])
    return b""
