"""Lists of words by name (`lists.csv`), for modules to say what each is good for; of some, each item is a pattern."""

from __future__ import annotations

from loaders.files.bundled import bundled

_LISTS = {row["list"]: row["words"].split() for row in bundled("builders.medlaybench_v.words", "lists.csv")}


def listed(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(_LISTS[name])


def any_of(name: str) -> str:
    """A pattern of the items of a list, without brackets around it, in which "_" stands for a space; an earlier one is
    tried first."""
    return "|".join(_LISTS[name]).replace("_", " ")
