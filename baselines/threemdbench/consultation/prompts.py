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
in the authors' code: {general_complaint}, {symptoms}, {char}; {{facets}} stands for all five.

The facets come from the corpus, or from a file temperaments.md beside the user's texts: it names each temperament on a
line of its own and, below, each facet after its name, "Symptom description: …", as the paper prints them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path

from baselines.threemdbench.consultation.record import ITEMS
from loaders.errors import InputError
from loaders.files.paths import is_file
from loaders.files.texts import read_text
from loaders.models import prompts
from loaders.models.prompts import Prompts
from loaders.threemdbench import NAMES, PERSONALITIES, TEMPERAMENTS

FILE = "temperaments"
FACETS = tuple(name for name in asdict(TEMPERAMENTS[0]) if name != "name")

_TAG = re.compile(r"</?\w+>")
_HEAD = re.compile(rf"^\W*({'|'.join(PERSONALITIES)})\b[^\n:]*$", re.IGNORECASE | re.MULTILINE)
_FACET = re.compile(rf"({'|'.join(name.replace('_', ' ') for name in FACETS)})\W*:\s*", re.IGNORECASE)
# Text -> the places that it needs, and those that it may have.
_PLACES = {
    "patient": ("basic complaints", " ".join(("temperament", "facets", *FACETS))),
    "patient_opening": ("", ""),
    "doctor_no_dialogue": ("diagnoses", "image"),
    "doctor_complaints": ("complaints", ""),
    "doctor_dialogue": ("diagnoses", "image cues"),
    "doctor_rationale": ("diagnoses", "image cues"),
    "doctor_format": ("", ""),
    "doctor_image": ("", ""),
    "doctor_cues": ("cues", ""),
    "extraction": ("", ""),
    "assessment": ("answer items", "judge diagnosis"),
    "judge_patient": ("", ""),
    "judge_experts": ("", ""),
    "rubric": ("", ""),
    "padding": ("", ""),
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
    known = {name: frozenset(" ".join(places).split()) for name, places in _PLACES.items()}
    known["patient"] |= frozenset(_OTHER_NAMES)
    texts = prompts.read_prompts(Path(__file__).parent / "prompts", known, folder)
    patient = _OTHER_PLACE.sub(_ours, texts.texts["patient"])
    texts = Prompts({**texts.texts, "patient": patient, FILE: temperament_texts(folder)})
    for name, (needed, _) in _PLACES.items():
        for word in needed.split():
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


def temperament_texts(folder: Path | None) -> str:
    """The facets of all temperaments, one way to write them. Raises InputError for a file without one of them."""
    path = folder / f"{FILE}.md" if folder else None
    if path is None or not is_file(path):
        return _written({one.name: {name: getattr(one, name) for name in FACETS} for one in TEMPERAMENTS})
    found = _read(read_text(path, most=1 << 20, expected="the facets of the four temperaments"))
    for name in PERSONALITIES:
        if missing := [facet for facet in FACETS if not found.get(name, {}).get(facet)]:
            what = f"{name}: no {missing[0].replace('_', ' ')}"
            raise InputError(path, found=what, expected="each temperament with its five facets, each behind its name")
    return _written(found)


def facets_of(texts: str, temperament: str) -> dict[str, str]:
    """What the patient's prompt says about a temperament: its name, its facets, and all facets as lines."""
    facets = _read(texts)[temperament]
    return {"temperament": temperament, **facets, "facets": "\n".join(f"- {text}" for text in facets.values())}


def _written(facets: Mapping[str, Mapping[str, str]]) -> str:
    return "\n\n".join(
        "\n".join([name, *(f"{facet.replace('_', ' ').capitalize()}: {facets[name][facet]}" for facet in FACETS)])
        for name in PERSONALITIES
    )


@lru_cache(maxsize=8)  # every patient asks for its own, of the same text
def _read(text: str) -> Mapping[str, Mapping[str, str]]:
    """Temperament -> facet -> its text, for those that are present."""
    found: dict[str, dict[str, str]] = {}
    heads = list(_HEAD.finditer(text := _TAG.sub("\n", text)))
    for head, behind in zip(heads, [*heads[1:], None], strict=True):
        part = text[head.end() : behind.start() if behind else len(text)]
        places = list(_FACET.finditer(part))
        ends = [*(place.start() for place in places[1:]), len(part)]
        found[head[1].casefold()] = {
            place[1].casefold().replace(" ", "_"): " ".join(part[place.end() : end].split())
            for place, end in zip(places, ends, strict=True)
        }
    return found
