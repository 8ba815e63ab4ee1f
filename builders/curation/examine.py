"""The first look at each file: whether it opens, what it is fit for, and the hashes that may find its copies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Annotated, TypeVar

from pydantic import BeforeValidator, PlainSerializer
from rich.progress import Progress

from builders.curation.erased_text import erased
from builders.curation.folders import File
from builders.curation.hashes import keypoints, whole
from builders.curation.index import Index
from builders.curation.opencv import PACKAGES
from builders.curation.overlaid_text import text_over
from builders.curation.pictures import read_picture
from builders.curation.quality import Quality, measure
from builders.pipeline.progress import Meter
from loaders.engines.engine import Engine
from loaders.engines.sight import SHARED, node
from loaders.errors import InputError
from loaders.files.images import ImageError
from loaders.files.paths import is_folder
from loaders.files.records import from_json, to_json

_KIND = "picture"
_Bytes = Annotated[bytes, PlainSerializer(bytes.hex), BeforeValidator(bytes.fromhex)]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Content:
    """A picture, identified by the SHA-256 of its file's bytes; `size` is their number. Without `whole` it is too
    plain.

    Its hashes, `whole` (2 x 8) and `keypoints`, are stored as the bytes of their arrays: half the size of small arrays.
    """

    digest: str
    size: int
    quality: Quality
    whole: _Bytes | None
    keypoints: _Bytes


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is remembered of a file's bytes, the same under any name."""

    content: Content | None
    reason: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """A file: its content, or the reason (as of `loaders.files.images.ImageError`) and detail why it has none."""

    file: File
    content: Content | None
    reason: str = ""
    detail: str = ""


def examine(files: Sequence[File], index: Index, *, engine: Engine, progress: Progress | None = None) -> list[Examined]:
    """Open and measure each file, in order. A file that cannot be used is reported with its reason, and never fatal.

    Raises: InputError for one that another machine cannot see, but this one can.
    """
    meter = Meter(progress, "examine", rows=len(files), batches=1, unit="photo")
    parts = in_parts(files, engine)
    examined: dict[str, list[Examined]] = {}
    looks = engine.each(FirstLook(frozenset(index.keys(_KIND))), parts.items(), where="examine")
    with closing(looks):
        for name, told in looks:
            examined[name] = []
            for file, (digest, text) in zip(parts[name], told, strict=True):
                if text is not None and digest:
                    index.put(_KIND, digest, text)
                examined[name].append(_known(file, digest, index) if text is None else _examined(file, text))
                if engine.spread and not digest:
                    _check_unreadable(file, examined[name][-1])
            meter.advance(len(told))
    found = [one for name in parts for one in examined[name]]
    meter.finish(sum(picture.content is None for picture in found))
    return found


def _check_unreadable(file: File, told: Examined) -> None:
    """Raises: InputError for a file that another machine could not read, but this one can."""
    if _read(file)[2]:
        return
    found = f"is read here, but was not where it was worked on ({told.reason}: {told.detail})"
    raise InputError(file.path, found=found, expected="a file that all machines can read", do=SHARED)


class FirstLook:
    """Reads files and measures those whose digests are not `known`: digest and facts of each (None: known)."""

    packages = PACKAGES
    floats = True

    def __init__(self, known: frozenset[str]) -> None:
        self.known = known

    def __call__(self, name: str, unit: Sequence[File]) -> list[tuple[str, str | None]]:
        return [self._look(file) for file in unit]

    def _look(self, file: File) -> tuple[str, str | None]:
        digest, data, trouble = _read(file)
        if trouble:
            return "", trouble
        return digest, None if digest in self.known else _measured(data, digest)

    def told(self, unit: Sequence[File]) -> str:
        """The files of a unit."""
        return f"{unit[0].name} to {unit[-1].name}"


def read_again(file: File, digest: str) -> bytes:
    """The bytes of a file that was examined. Raises: ImageError if they are gone or have changed."""
    present, data, _ = _read(file)
    if present != digest:
        raise ImageError(
            file.path,
            reason="missing",
            found="changed during curation" if present else f"is gone, or {node()} does not see it",
            expected=f"SHA-256 {digest}",
            do="Run the same command again",
        )
    return data


def _read(file: File) -> tuple[str, bytes, str]:
    """Digest and bytes of a file, or what is wrong with it."""
    try:
        data = file.read()
    except ImageError as error:
        if not file.held and is_folder(file.path):  # such a folder is listed as a file
            error.found = "is a folder that cannot be listed"
        return "", b"", _unreadable(error)
    return hashlib.sha256(data).hexdigest(), data, ""


def _measured(data: bytes, digest: str) -> str:
    """What is remembered about a picture, as JSON."""
    try:
        picture = read_picture(data)
    except ImageError as error:
        return _unreadable(error)
    text = text_over(picture.grey)
    bare = replace(picture, grey=erased(picture.grey, text.rows)[0])
    hashes = whole(bare)
    quality, of_whole = measure(picture, text.characters), None if hashes is None else hashes.tobytes()
    content = Content(digest, len(data), quality, of_whole, keypoints(bare).tobytes())
    return json.dumps(to_json(_Facts(content)))


def _unreadable(error: ImageError) -> str:
    return json.dumps(to_json(_Facts(None, error.reason, error.detail)))


def _examined(file: File, text: str) -> Examined:
    facts = from_json(_Facts, text.encode(), file.path)
    return Examined(file, facts.content, facts.reason, facts.detail)


def _known(file: File, digest: str, index: Index) -> Examined:
    """What the index holds of a file's content. Raises: InputError for an index that is damaged."""
    try:
        return _examined(file, index.get(_KIND, digest) or "")
    except InputError as error:
        raise index.damaged(f"the entry of {digest[:16]}…: {error.found}") from None


def by_content(examined: Sequence[Examined]) -> dict[str, Examined]:
    """The file of each distinct content, by digest: that of highest precedence, and of these the first."""
    first_counts = sorted(examined, key=lambda picture: -picture.file.precedence)
    return {picture.content.digest: picture for picture in reversed(first_counts) if picture.content}


def in_parts(items: Sequence[Item], engine: Engine) -> dict[str, Sequence[Item]]:
    """The items in numbered parts, so many that a slow one holds nobody up."""
    size = max(1, min(engine.grain, len(items) // (4 * engine.slots)))
    return {str(start): items[start : start + size] for start in range(0, len(items), size)}
