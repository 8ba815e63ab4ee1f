"""Prompt texts of the refiner, one file per block, and the conditions of the ablation as lists of blocks.

What a condition (Table 5) lacks is missing from its prompt, and nothing else differs (ML-G16). `--prompts DIR` replaces
any of the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from loaders.models import prompts
from loaders.models.prompts import Prompts

CONDITIONS: dict[str, tuple[str, ...]] = {
    "llm": ("expert", "answer"),
    "llm+cui": ("expert", "terms", "answer"),
    "scgr": ("expert", "concepts", "facts", "draft", "answer"),
}
_OF_A_ROW = frozenset(("expert", "concepts", "terms", "facts", "draft"))
_BLOCKS: dict[str, frozenset[str]] = {
    "system": frozenset(),
    "retry": frozenset({"failures"}),
    **dict.fromkeys(("expert", "concepts", "terms", "facts", "draft", "answer"), _OF_A_ROW),
}


OF_JUDGE: dict[str, frozenset[str]] = {"judge_system": frozenset(), "judge": frozenset(("expert", "lay"))}


def read_prompts(folder: Path | None = None, *, judged: bool = False) -> Prompts:
    """The shipped blocks, or those of `folder`, which may hold a judge's alone if one is asked; see
    `loaders.models.prompts.read_prompts` for what it raises."""
    found = prompts.read_prompts(Path(__file__).parent, _BLOCKS, folder, OF_JUDGE if judged else ())
    return found.holding("expert", CONDITIONS["llm"], folder)


def read_prompts_of_judge(folder: Path | None = None) -> Prompts:
    """As `read_prompts`, for the judge."""
    found = prompts.read_prompts(Path(__file__).parent, OF_JUDGE, folder, _BLOCKS)
    return found.holding("expert", ["judge"], folder).holding("lay", ["judge"], folder)


def user_prompt(blocks: Prompts, condition: str, values: Mapping[str, str]) -> str:
    """The blocks of a condition, filled in, one below the other."""
    return "\n\n".join(blocks.fill(name, values) for name in CONDITIONS[condition])
