"""A release folder: Parquet shards, exclusions, card and manifest, written so that it is whole or absent.

    <out>/README.md  croissant.json  manifest.json  exclusions.parquet  data/<split>-00000-of-00003.parquet

It is built in the hidden sibling folder `.<out>.building` and renamed into place. The same rows give the same bytes.
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
from pydantic import JsonValue

from builders.licences import NOT_STATED
from builders.pipeline.rows import BuildError, Row, to_table
from builders.pipeline.run import EXCLUSIONS
from builders.release.cards import CARD
from builders.release.counted import Counted, Measure
from builders.release.croissant import CROISSANT
from builders.release.parts import LINES, Stored, Written, shard_name, write_shards
from builders.release.shards import GROUP_ROWS, Shape, parquet_file, read_rows
from loaders.engines.engine import Engine
from loaders.errors import BedsideError, InputError, ReleaseError, first_of
from loaders.files.disk import beside, make_folder, write_whole, writing
from loaders.files.opening import blocks_of, open_file
from loaders.files.paths import entries, files_below, is_folder, is_there, resolved
from loaders.manifest import (
    NAME,
    Code,
    Config,
    ContentDigest,
    ExclusionFacts,
    FileFacts,
    Manifest,
    Source,
    SplitFacts,
    StageCount,
    content_digest,
    file_digest,
    order_splits,
)

if TYPE_CHECKING:
    import datasets

EXCLUSIONS_FILE = "exclusions.parquet"
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # constants of Linux


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What the manifest says about a release besides measurements of its files. `configs` may name empty splits."""

    corpus: str
    key: str
    features: datasets.Features
    sources: Sequence[Source]
    settings: Mapping[str, JsonValue]
    prompts: Mapping[str, str]
    versions: Mapping[str, str]
    stages: Sequence[StageCount]
    schema_version: int = 1
    configs: Sequence[Config] = ()
    stand_in: str | None = None
    rules: int = 1
    code: Code | None = None
    canary: str | None = None


_TO_DO = {
    NOT_STATED: "State each row's licence in a column `licence`, assert one for all with --licence, or accept rows "
    "that state none with --allow-licence unknown",
    "no derivatives": "Name captions that may be rewritten, or allow a licence by name with --allow-licence",
}


def write_release(
    out: Path,
    facts: Facts,
    rows: Stored,
    exclusions: Iterable[Row],
    *,
    measure: Measure,
    card: Callable[[Manifest], str],
    croissant: Callable[[Manifest], str] | None = None,
    overwrite: bool = False,
    engine: Engine | None = None,
) -> Manifest:
    """Write the release folder `out` from `rows` and return its manifest; the `engine` writes shards in parallel.

    Only the last part of an image's path is kept. `croissant` is called with a manifest that lists the rows' files,
    `card` with one that lists all files but the card itself. An identical release at `out` is left as it is; a
    different one is replaced only with `overwrite`.

    Raises: InputError when `out` is taken by something else; ReleaseError when no row is left, a key comes twice or
    the counts of the stages do not add up; BuildError when a row does not fit `features`; BedsideError when the disk is
    full or another build is writing to `out`.
    """
    out = resolved(out)  # a symlink is kept, and its target is replaced
    with _building(out) as (folder, made):
        shape = Shape.of(facts.features, facts.key, facts.canary)
        packages = [package for package in facts.versions if package not in ("python", "bedside")]
        tally = measure.tally if isinstance(measure, Counted) else None
        written = write_shards(made, rows, shape, engine=engine, tally=tally, packages=packages)
        splits, shards = _named(folder, made, written)
        excluded, reasons, example = _write_exclusions(folder, exclusions)
        if not splits:
            counted = "; ".join(f"{reason}: {n:,}" for reason, n in reasons.most_common()) or "the source was empty"
            other = f"Name other data, or mend these; the first is {example}" if example else "Name other data"
            do = next((_TO_DO[reason] for reason in _TO_DO if reason in reasons), other)
            raise ReleaseError(out, found=f"no rows are left ({counted})", expected="at least one row", do=do)
        manifest = _manifest(facts, splits, excluded, _list_files(folder, shards))
        for problem in manifest.check_counts():
            raise ReleaseError(out, found=str(problem), expected="in = out + excluded")
        statistics = _statistics(measure, written, read_rows(folder, manifest))
        manifest = manifest.model_copy(update={"statistics": statistics})
        for name, describe in ((CROISSANT, croissant), (CARD, card)):
            if describe is not None:
                write_whole(folder / name, describe(manifest).encode())
                manifest = Manifest.model_validate({**dict(manifest), "files": _list_files(folder, shards)})
        manifest.write(folder)
        _place(folder, out, manifest, overwrite)
    return manifest


