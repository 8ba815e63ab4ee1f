"""What scripted agents say: tables of lines (kind, line) beside their modules, with kinds that each agent defines."""

from __future__ import annotations

from loaders.files.bundled import grouped


def lines_of(package: str, name: str) -> dict[str, tuple[str, ...]]:
    """Kind -> its lines, in the order of the table."""
    return {kind: tuple(row["line"] for row in rows) for kind, rows in grouped(package, name).items()}
