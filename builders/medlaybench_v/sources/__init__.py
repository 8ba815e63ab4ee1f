"""Where captions come from: a file, a ROCO folder, ROCOv2 on the Hub, or the bundled sample; with or without images.

    source = open_source("captions.csv", images=Path("images"))
    for row in source.rows(): ...

A row holds image_id, split, expert_caption, cuis, licence as the source writes it, licence_asserted_by, attribution,
article_id, and its place (`file:line`). Its image is image_path, with the SHA-256 of the file as `content`, or
image_bytes; `no_image` says why there is none where one is expected. A fault in one row is not an error here: the
build excludes the row with that reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import chain, count
from pathlib import Path

from builders.medlaybench_v.sources.files import Columns, Row, caption_rows
from builders.medlaybench_v.sources.roco import ROCOV2, roco_digest, roco_folders, roco_rows
from builders.samples.medlaybench_v import CAPTIONS, IMAGES
from loaders.errors import CHECK_FOLDER, InputError
from loaders.files.bad_rows import BadRow
from loaders.files.image_files import AMBIGUOUS, ImageFile, ImageIndex
from loaders.files.opening import digest_of
from loaders.files.paths import is_folder, name_of
from loaders.files.tables import read_records
from loaders.medlaybench_v import SPLITS

__all__ = ["ARTICLES", "OWN", "SAMPLE", "WRITTEN", "CaptionSource", "Row", "open_source"]

SAMPLE = "sample"
_BUNDLED = "bundled sample"
WRITTEN, ARTICLES, OWN = "written", "articles", "own"  # for this project, from PubMed Central, by the user


@dataclass(frozen=True)
class CaptionSource:
    """A source of captions, opened and checked: `name` and `url` for the manifest, `licence` if one covers all of it.

    `origin` says who is behind the captions: WRITTEN, ARTICLES or OWN.
    `digest` is the SHA-256 of the captions; `pictured` says how many rows have an image, and gives the SHA-256 of these
    images under the identifiers of their rows, and that of why others have none; `identity` covers all three, never
    paths. Images are read once for it. Of `limit` rows, only the first ones are there, and only their images are read.
    `lay` is a column of lay captions, which no build reads. Of several `images` of one name, a row's is that in the
    folder `of_split`.
    """

    name: str
    url: str | None
    licence: str
    origin: str
    each: Callable[[], Iterator[Row | BadRow]]
    digest: str
    images: ImageIndex | None = None
    lay: str | None = None
    of_split: Mapping[str, ImageIndex] = field(default_factory=dict)
    limit: int | None = None

    @cached_property
    def pictured(self) -> tuple[int, str, str]:
        digest, lacking, found = hashlib.sha256(), hashlib.sha256(), 0
        for row in self.rows():
            if not isinstance(row, BadRow):
                found += row["content"] is not None
                digest.update(f"\n{row['image_id']} {row['content'] or 'missing'}".encode())
                lacking.update(f"\n{row['no_image']}".encode())
        return found, digest.hexdigest(), lacking.hexdigest()

    @property
    def identity(self) -> str:
        if self.images is None:
            return self.digest
        return hashlib.sha256(" ".join((self.digest, *self.pictured[1:])).encode()).hexdigest()

    def rows(self) -> Iterator[Row | BadRow]:
        """The rows in the source's order, a BadRow for one that cannot be read. Raises: InputError if the file is of
        another format after all; HubError if the Hub became unreachable."""
        for _, row in zip(count() if self.limit is None else range(self.limit), self.each(), strict=False):
            yield row if isinstance(row, BadRow) else self._pictured(row)

    def _pictured(self, row: Row) -> Row:
        files = row.pop("files")
        image, missing = None, None
        if self.images and row["image_bytes"] is None:
            indexes = filter(None, (self.of_split.get(row["split"]), self.images))
            file = next(filter(None, (_found(images, files, row["image_id"]) for images in indexes)), None)
            problem = file.problem if file else f"image missing: no image for {row['image_id']}"
            reason, _, detail = problem.partition(": ")
            missing = {"reason": reason, "detail": detail} if reason else None
            image = file.usable if file else None
        content = _content(image) if image else None
        return {**row, "image_path": str(image) if image else None, "content": content, "no_image": missing}


def _found(images: ImageIndex, files: tuple[str, ...], image_id: str) -> ImageFile | None:
    file = images.find(*files)
    return images.named(image_id) or file if file is None or file.problem.startswith(AMBIGUOUS) else file


def _content(path: Path) -> str | None:
    try:
        facts = path.stat()
        return _digest(path, facts.st_mtime_ns, facts.st_size)
    except (OSError, InputError):
        return None


@cache
def _digest(path: Path, *stamp: int) -> str:
    return digest_of(path)


def _images(*folders: Path) -> ImageIndex:
    """The images of the folders. Raises: InputError if one is missing, or none holds an image."""
    index = ImageIndex(*folders)
    if not len(index):
        where = ", ".join(map(str, folders))
        raise InputError(where, found="holds no image", expected="files such as ROCO_00001.jpg", do=CHECK_FOLDER)
    return index


def open_source(
    source: str | Path, *, images: Path | None = None, default_split: str = "train", limit: int | None = None
) -> CaptionSource:
    """Open a source by name ("sample", "rocov2" or its Hub id) or path, and check its structure.

    `images` is a folder whose files are matched by id or name. `default_split` is for rows without any split. `limit`
    is for the first rows.

    Raises: InputError for a file or folder that is missing, empty, cut off, not UTF-8, without a needed column or of
    another type; HubError if ROCOv2 cannot be reached.
    """
    return replace(_opened(source, images, default_split), limit=limit)


def _opened(source: str | Path, images: Path | None, default_split: str) -> CaptionSource:
    if default_split not in SPLITS.values():
        raise InputError("split", found=repr(default_split), expected="train, validation or test")
    folder = _images(images) if images is not None else None
    name = str(source)
    if name == SAMPLE:
        bundled = read_records(CAPTIONS)
        each = partial(caption_rows, bundled, "train", f"the {_BUNDLED}")
        return CaptionSource(_BUNDLED, None, "per row", WRITTEN, each, bundled.digest, _images(IMAGES))
    if name in (ROCOV2, "rocov2"):
        from builders.medlaybench_v.sources import rocov2

        commit = rocov2.commit_now()
        digest = hashlib.sha256(f"{ROCOV2}@{commit}".encode()).hexdigest()
        url = f"https://huggingface.co/datasets/{ROCOV2}/tree/{commit}"
        return CaptionSource(ROCOV2, url, rocov2.LICENCE, ARTICLES, partial(rocov2.rows_at, commit), digest)
    path = Path(source)
    if is_folder(path):
        folders = roco_folders(path, default_split)
        fetched: dict[str, list[Path]] = {}
        for one in folders:
            if folder is None and is_folder(one.folder / "images"):
                fetched.setdefault(one.split, []).append(one.folder / "images")
        found = _images(*chain.from_iterable(fetched.values())) if fetched else folder
        of_split = {split: ImageIndex(*own) for split, own in fetched.items() if len(fetched) > 1}
        each, digest = partial(roco_rows, folders), roco_digest(folders)
        return CaptionSource("ROCO", None, "per row", ARTICLES, each, digest, found, of_split=of_split)
    records = read_records(path)
    lay = Columns(records).lay
    each = partial(caption_rows, records, default_split, name_of(path))
    return CaptionSource(name_of(path), None, "per row", OWN, each, records.digest, folder, lay)
