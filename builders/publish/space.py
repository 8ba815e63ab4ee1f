"""A page as a static Space of the Hub: one file to read in a browser, with nothing that runs on a server.

publish_page(Path("report.html"), "org/name")
"""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import CommitOperationAdd, HfApi

from builders.publish.hub_state import check_name
from loaders.errors import HubError
from loaders.files.texts import read_text
from loaders.hub import in_words

MARK = "bedside-report"
"""The tag of a Space's card by which our pages are recognised."""
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
_EMPTY = {".gitattributes", "README.md"}  # the files of a Space that somebody created and nobody filled
_SHOWN = 3


def publish_page(page: Path, repo_id: str, *, api: HfApi | None = None) -> str:
    """Put a page into a static Space, created if missing, in one commit; returns the address of the Space.

    Raises: InputError for an invalid name; HubError if the Hub cannot be reached, does not let this token write, or has
    a Space of that name with somebody else's files.
    """
    check_name(repo_id, "Space")
    api = api or HfApi()
    try:
        others = _others(api, repo_id)
    except Exception as error:  # the library does not check the replies it gets
        raise HubError(f"Space {repo_id}", found=in_words(error), expected="a Space with write permission") from error
    if others:
        found = f"holds files that Bedside did not put there: {', '.join(others[:_SHOWN])}"
        do = "Name another Space, or delete those files on the Hub"
        raise HubError(f"Space {repo_id}", found=found, expected="an empty Space, or one written by Bedside", do=do)
    operations = [CommitOperationAdd("README.md", _CARD.encode()), CommitOperationAdd("index.html", page)]
    try:
        api.create_commit(repo_id, operations, commit_message="Report", repo_type="space")
    except Exception as error:
        raise HubError(f"Space {repo_id}", found=in_words(error), do="Run the same command again") from error
    return f"{api.endpoint}/spaces/{repo_id}"


def _others(api: HfApi, repo_id: str) -> list[str]:
    """The files of a Space that somebody else filled; none if it is empty, shows a page of ours, or was missing and is
    now created: the files that the Hub puts into a new one are nobody's."""
    if not api.repo_exists(repo_id, repo_type="space"):
        api.create_repo(repo_id, repo_type="space", space_sdk="static")
        return []
    held = set(api.list_repo_files(repo_id, repo_type="space"))
    if "README.md" in held:
        card = Path(api.hf_hub_download(repo_id, "README.md", repo_type="space"))
        if MARK in read_text(card, most=_MOST_CARD, expected="a card"):
            return []
    return sorted(held - _EMPTY)
