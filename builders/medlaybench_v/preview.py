"""What `bedside preview` shows of MedLayBench-V: pairs of captions with their gates, those that fell back first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup, escape

from builders.pipeline.rows import Row
from builders.release.preview import Preview, Table, by_split, thumbnail


def _tables(statistics: Any, splits: Sequence[str]) -> list[Table]:
    return [
        by_split("Modality", "code", statistics["modality_by_split"], splits),
        by_split("Status", "status", statistics["status_by_split"], splits),
        by_split("Gates on the rows as they stand", "gate", statistics["gates"], ["passed", "failed"]),
    ]


def _shown(row: Row) -> dict[str, Any]:
    return {
        **row,
        "thumbnail": thumbnail(row["image"]),
        "expert": _marked(row["expert_caption"], row["concepts"]),
        "failed": [gate for gate in row["gates"] if not gate["passed"]],
    }


def _marked(caption: str, concepts: Sequence[dict[str, Any]]) -> Markup:
    """The caption with the terms that got a lay phrase underlined, the phrase as their tooltip."""
    parts: list[Markup] = []
    at = 0
    for concept in sorted(concepts, key=lambda c: (c["start"], -c["end"])):
        if concept["start"] < at or not concept["lay"]:
            continue
        parts.append(escape(caption[at : concept["start"]]))
        term = caption[concept["start"] : concept["end"]]
        parts.append(Markup('<abbr title="{}">{}</abbr>').format(concept["lay"], term))
        at = concept["end"]
    return Markup("").join([*parts, escape(caption[at:])])


PREVIEW = Preview("medlaybench_v/preview.html", _tables, lambda row: bool(row["status"] == "fallback"), _shown)
