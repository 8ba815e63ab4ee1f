"""A release folder to the Hub: verified, in one commit, read back, and tagged last (`bedside publish`).

    publish(Path("runs/release"), "org/medlaybench-v", tag="v1.0.0", report=print)

The tag is what readers load, and it is set only on a commit that was read back and found to be the release. Whatever
stops the way there leaves the tag unset, so running the same command again is always safe: it looks at the Hub and goes
on from what is there. The same release again changes nothing; another release under a published tag is refused.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

from huggingface_hub import HfApi
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # exported lazily

from builders.publish.hub_state import HubRepo
from builders.publish.local_release import LocalRelease
from builders.publish.plan import Gate, Published, ReadBack
from builders.publish.publication import Publication
from loaders.errors import InputError

TAG = re.compile(r"v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")


def publish(
    folder: Path,
    repo_id: str,
    *,
    tag: str,
    private: bool = False,
    gated: Gate | None = None,
    dry_run: bool = False,
    read_back: ReadBack = "bytes",
    token: str | None = None,
    endpoint: str | None = None,
    api: HfApi | None = None,
    report: Callable[[str], object] = print,
    sleep: Callable[[float], object] = time.sleep,
) -> Published:
    """Publish a release folder as a tag of a dataset repository.

    Args:
        private: the repository must be private; one that is missing is created so.
        gated: readers must ask for access ("auto": granted at once, "manual": by the owner). The terms that they see
            are the card's (`extra_gated_*`). None leaves the setting of the repository as it is.
        dry_run: report the plan and send nothing that could change the Hub.
        read_back: "bytes" downloads every large file again and compares its digest before the tag is set; "digests"
            believes the digests that the Hub lists.
        sleep: waits between attempts, in seconds.

    Raises:
        InputError: the tag, the repository id or an option cannot be used.
        ReleaseError: the folder does not hold what its manifest says.
        HubError: the release is not published; the text says what the Hub holds and how to go on.
    """
    if not TAG.fullmatch(tag):
        raise InputError(f"tag {tag!r}", found="is not a version", expected="vMAJOR.MINOR.PATCH, as v1.0.0")
    try:
        validate_repo_id(repo_id)
    except HFValidationError as error:
        raise InputError(f"repository {repo_id!r}", found=" ".join(str(error).split()), expected="org/name") from error
    if repo_id.count("/") != 1:
        raise InputError(f"repository {repo_id!r}", found="names no owner", expected="org/name")
    if gated not in (None, "auto", "manual"):
        raise InputError(f"gated {gated!r}", found="is not a kind of gate", expected="auto or manual")
    release = LocalRelease.read(folder)
    api = api or HfApi(endpoint=endpoint, token=token)
    hub = HubRepo(api, repo_id, sleep=sleep, report=report)
    return Publication(hub, release, tag, private, gated, report).run(dry_run=dry_run, read_back=read_back)
