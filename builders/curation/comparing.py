"""Engine tasks for what curation asks beyond the first look: how two pictures compare, and what one looks like.

A unit names files; the worker reads them, and only verdicts and a few numbers come back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TypeVar

from builders.curation.examine import in_parts, read_again
from builders.curation.folders import File
from builders.curation.index import Index
from builders.curation.opencv import PACKAGES
from builders.curation.pictures import Look, look, read_picture
from builders.curation.verification import Features, PairVerdict, compare, features
from loaders.engines.engine import Engine, Task
from loaders.files.records import from_json, to_json

Pair = tuple[str, str]
"""Two pictures by digest, the smaller first."""
Marked = tuple[tuple[str, bool], tuple[str, bool]]
"""Such a pair, and whether each has text laid over it."""
Files = Mapping[str, File]
"""The file of each picture."""
Asked = TypeVar("Asked")
Told = TypeVar("Told")

_KNOWN = "what curation remembers of pictures"
_FEATURES = 1024  # pictures whose features are cached (about 0.2 MB each)


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
    return kind()


class Compare(_Asked):
    """The verdicts on pairs; features of recent pictures are cached, shared by all threads."""

    def __init__(self) -> None:
        self._features = lru_cache(_FEATURES)(_features_of)

    def __call__(self, name: str, unit: tuple[Sequence[Marked], Files]) -> list[PairVerdict]:
        pairs, files = unit
        return [compare(*(self._features(files[digest], digest, text) for digest, text in pair)) for pair in pairs]


def _features_of(file: File, digest: str, text: bool) -> Features:
    return features(read_picture(read_again(file, digest)), text=text)


class LookAt(_Asked):
    """What pictures look like."""

    def __call__(self, name: str, unit: tuple[Sequence[str], Files]) -> list[Look]:
        digests, files = unit
        return [look(read_again(files[digest], digest)) for digest in digests]


@dataclass(frozen=True, slots=True)
class Memory:
    """Answers about pictures, whose files are given: what the index does not hold, the engine finds out."""

    index: Index
    engine: Engine
    files: Files

    def answers(
        self,
        task: Task[list[Told]],
        kind: type[Told],
        asked: Mapping[str, Asked],
        named: Callable[[Asked], Iterable[str]],
        where: str,
        tell: Callable[[int], None] = lambda new: None,
    ) -> dict[str, Told]:
        """The task's answer, of this `kind`, to each that is asked, by its key in the index.

        `named` returns the pictures that one is about; `tell` is called with the number of answers that have come.
        """
        stored = {key: self.index.get(where, key) for key in asked}
        answers = {key: from_json(kind, text.encode(), _KNOWN) for key, text in stored.items() if text is not None}
        tell(len(answers))
        parts = in_parts([key for key in asked if key not in answers], self.engine)
        units = ((name, self._unit([asked[key] for key in part], named)) for name, part in parts.items())
        with closing(self.engine.each(task, units, where=where)) as done:
            for name, new in done:
                for key, answer in zip(parts[name], new, strict=True):
                    self.index.put(where, key, json.dumps(to_json(answer)))
                    answers[key] = answer
                tell(len(new))
        return answers

    def _unit(self, asked: Sequence[Asked], named: Callable[[Asked], Iterable[str]]) -> tuple[Sequence[Asked], Files]:
        return asked, {digest: self.files[digest] for one in asked for digest in named(one)}
