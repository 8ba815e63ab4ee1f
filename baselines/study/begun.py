"""Starts a study: writes the files that somebody edits before it is served."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from baselines.results.sheets import write_new
from baselines.study.design import TALKS, Study, TaskName
from loaders.files.records import to_json
from loaders.pages import render

_TITLES: Mapping[TaskName, str] = {
    "confirmation": "What patients do not say",
    "intervention": "Coming to a plan with patients",
    "pairs": "Two ways to say what a picture shows",
    "diagnosis": "Diagnoses from photos and complaints",
    "rubric": "How doctors talk with patients",
    "relevance": "Complaints that go with a diagnosis",
}


def write_study(folder: Path, task: TaskName) -> list[Path]:
    """The three files of a new study. Raises InputError if one exists."""
    talks = task in TALKS
    sources = ("study.yaml", "consent.md", "talk.md" if talks else "rating.md")
    texts = [render(f"baselines/study/texts/{name}", title=_TITLES[task], task=task, talks=talks) for name in sources]
    named = zip(("study.yaml", "consent.md", "instructions.md"), texts, strict=True)
    return write_new({folder / name: f"{text.rstrip()}\n".encode() for name, text in named})


def open_places(study: Study) -> list[str]:
    """The places where a text still says TODO, or nothing."""
    told = {
        "study.yaml": json.dumps(to_json(study.design), ensure_ascii=False),
        "consent.md": study.texts.consent if isinstance(study.texts.consent, str) else "a PDF",
        "instructions.md": study.texts.instructions,
    }
    empty = [f"{name} (empty)" for name, text in told.items() if not text.strip()]
    return [name for name, text in told.items() if re.search(r"\bTODO\b", text, re.ASCII)] + empty
