"""ROCO in the layout of its repository."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from builders.medlaybench_v.sources.files import ARTICLE, IDENTIFIER, Row, article_link
from loaders.errors import InputError, first_of, how_many
from loaders.files.bad_rows import BadRow
from loaders.files.opening import digest_of, read_file
from loaders.files.paths import is_file, is_there
from loaders.files.tables import plain_name
from loaders.files.texts import line_text, lines_of
from loaders.medlaybench_v import SPLITS, parse_cuis

ROCOV2 = "eltorio/ROCOv2-radiology"
"""Its successor, which `rocov2` streams from the Hub."""

_SUBSET = "radiology"
_CAPTIONS = "captions.txt"
_CUIS, _LICENCES = "cuis.txt", "licences.txt"


@dataclass(frozen=True)
class RocoFolder:
    """One `<split>/radiology` folder of ROCO."""

    folder: Path
    split: str


def roco_folders(root: Path, default_split: str) -> list[RocoFolder]:
    """The folders with ROCO captions at or below `root`: `[data/]<split>/radiology/captions.txt`. Raises: InputError if
    there is none."""
    for base in (root, root / "data"):
        found = {name: base / name / _SUBSET for name in SPLITS if is_file(base / name / _SUBSET / _CAPTIONS)}
        if found:
            return [RocoFolder(found[name], SPLITS[name]) for name in sorted(found, key=list(SPLITS).index)]
    if is_file(root / _CAPTIONS):
        named = [SPLITS[part] for part in (root.name, root.parent.name) if part in SPLITS]
        return [RocoFolder(root, named[0] if named else default_split)]
    raise InputError(
        root,
        found=f"a folder without {_CAPTIONS}",
        expected=f"the layout of ROCO: <split>/{_SUBSET}/{_CAPTIONS}, cuis.txt, licences.txt, images/",
        do="For a table of captions, name the file itself",
    )


def roco_digest(folders: list[RocoFolder]) -> str:
    """SHA-256 over the text files of the folders, by split and name."""
    digest = hashlib.sha256()
    for one in folders:
        for name in (_CAPTIONS, _CUIS, _LICENCES):
            path = one.folder / name
            if is_file(path):
                digest.update(f"{one.split}/{name} {digest_of(path)}\n".encode())
    return digest.hexdigest()


def roco_rows(folders: list[RocoFolder]) -> Iterator[Row | BadRow]:
    """Rows of ROCO: captions with the CUIs, licence and article from the files beside them.

    A line that cannot be read is a BadRow, whichever of the files it is in; so is one beside the captions that says
    something else about an image than a line before it, when neither counts. So is a caption whose licence stands in
    such a line.

    Raises: InputError if a file cannot be read, or one beside the captions is about none of their images.
    """
    for one in folders:
        bad: list[BadRow] = []
        names = [line.name for line in _readable(one, _CAPTIONS, bad)]
        cuis, licences = (_beside(one, file, names, bad) for file in (_CUIS, _LICENCES))
        yield from bad
        for line in _readable(one, _CAPTIONS, []):
            licence = licences.get(line.name) or licences.get("")
            if isinstance(licence, BadRow):
                yield _without_licence(line, licence)
                continue
            try:
                yield _roco_row(one, line, cuis.get(line.name), licence)
            except InputError as error:
                yield BadRow.of(error)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a file of ROCO: an identifier and what the file says about it."""

    where: str
    name: str
    cells: tuple[str, ...]


class _Unread(BadRow):
    """A line that says nothing for sure, and the identifier that it is about; "" if that cannot be read either."""

    def __init__(self, where: object, name: str = "", **told: str) -> None:
        self.name = name
        super().__init__(where, **told)


def _without_licence(line: _Line, unread: BadRow) -> BadRow:
    """The caption that a line of the licences may be about: taken for one that states none, it would get the licence of
    whoever builds."""
    return BadRow(
        line.where,
        reason="its licence cannot be read",
        found=f"{unread.where}: {unread.found}",
        expected="one line that can be read for each licence",
        do="Mend that line, or download the file again",
    )


