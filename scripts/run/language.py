"""`bedside run language`: Tables 1 and 2."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from baselines.medlaybench_v.language import CAPTIONS, WORDLESS, GateFailures, evaluate
from baselines.medlaybench_v.readability import FOREIGN
from baselines.results.run import DataUsed, Result
from loaders.files.records import to_json
from loaders.opened import open_data
from scripts.run.stored import Rescored, Stored
from scripts.terminal.console import warn
from scripts.terminal.finish import finish
from scripts.terminal.options import Data, Out, Resamples, Seed

_COLUMNS = ("image_id", "split", "expert_caption", "layman_caption", "article_id")


def command(
    data: Data,
    out: Out,
    split: str | None = typer.Option(None, metavar="NAME", help="Only this split. [each split, and all together]"),
    wordnet: Path | None = typer.Option(None, metavar="DIR", help="WordNet folder, for METEOR's synonyms."),
    resamples: Resamples = 1000,
    seed: Seed = 0,
) -> None:
    """Score readability of both registers, and how close lay captions stay to the expert's (Tables 1 and 2).

    Example: `bedside run language runs/v1 -o runs/language`
    """
    opened = open_data(data, split=split)
    rows = opened.rows(*_COLUMNS)
    results, by_caption = evaluate(
        rows,
        data=DataUsed.of(opened),
        stand_in=opened.stand_in,
        wordnet=wordnet,
        gates=gate_failures,
        resamples=resamples,
        seed=seed,
    )
    _warn(results)
    finish(out, results, {CAPTIONS: to_json(by_caption)})


def _warn(results: Sequence[Result]) -> None:
    """Says how many captions of a register, of all splits, have values of the formulas that mean little."""
    every = [one for one in results if one.split_or_group == results[-1].split_or_group]
    for setting, part in dict.fromkeys((one.setting, part) for one in every for part in one.note.split("; ")):
        if part.endswith((FOREIGN, WORDLESS)):
            warn(f"{setting}: {part}")


def rescore(stored: Stored) -> Rescored:
    """Recompute the numbers from the captions; learned metrics are computed with the weights on this machine.

    METEOR is not computed with another WordNet than the run's.
    """
    opened, resamples, seed = stored.opened(), stored.option("resamples"), stored.seed
    stand_in, rows = stored.record.stand_in, opened.rows(*_COLUMNS)
    results, by_caption = evaluate(
        rows, data=DataUsed.of(opened), stand_in=stand_in, gates=gate_failures, resamples=resamples, seed=seed
    )
    _warn(results)
    made = results[0].record
    assert made is not None
    had, has = (one.options.get("wordnet") or "no WordNet" for one in (stored.record, made))
    if had != has:
        del by_caption.tables["Table 2"]["METEOR"]
        note = f"the run had {had}, and this machine has {has}"
        results = [replace(one, value=None, ci95=None, note=note) if one.column == "METEOR" else one for one in results]
    return Rescored(results, {CAPTIONS: to_json(by_caption)})


def gate_failures(pairs: Iterable[dict[str, Any]]) -> GateFailures:
    """Which pairs fail which fact gate.

    They are read with the bundled vocabulary, whatever a release records of its concepts, so that all systems are
    judged alike.
    """
    # Here, since they import what opens releases, and the help of a command opens none.
    from builders.medlaybench_v.audit import Tally, audit
    from builders.medlaybench_v.gates import GATES
    from builders.medlaybench_v.lexicon import Lexicon
    from builders.medlaybench_v.measure import RULES
    from builders.medlaybench_v.vocabulary import read_vocabulary

    lexicon = Lexicon(read_vocabulary("bundled").terms)
    failing: dict[str, list[int]] = {gate: [] for gate in GATES}
    tally = Tally()
    for place, audited in enumerate(audit(pairs, lexicon)):
        tally.add(audited)
        for gate in audited.gates:
            failing[gate].append(place)
    if tally.language:
        warn(tally.language)
    return GateFailures(RULES, failing)
