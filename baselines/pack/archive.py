"""`pack`: makes one archive of a run folder that may be given away, the same bytes for the same content.

What is private stays out: `hidden.jsonl`, `private/`, and what earlier versions stored elsewhere (`answers.sqlite`,
`logs/`). So do the photos of consultations, since a run does not know their licences. Only the public part of
`dialogues.jsonl` goes in, even if an earlier version wrote everything into it. All other files are searched for every
text that a case of the run hides, as `Secrets` finds it: not in a paraphrase.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from baselines.dialogue.hidden import Secrets
from baselines.dialogue.played import DIALOGUES, HIDDEN_PART, Concealed, kept_in_records, public_part, read_hidden
from baselines.pack.contents import MOST_BYTES, Unreadable, texts_of
from baselines.results.run import absent_files, read_run
from baselines.threemdbench.consultation.cases import ORIGINALS, PICTURES
from loaders.errors import InputError
from loaders.files.disk import replacing, sweep, writing
from loaders.files.opening import TooLong, open_file, read_file, refuse_other
from loaders.files.paths import is_file, is_folder, is_hidden, is_inside, is_there, resolved
from loaders.files.places import without_places
from loaders.files.texts import is_text
from loaders.models.answers import PRIVATE, STORE

LEFT_OUT = (HIDDEN_PART, PRIVATE, STORE, f"{STORE}-wal", f"{STORE}-shm", "logs", PICTURES, ORIGINALS)
_NEEDED = ("run.json", "results.jsonl")
_OTHERS = (".tar", ".gz", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar")
_EPOCH = (1980, 1, 1, 0, 0, 0)
_BLOCK, _LOOKED_AT = 1 << 20, 16 << 20


@dataclass(frozen=True, slots=True)
class Packed:
    """What went into an archive, what of the run did not, which of its files name a path on this machine, and of how
    many cases only the hidden fields of the record were known (`kept_in_records`)."""

    files: tuple[str, ...]
    left_out: tuple[str, ...]
    placed: tuple[str, ...]
    half_known: int = 0


def pack(run: Path, archive: Path, *, opened: Concealed | None = None, without: Sequence[str] = ()) -> Packed:
    """Write the archive of a finished run. `without` are further files or folders of it that stay out.

    `opened` reads the dialogues of a run whose cases hide something.

    Raises: InputError for a folder without a finished run, or without the hidden texts that it stored, a name in
    `without` that does not exist, another file in the archive's place, an archive of another kind or
    inside the run, a link to a folder or out of the run, and every file that contains a hidden text or cannot be
    searched.
    """
    record, _ = read_run(run)
    if HIDDEN_PART in absent_files(run):  # an archive does not name it: it was searched when it was made
        expected = "the file by which all others are searched for hidden texts"
        do = "Copy it back, or play the run again"
        raise InputError(run / HIDDEN_PART, found="no such file", expected=expected, do=do)
    if archive.suffix.lower() in _OTHERS:
        raise InputError(archive, found=f"{archive.suffix}, another kind of archive", expected="a name with .zip")
    if is_inside(archive, run):
        raise InputError(archive, found="lies in the run itself", expected="a place outside")
    refuse_other(archive, (b"PK",), what="archive", is_one=_holds_a_run)
    without = [_name_in(run, name) for name in without]
    made: dict[str, bytes] = {}
    texts: list[str] = []
    half_known = 0
    if opened is not None and is_there(run / DIALOGUES):
        made[DIALOGUES], texts = public_part(run, opened)
        half_known = kept_in_records(run, opened)
    made["run.json"] = _run_json(run, made)
    texts += [text for part in read_hidden(run) for text in part.texts]
    sweep(run)
    left_out, kept = _sorted_out(run, without)
    _look_through(run, kept, made, Secrets(texts))
    root = f"{record.baseline}-{record.run_id}"
    with writing(archive):
        archive.parent.mkdir(parents=True, exist_ok=True)
    with writing(archive), replacing(archive) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as target:
        for name in kept:
            _add(target, f"{root}/{name}", made.get(name), run / name)
    return Packed(tuple(kept), tuple(left_out), tuple(_placed(run, kept, made)), half_known)


def _holds_a_run(file: BinaryIO) -> bool:
    """Whether this is an archive of one run: documents and arrays of many programs are zip files too."""
    try:
        names = zipfile.ZipFile(file).namelist()
    except (zipfile.BadZipFile, ValueError, OSError):
        return False
    return len({name.partition("/")[0] for name in names}) == 1 and any(name.endswith("/run.json") for name in names)


def _name_in(run: Path, given: str) -> str:
    """The name below the run of a file or folder to leave out, which may be given with the path of the run before it.

    Raises: InputError if it does not exist, or no run would be left.
    """
    name = ""
    for place in (Path(given), run / given):
        if os.path.lexists(place) and place.name != "..":
            at = resolved(place.parent) / place.name  # a link itself is left out, wherever it leads
            name = at.relative_to(resolved(run)).as_posix() if at.is_relative_to(resolved(run)) else name
    if name in ("", "."):
        raise InputError(f"--without {given}", found="no such file", expected=f"one of {run}")
    if name in _NEEDED:
        raise InputError(f"--without {given}", found="a file that every run has", expected="one that it can do without")
    return name


def _run_json(run: Path, made: Mapping[str, bytes]) -> bytes:
    """`run.json`, with this machine's paths, which earlier versions wrote, removed from its command, and the digests of
    what is `made` for the archive; no digest covers it."""
    content = json.loads(read_file(run / "run.json"))
    digests = {name: digest for name, digest in content["files"].items() if name != HIDDEN_PART}
    content["files"] = digests | {name: sha256(made[name]).hexdigest() for name in made if name in digests}
    content["command"] = without_places(content["command"], run)
    return (json.dumps(content, ensure_ascii=False, indent=2) + "\n").encode()


def _sorted_out(run: Path, without: Sequence[str]) -> tuple[list[str], list[str]]:
    """What stays out, by its shortest name, and the files that go in, by name."""
    left_out, kept = [], []
    for path in sorted(run.rglob("*")):
        name = path.relative_to(run)
        parts = (name, *name.parents)
        private = [part for part in parts if part.name in LEFT_OUT or is_hidden(part.name)]
        apart = private or [part for part in parts if part.as_posix() in without]
        if apart:
            left_out.append(apart[-1].as_posix())
        elif path.is_symlink() or not is_folder(path):
            if not is_text(name.as_posix()):
                found, expected = "has a name that is not UTF-8", "a name that an archive can hold"
                raise InputError(path, found=found, expected=expected, do="Rename it, or take it away")
            if not is_file(path) or not is_inside(path, run):
                found, do = "is no file, or leads out of the run", f"Take it away, or leave it out: --without {name}"
                raise InputError(path, found=found, expected="files of the run", do=do)
            kept.append(name.as_posix())
    return sorted(set(left_out)), kept


def _look_through(run: Path, names: Sequence[str], made: dict[str, bytes], secrets: Secrets) -> None:
    found, closed = [], []
    for name in names if secrets else ():
        try:
            data = made[name] if name in made else read_file(run / name, most=MOST_BYTES)
            if secrets.stands_in(name) or any(secrets.stands_in(text) for text in texts_of(data)):
                found.append(name)
        except (Unreadable, TooLong) as error:
            closed.append(f"{name} ({error if isinstance(error, Unreadable) else 'too long'})")
    do = "Take these files away, or leave them out: " + " ".join(
        f"--without {shlex.quote(name)}" for name in (*found, *(one.partition(" (")[0] for one in closed))
    )
    if found:
        raise InputError(run, found=f"a hidden text stands in {', '.join(found)}", expected="none", do=do)
    if closed:
        raise InputError(run, found=f"cannot be looked through: {', '.join(closed)}", expected="readable files", do=do)


def _placed(run: Path, names: Sequence[str], made: dict[str, bytes]) -> Iterator[str]:
    """Files that contain the path of the run, of the current folder or of the user's own."""
    places = [os.fsencode(place) for place in (resolved(run).parent, Path.cwd(), Path.home()) if place != Path("/")]
    for name in names:
        with open_file(run / name) as file:
            start = made.get(name) or file.read(_LOOKED_AT)
        if any(place in start for place in places):
            yield name


def _add(target: zipfile.ZipFile, name: str, data: bytes | None, path: Path) -> None:
    info = zipfile.ZipInfo(name, _EPOCH)
    info.create_system, info.external_attr, info.compress_type = 3, 0o100644 << 16, zipfile.ZIP_DEFLATED
    opened = open_file(path) if data is None else io.BytesIO(data)
    with target.open(info, "w", force_zip64=True) as file, opened as source:
        shutil.copyfileobj(source, file, _BLOCK)
