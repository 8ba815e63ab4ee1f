"""Prompts of this builder, one file each, with what each may hold. `--prompts DIR` replaces any of the files."""

from __future__ import annotations

from pathlib import Path

from loaders.models import prompts
from loaders.models.prompts import Prompts

_PLACEHOLDERS: dict[str, frozenset[str]] = {
    "system": frozenset(),
    "commonness": frozenset({"thread"}),
    "specialty": frozenset({"thread", "roles"}),
    "scenarios": frozenset({"thread", "scenarios"}),
    "profile": frozenset({"thread", "categories"}),
    "intervention": frozenset({"thread", "concerns"}),
    "retry": frozenset({"failures"}),
}


def read_prompts(folder: Path | None = None) -> Prompts:
    """The shipped texts, or those of `folder`; see `loaders.models.prompts.read_prompts` for what it raises."""
    return prompts.read_prompts(Path(__file__).parent, _PLACEHOLDERS, folder)
