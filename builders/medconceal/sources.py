"""Where cases come from: written ones, ones composed of them, or threads of r/AskDocs.

sample                          forty written cases (bundled)
sample-threads                  twelve written threads, as a dump would hold them (bundled)
threads=DIR                     dumps in a folder, told apart by "submissions"/RS and "comments"/RC in their names
threads=SUBMISSIONS,COMMENTS    two files
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from builders.medconceal.compose import composed
from builders.medconceal.dumps import ENDINGS
from builders.pipeline.rows import Row
from builders.samples import medconceal as bundled
from loaders.disk import write_whole
from loaders.errors import InputError
from loaders.manifest import canonical_json, file_digest
from loaders.medconceal import PatientProfile, row_of

SAMPLE, SAMPLE_THREADS, THREADS = "sample", "sample-threads", "threads="
SYNTHETIC = "synthetic"
SYNTHETIC_LICENCE = "CC0-1.0"
THREAD_LICENCE = "other"
_SUBMISSIONS = re.compile(r"submission|^RS[_-]", re.IGNORECASE)
_COMMENTS = re.compile(r"comment|^RC[_-]", re.IGNORECASE)


@dataclass(frozen=True)
class Written:
    """Cases that are whole already."""

    name: str
    rows: list[Row]
    digest: str


@dataclass(frozen=True)
class Dumps:
    """Files of submissions and of comments; `digests` are those of the files, `invented` is True for the bundled."""

    name: str
    submissions: tuple[Path, ...]
    comments: tuple[Path, ...]
    digests: tuple[str, ...]
    invented: bool


def open_source(text: str | None, *, synthetic: int | None, seed: int, workspace: Path) -> Written | Dumps:
    """The source that the options name.

    Raises:
        InputError: none or two are named, or its files are not there.
    """
    if (text is None) == (synthetic is None):
        found = "neither" if text is None else "both"
        raise InputError("--source, --synthetic", found=found, expected="one of the two")
    if synthetic is not None:
        return _written(f"{synthetic:,} cases composed of the bundled ones", composed(synthetic, seed=seed))
    assert text is not None
    if text == SAMPLE:
        return _written(bundled.TITLE, bundled.profiles())
    if text == SAMPLE_THREADS:
        return _bundled_threads(workspace / "sample")
    if text.startswith(THREADS) and text != THREADS:
        return _dumps(text.removeprefix(THREADS))
    expected = f"{SAMPLE}, {SAMPLE_THREADS}, {THREADS}DIR or {THREADS}SUBMISSIONS,COMMENTS"
    raise InputError("--source", found=text, expected=expected)


def _written(title: str, profiles: Iterable[PatientProfile]) -> Written:
    attribution = "Bedside (synthetic patients)"
    rows = [
        row_of(profile, author=SYNTHETIC, licence=SYNTHETIC_LICENCE, attribution=attribution) for profile in profiles
    ]
    return Written(title, rows, hashlib.sha256(canonical_json(rows)).hexdigest())


def _bundled_threads(folder: Path) -> Dumps:
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, lines in (("submissions", bundled.submissions()), ("comments", bundled.comments())):
        paths.append(folder / f"{name}.jsonl")
        write_whole(paths[-1], "".join(f"{line}\n" for line in lines).encode())
    title = "synthetic threads written for Bedside; nobody said any of this"
    return Dumps(title, (paths[0],), (paths[1],), tuple(map(file_digest, paths)), invented=True)


def _dumps(text: str) -> Dumps:
    place = Path(text)
    if place.is_dir():
        files = sorted(path for path in place.iterdir() if path.suffix in ENDINGS)
        submissions = [path for path in files if _SUBMISSIONS.search(path.name)]
        comments = [path for path in files if _COMMENTS.search(path.name) and path not in submissions]
    else:
        parts = [Path(part) for part in text.split(",") if part]
        if len(parts) != 2:
            found = f"{len(parts)} file(s)" if parts else "nothing"
            raise InputError("--source", found=found, expected=f"{THREADS}DIR or {THREADS}SUBMISSIONS,COMMENTS")
        submissions, comments = parts[:1], parts[1:]
    for kind, paths in (("submissions", submissions), ("comments", comments)):
        if not paths:
            raise InputError(place, found=f"no file of {kind}", expected=f"*{kind}* with {' or '.join(ENDINGS)}")
        for path in paths:
            if not path.is_file():
                raise InputError(path, found="no such file", expected=f"a dump of {kind}")
    found_files = [*submissions, *comments]
    return Dumps("r/AskDocs", tuple(submissions), tuple(comments), _digests(found_files), invented=False)


def _digests(paths: Sequence[Path]) -> tuple[str, ...]:
    return tuple(file_digest(path) for path in paths)
