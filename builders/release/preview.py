"""A page to look at before a release is published: counts, exclusions, and a sample of its rows.

    bedside preview DIR -o page.html

What every corpus has is in `preview.html`; the recipe of a corpus says which of its counts are shown, which rows come
first, and which parts of a row are shown.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from builders.pipeline.rows import Row
from builders.release.shards import read_rows
from loaders.corpus import Corpus
from loaders.errors import InputError
from loaders.files.json_values import understood
from loaders.manifest import Manifest
from loaders.pages import Entry, write_page
from loaders.schema import Upgrade


@dataclass(frozen=True)
class Table:
    """Counts: a title, the name of the first column and those of the others, and rows of a name with its counts."""

    title: str
    column: str
    splits: Sequence[str]
    lines: Sequence[tuple[str, Sequence[int]]]

    @property
    def rows(self) -> list[list[str | int]]:
        """The rows as cells."""
        return [[name, *counts] for name, counts in self.lines]


@dataclass(frozen=True)
class Preview:
    """What one corpus contributes: what its rows are called, a note on them, its tables, and all that is shown of a
    row. `first` picks the rows that come first, at most a quarter of those shown if there are enough others."""

    rows: str
    note: str
    tables: Callable[[Any, Sequence[str]], Sequence[Table]]
    show: Callable[[Row], Entry]
    first: Callable[[Row], bool] = lambda row: False


def write_preview(
    folder: Path, page: Path, part: Preview, *, corpus: Corpus | None = None, rows: int = 40, seed: int = 0
) -> Path:
    """Write the page and return its path; `rows` of them are shown, those that come first, then others by seed. With
    the `corpus`, rows of an earlier schema are shown as `load` gives them.

    Raises: ReleaseError when the folder is no release, one that was changed, or one of a newer schema; BedsideError
    when the disk is full.
    """
    manifest = Manifest.read(folder)
    splits = list(manifest.splits)
    counts = Table("Rows", "split", ["rows"], [(name, [facts.rows]) for name, facts in manifest.splits.items()])
    reasons = ("; ".join(f"{reason} {n:,}" for reason, n in stage.excluded.items()) for stage in manifest.stages)
    stages = [
        (stage.name, stage.rows_in, stage.rows_out, why or "none")
        for stage, why in zip(manifest.stages, reasons, strict=True)
    ]
    with understood(
        folder,
        expected="a release as `bedside build` wrote it",
        do=f"`bedside verify {quote(str(folder))}` lists what is wrong",
    ):
        return write_page(
            page,
            "builders/release/preview.html",
            manifest=manifest,
            preview=part,
            tables=[counts, *part.tables(manifest.statistics, splits)],
            stages=stages,
            count=manifest.rows,
            entries=entries(folder, part, corpus=corpus, rows=rows, seed=seed),
        )


def entries(folder: Path, part: Preview, *, corpus: Corpus | None = None, rows: int, seed: int = 0) -> list[Entry]:
    """A sample of the rows, as they may be shown: see `write_preview`."""
    manifest = Manifest.read(folder)
    manifest.require(folder)

    read: Iterable[Row] = read_rows(folder, manifest)
    if corpus:
        read = map(Upgrade.of(manifest, corpus.features, corpus.migrations, str(folder)), read)
    return [_shown(part, row, manifest) for row in _sample(read, manifest.key, part.first, rows, seed)]


def _shown(part: Preview, row: Row, manifest: Manifest) -> Entry:
    try:
        entry = part.show(row)
    except InputError as error:  # such as that of a picture, which does not know whose it is
        where = f"row {row[manifest.key]} of {manifest.corpus}"
        raise InputError(where, found=error.found, expected=error.expected, do=error.do or "Build it again") from error
    if not isinstance(entry, Entry):
        found, do = f"a {type(entry).__name__} of a row", "Repair `show` of the preview in its recipe"
        raise InputError(f"preview of {manifest.corpus}", found=found, expected="an Entry", do=do)
    return entry


def by_split(title: str, column: str, counts: Mapping[str, Mapping[str, int]], splits: Sequence[str]) -> Table:
    """A table of counts by split, from statistics of the form {name: {split: number}}."""
    return Table(title, column, splits, [(name, [of.get(split, 0) for split in splits]) for name, of in counts.items()])


def counted(title: str, column: str, counts: Mapping[str, int], head: str) -> Table:
    """A table of one column of counts."""
    return Table(title, column, [head], [(name, [count]) for name, count in counts.items()])


def _sample(rows: Iterable[Row], key: str, first: Callable[[Row], bool], count: int, seed: int) -> list[Row]:
    """Rows drawn by seed, in constant memory: first a quarter that come first, or what others leave; then others."""
    draw = random.Random(seed)
    kept: dict[bool, list[Row]] = {True: [], False: []}  # a reservoir of each kind
    seen = Counter[bool]()
    for row in rows:
        kind = bool(first(row))
        seen[kind] += 1
        if len(kept[kind]) < count:
            kept[kind].append(row)
        elif (place := draw.randrange(seen[kind])) < count:
            kept[kind][place] = row
    early = min(len(kept[True]), max(count // 4, count - len(kept[False])))
    parts = ((kept[True], early), (kept[False], min(len(kept[False]), count - early)))
    return [row for some, n in parts for row in sorted(draw.sample(some, n), key=lambda row: str(row[key]))]
