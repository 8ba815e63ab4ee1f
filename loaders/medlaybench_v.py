"""MedLayBench-V: a radiology image with its expert caption and its lay caption, linked concept by concept.

    load("medlaybench-v", "test")["layman_caption"]

One schema covers releases built here and the authors' own release, which has fewer columns and other conventions:
`cuis` as a string that holds a Python list, "nan" for none, and no identifier (specification S1, ML-G2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loaders.corpus import Corpus
from loaders.errors import InputError, first_of
from loaders.files.bad_rows import BadRow
from loaders.files.cells import cell_text
from loaders.files.tables import no_column, own_names, read_records
from loaders.imaging import Method, method_of
from loaders.pages import Entry, Field, marked, thumbnail
from loaders.schema import Schema

KEY = "image_id"

# Spans are character offsets into expert_caption; a concept of the row that is not in the text starts at -1.
# `phrase_licences` are those of the concepts' lay phrases, one per concept, null if it has none.
SCHEMA: Schema = {
    "image": "image",
    "image_id": "string",
    "split": "string",
    "modality": "string",
    "modality_source": "string",
    "cuis": ["string"],
    "expert_caption": "string",
    "layman_caption": "string",
    "concepts": [
        {"surface": "string", "start": "int32", "end": "int32", "cui": "string", "lay": "string", "source": "string"}
    ],
    "phrase_licences": ["string"],
    "protected": [{"kind": "string", "text": "string", "start": "int32", "end": "int32"}],
    "draft": "string",
    "gates": [{"gate": "string", "passed": "bool", "reason": "string"}],
    "reads_well": {
        "score": "float32",
        "repeats": "int32",
        "hyphens": "int32",
        "stacks": "int32",
        "unexplained": ["string"],
    },
    "status": "string",
    "status_reason": "string",
    "refiner": "string",
    "article_id": "string",
    "licence": "string",
    "caption_licence": "string",
    "licence_asserted_by": "string",
    "attribution": "string",
}


@dataclass(frozen=True, slots=True)
class Modality:
    """An imaging modality of Table A1: code, name, the word that a caption says it with, and its UMLS concepts."""

    code: str
    name: str
    says: str
    cuis: tuple[str, ...]


MODALITIES = (
    Modality("DRCT", "computed tomography", "CT", ("C0040405",)),
    Modality("DRXR", "plain X-ray", "X-ray", ("C1306645",)),
    Modality("DRMR", "magnetic resonance imaging", "MRI", ("C0024485",)),
    Modality("DRUS", "ultrasound", "ultrasound", ("C0041618",)),
    Modality("DRAN", "angiography", "angiography", ("C0002978",)),
    Modality("DRCO", "combined or unstated modalities", "", ()),
    Modality("DRPE", "positron emission tomography", "PET", ("C0032743",)),
)
MODALITY_NAMES = {modality.code: modality.name for modality in MODALITIES}
"""The name of each code, for pages that people read."""

_METHODS = {
    **{name.casefold(): one.code for one in MODALITIES for name in (one.code, one.name, one.says) if name},
    **{"mr": "DRMR", "us": "DRUS", "cr": "DRXR", "dx": "DRXR", "xr": "DRXR", "xa": "DRAN", "pt": "DRPE"},
}
"""What a table calls an imaging method, DICOM's codes among it -> its code."""
_OFFICIAL = "hanjang/MedLayBench-V"
# How ROCOv2 abbreviates its splits in identifiers.
_SHORT = {"validation": "valid"}
CUI = re.compile(r"C[0-9]{7}")
"""A concept identifier of UMLS."""
_BETWEEN_CUIS = re.compile(r"[;,|\s'\"\[\]()]+")


