"""One dataset repository on the Hub: what it holds now, and requests that survive a temporary failure.

The client library does not retry a commit, a tag, a look at the refs or the creation of a repository, and rightly so:
the reply to a commit can be lost after the commit was made. `HubRepo.ask` sends such a request again only after looking
at what the Hub holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from huggingface_hub import HfApi, RepoFile, get_session
from huggingface_hub.errors import HfHubHTTPError, HFValidationError, RepositoryNotFoundError
from huggingface_hub.utils import (  # type: ignore[attr-defined]  # exported lazily
    parse_ratelimit_headers,
    validate_repo_id,
)

from builders.publish.local_release import LocalFile, LocalRelease
from builders.publish.plan import TAG, message
from builders.publish.watch import DeadlinePassed, Watch
from builders.release.croissant import CROISSANT
from loaders.errors import InputError, first_of
from loaders.files.disk import scratch
from loaders.files.json_values import read_object
from loaders.hub import MALFORMED, http_cause, in_words, is_temporary, status_of
from loaders.manifest import NAME, file_digest

T = TypeVar("T")

ATTEMPTS = 4
RETRIED_ATTEMPTS = 2  # for calls whose single requests the library already retries, for about 25 seconds
LONGEST_WAIT = 300.0  # seconds that one request to wait (Retry-After) is honoured
PATIENCE = 120.0  # seconds without a byte before a request counts as lost; the Hub gives a commit 60
# The Hub's own file, never part of a release and never deleted by one.
OF_THE_HUB = frozenset({".gitattributes"})


class HubFault(Exception):
    """A request to the Hub that failed for good: `what` was asked, and the `error` as the library raised it."""

    def __init__(self, what: str, error: Exception) -> None:
        super().__init__(f"{what}: {in_words(error)}")
        self.error = error
        self.status = status_of(error)
        self.wait = asked_wait(error)


def check_name(repo_id: str, what: str) -> None:
    """Raises: InputError for anything that is not the name of a repository with its owner."""
    try:
        validate_repo_id(repo_id)
    except HFValidationError as error:
        raise InputError(f"{what} {repo_id!r}", found=" ".join(str(error).split()), expected="org/name") from error
    if repo_id.count("/") != 1:
        raise InputError(f"{what} {repo_id!r}", found="names no owner", expected="org/name")


def asked_wait(error: BaseException) -> float | None:
    """Seconds that the Hub asks to wait (its rate-limit header, or Retry-After), if it says."""
    cause = http_cause(error)
    if not isinstance(cause, HfHubHTTPError):
        return None
    limit = parse_ratelimit_headers(cause.response.headers)
    if limit is not None and limit.remaining == 0:
        return float(limit.reset_in_seconds)
    after = str(cause.response.headers.get("Retry-After", ""))
    return float(after) if after.isdecimal() else None


@dataclass(frozen=True, slots=True)
class Refs:
    """The refs of a repository at one moment: the commit of main, and the commit of each tag."""

    head: str
    tags: Mapping[str, str]

    @property
    def versions(self) -> list[tuple[str, str]]:
        """Versions and their commits, newest first."""
        versions = [(tag, commit) for tag, commit in self.tags.items() if TAG.fullmatch(tag)]
        return sorted(versions, key=lambda version: version_key(version[0]), reverse=True)


@dataclass(frozen=True, slots=True)
class Difference:
    """What a commit lacks or holds differently (`changed`), and what it holds besides the release (`extra`)."""

    changed: tuple[str, ...]
    extra: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.changed or self.extra)

    def __str__(self) -> str:
        named = [*self.changed, *(f"{path} (not in the release)" for path in self.extra)]
        return first_of(named)


@dataclass(frozen=True, slots=True)
class Claim:
    """What the manifest of a commit says: whose release it is, SHA-256 and size of its files."""

    corpus: object
    stand_in: bool
    files: Mapping[str, tuple[object, object]]

    def holds(self, file: RepoFile) -> bool:
        """Whether a file of the commit belongs to the release, as far as a list of files can tell."""
        sha256, size = self.files.get(file.path, (None, None))
        return file.path == NAME or (file.lfs.sha256 == sha256 if file.lfs is not None else file.size == size)


class HubRepo:
    """A dataset repository, accessed through `api`; `watch` keeps the deadline and informs the user."""

    def __init__(self, api: HfApi, repo_id: str, watch: Watch) -> None:
        self.api = api
        self.repo_id = repo_id
        self.watch = watch
        self._files: dict[str, dict[str, RepoFile]] = {}
        self._claims: dict[str, Claim | None] = {}

    def ask(
        self,
        what: str,
        send: Callable[[], T],
        *,
        landed: Callable[[], T | None] | None = None,
        attempts: int = ATTEMPTS,
    ) -> T:
        """Send a request, up to `attempts` times while its failure is temporary and the deadline is ahead.

        `landed` says whether the request took effect although it failed: what `send` would have returned, or None. It
        is called after every failure with an unknown outcome, before anything is sent again.

        Raises: HubFault for the last failure, whatever the library raised; DeadlinePassed if there is no time left.
        """
        for attempt in range(1, attempts + 1):
            try:
                self.watch.enter(what)
                _limit_patience()
                return send()
            except (DeadlinePassed, HubFault):
                raise
            except Exception as error:
                self.watch.trouble = f"{what}: {in_words(error)}"
                if not is_temporary(error):
                    raise HubFault(what, error) from error
                if landed is not None and status_of(error) != 429 and (outcome := landed()) is not None:
                    self.watch.say(f"{what}: {in_words(error)}, but it took effect")
                    return outcome
                asked = asked_wait(error)
                pause = 2.0 ** (attempt - 1) if asked is None else asked
                if attempt == attempts or pause > min(LONGEST_WAIT, self.watch.left):
                    raise HubFault(what, error) from error
                again = f"waiting {pause:.0f} s, then again ({attempt + 1}/{attempts})"
                self.watch.say(f"{what}: {in_words(error)}; {again}")
                time.sleep(pause)
        raise AssertionError("the last attempt returns or raises")

    def look(self) -> Refs | None:
        """The refs now; None if the repository does not exist (or is hidden from this token)."""
        return self.ask("checking the Hub", self.glance)

    def glance(self) -> Refs | None:
        """Like `look`, without a second attempt; raises what the library raises."""
        try:
            refs = self.api.list_repo_refs(self.repo_id, repo_type="dataset")
        except RepositoryNotFoundError:
            return None
        heads = {branch.name: branch.target_commit for branch in refs.branches}
        return Refs(heads.get("main", ""), {tag.name: tag.target_commit for tag in refs.tags})

    def files(self, commit: str) -> dict[str, RepoFile]:
        """Every file of a commit by path (a commit never changes, so this is requested once)."""
        if commit not in self._files:
            tree = partial(self.api.list_repo_tree, self.repo_id, recursive=True, revision=commit, repo_type="dataset")
            entries = self.ask(f"listing commit {commit[:8]}", lambda: list(tree()))
            self._files[commit] = {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}
        return self._files[commit]

    def difference(self, commit: str, release: LocalRelease) -> Difference:
        """How a commit differs from a release, by digests; the Hub's own files do not count."""
        held = self.files(commit)
        changed = [path for path, file in release.files.items() if path not in held or not _same(held[path], file)]
        extra = [path for path in held if path not in release.files and path not in OF_THE_HUB]
        return Difference(tuple(sorted(changed)), tuple(sorted(extra)))

    def touched(self, older: str, newer: str) -> set[str]:
        """Paths whose content differs between two commits."""
        before = {path: file.blob_id for path, file in self.files(older).items()}
        after = {path: file.blob_id for path, file in self.files(newer).items()}
        return {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}

    def damage(self, commit: str, path: str, release: LocalRelease) -> str | None:
        """How a file that is downloaded as a reader would differs from the release; None if it does not. That a commit
        lists a file is no proof that its bytes are there."""
        with scratch() as fresh:
            try:
                digest = file_digest(self._downloaded(path, commit, fresh, f"reading back {path}", force=True))
            except HubFault as fault:
                if is_temporary(fault.error):
                    raise
                return f"cannot be downloaded ({in_words(fault.error)})"
        return None if digest == release.files[path].sha256 else f"has SHA-256 {digest[:12]}…"

    def _downloaded(self, path: str, commit: str, cache: Path, what: str, *, force: bool = False) -> Path:
        """A file of a commit, downloaded into a cache."""
        download = partial(self.api.hf_hub_download, self.repo_id, path, repo_type="dataset", revision=commit)
        return Path(self.ask(what, lambda: download(cache_dir=cache, force_download=force)))

    def claim(self, commit: str) -> Claim | None:
        """What the manifest of a commit says; None if there is none, or none of a release."""
        if commit not in self._claims:
            self._claims[commit] = self._read_claim(commit) if NAME in self.files(commit) else None
        return self._claims[commit]

    def _read_claim(self, commit: str) -> Claim | None:
        stated = self._object(NAME, commit)
        try:
            files = {path: (facts["sha256"], facts["size"]) for path, facts in stated["files"].items()}
            claim = Claim(stated["corpus"], bool(stated.get("stand_in")), files)
        except MALFORMED:
            return None
        return claim if claim.corpus else None

    def date(self, commit: str) -> str:
        """The date of publication that the croissant.json of a commit states; "" if it states none."""
        date = self._object(CROISSANT, commit).get("datePublished") if CROISSANT in self.files(commit) else None
        return date if isinstance(date, str) and date.isprintable() and len(date) < 40 else ""

    def _object(self, path: str, commit: str) -> dict[str, Any]:
        """The JSON object in a file of a commit; an empty one if it is none."""
        with scratch() as fresh:
            downloaded = self._downloaded(path, commit, fresh, f"reading {path} of {commit[:8]}")
            try:
                return read_object(downloaded)
            except InputError:
                return {}

    def other_release(self, refs: Refs, release: LocalRelease) -> str | None:
        """What main or a version holds that a release like this one must not follow; None if it may. That is a release
        of another corpus or, for a stand-in, one of real data."""
        for revision, commit in {"main": refs.head, **dict(refs.versions)}.items():
            claim = self.claim(commit) if commit else None
            if claim is not None and claim.corpus != release.manifest.corpus:
                return f"{revision} holds a release of {claim.corpus}"
            if claim is not None and release.manifest.stand_in is not None and not claim.stand_in:
                return f"{revision} holds real data, but this release is a stand-in"
        return None

    def foreign(self, refs: Refs, release: LocalRelease, paths: Iterable[str]) -> tuple[str, ...]:
        """Those of `paths` whose content on main was not put there by a release of this corpus."""
        left = {path: self.files(refs.head)[path].blob_id for path in paths}
        commits = self._releases(refs)
        while left and (commit := next(commits, None)) is not None:
            claim = self.claim(commit)
            if claim is not None and claim.corpus == release.manifest.corpus:
                ours = {file.blob_id for file in self.files(commit).values() if claim.holds(file)}
                left = {path: blob for path, blob in left.items() if blob not in ours}
        return tuple(sorted(left))

    def underway(self, refs: Refs) -> Iterator[tuple[str, str]]:
        """Versions that main holds without a tag, since its newest commit with one, and their commits: they are being
        published, or somebody was interrupted."""
        if refs.head and refs.head not in refs.tags.values() and NAME in self.files(refs.head):
            for commit, title in self.commits():
                if commit in refs.tags.values():
                    return
                if version := _version_in(title):
                    yield version, commit

    def _releases(self, refs: Refs) -> Iterator[str]:
        """Commits that may be releases: those of the versions, then those of main that never got a tag."""
        tagged = dict.fromkeys(commit for _, commit in refs.versions)
        yield from tagged
        yield from (commit for commit, title in self.commits() if commit not in tagged and _version_in(title))

    def find(self, release: LocalRelease, *, since: str) -> str | None:
        """The commit after `since` on main that holds exactly this release, if there is one."""
        for commit, _ in self.commits():
            if commit == since:
                return None
            if not self.difference(commit, release):
                return commit
        return None

    def commits(self) -> list[tuple[str, str]]:
        """The commits of main with their titles, newest first."""
        listed = partial(self.api.list_repo_commits, self.repo_id, repo_type="dataset")
        return [(commit.commit_id, commit.title) for commit in self.ask("checking the commits", listed)]


def version_key(tag: str) -> list[int]:
    """The sort key of a version."""
    return [int(number) for number in tag.removeprefix("v").split(".")]


def _version_in(title: str) -> str:
    """The version that a commit with this title published; "" if it published none."""
    version = title.removeprefix(message(""))
    return version if title == message(version) and TAG.fullmatch(version) else ""


def _same(held: RepoFile, file: LocalFile) -> bool:
    if held.lfs is not None:
        return bool(held.lfs.sha256 == file.sha256)
    return bool(held.size == file.size and held.blob_id == file.blob_id())


def _limit_patience() -> None:
    """Let no request hang forever: the library's client has no timeout unless its owner set one."""
    client = get_session()
    if client.timeout.read is None:
        client.timeout = PATIENCE
