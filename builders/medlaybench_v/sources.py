"""Where captions come from: a file, a ROCO folder, ROCOv2 on the Hub, or the bundled sample; with images or without.

    source = open_source("captions.csv", images=Path("images"))
    for row in source.rows(): ...

A row holds image_id, split, expert_caption, cuis, licence as the source writes it, licence_asserted_by, attribution,
article_id, and where it stands (`file:line`). Its image is image_path, with the SHA-256 of the file as `content`, or
image_bytes; `no_image` says why there is none where one should be. What is wrong with one row is no error here: the
build excludes the row with that reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import islice
from pathlib import Path

from builders.medlaybench_v import roco
from builders.medlaybench_v.source_files import SPLITS, Columns, Row, caption_rows
from builders.samples.medlaybench_v import CAPTIONS, IMAGES
from builders.tables import read_records
from loaders.errors import InputError

__all__ = ["SAMPLE", "CaptionSource", "Row", "open_source"]

SAMPLE = "sample"
_IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp")


@dataclass(frozen=True)
class CaptionSource:
    """A source of captions, opened and checked: `name` and `url` for the manifest, `licence` where it has one for all.

    `digest` is the SHA-256 of the captions; `identity` that of captions and images, never of paths. Images are read for
    it once.
    """

    name: str
    url: str | None
    licence: str
    each: Callable[[], Iterator[Row]]
    digest: str
    images: ImageFolder | None = None

    @cached_property
    def identity(self) -> str:
        if self.images is None:
            return self.digest
        digest = hashlib.sha256(self.digest.encode())
        for row in self.rows():
            digest.update(f"\n{row['image_id']} {row['content'] or 'missing'}".encode())
        return digest.hexdigest()

    def rows(self, limit: int | None = None) -> Iterator[Row]:
        """The rows in the source's order, the first `limit` of them.

        Raises:
            InputError: a row that cannot be read at all, with its place.
            HubError: the Hub went away.
        """
        for row in islice(self.each(), limit):
            files = row.pop("files")
            image, missing = None, None
            if self.images and row["image_bytes"] is None:
                image = self.images.find(row["image_id"], files)
                missing = None if image else {"reason": "image missing", "detail": f"no image for {row['image_id']}"}
            yield {**row, "image_path": image, "content": _content(image) if image else None, "no_image": missing}


def _content(path: Path) -> str | None:
    try:
        facts = path.stat()
        return _digest(path, facts.st_mtime_ns, facts.st_size)
    except OSError:
        return None


@cache
def _digest(path: Path, *stamp: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


class ImageFolder:
    """The images below some folders, found by relative path, file name, or name without its ending.

    Raises:
        InputError: a folder is not there, or none holds an image.
    """

    def __init__(self, *folders: Path) -> None:
        found: list[tuple[str, Path]] = []
        for folder in folders:
            if not folder.is_dir():
                what = "is a file" if folder.exists() else "does not exist"
                raise InputError(folder, found=what, expected="a folder of images")
            paths = (path for path in folder.rglob("*") if path.suffix.casefold() in _IMAGE_SUFFIXES)
            found += [(path.relative_to(folder).as_posix(), path) for path in paths]
        if not found:
            where = ", ".join(map(str, folders))
            raise InputError(where, found="holds no image", expected="files such as ROCO_00001.jpg")
        found.sort()
        # The surer name wins over the less sure one, and of one kind the first in order.
        self._by_name: dict[str, Path] = {}
        for names in (
            [relative for relative, _ in found],
            [path.name for _, path in found],
            [path.stem for _, path in found],
        ):
            for name, (_, path) in zip(names, found, strict=True):
                self._by_name.setdefault(name, path)

    def find(self, image_id: str, files: tuple[str, ...]) -> Path | None:
        """The image of a row, by the file names that the source gives, then by its identifier."""
        names = [*files, *(Path(file).name for file in files), *(Path(file).stem for file in files), image_id]
        return next((self._by_name[name] for name in names if name in self._by_name), None)


def open_source(
    source: str | Path, *, images: Path | None = None, default_split: str = "train", revision: str | None = None
) -> CaptionSource:
    """Open a source by name ("sample", "rocov2" or its Hub id) or path, and check its structure.

    `images` is a folder whose files are matched by id or name. `default_split` is for rows whose split nothing tells;
    `revision` is of the Hub's repository.

    Raises:
        InputError: a file or folder that is missing, empty, cut off, not UTF-8, without a needed column or of another
            type.
        HubError: ROCOv2 cannot be reached.
    """
    if default_split not in SPLITS.values():
        raise InputError("split", found=repr(default_split), expected="train, validation or test")
    folder = ImageFolder(images) if images is not None else None
    name = str(source)
    if name == SAMPLE:
        bundled = read_records(CAPTIONS)
        each = partial(caption_rows, bundled, "train")
        return CaptionSource("bundled sample", None, "per row", each, bundled.digest, ImageFolder(IMAGES))
    if name in (roco.ROCOV2, "rocov2"):
        commit = roco.rocov2_commit(revision)
        digest = hashlib.sha256(f"{roco.ROCOV2}@{commit}".encode()).hexdigest()
        url = f"https://huggingface.co/datasets/{roco.ROCOV2}/tree/{commit}"
        return CaptionSource(roco.ROCOV2, url, roco.ROCOV2_LICENCE, lambda: roco.rocov2_rows(commit), digest)
    if revision is not None:
        raise InputError(name, found=f"revision {revision!r} of a local source", expected="no revision")
    path = Path(source)
    if path.is_dir():
        folders = roco.roco_folders(path, default_split)
        fetched = [one.folder / "images" for one in folders if (one.folder / "images").is_dir()]
        own = folder or (ImageFolder(*fetched) if fetched else None)
        return CaptionSource("ROCO", None, "per row", lambda: roco.roco_rows(folders), roco.roco_digest(folders), own)
    records = read_records(path)
    Columns(records)
    return CaptionSource(
        path.name, None, "per row", lambda: caption_rows(records, default_split), records.digest, folder
    )
