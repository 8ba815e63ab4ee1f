"""The texts of a consultation, one file each in `prompts/`; `--prompts DIR` replaces any of them by name.

patient              {{basic}}, {{complaints}}, {{temperament}} and its five facets (Appendix H.4, H.3)
patient_opening      what asks a patient model for its first message: many providers want a user's turn before it
doctor_no_dialogue   {{diagnoses}}, {{image}} (H.5)
doctor_complaints    {{complaints}}: what the doctor reads in a setting without dialogue
doctor_dialogue      {{diagnoses}}, {{image}}, {{cues}} (H.5)
doctor_rationale     the same, with REASONING and ANSWER
doctor_format        the one repeated request for these two (3M-G17)
doctor_image         what stands for {{image}}; left out where there is none (3M-G16)
doctor_cues          what stands for {{cues}}: one line that names them (3M-G15)
extraction           reads the diagnosis out of the doctor's words (H.4)
assessment           {{judge}}, {{diagnosis}}, {{items}}, {{answer}} (H.4)
judge_patient, judge_experts   who the assessor is: as in the paper, or as in its code (3M-G24)
rubric               the eight Mini-CEX items, one a line, each behind its number (Table 2)
padding              empty words for the check whether an assessor pays for length
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path

from baselines.threemdbench.consultation.record import ITEMS
from loaders.errors import InputError
from loaders.models import prompts
from loaders.models.prompts import Prompts
from loaders.threemdbench import Temperament

_FACETS = frozenset(field.name for field in fields(Temperament)) - {"name"}
_DOCTOR = frozenset({"diagnoses", "image", "cues"})
_REQUIRED: dict[str, frozenset[str]] = {
    "patient": frozenset({"basic", "complaints"}),
    "patient_opening": frozenset(),
    "doctor_no_dialogue": frozenset({"diagnoses", "image"}),
    "doctor_complaints": frozenset({"complaints"}),
    "doctor_dialogue": _DOCTOR,
    "doctor_rationale": _DOCTOR,
    "doctor_format": frozenset(),
    "doctor_image": frozenset(),
    "doctor_cues": frozenset({"cues"}),
    "extraction": frozenset(),
    "assessment": frozenset({"diagnosis", "items", "answer"}),
    "judge_patient": frozenset(),
    "judge_experts": frozenset(),
    "rubric": frozenset(),
    "padding": frozenset(),
}
_OPTIONAL = {
    "patient": _FACETS | {"temperament"},
    "assessment": frozenset({"judge"}),
}
_BLANK = re.compile(r"\n{3,}")


def read_prompts(folder: Path | None = None) -> Prompts:
    """The shipped texts, or those of `folder`; see `loaders.models.prompts.read_prompts` for what it raises.

    Raises InputError also for a text without a placeholder that the setting stands on, and for a rubric that does not
    hold each of the eight items once.
    """
    known = {name: needed | _OPTIONAL.get(name, frozenset()) for name, needed in _REQUIRED.items()}
    texts = prompts.read_prompts(Path(__file__).parent / "prompts", known, folder)
    for name, needed in _REQUIRED.items():
        for placeholder in (f"{{{{{word}}}}}" for word in sorted(needed)):
            if placeholder not in texts.texts[name]:
                found = f"no placeholder {placeholder}"
                raise InputError(f"{name}.md", found=found, expected=f"{placeholder} in the text")
    rubric_items(texts)
    return texts


def filled(texts: Prompts, name: str, values: Mapping[str, str]) -> str:
    """A text with its placeholders replaced; where one is replaced by nothing, no gap stays behind."""
    return _BLANK.sub("\n\n", texts.fill(name, values))


def rubric_items(texts: Prompts) -> dict[str, str]:
    """Item -> its question, in the order of ITEMS. Raises InputError unless each stands once, on a line of its own."""
    questions: dict[str, str] = {}
    for line in filter(str.strip, texts.texts["rubric"].splitlines()):
        item, _, question = line.strip().partition(" ")
        if item not in ITEMS or item in questions or not question.strip():
            expected = "each of " + ", ".join(ITEMS) + " once, at the start of a line and followed by its question"
            raise InputError("rubric.md", found=f"the line {line.strip()[:60]!r}", expected=expected)
        questions[item] = question.strip()
    if missing := [item for item in ITEMS if item not in questions]:
        raise InputError("rubric.md", found=f"no item {', '.join(missing)}", expected="all eight items")
    return {item: questions[item] for item in ITEMS}
