"""Sheets as spreadsheets read and save them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path


def read_sheet(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def write_sheet(path: Path, rows: Sequence[Mapping[str, object]], columns: Sequence[str] = ()) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns or list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path
