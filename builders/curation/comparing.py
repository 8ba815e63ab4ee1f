"""Engine tasks for what curation asks beyond the first look: how two pictures compare, and what one looks like.

A unit names files; the worker reads them, and only verdicts and a few numbers come back.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import TypeVar

import numpy as np
from PIL import Image

from builders.curation.examine import in_parts, read_again
from builders.curation.folders import File
from builders.curation.opencv import PACKAGES, one_thread
from builders.curation.pictures import read_picture
from builders.curation.verification import Features, PairVerdict, compare, features
from loaders.engines.engine import Engine, Task
from loaders.files.images import open_image

Pair = tuple[str, str]
"""Two pictures by digest, the smaller first."""
Marked = tuple[tuple[str, bool], tuple[str, bool]]
"""Such a pair, and whether each has text laid over it."""
Files = Mapping[str, File]
"""The file of each picture."""
Asked = TypeVar("Asked")
Told = TypeVar("Told")

_FEATURES = 1024  # pictures whose features are cached (about 0.2 MB each)


@dataclass(frozen=True, slots=True)
class Look:
    """Looked up only for pictures that have copies: the SHA-256 of their pixels, and how colourful they are."""

    pixels: str
    colour: float


class _Asked:
    """What the tasks have in common."""

    packages = PACKAGES
    floats = True

    def __reduce__(self) -> tuple[object, ...]:
        return _elsewhere, (type(self),)

    def told(self, unit: tuple[Sequence[object], Files]) -> str:
        """The files of a unit."""
        names = sorted(file.name for file in unit[1].values())
        return f"{names[0]} to {names[-1]}"


@cache
def _elsewhere(kind: type[_Asked]) -> _Asked:
    """The task in another process: one instance for all rounds there, so that features are computed once."""
    one_thread()
    return kind()


class Compare(_Asked):
    """The verdicts on pairs; features of recent pictures are cached, shared by all threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Future[Features]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, name: str, unit: tuple[Sequence[Marked], Files]) -> list[PairVerdict]:
        pairs, files = unit
        return [compare(self._features(*one, files), self._features(*two, files)) for one, two in pairs]

    def _features(self, digest: str, text: bool, files: Files) -> Features:
        with self._lock:
            found = self._kept.get(digest)
            mine = found is None
            if found is None:
                found = self._kept[digest] = Future()
                while len(self._kept) > _FEATURES:
                    self._kept.popitem(last=False)
            else:
                self._kept.move_to_end(digest)
        if mine:  # the first thread to ask computes them; others wait for the result
            try:
                found.set_result(features(read_picture(read_again(files[digest], digest)), text=text))
            except BaseException as error:
                found.set_exception(error)
        return found.result()


class LookAt(_Asked):
    """What pictures look like."""

    def __call__(self, name: str, unit: tuple[Sequence[str], Files]) -> list[Look]:
        digests, files = unit
        return [_look(read_again(files[digest], digest)) for digest in digests]


def answers(
    engine: Engine,
    task: Task[list[Told]],
    asked: Sequence[Asked],
    named: Callable[[Asked], Iterable[str]],
    files: Files,
    where: str,
) -> Generator[tuple[Asked, Told]]:
    """The task's answer for each, in any order; `named` returns the pictures that one is about."""
    parts = in_parts(asked, engine)
    units = (
        (name, (part, {digest: files[digest] for one in part for digest in named(one)})) for name, part in parts.items()
    )
    with closing(engine.each(task, units, where=where)) as done:
        for name, told in done:
            yield from zip(parts[name], told, strict=True)


def _look(data: bytes) -> Look:
    image = open_image(data)
    pixels = hashlib.sha256(f"{image.mode} {image.width} {image.height} ".encode() + image.tobytes()).hexdigest()
    small = image.convert("RGB").resize((64, 64), Image.Resampling.BOX).convert("YCbCr")
    chroma = np.abs(np.asarray(small)[:, :, 1:].astype(np.float64) - 128)
    return Look(pixels, round(float(chroma.mean()), 3))
