"""The photos of a folder, with the split, label, group and source that its layout or a table gives them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PureWindowsPath
from unicodedata import normalize

from loaders.errors import CHECK_FOLDER, InputError
from loaders.files.cells import cell_text, plain_label
from loaders.files.image_files import SUFFIXES, ImageFile, ImageIndex, is_photo, not_opened, shown_name
from loaders.files.images import ImageError, image_bytes
from loaders.files.layout import first_spelling, layout, plain_split
from loaders.files.paths import check_folder, is_hidden, is_there, resolved
from loaders.files.tables import read_table

# What the columns of tables and data sets are called, the first that is there counts.
FILES = ("file", "path", "file_name", "filename", "image", "image_path")
# Of publishers: HAM10000, ISIC, PAD-UFES-20, DDI, BCN20000. The first two leave out the ending of the file.
THEIR_FILES = ("image_id", "isic_id", "img_id", "ddi_file", "bcn_filename")
LABELS = ("label", "labels", "diagnosis", "class", "dx", "target", "diagnostic", "disease")  # PAD-UFES-20, DDI
GROUPS = ("group_id", "group", "patient_id", "lesion_id", "case_id")  # a patient has several lesions
TOLD = ("split", "label", "group", "source")  # fields of a `File`, which photos may differ in


@dataclass(frozen=True, slots=True)
class File:
    """A file to curate. `name` is its path below the folder, with slashes; unknown fields are empty.

    `group` is the patient, lesion or case whose photos belong in one split; `set` distinguishes the photos of one set
    from those of another (`curate.beside`). Of copies, that of highest `precedence` is kept, however good others
    are. `held` returns its bytes if it is not a file (`photo_sets`), and raises ImageError.
    """

    name: str
    path: Path
    split: str = ""
    label: str = ""
    source: str = ""
    group: str = ""
    set: str = ""
    precedence: int = 0
    held: Callable[[], bytes] | None = field(default=None, compare=False)

    def read(self) -> bytes:
        """Its bytes, undecoded. Raises: ImageError when it cannot be read, is too long, or is not opened by its name,
        such as an archive."""
        if self.held:
            return self.held()
        if problem := not_opened(self.path):
            raise ImageError(self.path, reason="not_opened", found=problem)
        return image_bytes(self.path)


def files_of(
    folder: Path,
    *,
    table: Path | None = None,
    without: Path | None = None,
    label: str | None = None,
    group: str | None = None,
) -> list[File]:
    """Every photo below a folder, sorted by name, except hidden ones and those below `without`; what counts as one is
    what does in a build (`is_photo`). Links to folders elsewhere are followed.

    Without a table, a folder named like a split (`train`, `val`, `test`, …) gives the split, the innermost other folder
    the label, and the outermost of two or more other folders the source. Labels and splits that differ only in spelling
    are one. A table (CSV or TSV) has a column of FILES or
    THEIR_FILES and any of `split`, LABELS, GROUPS and `source`; `label` and `group` name these two columns of it. It
    may name files that do not exist, and a picture without its folders and its ending, as long as that means only one.

    Raises: InputError if the folder is not one, is empty, or the table cannot be read, lacks a column, or names a file
    twice or one outside the folder.
    """
    check_folder(folder)
    paths = {shown_name(path, folder): path for path in _walk(folder, resolved(without) if without else None)}
    if table is None:
        listed = [_from_layout(name, path) for name, path in paths.items()]
    else:
        told = _from_table(table, folder, paths, label, group)
        listed = [
            replace(told.pop(normalize("NFC", name), File(name, path)), name=name, path=path)
            for name, path in paths.items()
        ]
        listed += told.values()
    if not listed:
        raise InputError(folder, found="holds no file that is a photo", expected="images", do=CHECK_FOLDER)
    return sorted(in_one_spelling(listed), key=lambda file: file.name)


def in_one_spelling(files: Sequence[File]) -> list[File]:
    """The files, each label and split as the first by name of those that mean the same: "Acne" and "acne", "val" and
    "validation"."""
    label_of, split_of = (
        first_spelling(sorted({getattr(file, what) for file in files}), plain)
        for what, plain in (("label", plain_label), ("split", plain_split))
    )
    return [replace(file, label=label_of[file.label], split=split_of[file.split]) for file in files]


def _walk(folder: Path, without: Path | None) -> Iterator[Path]:
    """Photos, and folders that cannot be listed, so that they are reported."""
    linked: set[Path] = set()
    closed: list[Path] = []
    for at, folders, names in os.walk(
        folder, followlinks=True, onerror=lambda error: closed.append(Path(error.filename))
    ):
        here = Path(at)
        # Sorted first: of two links to one folder, the first is entered.
        folders[:] = [name for name in sorted(folders) if _entered(here / name, resolved(folder), without, linked)]
        yield from (here / name for name in names if not is_hidden(name) and is_photo(here / name))
    yield from closed


def _entered(path: Path, folder: Path, without: Path | None, linked: set[Path]) -> bool:
    """Whether to enter a folder: real ones always; links only if they lead outside, and each target once."""
    real = resolved(path)
    if is_hidden(path.name) or real == without:
        return False
    if not path.is_symlink():
        return True
    if real in linked or real.is_relative_to(folder) or folder.is_relative_to(real):
        return False
    linked.add(real)
    return True


def _from_layout(name: str, path: Path) -> File:
    return File(name, path, *layout(name))


def _from_table(
    path: Path, folder: Path, paths: Mapping[str, Path], label: str | None, group: str | None
) -> dict[str, File]:
    """What a table says of files, by name, in one spelling of accented letters: it uses its program's, a file name its
    file system's."""
    whole = {normalize("NFC", name): path for name, path in paths.items()}
    images = ImageIndex(
        files=(ImageFile(name, path, "") for name, path in whole.items() if path.suffix.casefold() in SUFFIXES)
    )
    table = read_table(path)
    file = table.column(*FILES, *THEIR_FILES, needed=True)
    columns = [
        table.column("split"),
        table.column(*([label] if label else LABELS), needed=label is not None),
        table.column("source"),
    ]
    groups = [group] if group else GROUPS
    grouping = [column for name in groups if (column := table.column(name, needed=group is not None))]
    group_of = whose([[cell_text(cells[column]) for column in grouping] for _, cells in table.rows])
    named = [(f"{path}:{line}", cells, _name(f"{path}:{line}", cells[file], folder)) for line, cells in table.rows]
    listed = {normalize("NFC", name) for *_, name in named}
    told: dict[str, File] = {}
    for (where, cells, name), grouped in zip(named, group_of, strict=True):
        plain = normalize("NFC", name)
        if plain not in whole and (image := images.named(plain)) and image.usable:
            # "1.png" is missing, and not what another row calls "old/1.png".
            missing = image.name in listed and Path(plain).suffix.casefold() in SUFFIXES
            plain = plain if missing else image.name
        if plain in told:
            raise InputError(where, found=f"names {name} again", expected="each file once")
        split, labelled, source = (cell_text(cells[column]) if column else "" for column in columns)
        told[plain] = File(name, folder / name, split, labelled, source, grouped)
    return told