def _manifest(
    facts: Facts, splits: dict[str, SplitFacts], excluded: ExclusionFacts, files: dict[str, FileFacts]
) -> Manifest:
    """The manifest before statistics, without configs and splits that hold no row."""
    there = [
        config.model_copy(update={"splits": [s for s in config.splits if s in splits]}) for config in facts.configs
    ]
    measured = {
        "features": facts.features._to_yaml_list(),
        "sources": list(facts.sources),
        "stages": list(facts.stages),
        "splits": splits,
        "content_digest": content_digest({name: split.content_digest for name, split in splits.items()}),
        "statistics": None,
        "exclusions": excluded,
        "files": files,
        "configs": [config for config in there if config.splits],
    }
    return Manifest.model_validate({**vars(facts), **measured})


def _named(
    folder: Path, made: Path, written: Mapping[str, Sequence[Written]]
) -> tuple[dict[str, SplitFacts], dict[str, FileFacts]]:
    """Give the shards their names, which say how many there are; returns what each split and each shard holds."""
    (folder / "data").mkdir()
    splits, files = dict[str, SplitFacts](), dict[str, FileFacts]()
    for split in order_splits(written):
        content, shards = ContentDigest(), written[split]
        for number, shard in enumerate(shards):
            path, name = made / shard_name(split, number), f"data/{split}-{number:05d}-of-{len(shards):05d}.parquet"
            with open_file(path.with_name(path.name + LINES)) as lines:
                for block in blocks_of(lines):
                    content.extend(block, 0)
            path.rename(folder / name)
            files[name] = shard.file
        rows, num_bytes = (sum(getattr(one, name) for one in shards) for name in ("rows", "num_bytes"))
        splits[split] = SplitFacts(rows=rows, num_bytes=num_bytes, content_digest=content.hexdigest())
    return splits, files


def _statistics(measure: Measure, written: Mapping[str, Sequence[Written]], rows: Iterable[Row]) -> JsonValue:
    if isinstance(measure, Counted):
        total = measure.tally()
        for split in order_splits(written):
            for one in written[split]:
                total.merge(one.tally)
        measured = total.statistics()
    else:
        measured = measure(rows)
    try:
        json.dumps(measured)
    except TypeError as error:
        raise BuildError(f"measure: found no JSON ({error}), expected texts, numbers, lists and dicts") from None
    return measured


def _write_exclusions(folder: Path, exclusions: Iterable[Row]) -> tuple[ExclusionFacts, Counter[str], str]:
    """Also how many rows each reason has, and the first row of the most frequent one that has details: no release may
    hold them."""
    digest, examples = ContentDigest(), dict[str, str]()
    reasons: Counter[str] = Counter()
    with parquet_file(folder / EXCLUSIONS_FILE, EXCLUSIONS) as write:
        rows = iter(exclusions)
        while group := list(islice(rows, GROUP_ROWS)):
            table = to_table(group, EXCLUSIONS, where="exclusions", key="key")
            write(table)
            for row in table.to_pylist():
                digest.update(row)
                reasons[row["reason"]] += 1
                if row["detail"]:
                    examples.setdefault(row["reason"], f"{row['key']}: {row['detail']}")
    example = next((examples[reason] for reason, _ in reasons.most_common() if reason in examples), "")
    return ExclusionFacts(rows=digest.rows, content_digest=digest.hexdigest()), reasons, example


def _list_files(folder: Path, known: Mapping[str, FileFacts]) -> dict[str, FileFacts]:
    """The files of a folder; those in `known` are not read again."""
    named = {path.relative_to(folder).as_posix(): path for path in files_below(folder)}
    return {
        name: known.get(name) or FileFacts(sha256=file_digest(path), size=path.stat().st_size)
        for name, path in named.items()
    }


