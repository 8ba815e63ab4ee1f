"""Cleaned images of a build, each stored once under the SHA-256 of its bytes, so that rows carry names and no bytes.

images/<first two digits>/<sha256>
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from loaders.errors import BedsideError, InputError
from loaders.files.image_formats import readable
from loaders.files.stores import Folder, Store

FRAMES = "image_frames"
"""A column of builds, and of no release: how many pictures the file of a row's image holds; the first is taken."""


@dataclass(frozen=True, slots=True)
class ImageStore:
    """The images of a workspace. Picklable: workers write to it side by side, each file whole or absent."""

    store: Store

    @property
    def identity(self) -> list[JsonValue]:
        """Where images lie decides nothing, as rows name them by their content; which formats are read here does."""
        return [*readable()]

    def put(self, data: bytes) -> str:
        """Keep an image; the SHA-256 that names it. Raises: as `Store`."""
        digest = hashlib.sha256(data).hexdigest()
        self.store.create(_name(digest), data)
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes of an image. Raises BedsideError when somebody removed or changed the file."""
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
        """How many bytes an image has; 0 where `get` will say that it is gone."""
        return self.store.size(_name(digest)) or 0

    def path(self, digest: str) -> Path:
        """Where an image lies once it is kept; for what opens files, and so has its workspace in a folder."""
        assert isinstance(self.store, Folder)
        return self.store.path(_name(digest))


def _name(digest: str) -> str:
    return f"images/{digest[:2]}/{digest}"
