"""The photos of whatever a user names: a folder of images, any image data set that `datasets` reads, or a release.

    photo_set("photos/")                          folders give split, label and source; or a table (`folders`)
    photo_set("data.parquet"), photo_set("set/")  a data set: Parquet, Arrow, an ImageFolder with its metadata, …
    photo_set("org/name@v1.0.0")                  the same on the Hub, at a tag, branch or commit
    photo_set("official"), photo_set("runs/v1")   the authors' photos of 3MDBench; a release of any corpus

Pictures of a data set stay where they are, and are read one at a time.
"""

from __future__ import annotations

import os
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from builders.curation.folders import GROUPS, LABELS, TOLD, File, files_of, in_one_spelling, whose
from loaders.corpus import OFFICIAL, corpus, is_path, load, load_any
from loaders.errors import CHECK_WHOLE, InputError
from loaders.files.cells import cell_text
from loaders.files.image_files import SUFFIXES
from loaders.files.images import ImageError, image_bytes
from loaders.files.paths import is_file, is_folder, is_inside, resolved
from loaders.files.tables import open_parquet, plain_name, read_records
from loaders.hub import fetch
from loaders.manifest import NAME, Manifest
from loaders.registry import corpora

if TYPE_CHECKING:
    import datasets

_IMAGES = ("image", "img", "photo", "picture")
_DATA = frozenset(".parquet .arrow .jsonl .json .csv .tsv .tar".split())
_METADATA = frozenset(f"metadata.{kind}" for kind in ("csv", "jsonl", "parquet"))
_PHOTOS = "3mdbench"  # what `official` means here


@dataclass(frozen=True)
class PhotoSet:
    """Photos by name. `columns` names what gives the split, label, group and source of each; "" if nothing does."""

    name: str
    files: tuple[File, ...]
    columns: Mapping[str, str]


def photo_set(
    name: str,
    *,
    table: Path | None = None,
    label: str | None = None,
    group: str | None = None,
    report: Path | None = None,
) -> PhotoSet:
    """The photos that `name` means (see the text of this module).

    `table` is for a folder of images; `label` and `group` name columns of it or of a data set. Without them, the only
    column of classes or one with a usual name is used. Anything below `report` is not one of the photos.

    Raises: InputError for a place that is none of these, lacks such a column, or holds no picture; what
    `loaders.corpus.load` raises.
    """
    place, _, revision = name.partition("@")
    if not name:  # as from a shell variable that is not set; the path of this name is the current folder
        raise InputError("the photos", found="an empty name", expected="official, REPO[@TAG], a release or a folder")
    path, known = Path(name), ""
    source: str | Path | None = None
    if place == OFFICIAL or place in corpora():
        known, source = (_PHOTOS, OFFICIAL) if place == OFFICIAL else (place, None)
    else:
        if not is_path(name):
            path = fetch(place, revision or "main")
        if is_file(path / NAME):
            known, source, revision = Manifest.read(path).corpus, path, ""
    if known:
        if table is not None:
            found = f"{name} is a dataset, which describes its photos itself"
            raise InputError("--table", found=found, expected="no table")
        parts = load(known, source=source, revision=revision or None)
        return _of_rows(name, parts, label, group, key=corpus(known).key)
    if table is None and _is_data_set(path, report):
        return _of_rows(name, load_any(path, name), label, group, folder=path if is_folder(path) else path.parent)
    if path.suffix.casefold() == ".zip" and is_file(path):  # as of Kaggle
        raise InputError(path, found="is an archive", expected="a folder", do="Unpack it, and name the folder")
    return _of_folder(name, path, table, label, group, report)


def _is_data_set(path: Path, report: Path | None) -> bool:
    """Whether it is a data file, or a folder with data files and no image beside them, or with ImageFolder metadata.

    Beside Parquet files that hold pictures, an image is a logo or a figure of the card, and none of the photos.
    """
    if is_file(path):
        return _is_data(path)
    if not is_folder(path):
        return False
    own = resolved(report) if report else None
    names = [
        Path(at, name)
        for at, _, names in os.walk(path)
        if own is None or not is_inside(Path(at), own)
        for name in names
    ]
    images = any(name.suffix.casefold() in SUFFIXES for name in names)
    if any(_describes(name) if images else _is_data(name) for name in names):
        return True
    return any(_holds_pictures(name) for name in sorted(names) if name.suffix.casefold() == ".parquet")


