"""The caches in which Hugging Face's libraries store what they fetch and read.

They are on a disk like any other, which may be full or read-only (as home folders in containers are). That is no fault
of the data or the Hub, and gets an error of its own.
"""

from __future__ import annotations

import errno
import sys
from pathlib import Path

from huggingface_hub import constants

from loaders.errors import BedsideError
from loaders.files.disk import FORBIDDEN, NO_ROOM, causes, writing

_DO = "Name another place for this cache: HF_HOME=DIR"


def refuse_cache(error: BaseException) -> None:
    """Raise a clear error if a library could not write into its cache; do nothing for any other error.

    Raises: BedsideError if the disk of the cache is full, InputError if the cache may not or cannot be written or made.
    """
    for cause in causes(error):
        if not isinstance(cause, OSError) or (place := _cache(cause)) is None:
            continue
        try:
            with writing(place):
                raise cause
        except BedsideError as told:
            if cause.errno == errno.EFBIG:
                told.do += ": HF_HOME=DIR"
            else:
                told.do = f"Free some space there. {_DO}" if cause.errno in NO_ROOM else _DO
            raise


def _cache(error: OSError) -> Path | None:
    """The path in a cache where an error happened, if it names one; a full disk may name none."""
    named = Path(error.filename).absolute() if isinstance(error.filename, str) else None
    if named and error.errno in (*FORBIDDEN, errno.ENOTDIR, errno.EEXIST, errno.ENOENT):
        above = any(cache.is_relative_to(named) for cache in _caches())
        # Below a cache, a file may be missing; at it, the cache cannot be made.
        below = error.errno != errno.ENOENT and any(named.is_relative_to(cache) for cache in _caches())
        return named if above or below else None
    if error.errno in NO_ROOM or error.errno == errno.EROFS:
        return named or _caches()[0]
    return None


def _caches() -> list[Path]:
    """Where `datasets`, if imported, stores rows, and where files of the Hub are stored."""
    places = [constants.HF_HUB_CACHE, constants.HF_HOME]
    if library := sys.modules.get("datasets"):
        places.insert(0, library.config.HF_DATASETS_CACHE)
    return [Path(place).absolute() for place in places]
