"""Cleaned images of a build, once each, named by the SHA-256 of their bytes, so that rows carry a name and no bytes."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from loaders.errors import BedsideError, InputError
from loaders.files.disk import write_whole
from loaders.files.image_formats import readable
from loaders.files.images import image_bytes
from loaders.files.untrusted import is_there


@dataclass(frozen=True, slots=True)
class ImageStore:
    """A folder of images. Picklable: workers write to it side by side, each file whole or absent."""

    folder: Path

    @property
    def identity(self) -> list[JsonValue]:
        """Where images lie decides nothing, as rows name them by their content; which formats are read here does."""
        return [*readable()]

    def put(self, data: bytes) -> str:
        """Keep an image; the SHA-256 that names it. Raises BedsideError when the disk is full."""
        digest = hashlib.sha256(data).hexdigest()
        path = self.path(digest)
        if not is_there(path):
            write_whole(path, data)
        return digest

    def get(self, digest: str) -> bytes:
        """The bytes of an image. Raises BedsideError when somebody removed or changed the file."""
        path = self.path(digest)
        try:
            data = image_bytes(path)
        except InputError:
            data = b""
        if hashlib.sha256(data).hexdigest() != digest:
            do = f"Delete the workspace {self.folder.parent} (keep its answers.*) and run the same command again"
            raise BedsideError(
                path, found="an image of this build is gone or damaged", expected=f"SHA-256 {digest}", do=do
            )
        return data

    def size(self, digest: str) -> int:
        """How many bytes an image has; 0 where `get` will say that it is gone."""
        try:
            return self.path(digest).stat().st_size
        except OSError:
            return 0

    def path(self, digest: str) -> Path:
        """Where an image lies once it is kept."""
        return self.folder / digest[:2] / digest