def _is_data(path: Path) -> bool:
    """Whether it is a data file. An archive with folders is none without metadata: `datasets` takes the folder that it
    lies in, and none of its own, for a class."""
    kind = path.suffix.casefold()
    if kind != ".zip":
        return kind in _DATA
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except Exception:  # a damaged archive may raise anything
        return False
    return not any("/" in name for name in names) or any(PurePath(name).name in _METADATA for name in names)


def _describes(path: Path) -> bool:
    """Whether it is the metadata of an ImageFolder, which names its images; ISIC's has the same name, and does not."""
    if path.name not in _METADATA:
        return False
    try:
        return any("file_name" in column for column in read_records(path).columns)
    except InputError:
        return True  # `datasets` says what is wrong with it


def _holds_pictures(path: Path) -> bool:
    """Whether a Parquet file has a column of pictures as `datasets` writes them; no for one that cannot be read."""
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            types = file.schema_arrow.types
    except InputError:
        return False
    return any(pa.types.is_struct(kind) and kind.get_field_index("bytes") >= 0 for kind in types)


def _of_folder(
    name: str, path: Path, table: Path | None, label: str | None, group: str | None, report: Path | None
) -> PhotoSet:
    if table is None and (label or group):
        option = "--label" if label else "--group"
        found = f"{name} is a folder of images without columns"
        raise InputError(option, found=found, expected="a dataset, or a table of the photos (--table)")
    files = tuple(files_of(path, table=table, without=report, label=label, group=group))
    by = f"columns of {table.name}" if table else "names of folders"
    silent = sum(not any(getattr(file, what) for what in TOLD) for file in files)
    by += f" (nothing about {silent:,} of {len(files):,} photos)" * bool(table and silent)
    origins = {what: by if any(getattr(file, what) for file in files) else "" for what in TOLD}
    return PhotoSet(resolved(path).name, files, origins)


# --- Data sets --------------------------------------------------------------------------------------------------------


def _bytes_of(part: datasets.Dataset, column: str, row: int, path: Path | None, name: str) -> bytes:
    """The picture of a row, whose file is `path` if the data set keeps files beside its rows. Raises: ImageError."""
    if path is not None:
        return image_bytes(path)
    cell = part.data.column(column)[row].as_py()
    held = cell.get("bytes") if isinstance(cell, Mapping) else cell
    if not held:
        found = "holds no picture" if cell is None else "names a picture that is not in the dataset"
        raise ImageError(name, reason="missing", found=found, expected="the bytes of one")
    return bytes(held)


def _of_rows(
    name: str,
    parts: Mapping[str, datasets.Dataset],
    label: str | None,
    group: str | None,
    *,
    key: str | None = None,
    folder: Path | None = None,
) -> PhotoSet:
    features = next(iter(parts.values())).features
    image, *others = _image_columns(features, name)
    columns = {
        # One table of everything, as of pandas, is one split for `datasets`, whatever its rows say.
        "split": _column(features, name, None, ["split"]) if len(parts) == 1 else None,
        "label": _column(features, name, label, _labels(features), option="--label"),
        "group": _column(features, name, group, GROUPS, option="--group"),
    }
    source = _column(features, name, None, ["source"])
    columns["source"] = None if source in columns.values() else source
    files = [file for split, part in parts.items() for file in _files(part, split, image, key, columns, folder)]
    usual = [column for one in GROUPS if (column := _column(features, name, None, [one]))]
    grouping = [columns["group"]] if group else usual
    cells = [[text for part in parts.values() for text in _texts(part, column)] for column in grouping]
    if cells:
        files = [replace(file, group=of) for file, of in zip(files, whose([*zip(*cells, strict=True)]), strict=True)]
    if not files:
        raise InputError(name, found="holds no row", expected="pictures", do=CHECK_WHOLE)
    origins = {what: f"column {column}" if column else "" for what, column in columns.items()}
    origins["split"] = origins["split"] or "splits of the dataset"
    if others:
        origins["picture"] = f"column {image} (not {', '.join(others)})"
    files = in_one_spelling(files)
    return PhotoSet(name, tuple(sorted(_named_once(files), key=lambda file: file.name)), origins)


