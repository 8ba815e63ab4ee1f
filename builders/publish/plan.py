"""What publishing a release would do, and what it did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from builders.publish.local_release import LocalRelease

Gate = Literal["auto", "manual"]
ReadBack = Literal["bytes", "digests"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Paths to commit and to delete on top of `head` (both empty when main holds the release already)."""

    creates: bool
    head: str
    upload: tuple[str, ...]
    delete: tuple[str, ...]

    @property
    def commits(self) -> bool:
        return bool(self.upload or self.delete)

    def lines(
        self, release: LocalRelease, repo_id: str, tag: str, *, private: bool, gated: Gate | None
    ) -> Iterator[str]:
        """The plan in words, in the order in which it is carried out."""
        if self.creates:
            yield f"create the {'private ' if private else ''}dataset repository {repo_id}"
        if gated:
            yield f"readers ask for access ({gated})"
        for path in self.upload:
            yield f"upload {path} ({release.files[path].size:,} bytes)"
        for path in self.delete:
            yield f"delete {path} (not in the release)"
        if self.commits:
            yield f"one commit on main: {message(tag)}"
        else:
            yield f"main holds this release already (commit {self.head[:8]})"
        yield f"tag {tag}"


@dataclass(frozen=True, slots=True)
class Published:
    """A published release: `commit` is the one the tag names, `uploaded` the paths that it changed. `unchanged`: the
    Hub held all of it before. After a dry run `commit` is the head of main (or "") and nothing was uploaded."""

    repo_id: str
    tag: str
    commit: str
    url: str
    uploaded: list[str]
    unchanged: bool
    plan: Plan


def message(tag: str) -> str:
    """The message of the commit that makes a release."""
    return f"Release {tag}"
