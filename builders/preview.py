"""A page to look at before a release is published: counts, exclusions, and a sample of its pairs with their gates.

    bedside preview DIR -o page.html

One self-contained file: no script, no network, opens from disk. For caption pairs: MedLayBench-V.
"""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from PIL import Image

from builders.shards import read_rows
from loaders.disk import write_whole
from loaders.errors import InputError
from loaders.images import open_image
from loaders.manifest import Manifest, order_splits

THUMBNAIL = 320  # pixels of the longer side


def write_preview(folder: Path, page: Path, *, pairs: int = 40, seed: int = 0) -> Path:
    """Write the page and return its path; `pairs` rows are shown, those that fell back first, the others by seed.

    Raises: ReleaseError when the folder is no release, InputError when it is one of photos; BedsideError when the disk
    is full.
    """
    manifest = Manifest.read(folder)
    if manifest.corpus != "medlaybench-v":
        raise InputError(folder, found=f"a release of {manifest.corpus}", expected="one of medlaybench-v")
    environment = Environment(
        loader=PackageLoader("builders", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    html = environment.get_template("preview.html").render(
        manifest=manifest,
        splits=[(name, manifest.splits[name]) for name in order_splits(manifest.splits)],
        statistics=manifest.statistics,
        rows=sum(split.rows for split in manifest.splits.values()),
        pairs=[_shown(row) for row in _sample(folder, manifest, pairs, seed)],
    )
    page.parent.mkdir(parents=True, exist_ok=True)
    write_whole(page, html.encode())
    return page


def _sample(folder: Path, manifest: Manifest, count: int, seed: int) -> list[dict[str, Any]]:
    """A reservoir of each kind, in constant memory: rows that fell back (at most a fourth), and all others."""
    draw = random.Random(seed)
    fallen = _reservoir((r for r in read_rows(folder, manifest) if r["status"] == "fallback"), count // 4, draw)
    others = _reservoir(
        (r for r in read_rows(folder, manifest) if r["status"] != "fallback"), count - len(fallen), draw
    )
    return [*fallen, *others]


def _reservoir(rows: Iterator[dict[str, Any]], count: int, draw: random.Random) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    for number, row in enumerate(rows):
        if len(kept) < count:
            kept.append(row)
        elif (place := draw.randrange(number + 1)) < count:
            kept[place] = row
    return sorted(kept, key=lambda row: str(row["image_id"]))


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {
        **row,
        "thumbnail": _thumbnail(row["image"]["bytes"]) if row["image"] else None,
        "expert": _marked(row["expert_caption"], row["concepts"]),
        "failed": [gate for gate in row["gates"] if not gate["passed"]],
    }


def _thumbnail(data: bytes) -> str:
    picture = open_image(data).convert("RGB")
    picture.thumbnail((THUMBNAIL, THUMBNAIL), Image.Resampling.LANCZOS)
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=80)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()


def _marked(caption: str, concepts: Sequence[dict[str, Any]]) -> Markup:
    """The caption with the terms that got a lay phrase underlined, the phrase as their tooltip."""
    parts: list[Markup] = []
    at = 0
    for concept in sorted(concepts, key=lambda c: (c["start"], -c["end"])):
        if concept["start"] < at or not concept["lay"]:
            continue
        parts.append(escape(caption[at : concept["start"]]))
        term = caption[concept["start"] : concept["end"]]
        parts.append(Markup('<abbr title="{}">{}</abbr>').format(concept["lay"], term))
        at = concept["end"]
    return Markup("").join([*parts, escape(caption[at:])])
