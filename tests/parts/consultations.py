"""Consultations with made-up turns and scores, for the tests of what counts and shows them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from baselines.results.run import DataUsed, ModelUsed, RunRecord
from baselines.threemdbench.consultation.record import HIGHEST, ITEMS, Assessment, Consultation, Extraction, Turn
from loaders.files.records import to_json
from loaders.threemdbench import DIAGNOSES, NAMES, PERSONALITIES

MADE_UP = "consultations made up for a test"
_DOMAINS = {diagnosis.name: diagnosis.domain for diagnosis in DIAGNOSES}


def record(doctor: str = "scripted/made-up", split: str = "test", **more: Any) -> RunRecord:
    """The record of a run of consultations; `more` replaces its fields."""
    facts: dict[str, Any] = {
        "data": DataUsed("3mdbench", split, None, "cd" * 32),
        "models": (
            ModelUsed("doctor", doctor),
            ModelUsed("patient", "scripted/patient"),
            ModelUsed("assessor", "scripted/assessor"),
        ),
        "options": {"setting": "dialogue+image"},
        "prompts": {"patient.md": "ab" * 32},
        "seeds": {"bootstrap": 0},
        "stand_in": MADE_UP,
    }
    return RunRecord(baseline="consultation", **(facts | more))


def consultation(number: int = 0, **more: Any) -> Consultation:
    """One consultation that went well: four turns, the right diagnosis, all items granted; `more` replaces fields."""
    gold = str(more.get("gold", "stye"))
    facts: dict[str, Any] = {
        "case_id": f"case-{number:04d}",
        "setting": "dialogue+image",
        "gold": gold,
        "domain": _DOMAINS[gold],
        "temperament": PERSONALITIES[number % 4],
        "cues": None,
        "turns": (
            Turn("patient", "My eyelid hurts."),
            Turn("doctor", "Since when?", "Could be a stye or a chalazion."),
            Turn("patient", "For two days."),
            Turn("doctor", f"This is {gold}. Put a warm cloth on it."),
        ),
        "finished": True,
        "ended": "break",
        "parse_failures": 0,
        "extraction": said(gold),
        "assessment": graded(),
    }
    facts |= more
    return Consultation(utterances=len(facts["turns"]), **facts)


def said(*names: str, failure: str | None = None) -> Extraction:
    """What the assessor extracted."""
    return Extraction(names, ", ".join(names) or "none", 1, failure)


def graded(failure: str | None = None, **items: int) -> Assessment:
    """An assessment with the highest scores except for `items`, such as i11=0 for item 1.1."""
    if failure:
        return Assessment(None, "prose", 4, failure)
    scores = dict(HIGHEST) | {f"{name[1]}.{name[2]}": score for name, score in items.items()}
    return Assessment({item: scores[item] for item in ITEMS}, "{}", 1)


def many(count: int, *, skill: float = 0.6, seed: int = 0, setting: str = "dialogue+image") -> list[Consultation]:
    """`count` consultations of as many cases, the same cases for every seed;
    the doctor is right as often as `skill`."""
    draw = random.Random(seed)
    made = []
    for number in range(count):
        gold = NAMES[number * 7 % len(NAMES)]
        phlegmatic = PERSONALITIES[number % 4] == "phlegmatic"
        length = draw.randrange(4, 8) if phlegmatic else draw.randrange(8, 14)
        turns = [Turn("patient" if at % 2 == 0 else "doctor", f"Utterance {at}.") for at in range(length)]
        wrong = draw.choice([(), ("melanoma",), (draw.choice(NAMES),), NAMES[:2]])
        names = (gold,) if draw.random() < skill else wrong
        dialogue = setting.startswith("dialogue")
        made.append(
            consultation(
                number,
                gold=gold,
                setting=setting,
                turns=tuple(turns if dialogue else turns[:2]),
                finished=draw.random() > 0.05 if dialogue else True,
                ended="break" if dialogue else "answer",
                extraction=said(*names),
                assessment=graded(i11=draw.randrange(2), i41=draw.randrange(3)) if dialogue else None,
            )
        )
    return made


def write_dialogues(folder: Path, consultations: Sequence[Consultation], lost: Sequence[str] = ()) -> None:
    """The run folder's file of dialogues; `lost` are cases that a model's error ended."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [
        {"case": one.case_id, "epoch": 1, "record": to_json(one), "invalid": None, "error": None, "spent": {}}
        for one in consultations
    ]
    rows += [{"case": case, "epoch": 1, "record": None, "invalid": None, "error": "down", "spent": {}} for case in lost]
    lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "dialogues.jsonl").write_text("".join(lines), encoding="utf-8")