def whose(rows: Sequence[Sequence[str]]) -> list[str]:
    """The group of each row, given its cells in the columns for groups: the first that is not empty; if that is a
    lesion or case of which other rows say whose it is, that patient, so that nobody is in two splits. Lesions that are
    numbered anew for each patient tell nothing.

    >>> whose([("p1", "L1"), ("", "L1"), ("", "L2"), ("", ""), ("p1", "7"), ("p2", "7"), ("", "7")])
    ['p1', 'p1', 'L2', '', 'p1', 'p2', '7']
    """
    owners: dict[tuple[int, str], set[str]] = defaultdict(set)
    for row in rows:
        for place, cell in enumerate(row[1:], start=1):
            owners[place, cell].update(filter(None, row[:1]))
    named = (next(((place, cell) for place, cell in enumerate(row) if cell), (0, "")) for row in rows)
    return [next(iter(of)) if len(of := owners.get(one, ())) == 1 else one[1] for one in named]


def _name(where: str, cell: str, folder: Path) -> str:
    """The file that a cell names, by its path below the folder, with slashes. Raises: InputError for anything else."""
    name = Path(cell).as_posix()
    if "\\" in name and not is_there(folder / name):  # written by a program on Windows
        name = PureWindowsPath(name).as_posix()
    if name == "." or PureWindowsPath(name).anchor or ".." in name.split("/"):
        found = "names no file" if name == "." else f"names {name}"
        raise InputError(where, found=found, expected=f"a file below the folder, by its path from {folder}")
    return name
