"""OpenCV, or the error that says how to install it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from loaders.errors import MissingExtra

with MissingExtra.needed("curation", purpose="curating images"):
    import cv2 as cv2

PACKAGES = ("numpy", "opencv-python-headless", "pillow")
"""The packages whose versions affect what is found out about a picture."""


@contextmanager
def single_threaded_opencv() -> Iterator[None]:
    """Keep OpenCV from starting threads of its own inside ours."""
    before = cv2.getNumThreads()
    one_thread()
    try:
        yield
    finally:
        cv2.setNumThreads(before)


def one_thread() -> None:
    """The same, permanently, for a worker process."""
    cv2.setNumThreads(1)