def parse_cuis(value: object, where: object = "cuis") -> list[str]:
    """Unique CUIs in their order, from any notation that a release uses for a list of them: also that of an array,
    which pandas writes to a CSV.

    >>> parse_cuis("['C0040405', 'C0817096']"), parse_cuis("['nan']"), parse_cuis("['C0040405' 'C0817096']")
    (['C0040405', 'C0817096'], [], ['C0040405', 'C0817096'])

    Raises: InputError if something in it is not a CUI.
    """
    if isinstance(value, str):
        text = value.strip()
        if text.startswith(("[", "(")) and not text.endswith(("]", ")")):
            raise InputError(where, found=f"cuis {text[:60]!r}", expected="a list such as ['C0040405']")
        value = _BETWEEN_CUIS.split(text)
    if value is None or (isinstance(value, float) and value != value):
        return []
    if not isinstance(value, Sequence) and not hasattr(value, "tolist"):
        raise InputError(where, found=f"cuis of type {type(value).__name__}", expected="a list of CUIs or a string")
    items = value if isinstance(value, Sequence) else value.tolist()
    found: dict[str, None] = {}
    for item in items:
        text = "" if item is None else cell_text(str(item))
        if text in ("", "[]"):
            continue
        if not CUI.fullmatch(text):
            raise InputError(where, found=f"{text[:40]!r} among its CUIs", expected="C and seven digits")
        found[text] = None
    return list(found)


def from_official(row: Mapping[str, Any], split: str, position: int) -> dict[str, Any]:
    """Convert a row of the authors' release to this schema; `position` counts from 0 within the split.

    The release has no identifiers: its preview names records by split and position, from 000001. Columns that only a
    build can fill are empty; the licence is that of the release's card.

    Raises: InputError if a caption or the CUIs are missing or of the wrong type.
    """
    where = f"{_OFFICIAL}: row {position + 1} of {split}"
    captions: dict[str, Any] = {column: row.get(column) for column in ("expert_caption", "layman_caption")}
    for column, text in captions.items():
        if not isinstance(text, str) or not text.strip():
            raise InputError(where, found=f"{column} {text!r}", expected="a text")
    cuis = parse_cuis(row.get("cuis"), where)
    return {
        **_unbuilt(captions, cuis),
        "image": row.get("image"),
        "image_id": row.get("image_id") or f"ROCOv2_2023_{_SHORT.get(split, split)}_{position + 1:06d}",
        "split": split,
        "licence": "CC-BY-NC-SA-4.0",
        "licence_asserted_by": f"card of {_OFFICIAL}",
        "attribution": f"{_OFFICIAL}, after ROCOv2 (Rückert et al. 2024)",
    }


def _unbuilt(captions: Mapping[str, Any], cuis: list[str], stated: str = "") -> dict[str, Any]:
    """A pair that no build of ours made: what only a build knows is empty. `stated` is a code that its source gives."""
    method = Method(stated, "table") if stated else method_of(cuis, captions["expert_caption"])
    lists: dict[str, Any] = {name: [] for name in ("concepts", "protected", "gates")}
    return {
        **dict.fromkeys(SCHEMA),
        **lists,
        **captions,
        "cuis": cuis,
        "modality": method.code,
        "modality_source": method.source,
    }


# --- A table of pairs -------------------------------------------------------------------------------------------------

SPLITS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "dev"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
}
"""What a table calls a split -> the split's name."""
LAY_COLUMN = ("layman_caption", "layman", "lay", "lay_caption", "simplified", "target")
PAIR_COLUMNS = (
    (("expert_caption", "expert", "caption", "source", "original"), "needed: the expert caption"),
    (LAY_COLUMN, "needed: the lay caption, from any system"),
    (("image_id", "id", "name", "file"), "the row's identifier; without it, the row's position"),
    (("cuis", "cui"), "UMLS identifiers, as in a table to build from"),
    (("split", "subset"), f"{', '.join(SPLITS)}; without it, test"),
    (("article_id", "pmcid", "pmc_id", "pmc", "article"), "rows of one article are resampled together"),
    (
        ("modality",),
        "the imaging method: `DRCT`, `CT`, DICOM's letters; without it, that of CUIs or caption",
    ),
)
"""What a table of pairs may hold: the accepted names of each column, of which the first counts, and its meaning."""


