"""3MDBench: a clinical photo with its diagnosis, the patient's complaints, and the temperament of the patient.

    load("3mdbench", "test")["general_complaint"]

The 34 diagnoses with domains, synonyms and ICD-10 codes are in `threemdbench_diagnoses.csv` (specification S1; a code
is left out where the diagnosis does not determine it), the four temperaments in `threemdbench_temperaments.csv`. One
schema covers releases built here and the authors' release, which has five columns, diagnoses in any case and complaints
as one text or a list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

from loaders.corpus import Corpus
from loaders.errors import InputError
from loaders.files.bundled import bundled
from loaders.files.cells import parse_literal
from loaders.manifest import Config
from loaders.schema import Schema

KEY = "image_id"
DOMAINS = ("dermatology", "ophthalmology", "throat/mucosae", "dental", "nails")


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A diagnosis of the paper: its exact name, domain, synonyms, and ICD-10 codes where they are unambiguous."""

    name: str
    domain: str
    icd10: tuple[str, ...]
    synonyms: tuple[str, ...]


DIAGNOSES = tuple(
    Diagnosis(
        row["name"],
        row["domain"],
        tuple(row["icd10"].split()),
        tuple(name.strip() for name in row["synonyms"].split(";")),
    )
    for row in bundled("loaders", "threemdbench_diagnoses.csv")
)
NAMES = tuple(diagnosis.name for diagnosis in DIAGNOSES)

TRAITS = {
    "skin_type": ("scin", "fitzpatrick17k", "isic"),
    "age_group": ("scin", "ham10000", "isic"),
    "sex": ("scin", "ham10000", "isic"),
}
"""What some sources say about the person in the photo, and which do; `table` does if it has these columns."""

# Rows of train and validation are for image classifiers: personality and everything about complaints is null there.
SCHEMA: Schema = {
    "image": "image",
    "image_id": "string",
    "split": "string",
    "diagnosis": "string",
    "label": NAMES,
    "domain": "string",
    "general_complaint": "string",
    "general_complaint_source": "string",
    "complaints": ["string"],
    "complaints_source": "string",
    "complaints_status": "string",
    "personality": "string",
    "source": "string",
    "source_label": "string",
    "source_file": "string",
    "group_id": "string",
    "cluster_id": "string",
    "licence": "string",
    "licence_asserted_by": "string",
    "attribution": "string",
    "skin_type": "string",
    "skin_type_asserted_by": "string",
    "age_group": "string",
    "sex": "string",
}
SPOKEN = (
    "general_complaint",
    "general_complaint_source",
    "complaints",
    "complaints_source",
    "complaints_status",
    "personality",
)
"""What a patient says, and how: columns that only the test split fills."""

# What plain `load_dataset` gives: every existing split; and, by name, one with only photos and their diagnoses.
_PHOTOS = [name for name in SCHEMA if name not in SPOKEN]
CONFIGS = (
    Config(name="default", splits=["train", "validation", "test"]),
    Config(name="train", splits=["train"], columns=_PHOTOS),
    Config(name="validation", splits=["validation"], columns=_PHOTOS),
)


@dataclass(frozen=True, slots=True)
class Temperament:
    """One of the four temperaments, with the five facets by which it shows in a consultation (Appendix H.3)."""

    name: str
    symptom_description: str
    asking_questions: str
    communication_style: str
    attitude_towards_treatment: str
    emotional_involvement: str


TEMPERAMENTS = tuple(Temperament(**row) for row in bundled("loaders", "threemdbench_temperaments.csv"))
PERSONALITIES = tuple(temperament.name for temperament in TEMPERAMENTS)

_OFFICIAL = "univanxx/3mdbench"


def with_label(row: Mapping[str, Any]) -> dict[str, Any]:
    """Convert a row of schema version 1, which had no `label`."""
    return {**row, "label": NAMES.index(row["diagnosis"]) if row.get("diagnosis") in NAMES else None}


