"""A release of captions as a build leaves it, without a build."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import datasets
from PIL import Image

from loaders.manifest import ContentDigest, ExclusionFacts, FileFacts, Manifest, SplitFacts, content_digest, file_digest
from loaders.medlaybench_v import CORPUS, from_official


def png(shade: int) -> dict[str, Any]:
    buffer = io.BytesIO()
    Image.new("L", (4, 4), shade).save(buffer, "PNG")
    return {"bytes": buffer.getvalue(), "path": None}


def row(number: int, split: str, lay: str = "A CT scan of the chest.") -> dict[str, Any]:
    official = {"cuis": ["C0040405"], "expert_caption": "Chest CT.", "layman_caption": lay, "image": png(number)}
    made = from_official(official, split=split, position=number)
    span = {"surface": "Chest", "start": 0, "end": 5, "cui": None, "lay": "chest", "source": "bedside-cc0"}
    return {
        **made,
        "image": official["image"],
        "concepts": [span],
        "draft": lay,
        "status": "accepted",
        "refiner": "rules",
    }


def make_release(
    folder: Path,
    content: dict[str, list[dict[str, Any]]],
    *,
    features: datasets.Features = CORPUS.features,
    stated: Any = None,
    **changes: Any,
) -> Path:
    """The folder of a release of these rows by split; `changes` replace facts of its manifest."""
    facts: dict[str, SplitFacts] = {}
    (folder / "data").mkdir(parents=True)
    for split, rows in content.items():
        made = datasets.Dataset.from_list(rows, features=features)
        made.to_parquet(folder / "data" / f"{split}-00000-of-00001.parquet")
        digest = ContentDigest()
        for one in rows:
            digest.update(one)
        facts[split] = SplitFacts(rows=len(rows), num_bytes=made.data.nbytes, content_digest=digest.hexdigest())
    (folder / "README.md").write_text("---\nlicense: other\n---\n")
    files = {
        path.relative_to(folder).as_posix(): FileFacts(sha256=file_digest(path), size=path.stat().st_size)
        for path in folder.rglob("*")
        if path.is_file()
    }
    none = ExclusionFacts(rows=0, content_digest=ContentDigest().hexdigest())
    known = {
        "corpus": "medlaybench-v",
        "key": "image_id",
        "features": stated or features._to_yaml_list(),
        "sources": [],
        "settings": {},
        "prompts": {},
        "versions": {},
        "stages": [],
        "splits": facts,
        "content_digest": content_digest({split: fact.content_digest for split, fact in facts.items()}),
        "statistics": None,
        "exclusions": none,
        "files": files,
    }
    Manifest(**(known | changes)).write(folder)
    return folder
