"""Pictures for tests: drawn ones, different for each seed, and photos of a diagnosis from the bundled sample."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from builders.curation.pictures import Picture, read_picture
from builders.samples.threemdbench import PHOTOS


@cache
def _photos() -> dict[str, list[Path]]:
    photos: dict[str, list[Path]] = {}
    for row in csv.DictReader(PHOTOS.read_text(encoding="utf-8").splitlines()):
        photos.setdefault(row["label"], []).append(PHOTOS.parent / row["file"])
    return photos


def photo(diagnosis: str, number: int) -> bytes:
    """One of the twelve bundled photos of a diagnosis without a fault; 0 and 1 are of one patient."""
    assert number < 12
    return _photos()[diagnosis][number].read_bytes()


def drawn(seed: int, size: tuple[int, int] = (400, 300), ground: tuple[int, int, int] = (214, 180, 160)) -> Image.Image:
    """A skin-coloured picture with a few dozen soft spots of any colour."""
    draw = np.random.default_rng(seed)
    image = Image.new("RGB", size, ground)
    pen = ImageDraw.Draw(image)
    for _ in range(90):
        x, y = int(draw.integers(-15, size[0])), int(draw.integers(-15, size[1]))
        wide, high = draw.integers(8, 40, 2).tolist()
        colour = tuple(int(level) for level in draw.integers(30, 240, 3))
        pen.ellipse((x, y, x + wide, y + high), fill=colour)
    return image.filter(ImageFilter.GaussianBlur(1))


def on_rig(seed: int) -> Image.Image:
    """A photo by a fixed camera: the same background to the pixel, other content on a quarter of it."""
    image = drawn(999, ground=(235, 235, 235))
    image.paste(drawn(seed, (170, 200)), (215, 50))
    return image


def jpeg(image: Image.Image, quality: int = 90) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def picture(image: Image.Image, quality: int = 90) -> Picture:
    return read_picture(jpeg(image, quality))


def save(
    folder: Path, images: dict[str, Image.Image | bytes], change: Callable[[Image.Image], Image.Image] | None = None
) -> Path:
    """Write pictures (and raw bytes) below a folder by their names."""
    for name, image in images.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(image, bytes):
            path.write_bytes(image)
        else:
            (change(image) if change else image).save(path, quality=90)
    return folder
