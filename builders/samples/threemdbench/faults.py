"""What is done to a drawn photo to plant a fault: each change takes JPEG bytes and gives the bytes of a file."""

from __future__ import annotations

import io
from collections.abc import Callable

from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageFont, ImageOps

_Picture = Image.Image
_PAGE = b"<!DOCTYPE html>\n<html><title>404</title><p>This photo has moved.</p></html>\n"


def changed(data: bytes, change: str) -> bytes | None:
    """The bytes after a change of that name (a column of planted.csv); None for a file that is not to be there."""
    match change:
        case "none":
            return data
        case "missing":
            return None
        case "empty":
            return b""
        case "cut":
            return data[: len(data) // 3]
        case "page":
            return _PAGE
    with Image.open(io.BytesIO(data)) as picture:
        after = _PICTURES[change](picture.convert("RGB"))
    buffer = io.BytesIO()
    after.save(buffer, "JPEG", quality=35 if change == "jpeg" else 90)
    return buffer.getvalue()


def _crop(picture: _Picture) -> _Picture:
    side, edge = picture.width, round(picture.width * 0.04)
    return picture.crop((edge, edge, side - edge, side - edge))


def _lettered(picture: _Picture) -> _Picture:
    """A line of letters across the photo, as an agency lays it over."""
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=22)
    pen.text(
        (24, picture.height - 52), "SAMPLE PHOTO 123", fill="white", font=font, stroke_width=1, stroke_fill="black"
    )
    return picture


_PICTURES: dict[str, Callable[[_Picture], _Picture]] = {
    "jpeg": lambda picture: picture,
    "mirror": ImageOps.mirror,
    "turn": lambda picture: picture.transpose(Image.Transpose.ROTATE_90),
    "crop": _crop,
    "bright": lambda picture: ImageEnhance.Brightness(picture).enhance(1.2),
    "grey": lambda picture: picture.convert("L").convert("RGB"),
    "text": _lettered,
    "blur": lambda picture: picture.filter(ImageFilter.GaussianBlur(5)),
    "dark": lambda picture: ImageEnhance.Brightness(picture).enhance(0.12),
    "plain": lambda picture: Image.new("RGB", picture.size, (181, 131, 98)),
    "small": lambda picture: picture.resize((120, 120)),
}
