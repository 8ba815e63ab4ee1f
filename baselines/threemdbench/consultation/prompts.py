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

Copies of the paper's own texts may stand in the user's folder as they are printed, once the patient's has its places.
What such a text says itself needs no placeholder: the 34 diagnoses, the eight items with the form of the answer. The
true diagnosis, and cues where the setting gives them, are told behind a text that has no place for them. Of a text
without {{image}} the sentences on the image are left out where there is none (3M-G16). A place may also be written as
in the authors' code: {general_complaint}, {symptoms}, {char}; {{facets}} stands for all five,
which the user's temperaments.md may hold (`temperaments`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from baselines.threemdbench.consultation.record import ITEMS
from baselines.threemdbench.consultation.temperaments import FACETS, FILE, temperament_texts
from loaders.errors import InputError
from loaders.models import prompts
from loaders.models.prompts import Prompts
from loaders.threemdbench import NAMES

_REQUIRED: dict[str, frozenset[str]] = {
    "patient": frozenset({"basic", "complaints"}),
    "patient_opening": frozenset(),
    "doctor_no_dialogue": frozenset({"diagnoses"}),
    "doctor_complaints": frozenset({"complaints"}),
    "doctor_dialogue": frozenset({"diagnoses"}),
    "doctor_rationale": frozenset({"diagnoses"}),
    "doctor_format": frozenset(),
    "doctor_image": frozenset(),
    "doctor_cues": frozenset({"cues"}),
    "extraction": frozenset(),
    "assessment": frozenset({"items", "answer"}),
    "judge_patient": frozenset(),
    "judge_experts": frozenset(),
    "rubric": frozenset(),
    "padding": frozenset(),
}
_OPTIONAL = {
    "patient": frozenset({*FACETS, "temperament", "facets"}),
    "doctor_no_dialogue": frozenset({"image"}),
    "doctor_dialogue": frozenset({"image", "cues"}),
    "doctor_rationale": frozenset({"image", "cues"}),
    "assessment": frozenset({"judge", "diagnosis"}),
}
# Our placeholder names by those of the authors' code and of the paper's appendix.
_OTHER_NAMES = {"general_complaint": "basic", "symptoms": "complaints", "char": "temperament"}
_OTHER_NAMES |= {"personality": "temperament", "patient_personality": "temperament"}
_OTHER_PLACE = re.compile(
    rf"\{{\{{?({'|'.join(_OTHER_NAMES)})\}}?\}}|\[({'|'.join(_OTHER_NAMES)})\]\(#\)"
    rf"|\{{characters_dict\[['\"]({'|'.join(FACETS)})['\"]\]\[char\]\}}"
)
_ON_IMAGE = re.compile(
    r"(?<![^\s.!?])[^.!?\n]*\b(?:images?|photos?|pictures?)\b[^.!?\n]*(?:[.!?]+[ \t]*|$)", re.I | re.M
)
_BLANK = re.compile(r"\n{3,}")


def read_prompts(folder: Path | None = None) -> Prompts:
    """The shipped texts, or those of `folder`; see `loaders.models.prompts.read_prompts` for what it raises.

    Raises InputError also for a text without a placeholder that the setting depends on, and for a rubric that does not
    hold each of the eight items once.
    """
    known = {name: needed | _OPTIONAL.get(name, frozenset()) for name, needed in _REQUIRED.items()}
    known["patient"] |= frozenset(_OTHER_NAMES)
    texts = prompts.read_prompts(Path(__file__).parent / "prompts", known, folder)
    patient = _OTHER_PLACE.sub(_ours, texts.texts["patient"])
    texts = Prompts({**texts.texts, "patient": patient, FILE: temperament_texts(folder)})
    for name, needed in _REQUIRED.items():
        for word in sorted(needed):
            if not has_place(texts, name, word) and not _says_itself(word, texts.texts[name]):
                place = f"{{{{{word}}}}}"
                raise InputError(f"{name}.md", found=f"no placeholder {place}", expected=f"{place} in the text")
    rubric_items(texts)
    return texts


def _ours(place: re.Match[str]) -> str:
    """A placeholder of the authors' as one of ours."""
    return f"{{{{{place[3] or _OTHER_NAMES[place[1] or place[2]]}}}}}"


def _says_itself(word: str, text: str) -> bool:
    """Whether a text already contains what would replace that placeholder."""
    if word == "diagnoses":
        return all(name in text.casefold() for name in NAMES)
    return word in ("items", "answer") and "{{items}}" not in text and all(item in text for item in ITEMS)


def has_place(texts: Prompts, name: str, word: str) -> bool:
    """Whether a text has that placeholder."""
    return f"{{{{{word}}}}}" in texts.texts[name]


def without_image(text: str) -> str:
    """A text without its sentences about an image.

    >>> without_image("You are a doctor. Use the image for it.\\nAsk one question at a time.")
    'You are a doctor.\\nAsk one question at a time.'
    """
    return _ON_IMAGE.sub("", text)


def filled(texts: Prompts, name: str, values: Mapping[str, str]) -> str:
    """A text with its placeholders replaced; one replaced by nothing leaves no gap."""
    return _BLANK.sub("\n\n", texts.fill(name, values))


def rubric_items(texts: Prompts) -> dict[str, str]:
    """Item -> its question, in the order of ITEMS. Raises InputError unless each appears once, on a line of its own."""
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
