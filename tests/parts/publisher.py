"""A small release, and a publisher that does not wait, for tests of publishing."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from huggingface_hub import HfApi

from builders.publish.plan import Published
from builders.publish.run import publish
from builders.release.croissant import CROISSANT
from loaders.errors import HubError
from loaders.manifest import ContentDigest, ExclusionFacts, FileFacts, Manifest, SplitFacts, content_digest
from tests.parts.faulty_hub import FaultyHub

REPO = "org/corpus"
CARD = """---
license: cc-by-4.0
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train-*.parquet
---
# A corpus
"""
SHARDS = ["data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet"]
UNCHECKED = ["--no-verify"]  # its releases are just what the Hub has to be told: no corpus has such rows
FILES = ["README.md", *SHARDS, "exclusions.parquet", "manifest.json"]


ROUTES = [
    ("GET", "/whoami-v2"),
    ("GET", "/refs"),
    ("POST", "/repos/create"),
    ("GET", "/tree/"),
    ("GET", f"/api/datasets/{REPO}$"),
    ("POST", "/preupload/"),
    ("POST", "/objects/batch"),
    ("PUT", "^/lfs/"),
    ("POST", "/verify"),
    ("POST", "/validate-yaml"),
    ("POST", "/commit/"),
    ("POST", "/tag/"),
    ("HEAD", "/resolve/"),
    ("GET", "/resolve/"),
]


def make_release(
    folder: Path,
    *,
    text: str = "swollen",
    card: str = CARD,
    corpus: str = "medlaybench-v",
    stand_in: str | None = None,
    notes: str = "",
    croissant: str = "",
    versions: dict[str, str] | None = None,
) -> Path:
    """Two shards of two rows, an empty table of exclusions, a card and a manifest."""
    (folder / "data").mkdir(parents=True)
    rows = [{"id": number, "text": f"{text} {number}"} for number in range(4)]
    digest = ContentDigest()
    for row in rows:
        digest.update(row)
    for shard, part in zip(SHARDS, (rows[:2], rows[2:]), strict=True):
        pq.write_table(pa.Table.from_pylist(part), folder / shard)
    pq.write_table(pa.table({"id": pa.array([], pa.int64())}), folder / "exclusions.parquet")
    (folder / "README.md").write_text(card, encoding="utf-8")
    if notes:
        (folder / "notes.txt").write_text(notes, encoding="utf-8")
    if croissant:
        (folder / CROISSANT).write_text(croissant, encoding="utf-8")
    listed = {
        path: FileFacts(
            sha256=hashlib.sha256((folder / path).read_bytes()).hexdigest(), size=(folder / path).stat().st_size
        )
        for path in [*FILES[:-1], *(["notes.txt"] if notes else []), *([CROISSANT] if croissant else [])]
    }
    Manifest(
        corpus=corpus,
        stand_in=stand_in,
        key="id",
        features=[],
        sources=[],
        settings={},
        prompts={},
        versions=versions or {},
        stages=[],
        splits={"train": SplitFacts(rows=4, num_bytes=64, content_digest=digest.hexdigest())},
        content_digest=content_digest({"train": digest.hexdigest()}),
        statistics={},
        exclusions=ExclusionFacts(rows=0, content_digest=hashlib.sha256().hexdigest()),
        files=listed,
    ).write(folder)
    return folder


class Publisher:
    """`publish` with a token, without real waiting, and with what it said and how long it would have waited."""

    def __init__(self, hub: FaultyHub) -> None:
        self.hub = hub
        self.api = HfApi(endpoint=hub.url, token=hub.token)
        self.waits: list[float] = []
        self.said: list[str] = []

    def __call__(self, folder: Path, repo_id: str = REPO, *, tag: str = "v1.0.0", **options: Any) -> Published:
        api, sleep = options.pop("api", self.api), options.pop("sleep", self.waits.append)
        options = {"endpoint": api.endpoint, "token": api.token, "report": self.said.append, **options}
        with patch("builders.publish.hub_state.time", SimpleNamespace(sleep=sleep)):
            return publish(folder, repo_id, tag=tag, **options)

    def fails(self, folder: Path, repo_id: str = REPO, **options: Any) -> str:
        with pytest.raises(HubError) as error:
            self(folder, repo_id, **options)
        return str(error.value)

    def files(self, revision: str = "main") -> list[str]:
        return self.api.list_repo_files(REPO, revision=revision, repo_type="dataset")

    def commits(self) -> list[str]:
        return [commit.title for commit in self.api.list_repo_commits(REPO, repo_type="dataset")]

    def tags(self) -> dict[str, str]:
        return dict(self.hub.repo(REPO).tags)

    def head(self) -> str:
        return self.hub.repo(REPO).branches["main"]


def assert_published_once(publisher: Publisher, done: Published) -> None:
    """One commit beside the first, with all files, named by the tag."""
    assert publisher.commits() == ["Release v1.0.0", "initial commit"]
    assert publisher.files("v1.0.0") == [".gitattributes", *FILES]
    assert publisher.tags() == {"v1.0.0": publisher.head()} == {"v1.0.0": done.commit}


def bedside_publish(release: Path, environment: dict[str, str], *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scripts", "publish", str(release), REPO, "--tag", "v1.0.0", *UNCHECKED, *options]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=1200)


def of_manifest(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        change(manifest)
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")

    return changed
