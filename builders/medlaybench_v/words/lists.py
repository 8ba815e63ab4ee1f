"""Lists of words by name (`lists.csv`), for modules to say what each is good for."""

from __future__ import annotations

from loaders.files.bundled import bundled

_LISTS = {row["list"]: frozenset(row["words"].split()) for row in bundled("builders.medlaybench_v.words", "lists.csv")}


def listed(name: str) -> frozenset[str]:
    """The words of a list."""
    return _LISTS[name]
