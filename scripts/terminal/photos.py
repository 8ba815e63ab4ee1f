"""Photos for `bedside run classifier`: opened by the name that a user types, split if they are not, and decoded."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loaders.errors import InputError, how_many
from loaders.files.bad_rows import BadRow
from loaders.files.layout import layout
from loaders.files.paths import is_file, is_folder
from loaders.files.tables import parquet_rows
from loaders.opened import open_corpus
from scripts.terminal.console import output, warn
from scripts.terminal.progress import Bars

if TYPE_CHECKING:
    from baselines.threemdbench.classifier.data import Labelled
    from baselines.threemdbench.classifier.pictures import Pictures

Photos = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="3mdbench[@TAG], a release folder, REPO[@TAG], or a folder with train, validation and test, each "
        "holding class folders (the innermost folder is the class). With --predict also official, any image dataset "
        "or any folder of photos.",
    ),
]
_SPLIT_RATIOS = {"train": 0.6, "validation": 0.15, "test": 0.25}
_SPLITS = tuple(_SPLIT_RATIOS)


def labelled_photos(data: str, clusters: Path | None, seed: int, splits: Sequence[str] = _SPLITS) -> Labelled:
    """The photos of these splits of a release or of a folder. Raises InputError if a split does not exist."""
    from baselines.threemdbench.classifier.data import from_folder, from_release

    folder = Path(data)
    if clusters is not None:
        return _from_clusters(folder, clusters, seed)
    if is_folder(folder) and not is_file(folder / "manifest.json"):
        labelled = from_folder(folder, splits)
        if labelled.beside:
            left = how_many(labelled.beside, "photo lies", "photos lie")
            warn(f"{left} beside the class folders of {folder}, in none of them, and will not be used")
        return labelled
    opened = {}
    for split in splits:
        try:
            opened[split] = open_corpus("3mdbench", data, split)
        except InputError as error:
            if not error.found.startswith("no split"):
                raise
            raise InputError(
                data,
                found=f"a release without {split} split",
                expected=f"{' and '.join(splits)} (the authors publish test only)",
                do="Build one with: bedside build 3mdbench; or train on a folder of class folders. To classify "
                "other photos with a trained network: --predict --weights RUN",
            ) from None
    return from_release(opened)


def _from_clusters(folder: Path, clusters: Path, seed: int) -> Labelled:
    """A folder that `bedside curate` has read, with the labels of its table, and split anew using the clusters that it
    found: stratified by class, with no cluster, and no group (patient, lesion) named in its table, in two splits."""
    from baselines.threemdbench.classifier.data import from_files, pictures_below
    from builders.curation.sampling import Member, joined, split_groups

    known: dict[str, Mapping[str, Any]] = {}
    for placed in parquet_rows(clusters, ["file", "split", "label", "cluster", "group", "kept"]):
        row = {} if isinstance(placed, BadRow) else placed[1]
        if not isinstance(row.get("file"), str) or not isinstance(row.get("kept"), bool) or "cluster" not in row:
            raise InputError(
                clusters, found="rows without the columns file, cluster and kept", expected="photos.parquet"
            )
        known[row["file"]] = row
    paths = {path.relative_to(folder).as_posix(): path for path in pictures_below(folder)}
    missing = [name for name in paths if name not in known]
    create = f"Create it with: bedside curate {quote(str(folder))} -o REPORT"
    if missing or not paths:
        raise InputError(
            clusters,
            found=f"{len(missing)} of {len(paths)} photos in {folder} are missing from it",
            expected="every photo",
            do=create,
        )
    # Without labels in the table, names of folders say them, as to `bedside curate`.
    labels = {name: str(known[name].get("label", layout(name).label) or "") for name in paths}
    usable = [name for name in paths if known[name]["kept"]]
    pairs = sorted((labels[name], paths[name], name) for name in usable if labels[name])
    kept = {name: (label, path) for label, path, name in pairs}
    if not kept:
        do = f"{create}, with class folders or the labels of a table (--table)"
        raise InputError(clusters, found="no photo with a label", expected="a label of each photo", do=do)
    copies = how_many(len(paths) - len(usable), "duplicate or unreadable file")
    told = [how_many(len(kept), "photo"), f"{copies} left out"]
    if len(usable) > len(kept):
        told.append(f"{how_many(len(usable) - len(kept), 'photo')} without a label left out")
    output.print("; ".join(told))
    before = sorted({known[name].get("split") or "" for name in kept} - {""})
    if before:
        warn(f"The splits of {folder} ({', '.join(before)}) are not kept: with --clusters, its photos are split anew")
    together = joined(
        (f"cluster {row['cluster']}", *([f"group {row['group']}"] if row.get("group") else []))
        for row in known.values()
        if row["cluster"]
    )
    kin = {name: together.get(f"cluster {known[name]['cluster']}", name) for name in kept}
    members = [Member(name, label, kin[name]) for name, (label, _) in kept.items()]
    splits = split_groups(members, _SPLIT_RATIOS, seed=seed)
    files = {split: [kept[name] for name in kept if splits[name] == split] for split in _SPLIT_RATIOS}
    return from_files(files, root=folder, groups={path: kin[name] for name, (_, path) in kept.items()})


def pictures_of(labelled: Labelled, size: int, *, quiet: bool) -> dict[str, Pictures]:
    from baselines.threemdbench.classifier.pictures import Pictures

    total = sum(len(photos) for photos in labelled.splits.values())
    with Bars(quiet=quiet) as bars:
        advance = partial(bars.advance, bars.add_task("photos", total=total))
        found = {
            split: Pictures(photos, size, threads=cores(), progress=advance)
            for split, photos in labelled.splits.items()
        }
    for split, one in found.items():
        if not len(one):
            do = "Look at the files that were left out, and name data with readable photos"
            raise InputError(split, found="no photo that can be decoded", expected="at least one", do=do)
    return found


def cores() -> int:
    return min(8, os.cpu_count() or 1)
