"""A release folder as it lies on disk, verified against its manifest before anything of it leaves the machine."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from loaders.errors import ReleaseError
from loaders.files.untrusted import read_file
from loaders.manifest import NAME, Manifest, file_digest

CARD = "README.md"


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of a release: where it is, its SHA-256 and its size in bytes."""

    source: Path
    sha256: str
    size: int

    def blob_id(self) -> str:
        """The SHA-1 by which git, and so the Hub, names a small file of these bytes."""
        return hashlib.sha1(f"blob {self.size}\0".encode() + read_file(self.source), usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class LocalRelease:
    """A verified release: its corpus, whether its content is a stand-in, the content digest of its rows, and every file
    by its path in the repository."""

    corpus: str
    stand_in: bool
    content_digest: str
    files: dict[str, LocalFile]

    @classmethod
    def read(cls, folder: Path) -> LocalRelease:
        """Read the manifest and verify that the folder holds exactly the files it lists, byte for byte.

        Raises:
            ReleaseError: there is no manifest, it cannot be read or contradicts itself, a file is missing, changed or
                not listed, or there is no card.
        """
        manifest = Manifest.read(folder)
        problems = [*manifest.check_files(folder), *manifest.check_counts()]
        if problems:
            more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
            raise ReleaseError(folder, found=f"{problems[0]}{more}", do="Build the release again, then publish it.")
        if CARD not in manifest.files:
            raise ReleaseError(folder, found="has no card", expected=CARD, do="Build the release again.")
        files = {path: LocalFile(folder / path, facts.sha256, facts.size) for path, facts in manifest.files.items()}
        own = folder / NAME
        files[NAME] = LocalFile(own, file_digest(own), own.stat().st_size)
        return cls(manifest.corpus, manifest.stand_in is not None, manifest.content_digest, files)
