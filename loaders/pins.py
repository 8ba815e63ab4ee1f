"""Pins each authors' repository to the commit that was first read here.

No paper names a commit of its data. So the first load of an authors' repository records the commit that it read and
the digest of its rows, in a file beside the Hub's cache. Later loads read that commit, and report rows that differ from
the first ones. A repository is identified by its whole address, so that a mirror is never taken for the Hub.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from huggingface_hub import constants

from loaders.errors import BedsideError
from loaders.files.disk import make_folder, write_whole
from loaders.files.json_values import read_json
from loaders.files.paths import is_there
from loaders.files.records import from_json, to_json

NAME = "bedside-first-loads.json"
PINNED = f"The first load pinned it, in {NAME} in the Hub's cache: delete that file, or name a revision"


@dataclass(frozen=True, slots=True)
class Pin:
    """What was first read from a repository: the commit, and the content digest of each split (by split and schema)."""

    commit: str
    digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Pins:
    pins: Mapping[str, Pin] = field(default_factory=dict)


def pinned_commit(repository: str) -> str | None:
    """The commit that was first read here from the repository at this address; None if there is none.

    Raises: InputError when the file cannot be read.
    """
    pin = _read().get(repository)
    return pin.commit if pin else None


def as_pinned(repository: str, commit: str, digests: Mapping[str, str]) -> bool | None:
    """Whether these rows are the ones that were first read; a first load, or a first split, becomes the pin.

    None if that is unknown: there is no pin yet, and no place to write one.

    Raises: InputError when the file cannot be read.
    """
    pins = _read()
    pin = pins.get(repository, Pin(commit))
    if pin.commit != commit or any(pin.digests.get(name, digest) != digest for name, digest in digests.items()):
        return False
    told = Pin(commit, {**pin.digests, **digests})
    if told == pins.get(repository):
        return True
    text = json.dumps(to_json(_Pins({**pins, repository: told})), indent=1, sort_keys=True) + "\n"
    try:
        make_folder(_path().parent)
        write_whole(_path(), text.encode())
    except (BedsideError, OSError):
        return None
    return True


def _path() -> Path:
    return Path(constants.HF_HUB_CACHE) / NAME


def _read() -> Mapping[str, Pin]:
    path = _path()
    if not is_there(path):
        return {}
    do = "Delete it: the next load of the authors' data pins them anew"
    return from_json(_Pins, read_json(path, expected="the commits that were first read", do=do), path, do=do).pins
