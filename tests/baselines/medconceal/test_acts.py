"""The offline evaluator on turns that others wrote in eight voices, and rated from 1 to 5 before it was changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr  # type: ignore[import-untyped]

from baselines.medconceal.acts import acts
from baselines.medconceal.policy import BEDSIDE
from baselines.medconceal.rules import turn_quality

TURNS = [
    json.loads(line)
    for path in sorted(Path("tests/turns").glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


def rated(turns: list[dict[str, Any]]) -> tuple[Any, Any]:
    found = [turn_quality(BEDSIDE, one["turn"], one["patient_before"] or "", one["task"]) for one in turns]
    return np.array(found), np.array([one["quality"] for one in turns])


@pytest.mark.parametrize("task", ["confirmation", "intervention"])
def test_good_turns_stand_above_bad_ones(task: str) -> None:
    score, quality = rated([one for one in TURNS if one["task"] == task])
    good, bad = score[quality >= 4], score[quality <= 2]
    assert spearmanr(score, quality)[0] >= 0.75
    assert np.mean([(one > bad).mean() + (one == bad).mean() / 2 for one in good]) >= 0.95


def test_every_voice_is_read() -> None:
    for voice in sorted({one["clinician"] for one in TURNS}):
        score, quality = rated([one for one in TURNS if one["clinician"] == voice])
        assert spearmanr(score, quality)[0] >= 0.6, voice


@pytest.mark.parametrize(
    ("turn", "heard", "has", "lacks"),
    [
        ("What is it like at home?", "", ("open", "last_open"), ("fact",)),
        ("Walk me through a bad night.", "", ("open",), ("orders",)),
        ("Do you smoke? Any pain?", "", ("fact",), ("open",)),
        ("The garden. And you?", "I sit in the garden.", ("echo", "echo_first"), ("open",)),
        ("Take it daily. Avoid salt.", "", ("orders",), ("open", "fact")),
        ("You do not have to answer.", "", ("permission",), ("judge",)),
        ("Plenty of people feel that.", "", ("normal",), ("push",)),
        ("Don't worry, you'll be fine.", "", ("brush",), ("normal",)),
        ("You should have told us.", "", ("judge",), ("partner",)),
        ("I'll ring them on Monday. Would that help?", "", ("commit", "exact", "partner"), ("orders",)),
        ("Tell it back to me.", "", ("teach",), ("fact",)),
    ],
)
def test_acts_are_known_by_their_form(turn: str, heard: str, has: tuple[str, ...], lacks: tuple[str, ...]) -> None:
    found = acts(turn, heard)
    assert all(found[name] for name in has) and not any(found[name] for name in lacks), found
