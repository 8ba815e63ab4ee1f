"""An image as curation sees it: upright, grey, its longer side at most 512 pixels, straight from the file's bytes.

JPEG is decoded at a fraction of its size, which costs a third of a full decode and averages the same blocks of pixels.
Whatever is unusual about a file goes through `loaders.files.images.open_image`, which names what is wrong with it.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import ExifTags, Image, ImageOps

from builders.curation.opencv import cv2
from loaders.files.images import MAX_PIXELS, open_image

SIDE = 512

Grey = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Picture:
    """Grey levels (height x width, at most `SIDE` a side), and the size in pixels of the upright original."""

    grey: Grey
    width: int
    height: int


def read_picture(data: bytes) -> Picture:
    """Decode an image file. Raises: ImageError as `loaders.files.images.open_image`."""
    image = _reduced(data)
    if image is None:
        opened = open_image(data)
        width, height = opened.size
        grey = opened.convert("L")
    else:
        grey, width, height = image
    return Picture(shrunk(np.asarray(grey), SIDE), width, height)


@dataclass(frozen=True, slots=True)
class Look:
    """Looked up only for pictures that have copies: the SHA-256 of their pixels, and how colourful they are."""

    pixels: str
    colour: float


def look(data: bytes) -> Look:
    """What a picture looks like. Raises: ImageError as `loaders.files.images.open_image`."""
    image = open_image(data)
    pixels = hashlib.sha256(f"{image.mode} {image.width} {image.height} ".encode() + image.tobytes()).hexdigest()
    small = image.convert("RGB").resize((64, 64), Image.Resampling.BOX).convert("YCbCr")
    chroma = np.abs(np.asarray(small)[:, :, 1:].astype(np.float64) - 128)
    return Look(pixels, round(float(chroma.mean()), 3))


def shrunk(grey: Grey, side: int) -> Grey:
    """The picture with its longer side at most `side` pixels, by area averaging; never enlarged."""
    height, width = grey.shape
    scale = side / max(height, width)
    if scale >= 1:
        return grey
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(grey, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def _reduced(data: bytes) -> tuple[Image.Image, int, int] | None:
    """An ordinary JPEG in grey at the smallest scale not below `SIDE`, and its full size; None for anything else."""
    if not data.startswith(b"\xff\xd8"):
        return None
    try:
        image = Image.open(io.BytesIO(data), formats=("JPEG",))
        width, height = image.size
        if image.format != "JPEG" or image.mode not in ("L", "RGB") or width * height > MAX_PIXELS:
            return None
        longer = max(width, height)
        image.draft("L", (max(1, width * SIDE // longer), max(1, height * SIDE // longer)))
        image.load()
        turned = image.getexif().get(ExifTags.Base.Orientation) in (5, 6, 7, 8)  # by a quarter
        upright = ImageOps.exif_transpose(image.convert("L"))
    except Exception:  # Pillow raises many kinds of errors here; open_image reports which
        return None
    return (upright, height, width) if turned else (upright, width, height)
