"""Cleaned images of a build, each stored once under the SHA-256 of its bytes, so that rows carry names and no bytes.

images/<first two digits>/<sha256>
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from builders.pipeline.rows import Row
from loaders.errors import BedsideError, InputError
from loaders.files.image_formats import readable
from loaders.files.stores import Folder, Store

FRAMES = "image_frames"
"""A column of builds, not of releases: how many pictures the file of a row's image holds; the first is used."""


def digest_of_image(row: Row) -> str:
    """What names the image of a row in the store: the column `image` holds it with the ending of a file."""
    return str(row["image"].split(".")[0])


@dataclass(frozen=True, slots=True)
class ImageStore:
    """The images of a workspace. Picklable: workers write to it in parallel, each file whole or absent."""

    store: Store

    @property
    def identity(self) -> list[JsonValue]:
        """Not where images lie, as rows name them by content, but which formats can be read here."""
        return [*readable()]

    def put(self, data: bytes) -> str:
        """Store an image and return its SHA-256, which names it. Raises: as `Store`."""
        digest = hashlib.sha256(data).hexdigest()
        self.store.create(_name(digest), data)
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes of an image. Raises BedsideError if somebody removed or changed the file."""
        try:
            data = self.store.read(_name(digest)) or b""
        except InputError:
            data = b""
        if hashlib.sha256(data).hexdigest() != digest:
            do = f"Delete the workspace {self.store} (keep its answers.*) and run the same command again"
            found, place = "an image of this build is missing or damaged", f"{self.store}/{_name(digest)}"
            raise BedsideError(place, found=found, expected=f"SHA-256 {digest}", do=do)
        return data

    def size(self, digest: str) -> int:
        """The size of an image in bytes; 0 if `get` would report it as missing."""
        return self.store.size(_name(digest)) or 0

    def path(self, digest: str) -> Path:
        """The path of a stored image, for code that opens files; only for a workspace in a folder."""
        assert isinstance(self.store, Folder)
        return self.store.path(_name(digest))


def _name(digest: str) -> str:
    return f"images/{digest[:2]}/{digest}"
