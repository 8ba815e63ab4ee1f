"""Compares a published release with a rebuilt one: is the content the same, and why do the bytes of files differ?

Other versions of the libraries write the same rows as other bytes. What a file says about its writer is the proof; what
cannot be explained is reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from builders.release.cards import CARD, REPOSITORY, SAME_TAG, TAG
from builders.release.croissant import ADDED, CROISSANT
from builders.release.diff import Change, Diff, diff
from builders.release.verify import verify
from loaders.errors import InputError
from loaders.files.json_values import read_object
from loaders.files.paths import is_file
from loaders.files.tables import open_parquet
from loaders.files.texts import read_text
from loaders.manifest import IMAGES_OF, Manifest, Problem, other_versions, versions_in_words

_NAMED = "names the repository and version that it was published as"
_MEASURED = re.compile(r"[0-9a-f]{12,}|\d[\d,.]*")


@dataclass(frozen=True)
class OtherFile:
    """A file whose bytes differ; `why` is empty if nothing explains it."""

    name: str
    why: str


@dataclass(frozen=True)
class Rebuilt:
    """The result of building a release again. `problems` are those of the published release itself."""

    problems: list[Problem]
    difference: Diff
    sources: list[Change]
    versions: dict[str, tuple[str | None, str | None]]
    files: list[OtherFile]
    same_files: int

    @property
    def same_content(self) -> bool:
        """Whether rows, their order, columns and exclusions are the same."""
        found = self.difference
        rows = found.added.count + found.removed.count + found.changed.count
        other = rows or found.moved or found.reordered or found.exclusions or found.schema
        return not other and found.content_a == found.content_b

    @property
    def proved(self) -> bool:
        """Whether the sources and the code give this release, and every file that differs is explained."""
        return self.same_content and not (self.problems or self.sources or any(not file.why for file in self.files))


def compare(published: Path, again: Path) -> Rebuilt:
    """Compare a published release with the one that was built again. Raises: ReleaseError when one is no release, or
    they are of different corpora."""
    old, new = Manifest.read(published), Manifest.read(again)
    difference = diff(published, again)
    names = sorted(old.files.keys() | new.files.keys())
    other = [name for name in names if old.files.get(name) != new.files.get(name)]
    tables = [name for name in other if name.endswith(".parquet")]
    writers = {name: (_writer(published / name), _writer(again / name)) for name in tables}
    return Rebuilt(
        problems=verify(published),
        difference=difference,
        sources=[change for change in difference.facts if change.where.startswith("sources")],
        versions=other_versions(old.versions, new.versions),
        files=[OtherFile(name, _why(name, old, new, writers, published, again)) for name in other],
        same_files=len(names) - len(other),
    )


def _why(
    name: str, old: Manifest, new: Manifest, writers: Mapping[str, tuple[str, str]], published: Path, again: Path
) -> str:
    if name not in old.files or name not in new.files:
        return ""
    same_content = old.content_digest == new.content_digest and old.exclusions == new.exclusions
    if name in writers:
        (before, now), same = writers[name], _same_rows(name, old, new)
        if not same:
            return "holds different rows"
        return f"the same rows, written by {before}, now by {now}" if before != now else ""
    if name in (CROISSANT, CARD) and not same_content:
        return "tells of other rows"
    if name == CROISSANT:
        with suppress(InputError):  # `verify` reports it
            said, made = (read_object(folder / name) for folder in (published, again))
            if said == {**made, **{key: said[key] for key in ADDED if key in said}}:
                return _NAMED
    if name == CARD:
        before, now = (read_text(folder / name) for folder in (published, again))
        if _fits(before, now, str):
            return _NAMED
        if writers and _fits(before, now, partial(_MEASURED.sub, "#")):
            return "tells sizes of the files above"
    return ""


def _fits(published: str, again: str, shown: Callable[[str], str]) -> bool:
    """Whether a card is the rebuilt one with its repository and version filled in, both as `shown`."""
    pattern = re.escape(shown(again))
    for place in (REPOSITORY, TAG, SAME_TAG):
        pattern = pattern.replace(re.escape(shown(place)), r"[^\n]+")
    return re.fullmatch(pattern, shown(published)) is not None


def _same_rows(name: str, old: Manifest, new: Manifest) -> bool:
    for split in old.splits.keys() & new.splits.keys():
        if name in old.shards(split):
            return old.splits[split].content_digest == new.splits[split].content_digest
    return old.exclusions == new.exclusions


def _writer(path: Path) -> str:
    """What a Parquet file says about the library that wrote it."""
    if not is_file(path):
        return "nothing"
    with open_parquet(path) as file:
        return " ".join(str(file.metadata.created_by).split())


def told(found: Rebuilt) -> Iterator[str]:
    """The findings in sentences: the release itself, its sources, its content, its files."""
    yield from (f"the published release has problems: {problem}" for problem in found.problems)
    yield from _of_sources(found.sources)
    one, other = found.difference.content_a, found.difference.content_b
    yield f"{_of_content(found)}: digest {one[:16]}…, rebuilt {other[:16]}…"
    yield f"files: {found.same_files} identical, {len(found.files)} different"
    versions = versions_in_words(found.versions)
    commits = [(one.a, one.b) for one in found.difference.facts if one.where == "code.commit" and one.a and one.b]
    causes = [f"another commit ({str(before)[:12]}, now {str(now)[:12]})" for before, now in commits]
    causes += [f"other library versions ({versions})"] if versions else []
    left = [change for change in found.difference.facts if not change.where.startswith(("sources", "versions", "code"))]
    causes += ["other sources"] * bool(found.sources)
    causes += ["other settings"] * any(change.where.startswith("settings") for change in left)
    unexplained = f"NOT EXPLAINED: {' or '.join(causes) or 'find out what it depends on'}"
    yield from (f"  {file.name}: {file.why or unexplained}" for file in found.files)
    if versions:
        yield f"versions: {versions}"
    yield from (f"{change.where}: {change.a}, now {change.b}" for change in left)


def _of_sources(changes: Sequence[Change]) -> Iterator[str]:
    """A sentence for each source that differs; of one that only has another name, this name."""
    gone = {change.a["digest"]: change.where for change in changes if change.b is None and isinstance(change.a, dict)}
    come = {change.b["digest"]: change.where for change in changes if change.a is None and isinstance(change.b, dict)}
    renamed = {where: come[digest] for digest, where in gone.items() if digest in come}
    for change in changes:
        if change.where in renamed:
            yield f"renamed source: {change.where}, now {renamed[change.where]}, of the same digest: name it as it was"
        elif change.where not in renamed.values():
            yield f"different source: {change.where}: {change.a}, now {change.b}"
    images = f"sources.{IMAGES_OF}"
    if any(w.startswith(images) for w in gone.values()) and not any(w.startswith(images) for w in come.values()):
        yield "The published release was built with images, this one without: add --images DIR"


def _of_content(found: Rebuilt) -> str:
    if found.same_content:
        return "the same content"
    only = found.difference.exclusions and found.difference.content_a == found.difference.content_b
    return f"{'the same rows, DIFFERENT EXCLUSIONS' if only else 'DIFFERENT CONTENT'} (see bedside diff)"
