"""Curation of files, from the first look to a decision on each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.progress import Progress

from builders.curation import duplicates
from builders.curation.decisions import Decision, decide
from builders.curation.duplicates import Groups
from builders.curation.examine import Examined, by_content, examine
from builders.curation.folders import File
from builders.curation.index import Index
from builders.curation.leaks import SET, Leak, leaks
from builders.curation.opencv import single_threaded_opencv
from builders.curation.quality import Judgement, judge
from loaders.engines.engine import Engine
from loaders.engines.threads import Threads
from loaders.errors import InputError, how_many

OWN = "this set"
"""The name of the set whose files are compared with others (`beside`)."""


@dataclass(frozen=True)
class Curation:
    """Everything that was found out, file by file in the order of their names."""

    files: tuple[Examined, ...]
    judgements: tuple[Judgement | None, ...]
    decisions: tuple[Decision, ...]
    groups: Groups
    leaks: tuple[Leak, ...]


def curate(
    files: Sequence[File], *, index: Path | None = None, engine: Engine | None = None, progress: Progress | None = None
) -> Curation:
    """Examine files, judge their quality, find their copies and leaks.

    `index` is a file that serves as a cache (see `index.Index`); without one, everything is measured anew. The `engine`
    (default: this thread) reads and measures files, and compares pairs, in parallel.

    Raises: InputError when no file can be read as an image, or one changes meanwhile; KeyboardInterrupt with a message.
    """
    engine = engine or Threads()
    try:
        with single_threaded_opencv(), Index(index) as memory:
            examined = examine(files, memory, engine=engine, progress=progress)
            first = {digest: picture.file for digest, picture in by_content(examined).items()}
            if not first:
                reasons = ", ".join(sorted({picture.reason for picture in examined}))
                found = f"none of {how_many(len(examined), 'file')} is a readable image ({reasons})"
                found += "".join(f"; {picture.file.name}: {picture.detail}" for picture in examined[:1])
                raise InputError(files[0].path.parent if files else "no file", found=found, expected="images")
            distinct = {picture.content.digest: picture.content for picture in examined if picture.content}
            ordered = [distinct[digest] for digest in sorted(distinct)]
            groups = duplicates.group(ordered, first, memory, engine=engine, progress=progress)
    except KeyboardInterrupt:
        kept = f" Measurements are kept in {index}; run the same command again to resume" if index else ""
        raise KeyboardInterrupt(f"Stopped.{kept}") from None
    cluster_of = {digest: place.cluster for digest, place in groups.places.items()}
    return Curation(
        tuple(examined),
        _judgements(examined),
        tuple(decide(examined, groups, first)),
        groups,
        tuple(leaks(examined, cluster_of)),
    )


def beside(files: Sequence[File], others: Mapping[str, Sequence[File]]) -> list[File]:
    """Some files together with those of other sets, each marked with its set: the files given first belong to the set
    OWN, files of the others are called `SET: FILE`."""
    named = [replace(file, set=OWN) for file in files]
    for name, members in others.items():
        named += [replace(file, name=f"{name}: {file.name}", set=name) for file in members]
    return named


def shared(curation: Curation) -> tuple[Leak, ...]:
    """For files put `beside` others, the pictures that lie on both sides, in whatever disguise."""
    return tuple(leak for leak in curation.leaks if leak.boundary == SET and OWN in leak.values)


def counted(leaks: Sequence[Leak]) -> tuple[int, int]:
    """Photos of this set in the leaks, and how many contents cross byte for byte; those of other sets do not count."""
    photos = same = 0
    for leak in leaks:
        own = [one for one in leak.files if one.file.set in ("", OWN)]
        photos += len(own)
        if leak.boundary == SET:
            others = {one.content.digest for one in leak.files if one.content and one.file.set != OWN}
            same += len({one.content.digest for one in own if one.content} & others)
        else:
            same += leak.same_bytes
    return photos, same


def judged_alone(curation: Curation, first: int) -> Curation:
    """A curation whose `first` files are judged as if the others were not there."""
    return replace(curation, judgements=_judgements(curation.files[:first]))


def _judgements(examined: Sequence[Examined]) -> tuple[Judgement | None, ...]:
    readable = [picture for picture in examined if picture.content]
    qualities = [picture.content.quality for picture in readable if picture.content]
    judged = iter(judge(qualities, [calibrated_by(picture) for picture in readable]))
    return tuple(next(judged) if picture.content else None for picture in examined)


def calibrated_by(examined: Examined) -> str:
    """The group in which sharpness is calibrated: the source, or the label if the source is unknown."""
    return examined.file.source or examined.file.label
