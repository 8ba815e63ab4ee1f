"""`bedside run concepts`: Tables A1 and A2, Figure A2."""

from __future__ import annotations

import typer

from baselines.medlaybench_v.concept_distribution import count, evaluate
from baselines.results.run import DataUsed
from loaders.opened import Opened, open_data
from scripts.run.stored import Rescored, Stored
from scripts.terminal.finish import finish
from scripts.terminal.options import Data, Out


def command(
    data: Data,
    out: Out,
    split: str | None = typer.Option(None, metavar="NAME", help="Only this split. [all]"),
) -> None:
    """Count pairs by modality, their most common concepts, and the long tail (Tables A1 and A2, Figure A2).

    Example: `bedside run concepts runs/v1 -o runs/concepts`
    """
    opened = open_data(data, split=split)
    scored = _scored(opened, opened.stand_in)
    finish(out, scored.results, scored.extra)


def rescore(stored: Stored) -> Rescored:
    """Recompute the numbers from the rows."""
    return _scored(stored.opened(), stored.record.stand_in)


def _scored(opened: Opened, stand_in: str | None) -> Rescored:
    columns = ("image_id", "split", "modality", "expert_caption", "layman_caption", "cuis", "concepts")
    found = count(opened.rows(*columns), data=DataUsed.of(opened))
    return Rescored(evaluate(found, stand_in=stand_in), {"figure-a2.json": found.figure()})
