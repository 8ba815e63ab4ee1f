"""The list of corpora, with the module of each one's `Corpus`. Imports none of them.

A corpus of this project is one line of `BUNDLED`; other packages add theirs by entry points (`loaders.plugins`).
"""

from __future__ import annotations

from loaders.errors import InputError
from loaders.plugins import CORPORA, Plugin, brought

# Name -> the module of its `Corpus`, and what `bedside build` says of it: the first line of its recipe's options.
BUNDLED = {
    "medlaybench-v": (
        "loaders.medlaybench_v",
        "Build MedLayBench-V: expert and lay captions in pairs, every row checked by twelve gates.",
    ),
    "3mdbench": (
        "loaders.threemdbench",
        "Build 3MDBench: curated photos of 34 diagnoses; the test split adds complaints and temperaments.",
    ),
    "medconceal": (
        "loaders.medconceal_corpus",
        "Build MedConceal: charts for the clinician, and hidden concerns to elicit.",
    ),
}


def corpora() -> list[str]:
    """The names of all corpora: those of this project, then those of other installed packages."""
    return [*BUNDLED, *(plugin.name for plugin in brought(CORPORA, BUNDLED)[0])]


def find_corpus(name: str) -> Plugin:
    """The location of the corpus of that name. Raises InputError when there is none."""
    if name in BUNDLED:
        return Plugin(name, BUNDLED[name][0])
    plugins = {plugin.name: plugin for plugin in brought(CORPORA, BUNDLED)[0]}
    if name not in plugins:
        names = sorted([*BUNDLED, *plugins])
        do = "A corpus of another package is known once that package is installed here"
        if "/" in name:
            do = f'A folder or repository is a source: load("{names[-1]}", source={name!r})'
        raise InputError("corpus", found=f"no corpus named {name!r}", expected="one of " + ", ".join(names), do=do)
    return plugins[name]
