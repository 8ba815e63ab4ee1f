"""What scripted agents say: tables of lines (kind, line) beside their modules, with kinds that each agent defines."""

from __future__ import annotations

from loaders.files.bundled import bundled


def lines_of(package: str, name: str) -> dict[str, tuple[str, ...]]:
    """Kind -> its lines, in the order of the table."""
    found: dict[str, list[str]] = {}
    for row in bundled(package, name):
        found.setdefault(row["kind"], []).append(row["line"])
    return {kind: tuple(lines) for kind, lines in found.items()}
