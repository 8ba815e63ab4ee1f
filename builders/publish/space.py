"""A page as a static Space of the Hub: one file to read in a browser, with nothing that runs on a server.

publish_page(Path("report.html"), "org/name")
"""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import CommitOperationAdd, HfApi
from huggingface_hub.errors import HFValidationError
from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]  # exported lazily

from builders.publish.hub_state import in_words
from loaders.errors import HubError, InputError
from loaders.files.untrusted import read_text

MARK = "bedside-report"
"""The tag of a Space's card by which a page of ours is known."""
_CARD = f"""---
title: Bedside report
sdk: static
app_file: index.html
tags:
- {MARK}
---

Written by `bedside report`, which fetches nothing and has no text that cases hide.
"""
_MOST_CARD = 1 << 20


def publish_page(page: Path, repo_id: str, *, api: HfApi | None = None) -> str:
    """Put a page into a static Space, which is made where it is missing, in one commit; the address of the Space.

    Raises: InputError for a name that is none; HubError where the Hub cannot be reached, does not let this token
    write, or holds a Space of that name that shows something else.
    """
    try:
        validate_repo_id(repo_id)
    except HFValidationError as error:
        raise InputError(f"Space {repo_id!r}", found=" ".join(str(error).split()), expected="org/name") from error
    if repo_id.count("/") != 1:
        raise InputError(f"Space {repo_id!r}", found="names no owner", expected="org/name")
    api = api or HfApi()
    try:
        api.create_repo(repo_id, repo_type="space", space_sdk="static", exist_ok=True)
        held = set(api.list_repo_files(repo_id, repo_type="space"))
        card = Path(api.hf_hub_download(repo_id, "README.md", repo_type="space")) if "README.md" in held else None
    except Exception as error:  # the library does not check what it is answered
        raise HubError(f"Space {repo_id}", found=in_words(error), expected="a Space that you may write to") from error
    ours = card is not None and MARK in read_text(card, most=_MOST_CARD, expected="a card")
    if "index.html" in held and not ours:
        do = "Name another Space, or take that page away on the Hub"
        raise HubError(f"Space {repo_id}", found="shows a page that Bedside did not write", expected="none", do=do)
    operations = [CommitOperationAdd("README.md", _CARD.encode()), CommitOperationAdd("index.html", page)]
    try:
        api.create_commit(repo_id, operations, commit_message="Report", repo_type="space")
    except Exception as error:
        raise HubError(f"Space {repo_id}", found=in_words(error), do="Run the same command again") from error
    return f"{api.endpoint}/spaces/{repo_id}"
