"""The bundled sample, written to a folder and read from there like anybody's own table of photos."""

from __future__ import annotations

from pathlib import Path

from builders.samples.threemdbench.collection import sample_digest, write_sample
from builders.threemdbench.labels import BY_NAME
from builders.threemdbench.sources.photo import Facts, PhotoSource
from builders.threemdbench.sources.table import open_table

FACTS = Facts("sample", "bundled sample of drawn photos", None, "", "", "")


def open_sample(folder: Path) -> PhotoSource:
    """The sample, drawn below `folder` unless it lies there already.

    Raises: BedsideError when the disk is full.
    """
    return open_table(write_sample(folder / f"sample-{sample_digest()[:12]}"), FACTS, BY_NAME)
