"""Files in a repository that are not part of the release to be published: publishing never removes them unasked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from builders.publish.hub_state import HubRepo, Refs
from builders.publish.local_release import LocalRelease
from builders.publish.plan import TAG, message
from loaders.manifest import NAME


def other_release(hub: HubRepo, refs: Refs, release: LocalRelease) -> str | None:
    """What main or a version holds that a release like this one must not follow; None if it may.

    That is a release of another corpus or, for a stand-in, one of real data.
    """
    for revision, commit in {"main": refs.head, **dict(versions_of(refs))}.items():
        claim = hub.claim(commit) if commit else None
        if claim is not None and claim.corpus != release.manifest.corpus:
            return f"{revision} holds a release of {claim.corpus}"
        if claim is not None and release.manifest.stand_in is not None and not claim.stand_in:
            return f"{revision} holds real data, but this release is a stand-in"
    return None


def foreign(hub: HubRepo, refs: Refs, release: LocalRelease, paths: Iterable[str]) -> tuple[str, ...]:
    """Those of `paths` whose content on main was not put there by a release of this corpus."""
    held = hub.files(refs.head)
    left = {path: held[path].blob_id for path in paths}
    commits = _releases(hub, refs)
    while left and (commit := next(commits, None)) is not None:
        claim = hub.claim(commit)
        if claim is not None and claim.corpus == release.manifest.corpus:
            ours = {file.blob_id for file in hub.files(commit).values() if claim.holds(file)}
            left = {path: blob for path, blob in left.items() if blob not in ours}
    return tuple(sorted(left))


def version_key(tag: str) -> list[int]:
    """The sort key of a version."""
    return [int(number) for number in tag.removeprefix("v").split(".")]


def versions_of(refs: Refs) -> list[tuple[str, str]]:
    """Versions and their commits, newest first."""
    versions = [(tag, commit) for tag, commit in refs.tags.items() if TAG.fullmatch(tag)]
    return sorted(versions, key=lambda version: version_key(version[0]), reverse=True)


def underway(hub: HubRepo, refs: Refs) -> Iterator[tuple[str, str]]:
    """Versions that main holds without a tag, since its newest commit with one, and their commits: they are being
    published, or somebody was interrupted."""
    if refs.head and refs.head not in refs.tags.values() and NAME in hub.files(refs.head):
        for commit, title in hub.commits():
            if commit in refs.tags.values():
                return
            yield from ((version, commit) for version in _version_in(title))


def _version_in(title: str) -> list[str]:
    """The version that a commit with this title published, if it did."""
    prefix = message("")
    version = title.removeprefix(prefix)
    return [version] if title.startswith(prefix) and TAG.fullmatch(version) else []


def _releases(hub: HubRepo, refs: Refs) -> Iterator[str]:
    """Commits that may be releases: those of the versions, then those of main that never got a tag."""
    tagged = dict.fromkeys(commit for _, commit in versions_of(refs))
    yield from tagged
    for commit, title in hub.commits():
        if commit not in tagged and _version_in(title):
            yield commit
