"""Captions from one file: CSV, TSV, Parquet, JSON or JSON lines, with the column names that others use.

`Columns` finds what a file offers; `caption_rows` yields rows of the builder's own shape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from builders.pipeline.keys import Keys
from loaders.errors import InputError
from loaders.files.bad_rows import BadRow
from loaders.files.cells import cell_text, licence_text
from loaders.files.tables import Records, no_column, own_names, plain_name
from loaders.medlaybench_v import LAY_COLUMN, SPLITS, parse_cuis

Row = dict[str, Any]
OTHER_TYPE, NO_IDENTIFIER = "a cell of another type", "no identifier"

_IMAGE_SUFFIX = re.compile(r"\.(?:jpe?g|png|gif|bmp|tiff?|webp)\Z", re.IGNORECASE)
ARTICLE = re.compile(r"PMC\d+")
"""An article in PubMed Central."""
_SPLIT_IN_ID = re.compile(r"ROCOv2_\d{4}_(train|valid|validation|test)_")

IDENTIFIER = ("image_id", "id", "roco_id", "name", "file", "filename", "file_name", "figure_id")
"""The names of a column of identifiers."""
_CAPTION = ("expert_caption", "caption", "expert", "text")
_CUIS = ("cuis", "cui", "concepts")
_LICENCE = ("licence", "license", "cc")
_ASSERTED = ("licence_asserted_by", "license_asserted_by")
_ARTICLE_COLUMN = ("article_id", "pmc_file", "pmcid", "pmc_id", "pmc", "article")
_NAMES = {*IDENTIFIER, *_ARTICLE_COLUMN}
_ATTRIBUTION = ("attribution", "credit", "citation")
_LINKS = ("url", "source_url", "doi")
_SPLIT = ("split", "subset")
_FILES = ("image_path", "image_file", "file", "filename", "file_name", "image", "pmc_file", "source_filename")

SOURCE_COLUMNS = (
    (IDENTIFIER, "needed: the row's identifier, or the file name of its image"),
    (_CAPTION, "needed: the expert caption"),
    (_SPLIT, f"{', '.join(SPLITS)}; without it, the split in a ROCOv2 image name, else `--split`"),
    (_LICENCE, "the caption's licence (CC BY 4.0, CC-BY-NC, an address …); a row without one needs `--licence`"),
    (_ASSERTED, "who asserts the licence; without it, this table"),
    (_ATTRIBUTION, "whom to credit; without it, the links and the article"),
    (_LINKS, "URLs for the attribution, all of them"),
    (_ARTICLE_COLUMN, "the figure's article, such as PMC1234567: rows of one article are resampled together"),
    (_CUIS, "UMLS identifiers, separated by blanks, commas or semicolons, or a list"),
    (
        _FILES,
        "file names that `--images` matches with the row, all of them; in Parquet, `image` may hold bytes or a path",
    ),
)
"""What a table may hold: the accepted names of each column, of which the first present counts, and its meaning."""


class Columns:
    """Which of a file's columns holds what. Raises: InputError, which lists what there is, if there is no caption or
    no identifier, or one of them twice."""

    def __init__(self, records: Records) -> None:
        self._own = own_names(records, [*(names for names, _ in SOURCE_COLUMNS), LAY_COLUMN])
        identifier, caption = self._first(IDENTIFIER), self._first(_CAPTION)
        if identifier is None or caption is None:
            needed = ((IDENTIFIER, identifier), (_CAPTION, caption))
            lacking = [names for names, found in needed if found is None]
            raise no_column(records.path, lacking, records.columns)
        self.identifier, self.caption = identifier, caption
        self.cuis = self._first(_CUIS)
        self.licence = self._first(_LICENCE)
        self.asserted = self._first(_ASSERTED)
        self.article = self._first(_ARTICLE_COLUMN)
        self.attribution = self._first(_ATTRIBUTION)
        self.split = self._first(_SPLIT)
        self.links = [self._own[name] for name in _LINKS if name in self._own]
        self.files = [self._own[name] for name in _FILES if name in self._own]
        self.image = self._first(("image",))
        self.lay = self._first(LAY_COLUMN)

    def _first(self, names: Sequence[str]) -> str | None:
        return next((self._own[name] for name in names if name in self._own), None)


def caption_rows(records: Records, default_split: str, name: str) -> Iterator[Row | BadRow]:
    """Rows of the builder's shape, captions stripped and their white space collapsed (ML-G31), CUIs as a list.
    `name` is that of the source, for who asserts a licence.

    `files` are the names by which an image folder may know the row; `image_bytes` is what the file itself holds. A row
    without an identifier, with a cell of another type, a bad CUI or an unknown split is a BadRow.
    """
    columns = Columns(records)
    stems: bool | None = None  # asked where the first name has an extension: most tables are read once
    for placed in records.each(None):
        if isinstance(placed, BadRow):
            yield placed
            continue
        if stems is None and _IMAGE_SUFFIX.search(_name(placed[1], columns)):
            stems = _unique_stems(records, columns)
        try:
            yield _row(*placed, columns, bool(stems), default_split, name)
        except InputError as error:
            yield BadRow.of(error)


def _row(where: str, record: Mapping[str, Any], columns: Columns, stems: bool, default_split: str, source: str) -> Row:
    name = _text(record, columns.identifier, where)
    if not name:
        raise BadRow(where, reason=NO_IDENTIFIER, expected=f"the column {columns.identifier} filled in every row")
    article = _article(_text(record, columns.article, where))
    image = record.get(columns.image) if columns.image else None
    # In the struct that `datasets` writes, or bare; a text, or a path in the struct, names a file.
    data = image.get("bytes") if isinstance(image, dict) else image if isinstance(image, bytes) else None
    cells = (record.get(column) for column in columns.files)
    files = (cell.get("path") if isinstance(cell, dict) else cell for cell in cells)
    stated = record.get(columns.licence) if columns.licence else None
    licence = _text(record, columns.licence, where) or (licence_text(stated) if isinstance(stated, str) else "")
    asserted = _text(record, columns.asserted, where) or f"column {columns.licence!r} of {source}"
    if not isinstance(data, bytes | None):
        raise BadRow(where, reason=OTHER_TYPE, found=f"an image of type {type(data).__name__}", expected="bytes")
    return {
        "image_id": (_IMAGE_SUFFIX.sub("", name) or name) if stems else name,
        "split": _split(_text(record, columns.split, where), name, default_split, where),
        "expert_caption": _text(record, columns.caption, where),
        "cuis": parse_cuis(record.get(columns.cuis) if columns.cuis else None, where),
        "licence": licence,
        "licence_asserted_by": asserted if licence else "",  # nobody asserts a licence that is not there
        "attribution": _attribution(record, columns, article, where),
        "article_id": article,
        "image_bytes": data,
        "files": tuple(file for file in files if isinstance(file, str) and file),
        "where": where,
    }


def _unique_stems(records: Records, columns: Columns) -> bool:
    """Whether file names in the identifier column remain unique without their extensions."""
    names, stems = Keys(), Keys()
    for placed in records.each(columns.identifier):
        if not isinstance(placed, BadRow):
            name = _name(placed[1], columns)
            names.add(name)
            stems.add(_IMAGE_SUFFIX.sub("", name))
    return stems.distinct() == names.distinct()


def _name(record: Mapping[str, Any], columns: Columns) -> str:
    return " ".join(str(record.get(columns.identifier)).split())


def _text(record: Mapping[str, Any], column: str | None, where: str) -> str:
    return text_cell(record.get(column), where, column) if column else ""


def text_cell(value: object, where: str, column: str) -> str:
    """The text of a cell (`cell_text`), white space collapsed, "" for null and NaN; an identifier may be an integer.

    Raises: BadRow for a cell of another type.
    """
    if isinstance(value, str):
        return " ".join(cell_text(value).split())
    if value is None or value != value:  # NaN: what pandas writes for an empty cell in a column of numbers
        return ""
    names = plain_name(column) in _NAMES
    if isinstance(value, int) and not isinstance(value, bool) and names:
        return str(value)
    expected = "a text or a whole number" if names else "a text"
    if isinstance(value, float) and names:
        expected += f'; from pandas: table["{column}"] = table["{column}"].astype("Int64")'
    raise BadRow(where, reason=OTHER_TYPE, found=f"{column} of type {type(value).__name__}", expected=expected)


def _split(value: str, name: str, default: str, where: str) -> str:
    if value:
        if value.casefold() not in SPLITS:
            expected = "train, validation or test"
            raise BadRow(where, reason="no such split", found=f"split {value!r}", expected=expected)
        return SPLITS[value.casefold()]
    in_name = _SPLIT_IN_ID.match(name)
    return SPLITS[in_name[1]] if in_name else default


def _article(text: str) -> str | None:
    found = ARTICLE.search(text)
    return found[0] if found else (text or None)


def _attribution(record: Mapping[str, Any], columns: Columns, article: str | None, where: str) -> str:
    """Whom to credit for a row: what the source itself says, else its links, else its article."""
    said = _text(record, columns.attribution, where)
    if said:
        return said
    links = [_text(record, column, where) for column in columns.links]
    links = [f"https://doi.org/{link}" if link.startswith("10.") else link for link in links if link]
    if article and ARTICLE.fullmatch(article):
        links.append(article_link(article))
    return "; ".join(dict.fromkeys(links))


def article_link(article: str) -> str:
    """The address of an article in PubMed Central."""
    return f"https://pmc.ncbi.nlm.nih.gov/articles/{article}/"