@contextmanager
def _building(out: Path) -> Iterator[tuple[Path, Path]]:
    """Two empty folders beside `out`, removed at the end: for the release, and for shards that do not yet belong to it,
    where a task that was thought lost may still write. Leftovers of a killed build are cleared first."""
    words = ("building", "shards", "previous", "lock")
    folder, made, previous, lock = (beside(out, f".{{}}.{word}") for word in words)
    with writing(out.parent):
        make_folder(out.parent)
        try:
            held = filelock.FileLock(lock, timeout=0).acquire()
        except filelock.Timeout:
            raise BedsideError(out, found="another build is writing to it", do="Wait for it to end") from None
    with held:
        try:
            _put_back(previous, out)  # of a build that was killed between two renames
            release_at(out)
            for leftover in (folder, made, previous):
                shutil.rmtree(leftover, ignore_errors=True)
            with writing(folder):
                folder.mkdir()
                made.mkdir()
            yield folder, made
        finally:
            with suppress(OSError):  # else it lies there for the next build
                _put_back(previous, out)
            for leftover in (folder, made, *[previous] * is_there(out)):
                shutil.rmtree(leftover, ignore_errors=True)
            with suppress(OSError):
                lock.unlink()


def _put_back(previous: Path, out: Path) -> None:
    """Give the old release its name again where the new one did not get it."""
    if is_there(previous) and not is_there(out):
        previous.rename(out)


def release_at(out: Path) -> Manifest | None:
    """The release at the place where one is to be written; None if the place is free. Raises: InputError if it holds
    something else, or files that do not belong to the release."""
    if not is_there(out) or (is_folder(out) and not entries(out)):
        return None
    try:
        manifest = Manifest.read(out)
    except ReleaseError as error:
        do = "Choose another folder, or delete this one yourself"
        raise InputError(out, found=f"already exists and is not a release ({error.found})", do=do) from error
    of_a_mac = (".DS_Store", "._")  # its notes about a folder, and about files on a foreign disk
    below = [path.relative_to(out) for path in files_below(out) if not path.name.startswith(of_a_mac)]
    if others := [name for path in below if (name := path.as_posix()) not in {NAME, *manifest.files}]:
        found = f"a release with other files in it: {first_of(others, 3)}"
        do = "Move them elsewhere, or choose another folder: a build deletes what it replaces"
        raise InputError(out, found=found, expected="its own files alone", do=do)
    return manifest


def occupied(out: Path, found: str) -> InputError:
    """The error for a place that holds a release which nobody asked to replace."""
    return InputError(out, found=found, do="Choose another folder, or pass --overwrite to replace it")


def _place(folder: Path, out: Path, manifest: Manifest, overwrite: bool) -> None:
    """Give the finished release its name; at every moment either the old or the new one is there."""
    replace = is_there(out) and bool(entries(out))
    if replace:
        present = Manifest.read(out)
        # Another commit that gives the same bytes gives the same release.
        same = present.model_copy(update={"code": manifest.code}).text() == manifest.text()
        problems = present.check_files(out)
        if same and not problems:
            return  # up to date
        if not overwrite:
            found = f"holds a damaged copy of this release ({problems[0]})" if same else "already holds another release"
            raise occupied(out, found)
    try:
        if replace:
            _exchange(folder, out)
        else:
            folder.rename(out)
    except OSError as error:
        found = f"the finished release cannot be renamed to this: {error.strerror}"
        raise InputError(out, found=found, expected="a plain folder, not a mount point") from error


def _exchange(new: Path, old: Path) -> None:
    """Give `new` the name of `old` and the other way round.

    Linux does this in one step. Elsewhere, and on file systems that cannot, it takes two renames by way of
    `.<old>.previous`; if it is killed in between, the old folder is found there.
    """
    with suppress(OSError, AttributeError, TypeError):
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
        if not renameat2(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(old), _RENAME_EXCHANGE):
            return
    previous = old.with_name(f".{old.name}.previous")
    old.rename(previous)
    new.rename(old)
    previous.rename(new)