_BULLET = re.compile(r"^\s*(?:[-*•–]|\d{1,2}[.)])\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


def diagnosis_of(text: str) -> Diagnosis | None:
    """The diagnosis that a text names exactly or by a synonym, in any case; None for anything else.

    >>> diagnosis_of("Hordeolum").name, diagnosis_of(" Contact  Dermatitis ").name, diagnosis_of("measles")
    ('stye', 'contact dermatitis', None)
    """
    pattern, meanings = _any_name()
    match = pattern.fullmatch(text.strip())
    return meanings[match.lastindex - 1] if match and match.lastindex else None


def named_in(text: str) -> Iterator[tuple[str, Diagnosis]]:
    """Each mention of a diagnosis in a text, as (words of the text, diagnosis); the longest name wins.

    A name may be in the plural or inverted, and its words joined by hyphens.

    >>> [(words, d.name) for words, d in named_in("Could be Pink Eye or allergic contact dermatitis.")]
    [('Pink Eye', 'conjunctivitis'), ('allergic contact dermatitis', 'allergic contact dermatitis')]
    >>> [d.name for _, d in named_in("Ingrown toe-nails; keratosis, seborrheic; a renal calculus")]
    ['ingrown nail', 'seborrheic keratosis']
    """
    return ((match[0], diagnosis) for match, diagnosis in mentions(text))


def mentions(text: str) -> Iterator[tuple[re.Match[str], Diagnosis]]:
    """What `named_in` finds, with its place."""
    pattern, meanings = _any_name()
    for match in pattern.finditer(text):
        diagnosis = meanings[(match.lastindex or 0) - 1]
        if diagnosis is not None:
            yield match, diagnosis


def straightened(text: str) -> str:
    """A text whose inverted names are in the usual order, so that their comma separates nothing.

    >>> straightened("Keratosis, seborrheic"), straightened("eczema, seborrheic dermatitis")
    ('seborrheic keratosis', 'eczema, seborrheic dermatitis')
    """
    pattern, names = _any_inverted()
    return pattern.sub(lambda match: names[(match.lastindex or 0) - 1], text)


def others_of_domain(diagnosis: Diagnosis) -> tuple[str, ...]:
    """The differential diagnoses of a diagnosis: the others of its domain (3M-G8)."""
    return tuple(other.name for other in DIAGNOSES if other.domain == diagnosis.domain and other != diagnosis)


_SPACE = r"[\s_\u2010\u2011-]"  # what may stand between the words of a name
_NAIL = rf"(?:(?:big|great|little|left|right){_SPACE}+){{0,3}}(?:(?:toe|finger|thumb){_SPACE}*)?nails?"
_THE = rf"(?:(?:the|a|an|your|my|his|her|their|both){_SPACE}+)?"
# Last words of names that indexes put first: "Dermatitis, contact".
_HEADS = frozenset(
    "dermatitis eczema keratosis keratoses wart warts stomatitis caries calculus infection nail nails toenail".split()
)
# What holds a name of the list and is none of the 34.
_OTHER_THINGS = (
    "acne inversa; acne keloidalis; eczema herpeticum; herpes gestationis; mycosis fungoides; psoriatic arthritis; "
    "renal calculus; kidney calculus; urinary calculus; ureteral calculus; ureteric calculus; bladder calculus; "
    "vesical calculus; biliary calculus; salivary calculus; gallbladder calculus; oral cavity; nasal cavity; "
    "chest cavity; abdominal cavity; body cavity; mouth cavity; you boil; to boil; we boil; they boil; water boils; "
    "a rolling boil; to a boil; boil your; boil my; boil it; boil them; boil water"
).split("; ")


@cache
def _any_name() -> tuple[re.Pattern[str], list[Diagnosis | None]]:
    """A pattern of all names with one empty group behind each form, and what each of these groups means."""
    forms: list[tuple[int, str, Diagnosis | None]] = [(len(name), _form(name), None) for name in _OTHER_THINGS]
    for name, diagnosis in _every_name():
        plural = "" if name.endswith("s") else "(?:e?s)?"
        forms.append((len(name), _form(name) + plural, diagnosis))
    for name, diagnosis, first, rest in _inverted():
        bracketed = rf"{first}{_SPACE}*\({rest}\)"
        forms += [(len(name) + 1, one, diagnosis) for one in (_comma(first, rest), bracketed)]
    forms.sort(key=lambda one: (-one[0], one[1]))
    names = "|".join(f"{form}(?![\\w-])()" for _, form, _ in forms)
    return re.compile(rf"(?<![\w-])(?=\w)(?:{names})", re.IGNORECASE), [diagnosis for *_, diagnosis in forms]


@cache
def _any_inverted() -> tuple[re.Pattern[str], list[str]]:
    """A pattern of all names that are inverted with a comma, and the names in their usual order."""
    found = sorted(_inverted(), key=lambda one: (-len(one[0]), *one[2:]))
    names = "|".join(f"{_comma(first, rest)}()" for *_, first, rest in found)
    return re.compile(rf"(?<![\w-])(?=\w)(?:{names})", re.IGNORECASE), [name for name, *_ in found]


def _every_name() -> Iterator[tuple[str, Diagnosis]]:
    return ((name, diagnosis) for diagnosis in DIAGNOSES for name in (diagnosis.name, *diagnosis.synonyms))


def _inverted() -> Iterator[tuple[str, Diagnosis, str, str]]:
    """Names of which indexes put the last words first, with patterns of these and of the others."""
    for name, diagnosis in _every_name():
        words = name.split()
        for cut in range(1, len(words)):
            if words[-1] in _HEADS:
                first, rest = (_form(" ".join(part)) for part in (words[cut:], words[:cut]))
                yield name, diagnosis, first, f"{rest}(?:{_SPACE}+(?:type|form))?"


def _comma(first: str, rest: str) -> str:
    # A word after it would begin the next name of a list: "eczema, seborrheic dermatitis".
    return rf"{first},{_SPACE}*{rest}(?![\w-]|[ \t]+\w)"


def _form(name: str) -> str:
    """A pattern of a name: any nail of finger or toe, any article, any separator between the words."""
    words = [
        _NAIL if re.fullmatch("(?:toe|finger)?nails?", word) else re.escape(word).replace("'", "['’]")
        for word in re.split(r"[\s-]+", name)
    ]
    return f"{_SPACE}+".join(words).replace(f"the{_SPACE}+", _THE)


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()


def group_of(row: Mapping[str, Any]) -> str:
    """What the photo of a row is resampled with: its patient, lesion or case, else its near copies, else ""."""
    return row.get("group_id") or row.get("cluster_id") or ""


def parse_complaints(value: object, where: object = "complaints") -> list[str]:
    """Single complaints from whatever a release calls a list of them: a list, its text, bullets, lines or sentences.

    >>> parse_complaints("- It itches.\\n- It is red."), parse_complaints("['It itches.', 'It is red.']")
    (['It itches.', 'It is red.'], ['It itches.', 'It is red.'])
    >>> parse_complaints("You feel hot. It began 1.5 days ago.")
    ['You feel hot.', 'It began 1.5 days ago.']

    Raises: InputError if it is neither a text nor a list of texts.
    """
    if isinstance(value, str) and value.lstrip().startswith("["):
        with suppress(ValueError):
            read = parse_literal(value)
            value = read if isinstance(read, list) else value
    if isinstance(value, str):
        lines = [line for line in value.splitlines() if line.strip()]
        value = lines if len(lines) > 1 else _SENTENCE_END.split(value)
    if not isinstance(value, Sequence):
        raise InputError(
            where, found=f"complaints of type {type(value).__name__}", expected="a text or a list of texts"
        )
    found = []
    for item in value:
        if not isinstance(item, str):
            raise InputError(where, found=f"a complaint of type {type(item).__name__}", expected="a text")
        if text := " ".join(_BULLET.sub("", item).split()):
            found.append(text)
    return found


def from_official(row: Mapping[str, Any], split: str, position: int) -> dict[str, Any]:
    """Convert a row of the authors' release to this schema; `position` counts from 0 within the split.

    The release has no identifiers and states no source or licence for a photo: rows are named by split and position,
    and columns that only a build can fill are empty.

    Raises: InputError if the diagnosis is none of the 34, the personality none of the four, or a text is missing.
    """
    where = f"{_OFFICIAL}: row {position + 1} of {split}"
    named = {name: _text(row.get(name), name, where) for name in ("diagnosis", "general_complaint", "personality")}
    diagnosis = diagnosis_of(named["diagnosis"])
    if diagnosis is None:
        raise InputError(where, found=f"diagnosis {named['diagnosis'][:60]!r}", expected="one of the 34 of the paper")
    personality = _plain(named["personality"])
    if personality not in PERSONALITIES:
        raise InputError(where, found=f"personality {personality[:60]!r}", expected=", ".join(PERSONALITIES))
    complaints = parse_complaints(row.get("complaints"), where)
    if not complaints:
        raise InputError(where, found="no complaints", expected="at least one")
    return {
        **dict.fromkeys(SCHEMA),
        "image": row.get("image"),
        "image_id": row.get("image_id") or f"3mdbench_{split}_{position + 1:06d}",
        "split": split,
        "diagnosis": diagnosis.name,
        "label": NAMES.index(diagnosis.name),
        "domain": diagnosis.domain,
        "general_complaint": named["general_complaint"],
        "complaints": complaints,
        "personality": personality,
        "source_label": named["diagnosis"],
        "licence": "unknown",
        "attribution": f"{_OFFICIAL} (Sviridov et al. 2025)",
    }


def _text(value: object, name: str, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(where, found=f"{name} {value!r}", expected="a text")
    return " ".join(value.split())


CORPUS = Corpus(
    name="3mdbench",
    features=SCHEMA,
    key=KEY,
    from_official=from_official,
    official_repo=_OFFICIAL,
    official_rows={"test": 2_996},
    official_columns=("image", "diagnosis", "general_complaint", "complaints", "personality"),
    migrations=(with_label,),
    recipe="builders.threemdbench.recipe",
)
