"""MedConceal: a patient whose chart a clinician sees, and whose hidden concerns the clinician has to elicit.

    for profile in cases(load("medconceal", "test")):
        shown = chart(profile, "confirmation")

`chart` makes the only object from which a clinician agent, a study page or a public preview may be built. Hidden texts
are `SecretStr`: they do not fit where a `str` is expected, they print as asterisks in logs, tracebacks and error
messages, and `get_secret_value()` marks every place that reads one. In a release they are stored in one column,
`hidden`, which the first config, `charts`, leaves out: `load_dataset(repo)` gives what clinicians may see, while
`load_dataset(repo, "cases")` and `load` here give everything.

Sections and appendices are those of the paper (Han et al. 2026); MC-G numbers are decisions that it leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)

from loaders.errors import InputError
from loaders.files.bundled import bundled
from loaders.schema import Schema
from loaders.spans import spans, words

KEY = "case_id"
SPLIT = "test"

Task = Literal["confirmation", "intervention"]
TASKS: tuple[Task, ...] = get_args(Task)

Category = Literal[
    "Misinformation or Misconceptions",
    "Emotional Discomfort or Fear",
    "Communication Barriers",
    "Financial or Insurance-Related Concern",
]
# Section 2.1, labels verbatim.
CATEGORIES: tuple[Category, ...] = get_args(Category)
AIMS = ("What the patient wants at first", "Target plan")
"""Headings of a chart for what an intervention starts from and should achieve."""

# Appendix C.5: the communication families to which Task 2 is limited.
SCENARIOS = (
    "Goals of Care, Prognostication, and End-of-Life Communication",
    "Misinformation, Distrust, and Alternative Belief Systems",
)

# Appendix D.1's roles; C.4: what the two "Other" ones are called as labels of a case; Table 5: how many of the paper's
# 300 cases have a label, the most frequent first. All 26 are possible, 22 occur.
_ROLES = bundled("loaders", "medconceal_specialties.csv")
ROLES = tuple(row["role"] for row in _ROLES)
SPECIALTIES = tuple(row["label"] for row in _ROLES)
UNMAPPED = {role: label for role, label in zip(ROLES, SPECIALTIES, strict=True) if role != label}
SPECIALTY_CASES = dict(
    sorted(((row["label"], int(row["cases"])) for row in _ROLES if row["cases"]), key=lambda one: (-one[1], one[0]))
)

# Appendix E.6: what a patient may express as important.
VALUES = (
    "autonomy/control",
    "safety/risk avoidance",
    "trust/respect/dignity",
    "family/social responsibility",
    "practical burden/cost/logistics",
)

Literacy = Literal["plain", "ordinary", "technical"]
# How readily a person speaks about what troubles them: `disclosure_behavior` as an ordinal.
Openness = Literal["open", "guarded", "reserved"]
DEEPEST = 3  # the maximum of a concern's `depth`; 0 comes out first
# MC-G26: words, or their beginnings, in `education` that show how a patient speaks; the first line with a match
# decides, else ordinary.
_EDUCATION: tuple[tuple[Literacy, str], ...] = (
    ("plain", "no school|no formal|primary(?! care)|elementary|middle school|some high school|left school"),
    ("technical", "graduate degree|postgraduate|master|doctor|phd|nurs(?!ery)|pharmac|paramedic"),
    ("plain", r"high school|ged(?!\w)|secondary school"),
)

# A chart gives a concern away if it repeats six consecutive words of the concern or its evidence, or the whole of a
# text that is shorter than that. A text of one or two words is a topic ("cost", "blood tests"), which honest charts
# name as well: of the forty written cases, 38 charts share a one-word topic with their concerns and 7 a two-word one,
# none a longer one.
LEAK_WORDS, SHORTEST_LEAK = 6, 3


def _no_truth(value: object) -> object:
    """Refuses true and false, which pydantic would take for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("a number, not true or false")
    return value


Whole = Annotated[int, BeforeValidator(_no_truth)]
Real = Annotated[float, BeforeValidator(_no_truth)]


