"""Runs with made-up numbers for the tests of what compares and shows runs: the paper's cells, a little off."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from baselines.results.published import published
from baselines.results.run import DataUsed, ModelUsed, Result, RunRecord, write_run
from loaders.medlaybench_v import CORPUS
from tests.parts.small_release import png, write_small

PAPER = "MedLayBench-V"
MADE_UP = "numbers made up for a test"
DIGEST = "ab" * 32


def record(baseline: str = "retrieval", **more: Any) -> RunRecord:
    """A complete record; `more` replaces its fields."""
    facts: dict[str, Any] = {
        "data": DataUsed("medlaybench-v", "test", "v1.0.0", DIGEST),
        "models": (ModelUsed("encoder", "random:tiny", "0123abcd"),),
        "options": {"resamples": 1000, "pools": ["global", "per_modality"]},
        "prompts": {"expert.md": "cd" * 32},
        "seeds": {"bootstrap": 0},
        "versions": {"numpy": "2.0.0", "torch": "2.6.0"},
        "stand_in": MADE_UP,
        "command": f"bedside run {baseline} medlaybench-v@v1.0.0 --model random:tiny",
        "wall_seconds": 12.5,
        "input_tokens": 1200,
        "output_tokens": 340,
        "cost_usd": 0.25,
    }
    return RunRecord(baseline=baseline, **(facts | more))


def results(
    tables: Sequence[str], found: RunRecord, *, off: float = 0.0, rows: dict[str, str] | None = None, seed: int = 0
) -> list[Result]:
    """The paper's cells of these tables, each moved by up to `off` times itself; `rows` renames the rows to keep."""
    draw = random.Random(seed)
    made = []
    for table in tables:
        for number in published(PAPER, table):
            if rows is not None and number.row not in rows:
                continue
            counted = number.unit in ("pairs", "types", "captions")
            value = number.value + off * abs(number.value) * draw.uniform(-1, 1)
            value = float(round(value)) if counted else min(value, 1.0) if number.unit == "p" else value
            spread = 0.02 * abs(value) + 0.01
            made.append(
                Result(
                    paper=number.paper,
                    table=number.table,
                    row=(rows or {}).get(number.row, number.row),
                    setting=number.setting,
                    column=number.column,
                    split_or_group=number.split_or_group,
                    value=value,
                    unit=number.unit,
                    direction=number.direction,
                    n=9927,
                    ci95=None if counted or number.unit == "p" else (value - spread, value + spread),
                    record=found,
                )
            )
    return made


def write(folder: Path, tables: Sequence[str], *, off: float = 0.0, **more: Any) -> Path:
    """A finished run with the cells of these tables, and its folder."""
    found = record(**more)
    write_run(folder, found, results(tables, found, off=off))
    return folder


def everything(folder: Path) -> list[Path]:
    """Three stand-in runs that fill every table of the paper, including cells that the paper has no place for."""
    language = record("language", models=(), prompts={})
    cells = results(("Table 1", "Table 2"), language, off=0.05)
    missing = "not computed: lens: is not installed (expected for LENS)"
    cells = [replace(one, value=None, ci95=None, note=missing) if one.column == "LENS" else one for one in cells]
    extra = replace(
        cells[-1],
        column="BLEU-4 (corpus)",
        value=20.5,
        ci95=None,
        note="all pairs as one corpus",
        split_or_group="Test",
    )
    write_run(folder / "language", language, [*cells, extra])

    retrieval = record("retrieval")
    models = {"BiomedCLIP": "random:tiny", "PubMedCLIP": "PubMedCLIP", "Mean of the 8 models": "Mean of the 8 models"}
    cells = results(("Table 3", "Table A3", "Table A4", "Table 5"), retrieval, off=0.2, rows=models)
    extra = replace(cells[0], split_or_group="test; one pool", value=1.5, ci95=(1.2, 1.8))
    write_run(folder / "retrieval", retrieval, [*cells, extra])

    others = record("captioning")
    cells = results(("Table 4", "Table A1", "Table A2", "Table A5"), others, off=0.05)
    write_run(folder / "captioning", others, cells)
    return [folder / name for name in ("language", "retrieval", "captioning")]


def release(folder: Path) -> Path:
    """A release of three pairs: one with a failed gate and a hostile caption, one with a picture, one without."""
    gates = [{"gate": "numbers", "passed": True, "reason": ""}]
    failed = [{"gate": "side", "passed": False, "reason": "'left' is <gone>"}]
    concept = {"surface": "pneumothorax", "start": 5, "end": 17, "cui": None, "lay": "collapsed lung", "source": "list"}
    base: dict[str, Any] = dict.fromkeys(CORPUS.features) | {
        "split": "test",
        "modality": "DRXR",
        "cuis": [],
        "concepts": [],
        "protected": [],
        "gates": gates,
    }
    base |= {"status": "accepted", "refiner": "rules", "licence": "CC0-1.0", "attribution": "drawn for a test"}
    content = [
        base
        | {"image_id": "p1", "expert_caption": "Left <b>x</b> & y", "layman_caption": "On the side", "gates": failed},
        base | {"image_id": "p2", "expert_caption": "Left pneumothorax.", "layman_caption": "Left collapsed lung."},
        base | {"image_id": "p3", "expert_caption": "Normal chest.", "layman_caption": "Nothing unusual."},
    ]
    content[1] |= {"concepts": [concept], "image": {"bytes": png(90), "path": "p2.png"}}
    write_small(
        folder,
        content,
        corpus="medlaybench-v",
        features=CORPUS.features,
        exclusions=[],
        measure=lambda rows: {"rows": sum(1 for _ in rows)},
        card=lambda manifest: f"# {manifest.corpus}\n",
    )
    return folder
