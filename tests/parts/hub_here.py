"""This process on a loopback Hub, with caches of its own."""

from __future__ import annotations

from pathlib import Path

import datasets
import pytest
from huggingface_hub import HfApi, constants

from tests.parts.faulty_hub import FaultyHub


def own_caches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub's clients keep their files in `folder`."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder / "hub-cache"))
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", folder / "datasets-cache")


def at_hub(hub: FaultyHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Hub's clients of this process talk to `hub`."""
    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    monkeypatch.setattr(datasets.config, "HF_ENDPOINT", hub.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}")
    monkeypatch.setenv("HF_TOKEN", hub.token)


def put(hub: FaultyHub, repo: str, folder: Path) -> str:
    """Commit every file of the folder to the main branch of a data set's repository; returns the commit's id."""
    HfApi(endpoint=hub.url, token=hub.token).create_repo(repo, repo_type="dataset", exist_ok=True)
    files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    return hub.commit(repo, files)
