"""Images by name."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

from loaders.files.image_files import ImageIndex


def test_whether_there_are_any_is_asked_for_each_row_and_counts_nothing(tmp_path: Path) -> None:
    for number in range(1000):
        (tmp_path / f"{number}.jpg").touch()
    index = ImageIndex(tmp_path, tmp_path)
    tracemalloc.start()
    try:
        assert index and len(index) == 1000
        assert tracemalloc.get_traced_memory()[1] < 10_000  # bytes; each name of a thousand takes more
    finally:
        tracemalloc.stop()
