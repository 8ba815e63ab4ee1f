"""The earlier releases that a release follows: a photo that was in one of them keeps what it was there.

Otherwise, whenever a photo came or went, chance alone would split the others anew, and whoever compares two versions
would test on photos that a model of the earlier one was trained on.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from pathlib import Path

from builders.pipeline.image_store import digest_of_image
from builders.pipeline.rows import Row
from builders.release.resolve import resolve
from loaders.errors import InputError, ReleaseError
from loaders.files.bad_rows import BadRow
from loaders.files.tables import Record, parquet_rows
from loaders.manifest import Manifest, canonical_json
from loaders.threemdbench import CORPUS, PERSONALITIES


@dataclass(frozen=True)
class Earlier:
    """The split of each photo by its key, those of each patient and each picture (`image` is its SHA-256), the
    temperament of those that have one, and the content of the releases.

    A key is made from the names of source and file (of one's own photos by a secret): a renamed photo, a better copy or
    another photo of the same patient has another one. A file that was replaced keeps its key, as does a photo whose
    diagnosis was corrected.
    """

    splits: Mapping[str, str] = field(default_factory=dict)
    of_patients: Mapping[str, Set[str]] = field(default_factory=dict)
    of_pictures: Mapping[str, Set[str]] = field(default_factory=dict)
    temperaments: Mapping[str, str] = field(default_factory=dict)
    contents: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """Equal for the same photos in the same splits with the same temperaments; "" without releases."""
        kin = [{name: sorted(splits) for name, splits in of.items()} for of in (self.of_patients, self.of_pictures)]
        known = canonical_json([dict(self.splits), dict(self.temperaments), *kin])
        return hashlib.sha256(known).hexdigest() if self.splits else ""

    def splits_of(self, row: Row) -> Set[str]:
        """The splits that hold a row's photo, by its key or its content, or another of the same patient."""
        named = self.splits.get(row["image_id"])
        return (
            frozenset([named] if named else ())
            | self.of_patients.get(row["group_id"] or "", frozenset())
            | self.of_pictures.get(digest_of_image(row), frozenset())
        )


NONE = Earlier()
_COLUMNS = ("personality", "group_id", "image")


@dataclass(frozen=True)
class Followed:
    """A release that is followed: how the user names it, where it is, and its manifest."""

    name: str
    folder: Path
    manifest: Manifest

    @property
    def key(self) -> str:
        """The fingerprint of the key of its pseudonyms; "" if it has none."""
        return str(self.manifest.settings.get("pseudonyms") or "")


def open_followed(releases: Iterable[str]) -> list[Followed]:
    """Releases of 3MDBench, folders or REPO@TAG.

    Raises: ReleaseError for anything that is not a release, is of another corpus, or is damaged; HubError as `resolve`.
    """
    opened = []
    for release in releases:
        folder = resolve(release)
        manifest = Manifest.read(folder)
        if manifest.corpus != CORPUS.name:
            raise ReleaseError(release, found=f"a release of {manifest.corpus}", expected=f"one of {CORPUS.name}")
        manifest.require(folder)
        opened.append(Followed(f"--follows {release}", folder, manifest))
    return opened


def read_earlier(releases: Iterable[Followed]) -> Earlier:
    """What releases say about their photos. Raises: InputError if a photo is in different splits of two of them."""
    splits: dict[str, str] = {}
    temperaments: dict[str, str] = {}
    of_patients: dict[str, set[str]] = defaultdict(set)
    of_pictures: dict[str, set[str]] = defaultdict(set)
    contents = []
    for release in releases:
        contents.append(release.manifest.content_digest)
        for split, where, row in _photos(release.folder, release.manifest):
            key = row[CORPUS.key]
            if splits.setdefault(key, split) != split:
                found = f"{key} in {split}, which an earlier one has in {splits[key]}"
                raise InputError(f"{release.name}: {where}", found=found, expected="one split in all")
            if row["group_id"]:
                of_patients[row["group_id"]].add(split)
            of_pictures[hashlib.sha256((row["image"] or {}).get("bytes") or b"").hexdigest()].add(split)
            if row["personality"] in PERSONALITIES:
                temperaments[key] = row["personality"]
    return Earlier(splits, of_patients, of_pictures, temperaments, tuple(contents))


def _photos(folder: Path, manifest: Manifest) -> Iterator[tuple[str, str, Record]]:
    """The split of each photo of a release, its place in a shard, and its row."""
    for split in manifest.splits:
        for shard in manifest.shards(split):
            for placed in parquet_rows(folder / shard, (CORPUS.key, *_COLUMNS)):
                if isinstance(placed, BadRow):
                    raise placed.inside(folder / shard)
                yield split, *placed
