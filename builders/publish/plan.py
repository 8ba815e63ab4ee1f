"""Publishing a release, as data: what was asked for, what it would do, and what it did."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from builders.publish.local_release import LocalRelease

TAG = re.compile(r"v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)", re.ASCII)

Gate = Literal["auto", "manual"]
DEADLINE = 6 * 3600.0  # seconds


class Wishes(TypedDict, total=False):
    """How to publish. The default of each field is given with it."""

    private: bool
    """The repository must be private; a missing one is created private. Default: False."""
    gated: Gate | None
    """Readers must ask for access ("auto": granted at once, "manual": by the owner). The terms that they see are the
    card's (`extra_gated_*`). Default: None, which leaves the setting of the repository as it is."""
    replace: Sequence[str]
    """Files on main that may be deleted or overwritten although no release of this corpus put them there; a name that
    ends in a slash is a folder. Default: none."""
    own: bool
    """Publish a release although it holds what its owners keep (`loaders.manifest.KEPT`). Default: refuse it."""
    date: str
    """YYYY-MM-DD, the date of publication that croissant.json states. Default: none, as nothing depends on a clock."""
    dry_run: bool
    """Report the plan and send nothing that could change the Hub. Default: False."""
    deadline: float
    """Seconds after which publishing is given up, whatever it is doing. Default: `DEADLINE`."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Paths to commit and to delete on top of `head` (both empty if main already holds the release).

    `unasked` are those whose content on main is not this corpus's, and which nobody named: such a plan is not carried
    out.
    """

    creates: bool
    head: str
    upload: tuple[str, ...]
    delete: tuple[str, ...]
    unasked: tuple[str, ...] = ()

    @property
    def commits(self) -> bool:
        return bool(self.upload or self.delete)

    def lines(self, release: LocalRelease, repo_id: str, tag: str, wishes: Wishes) -> Iterator[str]:
        """The plan in words, in the order in which it is carried out."""
        if self.creates:
            yield f"create the {'private ' if wishes.get('private') else ''}dataset repository {repo_id}"
        if wishes.get("gated"):
            yield f"readers must request access ({wishes['gated']})"
        for path in self.upload:
            yield f"upload {path} ({release.files[path].size:,} bytes)"
        for path in self.delete:
            yield f"delete {path} (not in the release)"
        if self.commits:
            yield f"one commit on main: {message(tag)}"
        else:
            yield f"main already holds this release (commit {self.head[:8]})"
        yield f"tag {tag}"


@dataclass(frozen=True, slots=True)
class Published:
    """A published release: `commit` is the one the tag names, `uploaded` the paths that it changed. `unchanged`: the
    Hub already held everything. After a dry run `commit` is the head of main (or "") and nothing was uploaded."""

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
