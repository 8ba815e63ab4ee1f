"""The two public sources of radiology captions: ROCO as its repository lays it out, ROCOv2 from the Hub."""

from __future__ import annotations

import csv
import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import httpx2
from huggingface_hub import HfApi
from huggingface_hub.errors import HFValidationError

from builders.medlaybench_v.source_files import SPLITS, Row, article_link
from builders.tables import decode, read_bytes
from loaders.corpus import hub_error
from loaders.errors import HubError, InputError
from loaders.medlaybench_v import parse_cuis

ROCOV2 = "eltorio/ROCOv2-radiology"
ROCOV2_LICENCE = "cc-by-nc-sa-4.0"
_ROCOV2_COLUMNS = ("image", "image_id", "caption", "cui")

_SUBSET = "radiology"
_CAPTIONS = "captions.txt"
_OTHERS = ("cuis.txt", "licences.txt")
_ARTICLE = re.compile(r"PMC\d+")


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
        found = {name: base / name / _SUBSET for name in SPLITS if (base / name / _SUBSET / _CAPTIONS).is_file()}
        if found:
            return [RocoFolder(found[name], SPLITS[name]) for name in sorted(found, key=list(SPLITS).index)]
    if (root / _CAPTIONS).is_file():
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
        for name in (_CAPTIONS, *_OTHERS):
            path = one.folder / name
            if path.is_file():
                digest.update(f"{one.split}/{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()


def roco_rows(folders: list[RocoFolder]) -> Iterator[Row]:
    """Rows of ROCO: captions with the CUIs, licence and article that stand in the files beside them.

    Raises:
        InputError: a file is missing, empty, not UTF-8, or has a line of another form.
    """
    for one in folders:
        cuis = dict(_lines(one.folder / "cuis.txt")) if (one.folder / "cuis.txt").is_file() else {}
        licences = _licences(one.folder / "licences.txt") if (one.folder / "licences.txt").is_file() else {}
        place = f"{one.split}/{_CAPTIONS}"
        for number, (name, caption) in enumerate(_lines(one.folder / _CAPTIONS), start=1):
            file, licence = licences.get(name, ("", ""))
            article = _ARTICLE.match(file)
            yield {
                "image_id": name,
                "split": one.split,
                "expert_caption": " ".join(caption.split()),
                "cuis": parse_cuis(cuis.get(name), f"{one.split}/cuis.txt, {name}"),
                "licence": licence,
                "licence_asserted_by": "licences.txt of ROCO" if licence else "",
                "attribution": article_link(article[0]) if article else "",
                "article_id": article[0] if article else None,
                "image_bytes": None,
                "files": (file,) if file else (),
                "where": f"{place}:{number}",
            }


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    """Identifier and rest of each line; tabs stand between them, and between the CUIs of the rest."""
    text = decode(read_bytes(path), path)
    for number, line in enumerate(text.splitlines(), start=1):
        name, tab, rest = line.partition("\t")
        if not tab or not name.strip():
            raise InputError(
                f"{path}:{number}",
                found=f"{line[:60]!r}",
                expected="an identifier, a tab, then text",
                do="Fetch the file again if this is its last line: it was cut off",
            )
        yield name.strip(), rest


def _licences(path: Path) -> dict[str, tuple[str, str]]:
    """Source file and licence of each image. The first line names the columns; some releases leave it out."""
    found: dict[str, tuple[str, str]] = {}
    for number, cells in enumerate(csv.reader(decode(read_bytes(path), path).splitlines()), start=1):
        if number == 1 and cells[:1] == ["ROCO_ID"]:
            continue
        if len(cells) != 3:
            raise InputError(
                f"{path}:{number}",
                found=f"{len(cells)} cells",
                expected="3: ROCO_ID, PMC_ID, CC",
                do="Fetch the file again",
            )
        found[cells[0]] = (cells[1], cells[2])
    return found


# --- ROCOv2 -----------------------------------------------------------------------------------------------------------


def rocov2_commit(revision: str | None) -> str:
    """The commit of ROCOv2 that will be read.

    Raises:
        HubError: the Hub cannot be reached or does not hold it.
    """
    at = f"{ROCOV2}@{revision or 'main'}"
    try:
        return str(HfApi().dataset_info(ROCOV2, revision=revision).sha)
    except (OSError, httpx2.HTTPError, HFValidationError) as error:
        raise _unreachable(error, at) from error


def rocov2_rows(commit: str) -> Iterator[Row]:
    """Rows of ROCOv2, streamed: nothing is downloaded before it is needed, and no image is decoded.

    Raises:
        HubError: the Hub cannot be reached.
        InputError: the columns are not those of ROCOv2.
    """
    at = f"{ROCOV2}@{commit[:12]}"
    try:
        splits = datasets.load_dataset(ROCOV2, revision=commit, streaming=True)
        for split in sorted(splits, key=lambda name: list(SPLITS).index(name) if name in SPLITS else len(SPLITS)):
            stream = splits[split].cast_column("image", datasets.Image(decode=False))
            for number, row in enumerate(stream, start=1):
                yield _rocov2_row(row, SPLITS.get(split, split), f"{at}, {split} row {number}")
    except (OSError, httpx2.HTTPError, datasets.exceptions.DatasetsError) as error:
        raise _unreachable(error, at) from error


def _rocov2_row(row: dict[str, Any], split: str, where: str) -> Row:
    missing = [name for name in _ROCOV2_COLUMNS if name not in row]
    if missing:
        raise InputError(
            where, found=f"no column {', '.join(missing)}", expected="columns " + ", ".join(_ROCOV2_COLUMNS)
        )
    caption = row["caption"] or ""
    return {
        "image_id": row["image_id"],
        "split": split,
        "expert_caption": " ".join(caption.split()),
        "cuis": parse_cuis(row["cui"], where),
        "licence": ROCOV2_LICENCE,
        "licence_asserted_by": f"card of {ROCOV2}",
        "attribution": f"ROCOv2 (Rückert et al. 2024), {row['image_id']}",
        "article_id": None,
        "image_bytes": (row["image"] or {}).get("bytes"),
        "files": (),
        "where": where,
    }


def _unreachable(error: Exception, at: str) -> HubError:
    found = hub_error(error, at)
    do = found.do or "Connect to the internet"
    return HubError(
        found.where, found=found.found, expected=found.expected, do=f"{do}, or build from a local file of captions"
    )
