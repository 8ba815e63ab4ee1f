"""A team's own patients: the fields that a person fills in, as questions or as a template, and their checks.

    add(Path("ours.yaml"), asked(input))        # one more case, checked
    Path("blank.yaml").write_text(template())   # or a file to fill in, for `read_filled`

The file is a YAML list of profiles whose blocks are those of `loaders.medconceal.PatientProfile`; `bedside build
medconceal --source cases=FILE` makes a release of it, and leaves the sheet on which a clinician judges the cases.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from builders.medconceal.measure import check_own
from builders.medconceal.profiles import MIN_CONCERNS
from loaders.errors import InputError, first_of
from loaders.files.bad_rows import BadRow
from loaders.files.bundled import bundled
from loaders.files.disk import write_whole
from loaders.files.foreign import ForeignRow
from loaders.files.paths import is_there
from loaders.files.tables import read_records
from loaders.files.texts import read_text
from loaders.files.yaml_values import parse_yaml
from loaders.medconceal import CATEGORIES, DEEPEST, SCENARIOS, SPECIALTIES
from loaders.medconceal_corpus import category_by_number, meant, read_foreign

Ask = Callable[[str], str]
"""Asks a question and returns the answer, stripped; an empty one leaves the field empty."""

# The lists of labels that questions refer to.
_NAMED = {
    "scenarios": " | ".join(SCENARIOS),
    "categories": ", ".join(f"{at} {name}" for at, name in enumerate(CATEGORIES, start=1)),
    "deepest": DEEPEST,
}
_TABLE = bundled("builders.medconceal", "own_questions.csv")
_ASKED = {(row["block"], row["field"]): row["question"].format(**_NAMED) for row in _TABLE}
_QUESTIONS = {key: question for key, question in _ASKED.items() if key[0] != "hidden_concerns"}
"""(block, field) -> the question. A block of "" is the profile itself."""
_CONCERN = {field: question for (block, field), question in _ASKED.items() if block == "hidden_concerns"}
_PRIMARY = "Which of the concerns, from 0, or its content word for word"
SOURCE_COLUMNS = (
    *(((f"{block}.{field}" if block else field,), question) for (block, field), question in _ASKED.items()),
    (("intervention.primary_concern",), _PRIMARY),
)
"""The fields that a table of profiles may hold: each with its block and its meaning."""
_OPTIONAL = {row["field"] for row in _TABLE if row["may_be_empty"]}


def asked(ask: Ask, case: dict[str, Any] | None = None) -> dict[str, Any]:
    """A case from the answers to every question, put into `case` one by one; a required field is asked for again until
    it is filled."""
    case = {} if case is None else case
    for (block, field), question in _QUESTIONS.items():
        if (block, field) == ("intervention", "original_preference"):
            _concerns(ask, case.setdefault("hidden_concerns", []))
            primary = _answer(ask, "primary_concern", "Which of them is the primary one: its number, from 1")
            case["intervention"] = {"primary_concern": int(primary) - 1 if primary.isdecimal() else primary}
        place = case.setdefault(block, {}) if block else case
        place[field] = _answer(ask, field, question)
    return case


def _concerns(ask: Ask, found: list[dict[str, Any]]) -> None:
    while len(found) < MIN_CONCERNS or ask("Another concern? yes or no").casefold().startswith("y"):
        number = len(found) + 1
        concern: dict[str, Any] = {}
        found.append(concern)
        for field, question in _CONCERN.items():
            concern[field] = _answer(ask, field, f"Concern {number}. {question}")
        concern["category"] = category_by_number(concern["category"])


def _answer(ask: Ask, field: str, question: str) -> str:
    while not (answer := ask(question).strip()) and field not in _OPTIONAL:
        pass
    return answer


def template() -> str:
    """A case with every field empty and its question beside it, as YAML."""
    lines = ["# Your own patient. Fill in every field, then run: bedside cases new FILE.yaml --from THIS"]
    lines.append(f"# Specialties: {'; '.join(SPECIALTIES)}")
    block = ""
    concern = [f"    {'-' if at == 0 else ' '} {name}:  # {text}" for at, (name, text) in enumerate(_CONCERN.items())]
    entries = []
    for (own, field), question in _QUESTIONS.items():
        if own and own != block:
            if own == "intervention":
                entries += ["  hidden_concerns:  # two or more", *concern]
            entries.append(f"  {own}:")
            if own == "intervention":
                entries.append(f"    primary_concern:  # {_PRIMARY}")
        block = own
        entries.append(f"{'    ' if own else '  '}{field}:  # {question}")
    return "\n".join([*lines, "-" + entries[0][1:], *entries[1:]]) + "\n"


def read_filled(path: Path) -> list[dict[str, Any]]:
    """The cases of a filled-in template. Raises: InputError for a file that cannot be read."""
    cases = []
    for placed in read_records(path).each(None):
        if isinstance(placed, BadRow):
            raise placed.inside(path)
        cases.append(dict(placed[1]))
    return cases


def problems(case: Mapping[str, Any], where: str) -> list[str]:
    """What keeps a case out of a release, without quoting it: missing or unknown fields, and rules that it breaks."""
    lacking = [] if _id_of(case) else ["case_id"]
    try:
        row, unread = read_foreign(case, {}, where=where, case_id="case", author="own", attribution="own")
        wrong = [f"unknown: {', '.join(map(meant, unread))}"] * bool(unread) + check_own(row, {})
    except InputError as error:
        found = error.found.partition("; it holds ")[0]  # what it holds helps those who name the columns of a table
        missing = found.removeprefix("lacks ")
        lacking += missing.split(", ") if missing != found else []
        wrong = [found] if missing == found else []
    # A template that was not filled in lacks far more than is told.
    return [f"lacks {first_of(lacking, 9)}"] * bool(lacking) + wrong


def _id_of(case: Mapping[str, Any]) -> str:
    return str(ForeignRow(case, {}).find("case_id", needed=False)).strip()


def add(path: Path, *cases: Mapping[str, Any], template: Path | None = None) -> None:
    """Append cases to a file, which is created if missing, readable only by its owner since patients hide things. What
    stands in it stays as it was written, with its comments, unless no list can go on below it. `template` is the file
    they come from, for errors. Raises: InputError, and writes nothing, if a case is incomplete or breaks a rule, or its
    id is already in the file."""
    before = read_filled(path) if is_there(path) else []
    ids = set(map(_id_of, before))
    for number, case in enumerate(cases, start=1):
        name = _id_of(case)
        where = f"{template}: " * bool(template) + f"case {name or f'number {number}'}"
        if wrong := problems(case, where):
            raise InputError(
                where,
                found="; ".join(wrong),
                expected="a complete case whose chart gives nothing away",
                do=f"Correct it in {template}, and repeat the command" if template else "",
            )
        if name in ids:
            raise InputError(path, found=f"case {name} twice", expected="a distinct id for each case")
        ids.add(name)
    text = as_yaml(cases)
    if before:
        grown = f"{read_text(path).rstrip()}\n{text}"
        text = grown if _holds(grown, [*before, *cases]) else as_yaml([*before, *cases])
    write_whole(path, text.encode(), private=True)


def _holds(text: str, cases: Sequence[Mapping[str, Any]]) -> bool:
    try:
        found = parse_yaml(text, "")
    except InputError:
        return False
    return bool(found == list(cases))


def as_yaml(cases: Sequence[Mapping[str, Any]]) -> str:
    """Cases as a file of them holds them."""
    return yaml.safe_dump([*map(dict, cases)], allow_unicode=True, sort_keys=False, width=100)