def pairs_of(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of any table of caption pairs (CSV, TSV, JSON, JSON Lines, Parquet) in this schema.

    Images are read only from a Parquet file with their bytes in `image`.

    Raises: InputError if the file cannot be read or lacks a column, a row has no caption or an unknown split, or two
    rows have one identifier.
    """
    records = read_records(path)
    own = own_names(records, (names for names, _ in PAIR_COLUMNS))
    columns = [next((own[name] for name in names if name in own), None) for names, _ in PAIR_COLUMNS]
    if lacking := [names for (names, _), column in zip(PAIR_COLUMNS[:2], columns, strict=False) if column is None]:
        raise no_column(path, lacking, records.columns)
    empty: list[tuple[str, str]] = []  # where, and what was found
    first: dict[str, str] = {}  # where each identifier is
    for placed in records.each(None):
        if isinstance(placed, BadRow):
            raise placed.inside(path)
        where = str(path.parent / placed[0])
        if found := _missing(placed[1], columns[:2]):
            empty.append((placed[0], found))
            continue
        try:
            pair = _pair(*placed, columns)  # of a row without an identifier, its place is one: without the folder
        except InputError as error:
            raise BadRow.of(error).inside(path) from None
        if (before := first.setdefault(pair["image_id"], placed[0])) != placed[0]:
            # It would count twice, and which of the two a comparison or a sheet means would be anybody's guess.
            do = "Delete one of the two rows, or give each pair its own; a table without identifiers will do as well"
            found = f"{columns[2]} {pair['image_id']!r}, as in {before}"
            raise InputError(where, found=found, expected="each id once", do=do)
        yield pair
    if empty:
        (where, found), *others = empty
        if others:
            found += f"; {len(empty):,} rows in all, also {first_of([place for place, _ in others], 9)}"
        raise InputError(
            path.parent / where, found=found, expected="two captions", do="Fill them in, or delete the rows"
        )


def _missing(record: Mapping[str, Any], columns: Sequence[str | None]) -> str:
    """The first of these columns that holds no caption, with what it holds; "" if there is none."""
    values = ((column, record.get(column) if column else None) for column in columns)
    empty = (column for column, value in values if not isinstance(value, str) or not cell_text(value))
    return next((f"{column} {record.get(column or '')!r}" for column in empty), "")


def _pair(where: str, record: Mapping[str, Any], columns: Sequence[str | None]) -> dict[str, Any]:
    values = (record.get(column) if column else None for column in columns)
    expert, layman, identifier, cuis, split, article, modality = values
    captions = {"expert_caption": expert, "layman_caption": layman}
    named = cell_text(str(split or "")).casefold() or "test"
    if named not in SPLITS:
        raise InputError(where, found=f"split {split!r}", expected="train, validation or test")
    method = cell_text("" if modality is None else str(modality))
    if method and method.casefold() not in _METHODS:
        expected = f"{', '.join(MODALITY_NAMES)}, a name such as CT, or nothing"
        do = "Correct it, or give the column another name: then the CUIs or the caption tell the method"
        raise InputError(where, found=f"modality {method[:40]!r}", expected=expected, do=do)
    image = record.get("image")
    image = {"bytes": image, "path": None} if isinstance(image, bytes) else image
    name, paper = (cell_text("" if value is None else str(value)) for value in (identifier, article))
    return {
        **_unbuilt(captions, parse_cuis(cuis, where), _METHODS.get(method.casefold(), "")),
        "image": image if isinstance(image, dict) and isinstance(image.get("bytes"), bytes) else None,
        "image_id": name or where,
        "split": SPLITS[named],
        "article_id": paper or None,
    }


def entry(row: Mapping[str, Any]) -> Entry:
    """A pair as pages show it: image, both captions, the concepts that link them, and any failed gates."""
    expert, concepts = marked(row["expert_caption"], row["concepts"] or [])
    failed = [f"{gate['gate']}: {gate['reason']}" for gate in row["gates"] or [] if not gate["passed"]]
    fields = [Field("Expert caption", expert, "expert"), Field("Lay caption", row["layman_caption"], "lay")]
    fields += [Field("Concepts", concepts, "inline")] if concepts else []
    fields += [Field("Failed gates", failed, "failed")] if failed else []
    made = row["refiner"] or "no refiner"
    licence = row["licence"] or "licence unknown"
    method = MODALITY_NAMES.get(row["modality"], row["modality"])
    small = (row["image_id"], row["split"], method, made, licence, row["attribution"])
    image = row["image"] and row["image"]["bytes"]
    return Entry(
        fields,
        thumbnail(image) if image else None,
        alt=row["layman_caption"],
        status=row["status"] or "no status",
        small=[text for text in small if text],
    )


CORPUS = Corpus(
    name="medlaybench-v",
    features=SCHEMA,
    key=KEY,
    from_official=from_official,
    official_repo=_OFFICIAL,
    official_rows={"train": 59_962, "validation": 9_904, "test": 9_927},
    official_columns=("image", "cuis", "expert_caption", "layman_caption"),
    from_table=pairs_of,
    recipe="builders.medlaybench_v.recipe",
)