def _roco_row(one: RocoFolder, line: _Line, cuis: _Line | BadRow | None, licences: _Line | None) -> Row:
    file, licence = licences.cells if licences else ("", "")
    article = ARTICLE.match(file)
    return {
        "image_id": line.name,
        "split": one.split,
        "expert_caption": " ".join(line.cells[0].split()),
        "cuis": parse_cuis(cuis.cells[0], cuis.where) if isinstance(cuis, _Line) else [],
        "licence": licence,
        "licence_asserted_by": "licences.txt of ROCO" if licence else "",
        "attribution": article_link(article[0]) if article else "",
        "article_id": article[0] if article else None,
        "image_bytes": None,
        "files": (file,) if file else (),
        "where": line.where,
    }


def _beside(one: RocoFolder, file: str, names: Sequence[str], bad: list[BadRow]) -> dict[str, _Line | BadRow]:
    """The line of each identifier in a file beside the captions, or one that cannot be read or contradicts another;
    under "", a line of which not even the identifier can be read. Lines of these two kinds are `bad`. Empty without the
    file.

    Raises: InputError for a file about none of the captions' `names`. Where it is the licences', all captions would
    otherwise be taken for ones that state none, and get the licence of whoever builds.
    """
    path = one.folder / file
    found: dict[str, _Line] = {}
    if not is_there(path):
        return {}
    own: list[BadRow] = []
    for line in _readable(one, file, own):
        if (first := found.setdefault(line.name, line)).cells != line.cells:
            again = f"{line.name} again, after {first.where}"
            own.append(_Unread(line.where, line.name, reason="an identifier twice", found=again, expected="each once"))
    if names and found.keys().isdisjoint(names):
        said = f"its lines are about {first_of(list(found), 2)}" if found else next(map(str, own), "it has no lines")
        raise InputError(
            path,
            found=f"says nothing about any image of {_CAPTIONS}: {said}",
            expected=f"the identifiers of {_CAPTIONS} first in each line: {first_of(names, 2)}",
            do=f"Write them as {_CAPTIONS} does; or, if nothing is known about these images, remove the file",
        )
    bad.extend(own)
    return found | {line.name: line for line in own if isinstance(line, _Unread)}


def _readable(one: RocoFolder, file: str, bad: list[BadRow]) -> Iterator[_Line]:
    """The lines of a file that can be read; the others are `bad`."""
    for line in _lines(one.folder / file, f"{one.split}/{file}"):
        if isinstance(line, BadRow):
            bad.append(line)
        else:
            yield line


def _lines(path: Path, place: str) -> Iterator[_Line | BadRow]:
    """Identifier and rest of each line; some releases of licences.txt have no header, and a tool may add one."""
    commas = path.name == _LICENCES
    data = read_file(path)
    if b"\n" not in data:  # as old programs of a Mac write: as one line, all but its first would be lost
        data = data.replace(b"\r", b"\n")
    for number, raw in lines_of(data):
        where = f"{place}:{number}"
        if not raw.strip(b", \t\r"):  # what a spreadsheet leaves of an empty row is about no image
            continue
        try:
            text = line_text(raw, where)
            name, *cells = (
                next(csv.reader([text], strict=True, skipinitialspace=True)) if commas else text.split("\t", 1)
            )
        except BadRow as bad:
            yield _Unread(where, reason=bad.reason, found=bad.found, expected=bad.expected, do=bad.do)
            continue
        except (csv.Error, ValueError):
            name, cells = "", []
        if plain_name(name) in IDENTIFIER:
            if number > 1:
                do = "Delete this line, which files that were joined bring along"
                yield BadRow(where, reason="the header line again", expected="a row", do=do)
            continue
        if name.strip() and len(cells) == 1 + commas:
            yield _Line(where, name.strip(), tuple(cell.strip() for cell in cells))
            continue
        yield _Unread(
            where,
            name.strip(),
            reason="no identifier and text",
            found=how_many(len(cells) + 1, "cell"),
            expected="3, with commas between them: ROCO_ID, PMC_ID, CC"
            if commas
            else "an identifier, a tab, then text",
            do="If this is the last line, the file was truncated: download it again",
        )