class _Block(BaseModel):
    """A part of a profile: closed, unchangeable, and silent about its content in logs and errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, str_strip_whitespace=True)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        yield from ()

    def __str__(self) -> str:
        return repr(self)


class Demographics(_Block):
    """Who the patient is; age in years, sex as the patient gives it. Names are made up."""

    name: SecretStr
    age: int | None = Field(ge=0, le=120)
    sex: str = Field(min_length=1)
    marital_status: SecretStr
    education: SecretStr
    background: str

    @field_validator("age", mode="before")
    @classmethod
    def _whole_years(cls, value: object) -> object:
        if isinstance(value, str | bool):
            raise ValueError("whole years from 0 to 120, such as 34 or 34 years, or 90+")
        return value


class Clinical(_Block):
    """The reason for the encounter and the medical history; `adherence_behavior` is not on the chart (MC-G32)."""

    admission_reason: str = Field(min_length=1)
    medical_surgical_history: str
    adherence_behavior: SecretStr


class Psychosocial(_Block):
    """What shapes the patient's behaviour; none of it is on the chart."""

    personality: SecretStr
    current_life_situation: SecretStr
    family_medical_history: SecretStr
    lifestyle_history: SecretStr
    family_dynamics: SecretStr


class HiddenConcern(_Block):
    """A concern that the patient does not volunteer.

    `evidence` holds short verbatim spans of the source; `cue` is a hint that the patient may drop before the concern is
    revealed, worded so that it does not give the concern away (MC-G24). `depth` says how deep the concern lies, from 0
    to 3; `topics` are words and phrases that a clinician may naturally use near it (MC-G14). Both are empty where
    nobody provided them, as in releases before version 2 of the schema.
    """

    content: SecretStr = Field(min_length=1)
    category: Category
    confidence: Real = Field(ge=0, le=1)
    evidence: tuple[SecretStr, ...] = Field(min_length=1)
    cue: SecretStr | None = None
    depth: Whole | None = Field(default=None, ge=0, le=DEEPEST)
    topics: tuple[SecretStr, ...] = ()


class Intervention(_Block):
    """Task 2: the index of the concern to address, the patient's initial preference, and the target plan."""

    primary_concern: Whole = Field(ge=0)
    original_preference: str
    recommended_plan: str


class Roleplay(_Block):
    """How the patient answers, and what makes them open up.

    `openness` and `literacy` are ordinals, None if nobody provided them.
    """

    response_style: SecretStr
    disclosure_behavior: SecretStr
    openness: Openness | None = None
    literacy: Literacy | None = None


class SelfManagement(_Block):
    """The four self-management domains of Appendix C.3."""

    awareness: SecretStr
    adherence: SecretStr
    communication: SecretStr
    regimen_execution: SecretStr


class PatientProfile(_Block):
    """A complete case (Appendix C.3): the source of truth for the simulated patient and for scoring.

    `thread` is the pseudonym of the source thread, None for a written case; `rarity` is the selection score, lower is
    more common; `narrative` is the text that contains the evidence of a written case, None for a case from a thread,
    whose text is not published.
    """

    case_id: str = Field(min_length=1)
    thread: str | None = None
    synthetic: bool
    specialty: str
    rarity: Real | None = None
    scenarios: tuple[str, ...] = ()
    demographics: Demographics
    clinical: Clinical
    psychosocial: Psychosocial
    hidden_concerns: tuple[HiddenConcern, ...] = Field(min_length=1)
    intervention: Intervention
    roleplay: Roleplay
    self_management_domains: SelfManagement
    narrative: SecretStr | None = None

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        yield "case_id", self.case_id
        yield "specialty", self.specialty

    @model_validator(mode="after")
    def _consistent(self) -> PatientProfile:
        if self.specialty not in SPECIALTIES:
            raise ValueError("specialty: none of the 26 labels")
        if any(scenario not in SCENARIOS for scenario in self.scenarios):
            raise ValueError(f"scenarios: one that is neither {SCENARIOS[0]!r} nor {SCENARIOS[1]!r}")
        if self.intervention.primary_concern >= len(self.hidden_concerns):
            raise ValueError("intervention.primary_concern: beyond the last concern")
        return self

    @property
    def primary_concern(self) -> HiddenConcern:
        """The concern that Task 2 targets."""
        return self.hidden_concerns[self.intervention.primary_concern]

    @property
    def health_literacy(self) -> Literacy:
        """The patient's register: as stated, otherwise by education (MC-G26)."""
        return self.roleplay.literacy or health_literacy(self.demographics.education.get_secret_value())


