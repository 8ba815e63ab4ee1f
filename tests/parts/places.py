"""Where the project lies, and real captions and images that are never part of it: tests skip where they are absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("BEDSIDE_SHARED", ROOT.parent / "shared"))


def shared_data(name: str) -> Path:
    """A file or folder of the data folder (BEDSIDE_SHARED/data, by default ../shared/data); without it, skip."""
    path = SHARED / "data" / name
    if not path.exists():
        pytest.skip(f"real data is not here: {name} (set BEDSIDE_SHARED to the folder that holds data/)")
    return path
