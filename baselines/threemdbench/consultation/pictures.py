"""The photos of a run as small pictures in its folder, so that its dialogues can be looked at without the corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from baselines.threemdbench.consultation.record import Case
from loaders.disk import write_whole
from loaders.pages import small_jpeg

FOLDER = "images"


def picture_path(run: Path, case_id: str) -> Path:
    """Where a run keeps the picture of a case; the name tells neither the case nor its diagnosis."""
    return run / FOLDER / f"{hashlib.sha256(case_id.encode()).hexdigest()[:16]}.jpg"


def keep_pictures(run: Path, cases: Iterable[Case]) -> None:
    """Write a small JPEG of every case's photo, without metadata; pictures that are there already stay.

    Raises InputError for a photo that cannot be opened, BedsideError when the disk is full.
    """
    for case in cases:
        path = picture_path(run, case.case_id)
        if path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, small_jpeg(case.image))