@dataclass(frozen=True, slots=True)
class Chart:
    """What a clinician may know before the dialogue (Appendix D.2, MC-G32). It has no field for anything hidden.

    The last two fields are None in confirmation.
    """

    case_id: str
    task: Task
    age: int | None
    sex: str
    background: str
    admission_reason: str
    medical_surgical_history: str
    original_preference: str | None = None
    recommended_plan: str | None = None

    def lines(self) -> list[tuple[str, str]]:
        """Heading and text of each part, in page order, for prompts and pages alike."""
        age = "age not stated" if self.age is None else f"{self.age} years"
        found = [
            ("Patient", f"{age}, {self.sex}. {self.background}".strip()),
            ("Reason for the encounter", self.admission_reason),
            ("Medical and surgical history", self.medical_surgical_history or "None reported."),
        ]
        if self.original_preference is not None:
            found.append((AIMS[0], self.original_preference))
        if self.recommended_plan is not None:
            found.append((AIMS[1], self.recommended_plan))
        return found


def chart(profile: PatientProfile, task: Task) -> Chart:
    """The chart of a case for a task. Raises: InputError for another task, and for a case that cannot be used, since a
    text of the chart repeats a hidden concern."""
    if task not in TASKS:  # or an intervention misspelt would have a chart without its aims
        raise InputError("task", found=repr(task), expected=" or ".join(TASKS))
    if leaking := leaks(profile):
        found = f"{', '.join(leaking)} repeats a hidden concern"
        raise InputError(f"case {profile.case_id}", found=found, expected="a chart that gives no concern away")
    told: dict[str, Any] = _visible(profile)
    if task == "confirmation":
        told |= dict.fromkeys(("original_preference", "recommended_plan"))
    return Chart(profile.case_id, task, profile.demographics.age, **told)


def _visible(profile: PatientProfile) -> dict[str, str]:
    """The texts that a clinician may see, by field."""
    who, clinical, plan = profile.demographics, profile.clinical, profile.intervention
    return {
        "sex": who.sex,
        "background": who.background,
        "admission_reason": clinical.admission_reason,
        "medical_surgical_history": clinical.medical_surgical_history,
        "original_preference": plan.original_preference,
        "recommended_plan": plan.recommended_plan,
    }


def leaks(profile: PatientProfile) -> list[str]:
    """Names of the visible texts that give a hidden concern or its evidence away, as `repeated_on` decides."""
    hidden = [
        secret.get_secret_value()
        for concern in profile.hidden_concerns
        for secret in (concern.content, *concern.evidence)
    ]
    return repeated_on(_visible(profile), hidden)


def repeated_on(visible: Mapping[str, str], hidden: Iterable[str]) -> list[str]:
    """Names of the visible texts that repeat six consecutive words of a hidden text, or the whole of one of three to
    five words.

    >>> repeated_on({"background": "A teacher, afraid of needles.", "history": "Needles: none."}, ["Afraid of needles"])
    ['background']
    """
    runs: set[tuple[str, ...]] = set()
    for text in hidden:
        runs |= spans(text, min(LEAK_WORDS, max(SHORTEST_LEAK, len(words(text)))))
    lengths = range(SHORTEST_LEAK, LEAK_WORDS + 1)
    return [name for name, text in visible.items() if any(runs & spans(text, length) for length in lengths)]


def health_literacy(education: str) -> Literacy:
    """plain, ordinary or technical wording, from what is said of someone's education.

    >>> health_literacy("High school diploma"), health_literacy("Registered nurse"), health_literacy("Some college")
    ('plain', 'technical', 'ordinary')
    """
    said = education.casefold()
    return next((level for level, marks in _EDUCATION if re.search(rf"(?<![\w-])(?:{marks})", said)), "ordinary")


# --- Rows of a release ------------------------------------------------------------------------------------------------

# What a build did to the source of a case: identifiers masked, sentences addressed to a machine removed, concerns
# dropped for lack of evidence, posts edited after they were answered. Zero for a written case.
CURATION = ("identifiers_masked", "instructions_removed", "concerns_dropped", "edited_posts")

