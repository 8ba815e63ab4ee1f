"""What the loopback Hub stores: repositories with content-addressed commits, refs and large objects.

Ids of files are git's own; large objects are stored by SHA-256, per repository as on the real Hub. Everything is in
memory.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

EPOCH = datetime(2024, 1, 1, tzinfo=UTC)


def git_id(kind: str, body: bytes) -> str:
    """The SHA-1 by which git names an object: over its kind, its length and its bytes."""
    return hashlib.sha1(f"{kind} {len(body)}\0".encode() + body, usedforsecurity=False).hexdigest()


class RefusalError(Exception):
    """A reply other than 2xx: status, the Hub's error code (header X-Error-Code) and message."""

    def __init__(self, status: int, message: str, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code


@dataclass(frozen=True)
class Entry:
    """A file of a commit: a git blob, plus the content of the pointer (digest, size in bytes) for a large object."""

    blob: str
    size: int
    sha256: str | None = None
    pointer_size: int = 0

    @property
    def lfs(self) -> dict[str, Any] | None:
        if self.sha256 is None:
            return None
        return {"oid": self.sha256, "sha256": self.sha256, "size": self.size, "pointerSize": self.pointer_size}


Tree = dict[str, Entry]


@dataclass(frozen=True)
class Commit:
    id: str
    parents: list[str]
    tree: Tree
    title: str
    message: str
    author: str
    date: str


@dataclass
class Repo:
    kind: str  # "dataset" | "model" | "space"
    id: str
    private: bool = False
    gated: str | bool = False
    commits: dict[str, Commit] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    large: set[str] = field(default_factory=set)  # digests of the objects uploaded to this repository

    def at(self, revision: str) -> Commit:
        """The commit that a branch, a tag, an id or the beginning of an id names."""
        for refs in (self.branches, self.tags):
            if revision in refs:
                return self.commits[refs[revision]]
        if re.fullmatch(r"[0-9a-f]{7,40}", revision):
            for commit in self.commits.values():
                if commit.id.startswith(revision):
                    return commit
        raise RefusalError(404, f"Invalid rev id: {revision}", "RevisionNotFound")

    def history(self, commit: Commit) -> Iterator[Commit]:
        while True:
            yield commit
            if not commit.parents:
                return
            commit = self.commits[commit.parents[0]]


def folders(tree: Tree) -> set[str]:
    """Every folder of a commit; "" is the root."""
    above = {str(folder) for path in tree for folder in PurePosixPath(path).parents}
    return above - {"."} | {""}


class Store:
    """Repositories by "datasets/org/name", and the bytes of their files."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.repos: dict[str, Repo] = {}

    def repo(self, repo_id: str, kind: str = "dataset") -> Repo:
        try:
            return self.repos[f"{kind}s/{repo_id}"]
        except KeyError:
            raise RefusalError(404, "Repository not found", "RepoNotFound") from None

    def large(self, repo: Repo, digest: str) -> bytes | None:
        """The bytes of a large object, if this repository has received them."""
        return self.objects.get(f"large/{digest}") if digest in repo.large else None

    def blob(self, body: bytes) -> Entry:
        oid = git_id("blob", body)
        self.objects[f"git/{oid}"] = body
        return Entry(oid, len(body))

    def commit(self, repo: Repo, branch: str, tree: Tree, title: str, message: str, author: str) -> Commit:
        parents = [repo.branches[branch]] if branch in repo.branches else []
        date = f"{EPOCH + timedelta(seconds=len(repo.commits)):%Y-%m-%dT%H:%M:%S.000Z}"
        files = (f"{entry.blob} {path}" for path, entry in sorted(tree.items()))
        text = "\n".join([*files, *parents, author, date, title, message])
        commit = Commit(git_id("commit", text.encode()), parents, tree, title, message, author, date)
        repo.commits[commit.id] = commit
        repo.branches[branch] = commit.id
        return commit
