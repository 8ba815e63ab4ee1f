"""Publishes a release folder to the Hub: in one commit, read back, and tagged last (`bedside publish`).

    publish(Path("runs/release"), "org/name", tag="v1.0.0", report=print)

Each file has to be what the manifest says. Whether the rows are, only a `check` can tell: `bedside publish` passes that
of `bedside verify`.

The tag is what readers load, and it is set only on a commit that was read back and found to be the release. Any
interruption before that leaves the tag unset, so running the same command again is always safe: it looks at the Hub and
continues from what is there. Publishing the same release again changes nothing; another release under a published tag,
or under the version of an interrupted run, is refused.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from pathlib import Path
from shlex import quote
from typing import Unpack
from urllib.parse import urlsplit

from huggingface_hub import HfApi

from builders.publish.hub_state import HubRepo, check_name
from builders.publish.plan import DEADLINE, TAG, Published, Wishes
from builders.publish.publication import Publication
from builders.publish.watch import DeadlinePassed, Watch
from loaders.errors import InputError, ReleaseError
from loaders.manifest import Problem


def publish(
    folder: Path,
    repo_id: str,
    *,
    tag: str,
    token: str | None = None,
    endpoint: str | None = None,
    report: Callable[[str], object] = print,
    quietly: bool = False,
    check: Callable[[Path], Sequence[Problem]] | None = None,
    **wishes: Unpack[Wishes],
) -> Published:
    """Publish a release folder as a tag of a dataset repository; `wishes` are those of `plan.Wishes`.

    `report` is told every step, and at least every 15 seconds what is being waited for; with `quietly`, only problems.
    `check` says what is wrong with the rows of the folder; it is asked before the Hub is, and the deadline begins after
    it.

    Raises: InputError if the tag, the repository id, the endpoint or an option cannot be used; ReleaseError if the
    folder does not hold what its manifest says, or `check` found something; HubError, which
    says what the Hub holds and how to continue, if the release is not published.
    """
    if not TAG.fullmatch(tag):
        raise InputError(f"tag {tag!r}", found="is not a version", expected="vMAJOR.MINOR.PATCH, as v1.0.0")
    check_name(repo_id, "repository")
    gated, deadline = wishes.get("gated"), wishes.get("deadline", DEADLINE)
    if gated not in (None, "auto", "manual"):
        raise InputError(f"gated {gated!r}", found="is not a gating mode", expected="auto or manual")
    if not 0 < deadline < 1e9:
        raise InputError("the deadline", found=f"{deadline:g} s", expected="a time above zero")
    if (date := wishes.get("date", "")) and not _is_date(date):
        raise InputError(f"date {date!r}", found="is not a date", expected="YYYY-MM-DD, as 2026-11-22")
    api = HfApi(endpoint=endpoint and endpoint.rstrip("/"), token=token)  # croissant.json names it
    _check_endpoint(api.endpoint)
    if check is not None:
        _check_rows(folder, check, (lambda line: None) if quietly else report)
    watch = Watch(deadline, report, quietly)
    publication = Publication(HubRepo(api, repo_id, watch), folder, tag, wishes)
    try:
        return watch.run(publication.run)
    except DeadlinePassed:
        publication.stop_late()
    except KeyboardInterrupt as stop:
        stop.args = (f"Stopped while {watch.step}; {publication.done()}. Run the same command again to resume.",)
        raise


def _check_rows(folder: Path, check: Callable[[Path], Sequence[Problem]], report: Callable[[str], object]) -> None:
    """In the calling thread: native code of Arrow that is left behind in another ends the process with an abort."""
    report(f"checking {folder}, as `bedside verify` does")
    if problems := check(folder):
        more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
        do = f"`bedside verify {quote(str(folder))}` lists all. Mend what it names, and build the release again"
        raise ReleaseError(folder, found=f"{problems[0]}{more}", expected="a sound release", do=do)


def _is_date(text: str) -> bool:
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _check_endpoint(endpoint: str) -> None:
    """Raises: InputError."""
    try:
        place = urlsplit(endpoint)
        usable = place.scheme in ("http", "https") and bool(place.hostname) and place.port != 0
    except ValueError:
        usable = False
    if not usable:
        expected = "such as https://huggingface.co"
        raise InputError(f"endpoint {endpoint!r}", found="is not a web address", expected=expected)
