"""The written cases: four files of ten, read into profiles; `topics.yaml` holds what may be said near a concern."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from loaders.medconceal import (
    CATEGORIES,
    SCENARIOS,
    Clinical,
    Intervention,
    PatientProfile,
    Psychosocial,
    SelfManagement,
    parse_profile,
)

HERE = Path(__file__).parent
TITLE = "synthetic patients written for Bedside; none of them exists"

CATEGORY_OF = dict(zip("MECF", CATEGORIES, strict=True))
_SCENARIO_OF = dict(zip("GM", SCENARIOS, strict=True))
_WHO = ("name", "age", "sex", "marital_status", "education")
_BLOCKS: Mapping[str, type[BaseModel]] = {
    "clinical": Clinical,
    "psychosocial": Psychosocial,
    "intervention": Intervention,
}
"""The blocks whose fields stand in the files under their own names."""
_MARKED = re.compile(r"\[(\d): ([^\]]+)\]")


@cache
def written() -> tuple[Mapping[str, Any], ...]:
    """The cases as they stand in the files."""
    files = sorted(HERE.glob("cases_*.yaml"))
    return tuple(case for path in files for case in yaml.safe_load(path.read_text(encoding="utf-8")))


@cache
def _topics() -> Mapping[str, Any]:
    found: Mapping[str, Any] = yaml.safe_load((HERE / "topics.yaml").read_text(encoding="utf-8"))
    return found


def near(code: str) -> list[list[str]]:
    """The topic terms of the bank's concerns of a category, by its letter, in the order of the bank."""
    return [terms.split(", ") for terms in _topics()["bank"][code]]


def profiles() -> list[PatientProfile]:
    """The forty profiles, in the order of the files."""
    return [parse_profile(values_of(case), f"sample case {case['id']}") for case in written()]


def values_of(case: Mapping[str, Any]) -> dict[str, Any]:
    """The plain values of a profile, blocks as in `PatientProfile`."""
    openness, *around = _topics()["cases"][case["id"]]
    evidence: dict[int, list[str]] = {}
    for number, text in _MARKED.findall(case["narrative"]):
        evidence.setdefault(int(number), []).append(text)
    return {
        "case_id": f"synthetic-{case['id']}",
        "thread": None,
        "synthetic": True,
        "specialty": case["specialty"],
        "rarity": case["rarity"],
        "scenarios": [_SCENARIO_OF[code] for code in case["scenarios"]],
        "demographics": {**dict(zip(_WHO, case["who"], strict=True)), "background": case["background"]},
        **{block: {name: case[name] for name in kind.model_fields} for block, kind in _BLOCKS.items()},
        "hidden_concerns": [
            {
                "content": content,
                "category": CATEGORY_OF[code],
                "confidence": confidence,
                "evidence": evidence[number],
                "cue": cue,
                "depth": depth,
                "topics": terms.split(", "),
            }
            for number, ((code, confidence, content, cue), (depth, terms)) in enumerate(
                zip(case["concerns"], around, strict=True), start=1
            )
        ],
        "roleplay": {name: case[name] for name in ("response_style", "disclosure_behavior")} | {"openness": openness},
        "self_management_domains": dict(zip(SelfManagement.model_fields, case["self"], strict=True)),
        "narrative": _MARKED.sub(r"\2", case["narrative"]),
    }
