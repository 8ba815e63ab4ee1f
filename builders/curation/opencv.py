"""OpenCV, or the error that says how to install it."""

from __future__ import annotations

from loaders.errors import MissingExtra

try:
    import cv2 as cv2
except ModuleNotFoundError as error:
    if error.name != "cv2":
        raise
    raise MissingExtra.named("opencv-python-headless", extra="curation", purpose="curating images") from None
