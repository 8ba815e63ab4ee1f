"""A table of photos that somebody made, each a file or an address with a label: web searches and own collections."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from html import unescape
from pathlib import Path, PureWindowsPath

from builders.curation.folders import FILES, GROUPS, LABELS, THEIR_FILES, whose
from builders.threemdbench.labels import LabelMap
from builders.threemdbench.request import is_web_address
from builders.threemdbench.sources.photo import Facts, Photo, PhotoSource, opaque_id
from builders.threemdbench.sources.records import read_records
from builders.threemdbench.sources.traits import AGE_GROUPS, Traits, scale_of, traits
from loaders.errors import InputError
from loaders.files.bad_rows import BadRow
from loaders.files.image_files import UNENDING, ImageFile, ImageIndex
from loaders.files.paths import is_inside, is_there

_ADDRESSES = ("url", "image_url", "content_url", "contenturl")
# The author before the credit line, which Wikimedia Commons fills with "Own work".
_ATTRIBUTION = ("attribution", "artist", "author", "creator", "credit", "page", "host_page_url")
_COLUMNS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "label": ((*LABELS, "query"), "needed: the label, a diagnosis name or one that `--labels` maps to it"),
    "file": ((*FILES, *THEIR_FILES), "needed unless there is a URL: the photo's file, inside the table's folder"),
    "url": (_ADDRESSES, "needed unless there is a file: the photo's URL"),
    "group": (
        GROUPS,
        "patient, lesion or case: each group stays in one split; where the cell is empty, the next counts",
    ),
    "licence": (
        ("licence", "license", "copyright_license", "license_short_name", "licenseshortname"),
        "the photo's licence; a photo without one needs `--licence NAME=LICENCE`",
    ),
    "asserted": (("licence_asserted_by",), "who asserts the licence; without it, this table"),
    "attribution": (
        _ATTRIBUTION,
        "whom to credit; without it, the photo's URL, if it is one of the web without a password",
    ),
    "md5": (("md5", "md5hash"), "expected MD5 of the downloaded file"),
    "skin": (
        ("skin_type", "fitzpatrick_skin_type", "fitzpatrick", "fitspatrick"),
        "skin type: 3, III or type III (Fitzpatrick), Monk 7 or MST 7; anything else says nothing",
    ),
    "skin_by": (("skin_type_asserted_by",), "who determined the skin type"),
    "age": (("age_group", "age", "age_approx"), "age in years (also 90+), or age group"),
    "sex": (("sex", "gender"), "sex"),
}
SOURCE_COLUMNS = tuple(_COLUMNS.values())
"""What a table may hold: the accepted names of each column, of which the first present counts, and its meaning."""
_TAG = re.compile(
    r"<(\w+)\s[^<>]*display:\s?none[^<>]*>[^<]*</\1>|(?P<apart></?(?:br|p|div|li|t[dhr])\b[^<>]*>)|</?[a-z][^<>]*>",
    re.IGNORECASE,
)
_MD5 = re.compile(r"[0-9a-f]{32}\Z")


def open_table(path: Path, facts: Facts, labels: LabelMap) -> PhotoSource:
    """The photos of a table (CSV, TSV, Parquet, JSON, JSON lines or YAML) with a column of labels, and one of files
    (below the table's folder) or addresses. SOURCE_COLUMNS lists the other columns that it may have.

    Raises: InputError if the table cannot be read, or has no column for labels, or none for photos.
    """
    table, records = read_records(path, [names for names, _ in SOURCE_COLUMNS])
    own = {what: table.column(*names, needed=what == "label") for what, (names, _) in _COLUMNS.items()}
    file, address, licence = table.column(*FILES), own["url"], own["licence"]
    if address is None:
        file = own["file"]
    if file is None and address is None:
        raise InputError(
            path,
            found=f"columns {', '.join(table.columns)}",
            expected=f"a column of files ({', '.join(FILES)}) or addresses ({', '.join(_ADDRESSES)})",
        )
    attributions = [table.column(name) for name in _ATTRIBUTION]  # a photo without an author may have a credit line
    images = ImageIndex(path.parent) if file else None
    skin, age, sex = own["skin"], own["age"], own["sex"]
    grouping = [column for name in GROUPS if (column := table.column(name))]
    groups = whose([[record[column] for column in grouping] for record in records])
    own_word = f"column {skin} of the source {facts.name}"  # not of its file, which may be named after a person
    unread: Counter[str] = Counter()
    for record in records:
        told = _traits(record[skin], "", record[age], record[sex])
        for column, value in ((skin, told.skin_type), (age, told.age_group), (sex, told.sex)):
            unread.update([f"{column} {record[column]!r}"] * (value is None and record[column] != ""))

    def each() -> Iterator[Photo | BadRow]:
        yield from table.bad
        for record, group in zip(records, groups, strict=True):
            name, url, digest = record[file], record[address], record[own["md5"]].casefold()
            here = images.find(name) if images and name else None
            name = _without_place(name, here)
            problem = ""
            if not name and not url:
                problem = "neither a file nor an address"
            elif digest and not _MD5.match(digest):
                problem = f"no MD5 digest: {digest}"
            elif here is None and not url:
                problem = _why_unlisted(path.parent, name)
            label = record[own["label"]]
            yield Photo(
                image_id=opaque_id(facts.name, name or url or record.where),
                labels=((label, 1.0),) if label else (),
                file=name or url,
                image=here,
                url=url,
                md5=digest or None,
                group=group or None,
                licence=record.licence(licence),
                licence_asserted_by=record[own["asserted"]] or f"column {licence} of the source {facts.name}",
                attribution=next(filter(None, (_without_markup(record[column]) for column in attributions)), "")
                or facts.attribution
                or (url if is_web_address(url) else ""),
                where=record.where,
                problem=problem,
                traits=_traits(record[skin], record[own["skin_by"]] or own_word, record[age], record[sex]),
            )

    return PhotoSource(facts, labels, each, unread)


def _without_place(name: str, found: ImageFile | None) -> str:
    """How a release names the file, and its identifier with it, however a table spells its place: with the slashes of
    Windows, from `./` on, or, if it is found, by an absolute path, which tells of its owner's machine."""
    absolute = PureWindowsPath(name).anchor or name.startswith("~") or "://" in name
    return found.name if found and found.usable and absolute else name.replace("\\", "/").removeprefix("./")


def _without_markup(text: str) -> str:
    """
    >>> _without_markup('<a href="//commons.wikimedia.org/wiki/User:Doc">Doc &amp; Co.</a>')
    'Doc & Co.'
    >>> _without_markup('Ada<br>Unknown author<span style="display: none;">Unknown author</span>')
    'Ada Unknown author'
    """
    plain = _TAG.sub(lambda tag: " " * bool(tag["apart"]), text)
    return " ".join(unescape(plain).split()) if "<" in text else text


def _why_unlisted(folder: Path, name: str) -> str:
    """Why a file that a table names is not among the images below its folder; "" if it does not exist."""
    inside = is_inside(folder / name, folder)
    there = not inside
    with suppress(InputError):  # the system does not say: it leads to where nobody may look, or no name is that long
        there = is_there(folder / name)
    outside = "image outside its folder: only files below the folder of the table are read"
    return "" if not there else UNENDING if inside else outside


def _traits(skin: str, by: str, age: str, sex: str) -> Traits:
    """A skin type may name its scale ("Monk 7"), and an age group may be in the corpus's own notation."""
    told = traits((scale_of(skin), skin, by), age=age, sex=sex)
    return replace(told, age_group=age) if age in AGE_GROUPS else told
