"""Which corpora there are, and where the `Corpus` of each stands. Imports none of them.

A corpus of this project is one line of `BUNDLED`; other packages bring theirs by entry points (`loaders.plugins`).
"""

from __future__ import annotations

from loaders.errors import InputError
from loaders.plugins import CORPORA, Plugin, brought

BUNDLED = {
    "medlaybench-v": "loaders.medlaybench_v",
    "3mdbench": "loaders.threemdbench",
    "medconceal": "loaders.medconceal",
}


def corpora() -> list[str]:
    """The names of all corpora: those of this project, then those of other installed packages."""
    return [*BUNDLED, *(plugin.name for plugin in brought(CORPORA, BUNDLED)[0])]


def find_corpus(name: str) -> Plugin:
    """Where the corpus of that name is. Raises InputError when there is none."""
    if name in BUNDLED:
        return Plugin(name, BUNDLED[name])
    plugins = {plugin.name: plugin for plugin in brought(CORPORA, BUNDLED)[0]}
    if name not in plugins:
        expected = "one of " + ", ".join(sorted([*BUNDLED, *plugins]))
        raise InputError("corpus", found=f"no corpus named {name!r}", expected=expected)
    return plugins[name]
