"""Tables shipped with the code: CSV files with a header, beside the module that uses them."""

from __future__ import annotations

import csv
import io
from importlib.resources import files


def bundled(package: str, name: str) -> list[dict[str, str]]:
    """The rows of a table of a package, by column: `bundled("baselines.results", "columns.csv")`."""
    return list(csv.DictReader(io.StringIO((files(package) / name).read_text(encoding="utf-8"))))
