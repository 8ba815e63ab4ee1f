"""A page to look at before a release is published: counts, exclusions, and a sample of its rows.

    bedside preview DIR -o page.html

One self-contained file: no script, no network, opens from disk. `preview.html` holds what every corpus has; the module
`preview` of a corpus' builder says which rows come first, and what of a row is shown, by a template of its own beside
it. Pictures are decoded and encoded anew, so that nothing but their pixels gets into the page.
"""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from PIL import Image
from pydantic import JsonValue

from builders.pipeline.rows import Row
from builders.release.shards import read_rows
from loaders.corpus import REGISTRY
from loaders.disk import write_whole
from loaders.errors import InputError
from loaders.images import open_image
from loaders.manifest import Manifest, order_splits

THUMBNAIL = 320  # pixels of the longer side


@dataclass(frozen=True)
class Table:
    """Counts by split: a title, the name of the first column, and the lines."""

    title: str
    column: str
    splits: Sequence[str]
    lines: Sequence[tuple[str, Sequence[int]]]


@dataclass(frozen=True)
class Preview:
    """The part of a corpus: `template` extends preview.html, `show` makes of a row what the template is given of it.

    `first` picks the rows that come first, at most a fourth of those shown. Nothing is shown but what `show` returns.
    """

    template: str
    tables: Callable[[Any, Sequence[str]], Sequence[Table]]
    first: Callable[[Row], bool]
    show: Callable[[Row], dict[str, Any]]


def preview_of(corpus: str) -> Preview:
    """The part of a corpus. Raises InputError for one that has none."""
    name = f"builders.{REGISTRY[corpus].rpartition('.')[2]}.preview" if corpus in REGISTRY else ""
    if not name or not find_spec(name.rpartition(".")[0]) or not find_spec(name):
        raise InputError(corpus, found="no preview is written for this corpus", expected="a release of another one")
    return cast(Preview, import_module(name).PREVIEW)


def write_preview(folder: Path, page: Path, *, rows: int = 40, seed: int = 0) -> Path:
    """Write the page and return its path; `rows` of them are shown, those that come first, then others by seed.

    Raises: ReleaseError when the folder is no release, InputError when it is one of a corpus without a preview;
    BedsideError when the disk is full.
    """
    manifest = Manifest.read(folder)
    part = preview_of(manifest.corpus)
    environment = Environment(
        loader=PackageLoader("builders", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    splits = order_splits(manifest.splits)
    html = environment.get_template(part.template).render(
        manifest=manifest,
        splits=[(name, manifest.splits[name]) for name in splits],
        statistics=manifest.statistics,
        tables=part.tables(manifest.statistics, splits),
        count=sum(split.rows for split in manifest.splits.values()),
        rows=[part.show(row) for row in _sample(folder, manifest, part.first, rows, seed)],
    )
    page.parent.mkdir(parents=True, exist_ok=True)
    write_whole(page, html.encode())
    return page


def by_split(title: str, column: str, counts: JsonValue, splits: Sequence[str]) -> Table:
    """A table of counts by split, as statistics hold them: {name: {split: number}}."""
    assert isinstance(counts, dict)
    lines = [(name, [cast(dict[str, int], found).get(split, 0) for split in splits]) for name, found in counts.items()]
    return Table(title, column, splits, lines)


def thumbnail(image: dict[str, Any] | None) -> str | None:
    """A small picture as the address of an image, of the stored cell; None where there is none."""
    if not image:
        return None
    picture = open_image(image["bytes"]).convert("RGB")
    picture.thumbnail((THUMBNAIL, THUMBNAIL), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=80)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()


def _sample(folder: Path, manifest: Manifest, first: Callable[[Row], bool], count: int, seed: int) -> list[Row]:
    """A reservoir of each kind, in constant memory: rows that come first (at most a fourth), and all others."""
    draw = random.Random(seed)
    early = _reservoir((r for r in read_rows(folder, manifest) if first(r)), count // 4, draw, manifest.key)
    others = (r for r in read_rows(folder, manifest) if not first(r))
    return [*early, *_reservoir(others, count - len(early), draw, manifest.key)]


def _reservoir(rows: Iterator[Row], count: int, draw: random.Random, key: str) -> list[Row]:
    kept: list[Row] = []
    for number, row in enumerate(rows):
        if len(kept) < count:
            kept.append(row)
        elif (place := draw.randrange(number + 1)) < count:
            kept[place] = row
    return sorted(kept, key=lambda row: str(row[key]))
