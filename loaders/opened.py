"""Opens the data that a user names on a command line, and describes it for the record of a run.

medlaybench-v            the corpus' own release, or the authors' if we publish none
medlaybench-v@v1.0.0     a tag of it
official                 the authors' release
runs/release             a release folder
pairs.csv                a table of caption pairs
org/name@v1.0.0          a release on the Hub
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loaders.corpus import OFFICIAL, corpus, load_with_origin
from loaders.errors import InputError
from loaders.files.paths import is_file, is_folder
from loaders.manifest import ContentDigest, Manifest, content_digest, order_splits
from loaders.pins import as_pinned
from loaders.registry import corpora

if TYPE_CHECKING:
    import datasets


IN_A_TABLE = "a table of pairs"
"""What is recorded as the author of the texts in a user's table."""


@dataclass(frozen=True)
class Opened:
    """The loaded splits of a corpus, and where they came from.

    `content_digest` is the release's own, wherever it was loaded from; for the authors' data it covers all columns but
    images. `stand_in` is why its numbers are no results (sample data), or None. `repository` is an address on a Hub and
    `commit` the one that was read. `pinned` says whether these are the authors' rows as they were first read here
    (`loaders.pins`; None if that is unknown, or the data are not the authors'). `method` says who wrote the texts.
    `place` is what the user named.
    """

    corpus: str
    splits: Mapping[str, datasets.Dataset]
    revision: str | None
    content_digest: str
    stand_in: str | None
    repository: str | None = None
    commit: str | None = None
    pinned: bool | None = None
    method: str | None = None
    place: str = ""

    def rows(self, *columns: str) -> Iterator[dict[str, Any]]:
        """The rows of all splits, only these columns: images stay undecoded unless they are asked for."""
        for part in self.splits.values():
            yield from part.select_columns(list(columns))

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Within it, an InputError about a row, or about all "rows", also says of which data and split they are."""
        try:
            yield
        except InputError as error:
            if self.place and not error.where.startswith((f"{self.place},", f"{self.place}:")):
                here = f"{self.place}, split {self.split}"
                error.where = here if error.where == "rows" else f"{here}: {error.where}"
            raise

    @property
    def split(self) -> str:
        """The names of the splits, as a record states them."""
        return "+".join(self.splits)


def open_data(name: str, *, split: str | None = None, default: str = "medlaybench-v") -> Opened:
    """Load what `name` means, one split or all. `default` is the corpus to assume if `name` is only a place.

    Raises: what `loaders.corpus.load` raises; InputError for an empty name.
    """
    place, _, revision = name.partition("@")
    if not place:
        expected = "a corpus, a release folder, REPO[@TAG] or official"
        raise InputError("data", found=repr(name) if name else "no name", expected=expected)
    source: str | Path | None = place
    known = default
    if place in corpora():
        known, source = place, None
    elif is_folder(Path(name)) or is_file(Path(name)):
        source, revision = Path(name), ""
    origin = load_with_origin(known, split, revision=revision or None, source=source)
    loaded, manifest = origin.data, origin.manifest
    parts = {split: loaded} if split is not None else {one: loaded[one] for one in order_splits(loaded)}
    digests = {one: _digest(known, part, manifest, one) for one, part in parts.items()}
    pinned = None
    if manifest is None and origin.repository and origin.commit:
        schema = corpus(known).schema_version
        told = {f"{one}, schema {schema}": digest for one, digest in digests.items()}
        pinned = as_pinned(origin.repository, origin.commit, told)
    return Opened(
        corpus=known,
        splits=parts,
        revision=revision or (OFFICIAL if source in (None, OFFICIAL) else None),
        content_digest=content_digest(digests),
        stand_in=manifest.stand_in if manifest else None,
        repository=origin.repository,
        commit=origin.commit,
        pinned=pinned,
        method=manifest.method if manifest else IN_A_TABLE if isinstance(source, Path) else None,
        place=name,
    )


def open_corpus(corpus: str, data: str, split: str | None) -> Opened:
    """The data of a command for one corpus only, one split or all. Raises InputError for another corpus."""
    opened = open_data(data, split=split, default=corpus)
    if opened.corpus != corpus:
        raise InputError(data, found=f"a release of {opened.corpus}", expected=f"one of {corpus}")
    return opened


def _digest(known: str, part: datasets.Dataset, manifest: Manifest | None, split: str) -> str:
    import datasets

    if manifest is not None:
        return manifest.splits[split].content_digest
    texts = [n for n, f in corpus(known).features.items() if not isinstance(f, datasets.Image)]
    digest = ContentDigest()
    for row in part.select_columns(texts):
        digest.update(row)
    return digest.hexdigest()
