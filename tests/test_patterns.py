"""Regular expressions of the project mean the same in every Python that it supports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# `(...)*+`, `(...){2}+`, also where an f-string doubles the braces.
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{{1,2}\d*,?\d*\}{1,2})\+(?=[^+=\s,])")


@pytest.mark.parametrize("package", ["loaders", "builders", "baselines", "scripts"])
def test_no_group_is_possessive(package: str) -> None:
    """Python 3.11.0 to 3.11.4 (Debian 12) keep half a repetition that failed: `(?:-[a-z]++)*+` finds "f-" in "f-18"
    (CPython issue 106052). One class of characters may be possessive; a group is atomic, `(?>...)`, or neither."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for kind in ("*.py", "*.csv")
        for path in sorted((ROOT / package).rglob(kind))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if POSSESSIVE_GROUP.search(line)
    ]
    assert not found