def _named_once(files: Iterable[File]) -> Iterator[File]:
    """The files; one that several rows name is told apart by a number: it is a copy of itself, maybe in two splits."""
    times: Counter[str] = Counter()
    for file in files:
        times[file.name] += 1
        yield replace(file, name=f"{file.name} #{times[file.name]}") if times[file.name] > 1 else file


def _files(
    part: datasets.Dataset,
    split: str,
    image: str,
    key: str | None,
    columns: Mapping[str, str | None],
    folder: Path | None,
) -> Iterator[File]:
    splits, labels, sources = (_texts(part, columns[what]) for what in ("split", "label", "source"))
    keys = _texts(part, key if key in part.features else None)
    own = part.info.builder_name == "imagefolder"  # it names the files that it found, and no others
    for row, named in enumerate(_paths(part, image)):
        path = _beside(named, folder, own)
        name = keys[row] or f"{split}/{row + 1:06d}"
        if path and folder and not keys[row]:
            name = path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
        held = partial(_bytes_of, part, image, row, path, name)
        yield File(name, path or Path(name), splits[row] or split, labels[row], sources[row], held=held)


def _paths(part: datasets.Dataset, image: str) -> list[str | None]:
    """The files that rows without bytes name; None for rows that hold their picture."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = part.data.column(image)
    if not pa.types.is_struct(column.type) or column.type.get_field_index("path") < 0:
        return [None] * len(part)
    empty = pc.is_null(pc.struct_field(column, "bytes"))
    named = pc.if_else(empty, pc.struct_field(column, "path"), None)
    return list(named.to_pylist())


def _beside(named: str | None, folder: Path | None, own: bool) -> Path | None:
    """The file that a row names; since rows may come from anybody, it must be inside the folder of its data set."""
    if not named or folder is None:
        return None
    # The files of a snapshot are links.
    home = folder.parent.parent if folder.parent.name == "snapshots" else folder
    path = folder / named
    return path if own or (is_inside(path, home) and ".." not in Path(named).parts) else None


def _texts(part: datasets.Dataset, column: str | None) -> list[str]:
    """A column's value for each row, as text; classes by name."""
    import datasets

    if column is None:
        return [""] * len(part)
    feature, values = part.features[column], part.data.column(column).to_pylist()
    if isinstance(feature, datasets.ClassLabel):
        return ["" if value is None or value < 0 else str(feature.int2str(value)) for value in values]
    texts = (", ".join(map(str, value)) if isinstance(value, list) else value for value in values)
    return ["" if text is None else cell_text(str(text)) for text in texts]


def _image_columns(features: datasets.Features, name: str) -> list[str]:
    """The columns that hold pictures, the photos' own first: one with a usual name, or else the first."""
    import datasets

    images = [
        str(column)
        for column, feature in features.items()
        if isinstance(feature, datasets.Image) or (isinstance(feature, dict) and "bytes" in feature)
    ]
    binary = [
        str(c) for c, feature in features.items() if isinstance(feature, datasets.Value) and "binary" in feature.dtype
    ]
    if not images and not binary:
        found = f"columns {', '.join(features)}, none of which holds pictures"
        do = "If they name files, give the folder of these, and this table by --table"
        raise InputError(name, found=found, expected="one", do=do)
    return sorted(images or binary, key=lambda column: column.casefold() not in _IMAGES)


def _labels(features: datasets.Features) -> Sequence[str]:
    import datasets

    classes = [column for column, feature in features.items() if isinstance(feature, datasets.ClassLabel)]
    return classes if len(classes) == 1 else LABELS


def _column(
    features: datasets.Features, name: str, given: str | None, usual: Sequence[str], *, option: str = ""
) -> str | None:
    """The column that is `given`, or else the first of the `usual` ones, in capitals or with blanks as well."""
    own = {plain_name(column): str(column) for column in features} | {str(column): str(column) for column in features}
    found = (own.get(one) or own.get(plain_name(one)) for one in ([given] if given is not None else usual))
    column = next(filter(None, found), None)
    if given is not None and column is None:
        raise InputError(option, found=f"no column {given!r} in {name}", expected="one of " + ", ".join(features))
    return column
