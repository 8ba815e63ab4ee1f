"""What a study is: `study.yaml` as typed data.

    design = read_design(Path("study"))
    design.digest                          # goes with everything that the study leaves

The papers are silent on cases per person, payment, order, re-entry, who speaks first, and grace at time-out. The
file states each; what it leaves out has the default that is defined here, or, of what people read, in
`texts/study.yaml`. Texts for people are files beside it:
`consent.md` (or `consent.pdf`) and `instructions.md`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field

from baselines.results.sheets import write_new
from loaders.errors import InputError, how_many
from loaders.files.opening import read_file
from loaders.files.paths import is_file
from loaders.files.records import from_json, to_json
from loaders.files.texts import read_text
from loaders.files.yaml_values import parse_yaml
from loaders.pages import render

TaskName = Literal["confirmation", "intervention", "pairs", "diagnosis", "rubric", "relevance"]
TASKS: tuple[TaskName, ...] = get_args(TaskName)
TALKS: tuple[TaskName, ...] = ("confirmation", "intervention")
"""The tasks in which a person talks with a patient."""
FILE = "study.yaml"
CONSENTS = ("consent.md", "consent.pdf")
MOST_TEXT = 1 << 18  # bytes of a text for people

Kind = Literal["choice", "number", "line"]
Count = Annotated[int, Field(ge=1)]
Amount = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=0.5)]
TAKEN = ("participant", "stage", "done", "time_factor", "comprehension_tries", "pastes_refused", "flags")
"""Columns of `people.csv` in addition to the survey's."""
FORM = ("csrf", "here", "client", "more", "pasted")
"""Fields that pages and script add to forms; a draft does not keep them."""


def _refuse_same(question: str, options: Sequence[str]) -> None:
    if same := [option for option in options if options.count(option) > 1]:
        raise ValueError(f"{question}: the option {same[0][:40]!r} twice", "each option once")


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a survey. `options` are those of a choice; `shown` is what the person reads."""

    name: str
    shown: str
    kind: Kind = "choice"
    options: tuple[str, ...] = ()
    required: bool = True

    def __post_init__(self) -> None:
        if not self.shown.strip():
            raise ValueError(f"question {self.name[:40]}: shown is empty", "the words of the question")
        if not self.name.isidentifier():
            raise ValueError(f"question {self.name[:40]!r}", "one word of letters as its name")
        if self.name in TAKEN:
            raise ValueError(f"question {self.name}", "another name: a column of people.csv has this one")
        if self.name in FORM:
            raise ValueError(f"question {self.name}", "another name: a field of the forms has this one")
        if odd := [option for option in self.options if not option or option != " ".join(option.split())]:
            raise ValueError(f"question {self.name}: option {odd[0][:40]!r}", "words, with single spaces between them")
        if (self.kind == "choice") != bool(self.options):
            raise ValueError(
                f"question {self.name}: {self.kind} with {how_many(len(self.options), 'option')}",
                "options for a choice only",
            )
        _refuse_same(f"question {self.name}", self.options)

    @property
    def scale(self) -> bool:
        """Whether the options are the numbers from 1 to 5, some of them with words."""
        return [option.partition(" ")[0] for option in self.options] == list("12345")


@dataclass(frozen=True, slots=True)
class Check:
    """A comprehension question: its options, and which of them is right (from 0)."""

    shown: str
    options: tuple[str, ...]
    right: int

    def __post_init__(self) -> None:
        if not self.shown.strip():
            raise ValueError("a comprehension question: shown is empty", "the words of the question")
        if not 0 <= self.right < len(self.options):
            raise ValueError(
                f"right: {self.right} of {how_many(len(self.options), 'option')}", "the number of an option, from 0"
            )
        _refuse_same("a comprehension question", self.options)


@dataclass(frozen=True, slots=True)
class Pay:
    """What people get, in `currency`."""

    currency: str = "USD"
    each_case: Amount = 5.0
    interrupted_case: Amount = 5.0
    welcome: Amount = 2.0

    @property
    def promised(self) -> bool:
        """Whether people get anything."""
        return any((self.each_case, self.interrupted_case, self.welcome))


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a person, an address and the study may request."""

    requests_a_minute: Count = 240
    words_a_message: Count = 400
    tries_a_link: Count = 20
    dollars: Amount | None = None


@dataclass(frozen=True, slots=True)
class Prolific:
    """A study on Prolific: its id, and the completion codes by how a person ends."""

    study_id: str
    completed: str
    screened_out: str
    timed_out: str
    withdrawn: str

    def __post_init__(self) -> None:
        if not re.fullmatch("[0-9a-z]{24}", self.study_id):
            raise ValueError(f"study_id {self.study_id[:40]!r}", "the 24 letters and digits of Prolific's id")
        if not all(code.strip() for code in (self.completed, self.screened_out, self.timed_out, self.withdrawn)):
            raise ValueError("an empty completion code", "a code for each way to end")
        if self.completed in (self.screened_out, self.timed_out, self.withdrawn):
            found = f"the code {self.completed!r} for those who complete the study and for others"
            raise ValueError(found, "another code for others: Prolific may pay by it")


