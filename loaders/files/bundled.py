"""Tables shipped with the code: CSV files with a header, beside the module that uses them."""

from __future__ import annotations

import csv
import io
from importlib.resources import files


def bundled(package: str, name: str) -> list[dict[str, str]]:
    """The rows of a table of a package, by column: `bundled("baselines.results", "columns.csv")`."""
    return list(csv.DictReader(io.StringIO((files(package) / name).read_text(encoding="utf-8"))))


def grouped(package: str, name: str) -> dict[str, list[dict[str, str]]]:
    """The rows of a table under what stands in their first column, in the order of the table."""
    found: dict[str, list[dict[str, str]]] = {}
    for row in bundled(package, name):
        found.setdefault(next(iter(row.values())), []).append(row)
    return found
