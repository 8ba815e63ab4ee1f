"""What the reader of the Croissant format itself, mlcroissant, says of a release."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from builders.release.croissant import CROISSANT
from loaders.manifest import Manifest


def read_by_mlcroissant(folder: Path) -> Any:
    """The metadata of a release, after checking that it is valid and that all record sets give the rows of their
    splits.

    The test ends here if mlcroissant is not installed, which it is in CI.
    """
    mlcroissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed (`pip install mlcroissant`)")
    read, manifest = mlcroissant.Dataset(jsonld=folder / CROISSANT), Manifest.read(folder)
    assert not read.metadata.issues.errors
    assert {one.name for one in read.metadata.record_sets} == {config.name for config in manifest.named_configs()}
    for config in manifest.named_configs():
        rows = [row[f"{config.name}/{manifest.key}"] for row in read.records(config.name)]
        assert len(set(rows)) == len(rows) == sum(manifest.splits[split].rows for split in config.splits)
    return read.metadata
