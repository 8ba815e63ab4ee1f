"""OpenCV, or the error that says how to install it. It starts no threads of its own inside ours."""

from __future__ import annotations

from loaders.errors import MissingExtra

with MissingExtra.needed("curation", purpose="curating images"):
    import cv2 as cv2

cv2.setNumThreads(1)

PACKAGES = ("numpy", "opencv-python-headless", "pillow")
"""The packages whose versions affect what is found out about a picture."""
