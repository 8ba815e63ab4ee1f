"""Which pictures of one set show the same as pictures of another set, pair by pair, and in what disguise.

    found = seen(test, train)
    found.pairs[0]      Pair(file="b.jpg", other="train/a.jpg", how="copy: mirrored")

It is what `curate.shared` finds, with one partner named for each file: preferably one with the same bytes, else the
surest copy, else one that shows the same scene.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.progress import Progress

from builders.curation.comparing import Compare
from builders.curation.curate import OWN, beside, curate, disguise, shared
from builders.curation.examine import Examined
from builders.curation.folders import File
from builders.curation.verification import COPY, SCENE, PairVerdict, rank
from loaders.engines.engine import Engine

_OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Pair:
    """A file, the file of the other set that matches it, and how: same bytes, a copy in its disguise, one scene."""

    file: str
    other: str
    how: str


@dataclass(frozen=True, slots=True)
class Seen:
    """One pair for each file that was found, in the order of their names;
    `unread` are others that could not be opened."""

    pairs: tuple[Pair, ...]
    unread: tuple[str, ...]


def seen(
    files: Sequence[File],
    others: Sequence[File],
    *,
    index: Path | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> Seen:
    """Look for the pictures of `others` among `files`, in any disguise; another photo of the same scene counts too.

    Raises: as `curate.curate`.
    """
    curation = curate(beside(files, {_OTHERS: others}), index=index, engine=engine, progress=progress)
    unread = [_name(one) for one in curation.files if one.content is None and one.file.set == _OTHERS]
    own: dict[str, Examined] = {}
    before: dict[str, dict[str, Examined]] = defaultdict(dict)  # a collage may share several photos with the others
    for leak in shared(curation):
        others_of_it = {one.file.name: one for one in leak.files if one.file.set == _OTHERS}
        for one in leak.files:
            if one.file.set == OWN:
                own[one.file.name] = one
                before[one.file.name] |= others_of_it
    compare = Compare()
    pairs = [_pair(own[name], list(before[name].values()), compare) for name in sorted(own)]
    return Seen(tuple(pairs), tuple(unread))


def _pair(one: Examined, others: Sequence[Examined], compare: Compare) -> Pair:
    """The file with the surest of the others in its cluster."""
    same = next((other for other in others if _digest(other) == _digest(one)), None)
    if same is not None:
        return Pair(one.file.name, _name(same), "same bytes")
    verdicts = [_verdict(other, one, compare) for other in others]
    best = max(range(len(others)), key=lambda at: (rank(verdicts[at]), -at))
    return Pair(one.file.name, _name(others[best]), _how(verdicts[best]))


def _how(verdict: PairVerdict) -> str:
    if verdict.kind == COPY:
        return "copy" + disguise(verdict)
    return "another photo of the same scene" if verdict.kind == SCENE else "through other copies or photos of the scene"


def _verdict(other: Examined, one: Examined, compare: Compare) -> PairVerdict:
    """From the other's point of view; compared in the order of the digests, as everywhere."""
    first, second = sorted((other, one), key=_digest)
    files = {_digest(each): each.file for each in (first, second)}
    (verdict,) = compare("", ([((_digest(first), _has_text(first)), (_digest(second), _has_text(second)))], files))
    return verdict if first is other else verdict.swapped()


def _has_text(one: Examined) -> bool:
    return one.content is not None and one.content.quality.text_characters > 0


def _digest(one: Examined) -> str:
    assert one.content is not None  # anything in a cluster could be opened
    return one.content.digest


def _name(one: Examined) -> str:
    return one.file.name.removeprefix(f"{_OTHERS}: ")