@dataclass(frozen=True, slots=True)
class Design:
    """A study: docs/people.md, "Fields of study.yaml", says what each field sets."""

    title: str
    contact: str
    tasks: tuple[TaskName, ...]
    seed: int = 0
    cases: Count | None = None
    completed: Count = 1
    per_person: Count = 2
    people: Count = 20
    minutes: float = 10.0
    remind: float = 2.0
    grace: Amount = 15.0
    least_turns: int = 5
    most_turns: int = 40
    speaks_first: Literal["clinician"] = "clinician"
    lease: Annotated[float, Field(ge=1)] = 90.0
    repeated: Share = 0.05
    attention: Share = 0.0
    setting: Literal["image+basic", "image+all", "both"] = "image+basic"
    language: str = "en"
    survey: tuple[Question, ...] = ()
    comprehension: tuple[Check, ...] = ()
    debriefing: str = ""
    pay: Pay = field(default_factory=Pay)
    limits: Limits = field(default_factory=Limits)
    prolific: Prolific | None = None

    def __post_init__(self) -> None:
        for name in ("title", "contact"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name}: empty", "a text")
        if not self.tasks or len(set(self.tasks)) < len(self.tasks):
            raise ValueError(f"tasks: {', '.join(self.tasks) or 'none'}", "one or more, each once")
        if self.minutes <= 0 or not 0 <= self.remind < self.minutes:
            raise ValueError(
                f"minutes: {self.minutes}, remind: {self.remind}", "a time, and a shorter one before its end"
            )
        if not 5 <= self.least_turns <= self.most_turns <= 40:
            found = f"least_turns: {self.least_turns}, most_turns: {self.most_turns}"
            raise ValueError(found, "from 5 to 40 (Appendix D.2), the one no more than the other")
        if not re.fullmatch("[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", self.language):
            raise ValueError(f"language: {self.language[:40]!r}", "a language tag, such as en, de or pt-BR")
        names = [question.name for question in self.survey]
        if len(set(names)) < len(names):
            raise ValueError("survey: a name twice", "each name once")

    @property
    def talks(self) -> bool:
        """Whether people talk with patients."""
        return any(task in TALKS for task in self.tasks)


@dataclass(frozen=True, slots=True)
class Texts:
    """What people read: `consent` is Markdown, or the bytes of a PDF."""

    consent: str | bytes
    instructions: str

    @property
    def consent_digest(self) -> str:
        """SHA-256 of what a person agrees to."""
        consent = self.consent if isinstance(self.consent, bytes) else self.consent.encode()
        return hashlib.sha256(consent).hexdigest()


@dataclass(frozen=True, slots=True)
class Study:
    """The folder of a study, read."""

    folder: Path
    design: Design
    texts: Texts

    @property
    def digest(self) -> str:
        """SHA-256 of the design and of what people read."""
        told = json.dumps(
            [to_json(self.design), self.texts.consent_digest, self.texts.instructions],
            sort_keys=True,
            ensure_ascii=True,
        )
        return hashlib.sha256(told.encode()).hexdigest()


def read_study(folder: Path) -> Study:
    """The study in a folder.

    Raises InputError, with the field, for a file that is missing, is not such a design, or still contains a place
    to be filled in (`TODO`).
    """
    path = folder / FILE
    read = parse_yaml(read_text(path, most=MOST_TEXT, expected="the design of a study"), path)
    if not isinstance(read, Mapping):
        raise InputError(path, found="no fields", expected="the design of a study")
    tasks = read.get("tasks")
    talks = isinstance(tasks, list) and any(task in TALKS for task in tasks)
    new = parse_yaml(render("baselines/study/texts/study.yaml", task="", talks=talks), path)
    asked = {name: new[name] for name in ("survey", "comprehension", "debriefing")}
    design = from_json(Design, {**asked, **read}, path, do='Correct the field: docs/people.md, "Fields of study.yaml"')
    texts = Texts(_consent(folder), read_text(folder / "instructions.md", most=MOST_TEXT, expected="instructions"))
    return Study(folder, design, texts)


def write_study(folder: Path, task: TaskName) -> list[Path]:
    """The three files of a new study, to be edited before it is served. Raises InputError if one exists."""
    talks = task in TALKS
    sources = ("study.yaml", "consent.md", "talk.md" if talks else "rating.md")
    texts = [render(f"baselines/study/texts/{name}", task=task, talks=talks) for name in sources]
    named = zip((FILE, "consent.md", "instructions.md"), texts, strict=True)
    return write_new({folder / name: f"{text.rstrip()}\n".encode() for name, text in named})


def open_places(study: Study) -> list[str]:
    """The places where a text still says TODO, or nothing."""
    told = {
        FILE: json.dumps(to_json(study.design), ensure_ascii=False),
        "consent.md": study.texts.consent if isinstance(study.texts.consent, str) else "a PDF",
        "instructions.md": study.texts.instructions,
    }
    empty = [f"{name} (empty)" for name, text in told.items() if not text.strip()]
    return [name for name, text in told.items() if re.search(r"\bTODO\b", text, re.ASCII)] + empty


def _consent(folder: Path) -> str | bytes:
    there = [name for name in CONSENTS if is_file(folder / name)]
    if len(there) != 1:
        found = "both" if there else "neither"
        raise InputError(folder, found=f"{found} of {' and '.join(CONSENTS)}", expected="one text of consent")
    if there[0].endswith(".pdf"):
        data = read_file(folder / there[0], most=1 << 24, expected="a PDF")
        if not data.startswith(b"%PDF-"):
            raise InputError(folder / there[0], found="is not a PDF", expected="a PDF, or consent.md")
        return data
    return read_text(folder / there[0], most=MOST_TEXT, expected="a text of consent")
