"""What `bedside preview` shows of MedLayBench-V: pairs of captions with their gates, fallbacks first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from builders.release.preview import Preview, Table, by_split
from loaders.medlaybench_v import MODALITY_NAMES, entry


def _tables(statistics: Any, splits: Sequence[str]) -> list[Table]:
    methods = {f"{MODALITY_NAMES[code]} ({code})": of for code, of in statistics["modality_by_split"].items()}
    return [
        by_split("Modality", "name and code", methods, splits),
        by_split("Status", "status", statistics["status_by_split"], splits),
        by_split("Gate results", "gate", statistics["gates"], ["passed", "doubtful", "failed"]),
    ]


PREVIEW = Preview(
    "pairs",
    "Rows of the status fallback come first. The number of a marked term is that of its lay phrase, which the lay "
    "caption need not use: a repair takes phrases back, and a sentence gets two explanations at most.",
    _tables,
    entry,
    first=lambda row: bool(row["status"] == "fallback"),
)
