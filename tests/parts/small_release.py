"""A small release for the tests of what writes, checks, compares and describes releases."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any
from unittest.mock import patch

import datasets
import PIL.Image

from builders.pipeline.image_store import ImageStore
from builders.pipeline.rows import Row
from builders.pipeline.workspace import Workspace
from builders.release import parts
from builders.release.cards import render_card
from builders.release.parts import Stored
from builders.release.write import Facts, write_release
from loaders.files.stores import Folder
from loaders.manifest import Manifest, Source, StageCount

FEATURES = datasets.Features(
    {
        "image": datasets.Image(),
        "image_id": datasets.Value("string"),
        "split": datasets.Value("string"),
        "caption": datasets.Value("string"),
        "cuis": datasets.List(datasets.Value("string")),
        "spans": datasets.List({"surface": datasets.Value("string"), "start": datasets.Value("int32")}),
        "score": datasets.Value("float32"),
        "kind": datasets.ClassLabel(names=["scan", "picture"]),
    }
)

TEMPLATE = """---
pretty_name: Small
license: cc-by-4.0
language: [en]
task_categories: [image-to-text]
tags: [medical, "{{ corpus }}"]
---
# Small

{{ rows }} rows of {{ sources_note }}.

{{ tables.splits }}

{{ statistics.kinds }}

{{ tables.exclusions }}
"""


def png(colour: int) -> bytes:
    """A picture of 4 x 3 pixels."""
    file = io.BytesIO()
    PIL.Image.new("L", (4, 3), colour).save(file, "PNG")
    return file.getvalue()


def row(number: int, split: str, **more: Any) -> Row:
    """Row `number`; every fourth one has no image."""
    image = None if number % 4 == 3 else {"bytes": png(number), "path": f"{number:03}.png"}
    values = {
        "image": image,
        "image_id": f"r{number:03}",
        "split": split,
        "caption": f"caption {number}",
        "cuis": [f"C{number}", "C1"][: number % 3],
        "spans": [{"surface": "caption", "start": 0}] * (number % 2),
        "score": number / 10,
        "kind": number % 2,
    }
    return values | more


def rows() -> list[Row]:
    """Twelve rows with the splits interleaved, in an order other than that of a release."""
    splits = ["test", "train", "train", "validation"] * 3
    return [row(number, split) for number, split in enumerate(splits)]


EXCLUSIONS = [
    {
        "key": f"x{number}",
        "split": None,
        "stage": "admit",
        "reason": "no licence" if number else "no caption",
        "detail": f"row {number}",
        "licence": None,
    }
    for number in range(3)
]


def measure(found: Iterable[Row]) -> Any:
    """What the card tells about the rows."""
    kinds: Counter[str] = Counter()
    letters = 0
    for one in found:
        kinds[FEATURES["kind"].int2str(one["kind"])] += 1
        letters += len(one["caption"])
    return {"kinds": dict(kinds), "letters": letters}


def card(manifest: Manifest) -> str:
    return render_card(TEMPLATE, manifest, facts={"sources_note": "a test"})


class Held(Stored):
    """Rows held in memory, as one part: what they hold is what is stored."""

    def __init__(self, rows: Iterable[Row], key: str) -> None:
        nowhere = Folder(Path("nowhere"))
        super().__init__([list(rows)], Workspace(nowhere), ImageStore(nowhere), key, ())  # type: ignore[list-item]

    def outline(self, part: Any) -> Iterator[tuple[Any, Any, int]]:
        for one in part:
            yield one.get(self.key), one.get("split"), len(repr(one))

    def rows(self, part: Any, split: str) -> Sequence[Row]:
        return [one for one in part if one["split"] == split]

    def filled(self, row: Row) -> Row:
        return row


def write_small(out: Path, content: Iterable[Row] | None = None, **more: Any) -> Manifest:
    """Write the small release; `more` replaces facts, or arguments of `write_release`, or the size of a shard."""
    shard_bytes = more.pop("shard_bytes", parts.SHARD_BYTES)
    content = rows() if content is None else list(content)
    exclusions = list(more.pop("exclusions", EXCLUSIONS))
    reasons = Counter(one["reason"] for one in exclusions)
    counts = {"rows_in": len(content) + len(exclusions), "rows_out": len(content)}
    facts: dict[str, Any] = {
        "corpus": "small",
        "key": "image_id",
        "features": FEATURES,
        "sources": [Source(name="drawn", digest="0" * 64, rows=15, licence="CC0-1.0")],
        "settings": {"seed": 0, "stages": {"admit": {"allow": ["CC0-1.0"]}}},
        "prompts": {"refine.md": hashlib.sha256(b"prompt").hexdigest()},
        "versions": {"bedside": "0.1.0"},
        "stages": [StageCount(name="admit", version=1, excluded=dict(reasons), **counts)],
    }
    facts |= {field.name: more.pop(field.name) for field in fields(Facts) if field.name in more}
    arguments: dict[str, Any] = {
        "rows": Held(content, "image_id"),
        "exclusions": iter(exclusions),
        "measure": measure,
        "card": card,
    }
    with patch.object(parts, "SHARD_BYTES", shard_bytes):
        return write_release(out, Facts(**facts), **(arguments | more))


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }
