"""Which builder makes which corpus: `builders.<folder>.recipe`, found by the corpus' name."""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from builders.release.verify import RowCheck
from builders.release.write import Measure
from loaders.corpus import REGISTRY
from loaders.errors import InputError


class Recipe(Protocol):
    """What every corpus' recipe module offers to the commands that work on any release."""

    measure: Measure
    check_row: RowCheck


def recipe_of(corpus: str) -> Recipe:
    """The recipe module of a corpus. Raises InputError for a name that is no corpus, or one that has no builder."""
    if corpus not in REGISTRY:
        raise InputError(corpus, found="no such corpus", expected=f"one of {', '.join(REGISTRY)}")
    return cast(Recipe, import_module(f"builders.{REGISTRY[corpus].rpartition('.')[2]}.recipe"))
