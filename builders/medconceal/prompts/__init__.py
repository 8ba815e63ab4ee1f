"""Prompts of this builder, one file each. `--prompts DIR` replaces any of the files."""

from __future__ import annotations

from pathlib import Path

from loaders.models import prompts
from loaders.models.prompts import Prompts

_NAMES = ("system", "commonness", "specialty", "scenarios", "profile", "intervention", "retry")


def read_prompts(folder: Path | None = None) -> Prompts:
    """The shipped texts, or those of `folder`; see `loaders.models.prompts.read_prompts` for what it raises."""
    return prompts.read_prompts(Path(__file__).parent, _NAMES, folder)
