"""The first look at each file: can it be opened, what is it fit for, and which hashes may find its copies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from rich.progress import Progress

from builders.curation.folders import File
from builders.curation.hashes import keypoints, whole
from builders.curation.index import Index
from builders.curation.neighbours import Hashes
from builders.curation.parallel import in_order
from builders.curation.pictures import read_picture
from builders.curation.quality import Quality, measure
from builders.pipeline.progress import Meter
from loaders.files.images import ImageError
from loaders.files.untrusted import is_folder

_KIND = "picture"


@dataclass(frozen=True, slots=True)
class Content:
    """A picture, known by the SHA-256 of its file's bytes; `size` is their number. No `whole` means: too plain."""

    digest: str
    size: int
    quality: Quality
    whole: Hashes | None
    keypoints: Hashes


@dataclass(frozen=True, slots=True)
class Examined:
    """A file: its content, or the reason (as of `loaders.files.images.ImageError`) and detail why it has none."""

    file: File
    content: Content | None
    reason: str = ""
    detail: str = ""


def examine(files: Sequence[File], index: Index, *, workers: int, progress: Progress | None = None) -> list[Examined]:
    """Open and measure each file, in order. A file that cannot be used is told with its reason, never fatal."""
    known = index.keys(_KIND)
    meter = Meter(progress, "examine", rows=len(files), batches=1)
    examined = []

    def look(file: File) -> tuple[File, str, str | None]:
        digest, data, trouble = _read(file)
        if trouble:
            return file, "", trouble
        return file, digest, None if digest in known else _measured(data, digest)

    for file, digest, text in in_order(look, files, workers):
        if text is None:
            text = index.get(_KIND, digest) or ""
        elif digest:
            index.put(_KIND, digest, text)
        examined.append(_examined(file, text))
        meter.advance(1)
    meter.finish(sum(picture.content is None for picture in examined))
    return examined


def read_again(file: File, digest: str) -> bytes:
    """The bytes of a file that was examined. Raises: ImageError when they are gone or others now."""
    present, data, _ = _read(file)
    if present != digest:
        raise ImageError(
            file.path,
            reason="missing",
            found="changed while it was being curated",
            expected=f"SHA-256 {digest}",
            do="Run the same command again",
        )
    return data


def _read(file: File) -> tuple[str, bytes, str]:
    """Digest and bytes of a file, or what is wrong with it."""
    try:
        data = file.read()
    except ImageError as error:
        if not file.held and is_folder(file.path):  # what is listed as a file then
            error.found = "is a folder that cannot be listed"
        return "", b"", _told(error)
    return hashlib.sha256(data).hexdigest(), data, ""


def _measured(data: bytes, digest: str) -> str:
    """What is remembered about a picture: JSON, the same for the same bytes under any name."""
    try:
        picture = read_picture(data)
    except ImageError as error:
        return _told(error)
    hashes = whole(picture)
    return json.dumps(
        {
            "digest": digest,
            "size": len(data),
            "quality": asdict(measure(picture)),
            "whole": None if hashes is None else hashes.tobytes().hex(),
            "keypoints": keypoints(picture).tobytes().hex(),
        }
    )


def _told(error: ImageError) -> str:
    return json.dumps({"reason": error.reason, "detail": error.detail})


def _examined(file: File, text: str) -> Examined:
    facts = json.loads(text)
    if "reason" in facts:
        return Examined(file, None, facts["reason"], facts["detail"])
    hashes = None if facts["whole"] is None else np.frombuffer(bytes.fromhex(facts["whole"]), np.uint64).reshape(2, 8)
    content = Content(
        facts["digest"],
        facts["size"],
        Quality(**facts["quality"]),
        hashes,
        np.frombuffer(bytes.fromhex(facts["keypoints"]), np.uint64),
    )
    return Examined(file, content)


def contents(examined: Sequence[Examined]) -> Iterator[Content]:
    """Each distinct content once, by digest."""
    distinct = {picture.content.digest: picture.content for picture in examined if picture.content}
    for digest in sorted(distinct):
        yield distinct[digest]