_CONCERN: Schema = {
    **dict.fromkeys(HiddenConcern.model_fields, "string"),
    **{"confidence": "float64", "evidence": ["string"], "depth": "int32", "topics": ["string"]},
}
# `chart` is visible in both tasks, `intervention` in Task 2; `hidden` is only for the patient simulator and the scores.
# No two fields of a row have the same name, whichever of these they are in.
_PARTS: Mapping[str, Schema] = {
    "chart": {
        "age": "int32",
        **dict.fromkeys(("sex", "background", "admission_reason", "medical_surgical_history"), "string"),
    },
    "intervention": dict.fromkeys(("original_preference", "recommended_plan"), "string"),
    "hidden": {
        **dict.fromkeys(("name", "marital_status", "education", "adherence_behavior"), "string"),
        "psychosocial": dict.fromkeys(Psychosocial.model_fields, "string"),
        "hidden_concerns": [_CONCERN],
        "primary_concern": "int32",
        "roleplay": dict.fromkeys(Roleplay.model_fields, "string"),
        "self_management_domains": dict.fromkeys(SelfManagement.model_fields, "string"),
        "narrative": "string",
    },
}
CHARTS = ["case_id", "split", "synthetic", "specialty", "chart", "intervention", "author", "licence", "attribution"]
SCHEMA: Schema = {
    "case_id": "string",
    "split": "string",
    "thread": "string",
    "synthetic": "bool",
    "specialty": "string",
    "rarity": "float64",
    "scenarios": ["string"],
    **_PARTS,
    "curation": dict.fromkeys(CURATION, "int32"),
    "author": "string",
    "licence": "string",
    "attribution": "string",
}


BLOCKS: Mapping[str, type[_Block]] = {
    "demographics": Demographics,
    "clinical": Clinical,
    "psychosocial": Psychosocial,
    "intervention": Intervention,
    "roleplay": Roleplay,
    "self_management_domains": SelfManagement,
}
# Those whose fields stand in other places of a row.
_SPREAD = {name: BLOCKS[name] for name in ("demographics", "clinical", "intervention")}


def profile_of(row: Mapping[str, Any]) -> PatientProfile:
    """The profile in a row of a release. Raises: InputError, which names fields, never values, if one is missing, of
    the wrong type or out of range."""
    if not isinstance(row, Mapping):
        do = 'Pass the rows of one split, as load("medconceal", "test") returns them'
        found = f"a {type(row).__name__} in place of a row"
        raise InputError("rows", found=found, expected="a row of medconceal", do=do)
    where = f"case {row.get(KEY)!r}"
    try:
        told = {**row, **row["chart"], **row["intervention"], **row["hidden"]}
        value = {name: told[name] for name in PatientProfile.model_fields if name not in _SPREAD}
        value |= {block: {name: told[name] for name in kind.model_fields} for block, kind in _SPREAD.items()}
    except (KeyError, TypeError):
        do = 'Of a release that is loaded with `datasets`, take the config "cases": "charts" lacks what is hidden'
        found = "a row without the corpus's columns"
        raise InputError(where, found=found, expected="a row of medconceal", do=do) from None
    return parse_profile(value, where)


def parse_profile(value: Mapping[str, Any], where: object) -> PatientProfile:
    """A profile from plain values, block by block as in `PatientProfile`. Raises: InputError, which names fields, never
    values, if they do not fit the schema."""
    try:
        return PatientProfile.model_validate(value)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
    # Of a list with a broken entry it is said, too, that it lacks one.
    inner = {problem["loc"][:at] for problem in problems for at in range(1, len(problem["loc"]))}
    found = "; ".join(_problem(problem) for problem in problems if problem["loc"] not in inner)
    raise InputError(where, found=found, expected="a patient profile (Appendix C.3)")


def _problem(problem: Any) -> str:
    place = ".".join(map(str, problem["loc"]))
    said = str(problem["msg"]).removeprefix("Value error, ")  # of a literal it tells what it may be, not what it was
    return f"{place}: {said}" if place else said


def cases(rows: Iterable[Mapping[str, Any]]) -> list[PatientProfile]:
    """The profiles of a split, in order. Raises: InputError for a row that is no complete profile."""
    return [profile_of(row) for row in rows]


def row_of(
    profile: PatientProfile,
    *,
    split: str = SPLIT,
    author: str,
    licence: str,
    attribution: str,
    curation: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """The release row that holds a profile: the only place where hidden texts are written out.

    `author` is who wrote the profile: a chat model's name, or `synthetic`. `curation` holds counts by the names in
    CURATION.
    """
    told = _revealed(profile)
    for block in _SPREAD:
        told |= told.pop(block)
    told |= {"split": split, "author": author, "licence": licence, "attribution": attribution}
    told["curation"] = {name: (curation or {}).get(name, 0) for name in CURATION}
    parts = {part: {name: told[name] for name in names} for part, names in _PARTS.items()}
    return {name: parts[name] if name in parts else told[name] for name in SCHEMA}


def _revealed(value: Any) -> Any:
    """Plain data with every hidden text revealed."""
    if isinstance(value, BaseModel):
        return {name: _revealed(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, tuple):
        return [_revealed(item) for item in value]
    return value.get_secret_value() if isinstance(value, SecretStr) else value
