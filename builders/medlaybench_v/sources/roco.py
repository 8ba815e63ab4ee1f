"""The two public sources of radiology captions: ROCO in the layout of its repository, ROCOv2 from the Hub."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import pyarrow as pa
from huggingface_hub import HfApi

from builders.medlaybench_v.sources.files import ARTICLE, NO_IDENTIFIER, OTHER_TYPE, Row, article_link, text_cell
from loaders.corpus import HTTP_ERROR, HUB_ERRORS, hub_error
from loaders.errors import HubError, InputError
from loaders.files.untrusted import BadRow, digest_of, is_file, is_there, line_text, lines_of, read_file, unusual
from loaders.medlaybench_v import SPLITS, parse_cuis

ROCOV2 = "eltorio/ROCOv2-radiology"
ROCOV2_LICENCE = "cc-by-nc-sa-4.0"
_ROCOV2_COLUMNS = ("image", "image_id", "caption", "cui")

_SUBSET = "radiology"
_CAPTIONS = "captions.txt"
_CUIS, _LICENCES = "cuis.txt", "licences.txt"


# --- ROCO -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RocoFolder:
    """One `<split>/radiology` folder of ROCO."""

    folder: Path
    split: str


def roco_folders(root: Path, default_split: str) -> list[RocoFolder]:
    """The folders with ROCO captions at or below `root`: `[data/]<split>/radiology/captions.txt`.

    Raises:
        InputError: there is none.
    """
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
    something else about an image than a line before it.

    Raises:
        InputError: a file cannot be read.
    """
    for one in folders:
        bad: list[BadRow] = []
        cuis, licences = (_beside(one, file, bad) for file in (_CUIS, _LICENCES))
        place = f"{one.split}/{_CAPTIONS}"
        yield from (line for line in _lines(one.folder / _CAPTIONS, place) if isinstance(line, BadRow))
        yield from bad
        for line in _lines(one.folder / _CAPTIONS, place):
            if isinstance(line, BadRow):
                continue
            try:
                yield _roco_row(one, line, cuis.get(line.name), licences.get(line.name))
            except InputError as error:
                yield BadRow.of(error)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a file of ROCO: an identifier and what the file says about it."""

    where: str
    name: str
    cells: tuple[str, ...]


def _roco_row(one: RocoFolder, line: _Line, cuis: _Line | None, licences: _Line | None) -> Row:
    file, licence = licences.cells if licences else ("", "")
    article = ARTICLE.match(file)
    return {
        "image_id": line.name,
        "split": one.split,
        "expert_caption": " ".join(line.cells[0].split()),
        "cuis": parse_cuis(cuis.cells[0], cuis.where) if cuis else [],
        "licence": licence,
        "licence_asserted_by": "licences.txt of ROCO" if licence else "",
        "attribution": article_link(article[0]) if article else "",
        "article_id": article[0] if article else None,
        "image_bytes": None,
        "files": (file,) if file else (),
        "where": line.where,
    }


def _beside(one: RocoFolder, file: str, bad: list[BadRow]) -> dict[str, _Line]:
    """The first line of each identifier in a file beside the captions; those that contradict it, or cannot be read, are
    `bad`. Empty without the file."""
    path = one.folder / file
    found: dict[str, _Line] = {}
    for line in _lines(path, f"{one.split}/{file}") if is_there(path) else ():
        if isinstance(line, BadRow):
            bad.append(line)
        elif (first := found.setdefault(line.name, line)).cells != line.cells:
            again = f"{line.name} again, after {first.where}"
            bad.append(BadRow(line.where, reason="an identifier twice", found=again, expected="each once"))
    return found


def _lines(path: Path, place: str) -> Iterator[_Line | BadRow]:
    """Identifier and rest of each line; some releases of licences.txt have no header."""
    commas = path.name == _LICENCES
    for number, raw in lines_of(read_file(path)):
        where = f"{place}:{number}"
        try:
            text = line_text(raw, where)
            name, *cells = next(csv.reader([text], strict=True)) if commas else text.split("\t", 1)
        except BadRow as bad:
            yield bad
            continue
        except (csv.Error, ValueError):
            name, cells = "", []
        if number == 1 and commas and name == "ROCO_ID":
            continue
        if name.strip() and len(cells) == 1 + commas:
            yield _Line(where, name.strip(), tuple(cells))
            continue
        yield BadRow(
            where,
            reason="no identifier and text",
            found=f"{len(cells) + 1} cells",
            expected="3: ROCO_ID, PMC_ID, CC" if commas else "an identifier, a tab, then text",
            do="If this is the last line, the file was truncated: download it again",
        )


# --- ROCOv2 -----------------------------------------------------------------------------------------------------------


def rocov2_commit() -> str:
    """The commit of ROCOv2 that will be read.

    Raises:
        HubError: the Hub cannot be reached or does not hold it.
    """
    try:
        return str(HfApi().dataset_info(ROCOV2).sha)
    except HUB_ERRORS as error:
        raise _unreachable(error, f"{ROCOV2}@main") from error


def rocov2_rows(commit: str) -> Iterator[Row | BadRow]:
    """Rows of ROCOv2, streamed: nothing is downloaded before it is needed, and no image is decoded.

    Raises:
        HubError: the Hub cannot be reached.
        InputError: the columns are not those of ROCOv2, or its files cannot be read.
    """
    at = f"{ROCOV2}@{commit[:12]}"
    try:
        splits = datasets.load_dataset(ROCOV2, revision=commit, streaming=True)
        for split in sorted(splits, key=lambda name: list(SPLITS).index(name) if name in SPLITS else len(SPLITS)):
            stream = splits[split].cast_column("image", datasets.Image(decode=False))
            for number, row in enumerate(stream, start=1):
                yield _rocov2_row(row, SPLITS.get(split, split), f"{at}, {split} row {number}")
    except (OSError, HTTP_ERROR, datasets.exceptions.DatasetsError) as error:
        raise _unreachable(error, at) from error
    except (pa.ArrowException, ValueError, TypeError, LookupError) as error:
        found = f"cannot be read ({type(error).__name__})"
        raise InputError(at, found=found, expected="columns " + ", ".join(_ROCOV2_COLUMNS)) from error


def _rocov2_row(row: dict[str, Any], split: str, where: str) -> Row | BadRow:
    missing = [name for name in _ROCOV2_COLUMNS if name not in row]
    if missing:
        raise InputError(
            where, found=f"no column {', '.join(missing)}", expected="columns " + ", ".join(_ROCOV2_COLUMNS)
        )
    try:
        if wrong := unusual(row):
            raise BadRow(where, reason=OTHER_TYPE, found=wrong, expected="text in UTF-8")
        name = text_cell(row["image_id"], where, "image_id")
        if not name:
            raise BadRow(where, reason=NO_IDENTIFIER, expected="an image_id in every row")
        return {
            "image_id": name,
            "split": split,
            "expert_caption": text_cell(row["caption"], where, "caption"),
            "cuis": parse_cuis(row["cui"], where),
            "licence": ROCOV2_LICENCE,
            "licence_asserted_by": f"card of {ROCOV2}",
            "attribution": f"ROCOv2 (Rückert et al. 2024), {name}",
            "article_id": None,
            "image_bytes": (row["image"] or {}).get("bytes"),
            "files": (),
            "where": where,
        }
    except InputError as error:
        return BadRow.of(error)


def _unreachable(error: Exception, at: str) -> HubError:
    found = hub_error(error, at)
    do = found.do or "Connect to the internet"
    return HubError(
        found.where, found=found.found, expected=found.expected, do=f"{do}, or build from a local file of captions"
    )
