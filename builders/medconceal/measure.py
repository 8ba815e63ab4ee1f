"""Statistics of a release of MedConceal, and the rules that its rows obey: what `bedside verify` measures again."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import JsonValue

from builders.curation.privacy import SPAN, scrub
from builders.licences import read_licence
from builders.medconceal.profiles import MIN_CONCERNS
from builders.medconceal.wording import texts_of
from loaders.errors import InputError
from loaders.files.foreign import Columns
from loaders.medconceal import CATEGORIES, CURATION, SCENARIOS, SPECIALTY_CASES, leaks, profile_of

RULES = 15
"""The version of what `check_row` requires and `measure` counts; 1 covers everything before versions were numbered."""

# Fields of a case's row that reveal nothing about a person: labels, pseudonyms of threads, author and terms.
_NOT_SCANNED = ("split", "thread", "specialty", "scenarios", "author", "licence", "attribution", "curation")
_LABELS = re.compile(r"hidden\.(?:hidden_concerns\.\d+\.category|roleplay\.(?:openness|literacy))")
# For a made-up patient, who may also have an aunt, a town and a birthday.
_MADE_UP = frozenset({"name", "place", "institution", "date", "age"})
_ID = "case_id"  # which may be a ward's, whoever is told of under it
_MEANT = {
    # An id may be "mc-9439160232c1", "case-00001" or "berlin-3": in a text a phone, a number and a town.
    _ID: frozenset({"number", "phone", "user", "place", "institution", "age"}),
    "hidden.name": _MADE_UP,  # a made-up name, also in a case that is not
}
"""What a field may look like, since it is no text."""

# Table 1 implies the number of concerns.
PAPER_CASES, PAPER_CONCERNS = 300, 1_154
# Cases by number of concerns: how the concerns spread over the cases is ours (MC-G29).
CONCERNS_PER_CASE = {2: 31, 3: 84, 4: 105, 5: 60, 6: 20}


def measure(rows: Iterable[dict[str, Any]]) -> JsonValue:
    """Counts of cases and concerns by specialty, category and size, beside the paper's; nothing about a single case."""
    specialty, category, scenario, author, licence, curation = (Counter[str]() for _ in range(6))
    size, synthetic = Counter[int](), 0
    for row in rows:
        concerns = row["hidden"]["hidden_concerns"]
        specialty[row["specialty"]] += 1
        size[len(concerns)] += 1
        category.update(concern["category"] for concern in concerns)
        scenario.update(row["scenarios"])
        author[row["author"] or "unknown"] += 1
        licence[read_licence(row["licence"]).id] += 1
        curation.update(row["curation"])
        synthetic += row["synthetic"]
    cases, total = sum(size.values()), sum(category.values())
    return {
        "cases": cases,
        "synthetic_cases": synthetic,
        "concerns": total,
        "concerns_per_case": round(total / cases, 3) if cases else 0.0,
        "category": {name: category[name] for name in CATEGORIES},
        "scenario": {name: scenario[name] for name in SCENARIOS},
        "author": dict(sorted(author.items())),
        "licence": dict(sorted(licence.items())),
        "curation": {name.replace("_", " "): curation[name] for name in CURATION},
        "size": {
            str(number): {"this release": size[number], "of 300 (MC-G29)": CONCERNS_PER_CASE.get(number, 0)}
            for number in sorted({*size, *CONCERNS_PER_CASE})
        },
        "specialty": against_paper(specialty),
        "against_paper": {
            "cases": {"this release": cases, "the paper": PAPER_CASES},
            "hidden concerns": {"this release": total, "the paper": PAPER_CONCERNS},
            "specialties": {"this release": len(specialty), "the paper": 22},
        },
    }


def against_paper(counts: Mapping[str, int]) -> dict[str, JsonValue]:
    """Table 5 beside these cases: label -> {this release, the paper}; labels that the paper does not use come last."""
    others = sorted(set(counts) - set(SPECIALTY_CASES))
    return {
        label: {"this release": counts.get(label, 0), "the paper": SPECIALTY_CASES.get(label, 0)}
        for label in (*SPECIALTY_CASES, *others)
    }


def check_row(row: dict[str, Any]) -> list[str]:
    """What is wrong with a row of a release, without quoting it: its schema, its chart, its evidence."""
    try:
        profile = profile_of(row)
    except InputError as error:
        return [error.found]
    problems = [f"{name} repeats a hidden concern" for name in leaks(profile)]
    if len(profile.hidden_concerns) < MIN_CONCERNS:
        problems.append(f"fewer than {MIN_CONCERNS} hidden concerns")
    if len({concern.content.get_secret_value() for concern in profile.hidden_concerns}) < len(profile.hidden_concerns):
        problems.append("the same hidden concern twice")
    snippets = [one.get_secret_value() for concern in profile.hidden_concerns for one in concern.evidence]
    if profile.narrative is not None:
        story = " ".join(profile.narrative.get_secret_value().split())
        if not profile.synthetic:
            problems.append("a narrative of a case that is not synthetic")
        if any(" ".join(snippet.split()) not in story for snippet in snippets):
            problems.append("evidence that does not stand in the narrative")
        return problems + identifiers(row, made_up=True)
    if any(len(snippet.split()) >= SPAN for snippet in snippets):
        problems.append(f"evidence of more than {SPAN - 1} words")
    return problems + identifiers(row, made_up=False)


def check_own(row: dict[str, Any], columns: Columns) -> list[str]:
    """`check_row`, and whether a team's own case says where an intervention starts and what it should achieve, unless
    `columns` says that it has none."""
    said = row["intervention"]
    empty = [f"intervention.{name}" for name in said if not said[name].strip() and columns.get(name, name) is not None]
    return [f"lacks {', '.join(empty)}"] * bool(empty) + check_row(row)


def identifiers(row: Mapping[str, Any], *, made_up: bool) -> list[str]:
    """Which fields of a row hold an identifier, and of what kind; for a `made_up` patient, only ways to reach
    somebody, and what an id may not hold."""
    scanned = {name: value for name, value in row.items() if name not in _NOT_SCANNED}
    return [
        f"an identifier in {field} ({kind})"
        for field, text in texts_of(scanned)
        if not _LABELS.fullmatch(field)
        for kind in scrub(text).counts
        if not (made_up and kind in _MADE_UP and field != _ID) and kind not in _MEANT.get(field, ())
    ]
