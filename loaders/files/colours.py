"""Converts a picture with an embedded colour profile to sRGB, so that its colours stay as a viewer shows them.

Publishing strips the profile with all other metadata. Values of a wide colour space (Display P3 of phones, Adobe RGB,
CMYK of print) that are then read as sRGB would look paler or otherwise wrong.
"""

from __future__ import annotations

import io
from functools import lru_cache

import numpy as np
from PIL import Image, ImageCms

_LARGEST = 4 << 20  # bytes of a profile; those of printing presses take 2 MB
_UNSEEN = 3  # levels of 255 by which profiles that all mean sRGB may differ
_GREY, _COLOUR, _PRINT = "GRAY", "RGB ", "CMYK"
_UNREADABLE = (ImageCms.PyCMSError, OSError, ValueError, TypeError, AttributeError)


def in_srgb(image: Image.Image) -> Image.Image | None:
    """The picture in sRGB (L, RGB or RGBA) if its profile changes the meaning of its numbers; None if it does not, or
    if there is no profile, or it cannot be read or is for other kinds of pictures.
    """
    profile = image.info.get("icc_profile")
    if not isinstance(profile, bytes) or not 0 < len(profile) <= _LARGEST:
        return None
    try:
        space = ImageCms.ImageCmsProfile(io.BytesIO(profile)).profile.xcolor_space
        if space == _PRINT and image.mode == "CMYK":
            return _converted(image, profile)
        if image.mode == "L" and not image.has_transparency_data and space in (_GREY, _COLOUR):
            mode = "L" if space == _GREY else "RGB"
            return _converted(image.convert(mode), profile).convert("L") if _differs(profile, mode) else None
        if image.mode in ("RGB", "RGBA", "P", "PA") and space == _COLOUR and _differs(profile, "RGB"):
            return _converted(image.convert("RGBA" if image.has_transparency_data else "RGB"), profile)
        return None
    except _UNREADABLE:
        return None


@lru_cache(maxsize=64)
def _differs(profile: bytes, mode: str) -> bool:
    """Whether grey levels, or evenly spread colours, differ in sRGB from what their numbers say."""
    levels = np.arange(0, 256, 15 if mode == "RGB" else 1, dtype=np.uint8)
    cells = np.stack(np.meshgrid(*[levels] * len(mode), indexing="ij"), axis=-1).reshape(1, -1, len(mode))
    probe = Image.fromarray(cells if mode == "RGB" else cells[..., 0])
    shown = _converted(probe, profile)
    return int(np.abs(np.asarray(shown, np.int16) - np.asarray(probe.convert("RGB"), np.int16)).max()) > _UNSEEN


def _converted(image: Image.Image, profile: bytes) -> Image.Image:
    """Black to black and white to white, as in browsers; by a transform of its own, since threads cannot share one."""
    shown = ImageCms.profileToProfile(
        image,
        ImageCms.ImageCmsProfile(io.BytesIO(profile)),
        ImageCms.createProfile("sRGB"),
        renderingIntent=ImageCms.Intent.RELATIVE_COLORIMETRIC,
        outputMode="RGBA" if image.mode == "RGBA" else "RGB",
        flags=ImageCms.Flags.BLACKPOINTCOMPENSATION,
    )
    assert shown is not None  # it is None only if the picture is changed in place
    return shown
