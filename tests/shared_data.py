"""Real captions and images that are never part of the project: tests that want them skip where they are absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def shared_data(name: str) -> Path:
    """A file or folder of the data folder (BEDSIDE_SHARED/data, by default ../shared/data); without it, skip."""
    path = Path(os.environ.get("BEDSIDE_SHARED", ROOT.parent / "shared")) / "data" / name
    if not path.exists():
        pytest.skip(f"real data is not here: {name} (set BEDSIDE_SHARED to the folder that holds data/)")
    return path
