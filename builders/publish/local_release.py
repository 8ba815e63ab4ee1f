"""A release folder on disk, verified against its manifest before anything in it leaves the machine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from builders.release.cards import CARD, named_card
from builders.release.croissant import CROISSANT, named_croissant
from loaders.errors import InputError, ReleaseError
from loaders.files.json_values import read_object
from loaders.files.opening import read_file
from loaders.files.tables import open_parquet
from loaders.manifest import NAME, FileFacts, Manifest, Problem, file_digest


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of a release: where it is, its SHA-256 and its size in bytes."""

    source: Path
    sha256: str
    size: int
    content: bytes | None = None
    """Content that is published instead of the file on disk."""

    def blob_id(self) -> str:
        """The SHA-1 by which git, and so the Hub, names a small file of these bytes."""
        content = read_file(self.source) if self.content is None else self.content
        return hashlib.sha1(f"blob {self.size}\0".encode() + content, usedforsecurity=False).hexdigest()


@dataclass(frozen=True, slots=True)
class LocalRelease:
    """A verified release: its manifest as it is on disk, and every file by its path in the repository."""

    manifest: Manifest
    files: dict[str, LocalFile]

    @classmethod
    def read(cls, folder: Path) -> LocalRelease:
        """Read the manifest and verify that the folder holds exactly the files it lists, byte for byte, and that those
        called Parquet or JSON are. Raises: ReleaseError if there is no manifest, it cannot be read or contradicts
        itself, a file is missing, changed, not listed, no Parquet or no JSON, or there is no card."""
        manifest = Manifest.read(folder)
        problems = [*manifest.check_files(folder), *manifest.check_counts()] or list(_unreadable(manifest, folder))
        if problems:
            more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
            raise ReleaseError(folder, found=f"{problems[0]}{more}", do="Build the release again, then publish it.")
        if CARD not in manifest.files:
            raise ReleaseError(folder, found="has no card", expected=CARD, do="Build the release again.")
        files = {path: LocalFile(folder / path, facts.sha256, facts.size) for path, facts in manifest.files.items()}
        own = folder / NAME
        files[NAME] = LocalFile(own, file_digest(own), own.stat().st_size)
        return cls(manifest, files)

    def named(self, folder: Path, repo_id: str, tag: str, address: str, date: str = "") -> LocalRelease:
        """The release as it is published there: card and croissant.json name their repository and version, the latter
        also the date.

        The manifest lists them in that form. A release whose card has no placeholders stays as it is.
        """
        card = read_file(folder / CARD).decode("utf-8", "replace")
        changed = {CARD: named_card(card, repo_id, tag).encode()}
        if CROISSANT in self.files:
            text = read_file(folder / CROISSANT).decode("utf-8")
            changed[CROISSANT] = named_croissant(text, address, tag, date).encode()
        elif changed[CARD] == card.encode():
            return self
        facts = {name: FileFacts(sha256=_digest(content), size=len(content)) for name, content in changed.items()}
        manifest = self.manifest.model_copy(update={"files": {**self.manifest.files, **facts}})
        changed[NAME] = manifest.text().encode()
        files = {
            name: LocalFile(folder / name, _digest(content), len(content), content) for name, content in changed.items()
        }
        return replace(self, files={**self.files, **files})


def _unreadable(manifest: Manifest, folder: Path) -> Iterator[Problem]:
    """Files that are listed as Parquet, or as croissant.json, and are none: digests that fit say nothing of what a file
    is."""
    for name in sorted(name for name in manifest.files if name.endswith(".parquet") or name == CROISSANT):
        try:
            if name == CROISSANT:
                read_object(folder / name)
            else:
                with open_parquet(folder / name):
                    pass
        except InputError as error:
            expected = "a JSON object" if name == CROISSANT else "a Parquet file"
            yield Problem(name, f"cannot be read: {error.found}", expected)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
