"""`bedside run patients`: how the reserved patients respond to simulated clinicians of any quality."""

from __future__ import annotations

from typing import Annotated

import typer

from baselines.medconceal.policy import DEFAULT
from baselines.medconceal.simulation import SHAPE, results, shapes
from baselines.results.run import DataUsed, RunRecord, because
from loaders.files.records import to_json
from loaders.medconceal import cases
from loaders.opened import open_corpus
from scripts.run.confirmation import Data
from scripts.run.policies import SamePolicy, policy_of
from scripts.terminal.finish import finish
from scripts.terminal.options import Out, Seed


def command(
    data: Data,
    *,
    out: Out,
    policy: SamePolicy = DEFAULT.name,
    turns: Annotated[int, typer.Option(min=1, max=40, help="Turns per dialogue.")] = 8,
    seed: Seed = 0,
) -> None:
    """Simulate clinicians from poor to good with a release's patients; no model is called.

    At quality q, each turn shows each feature of good practice with a strength near q and sometimes touches a concern.
    The report plots what is revealed and addressed against q, for open, guarded and reserved patients: a step or a
    slope? This describes the instrument, for example after fitting a policy or writing cases; it is nobody's score.

    Example: `bedside run patients runs/medconceal -o runs/patients`
    """
    opened = open_corpus("medconceal", data, "test")
    chosen = policy_of(policy)
    found = shapes(chosen, cases(opened.splits["test"]), turns=turns, seed=seed)
    record = RunRecord(
        baseline="patients",
        data=DataUsed.of(opened),
        options={"policy": chosen.digest, "policy_name": chosen.name, "turns": turns},
        seeds={"simulation": seed},
        stand_in=because(opened.stand_in, "simulated clinicians"),
    )
    finish(out, results(found, record, turns=turns), {SHAPE: [to_json(shape) for shape in found]})
