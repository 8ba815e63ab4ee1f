"""The sheet on which a clinician judges whether cases are plausible, by the paper's four criteria (Section 2.1).

    bedside build medconceal … --out DIR            # leaves WORK/review.html
    bedside build medconceal … --decisions FILE     # applies the decisions

The page shows whole cases, hidden parts included: it is for the reviewer alone and not part of a release.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from builders.curation.review import Decisions, read_decisions
from builders.curation.review_page import Part, Question, Words, write_questions
from builders.pipeline.rows import Row
from loaders.errors import how_many
from loaders.files.bundled import bundled
from loaders.manifest import canonical_json
from loaders.pages import Field

CRITERIA = {row["criterion"]: row["question"] for row in bundled("builders.medconceal", "criteria.csv")}
"""Short name of a criterion, as used in an exclusion, and the question to the reviewer."""


def read_plausibility(paths: Sequence[Path]) -> Decisions:
    """The decisions of all files (columns case_id, decision, reason, content). Raises: InputError as in `review`."""
    return read_decisions(paths, column="case_id", reasons=tuple(CRITERIA))


def content_of(row: Row) -> str:
    """SHA-256 of what a reviewer judges: a decision is never applied to another text."""
    judged = {name: row[name] for name in ("specialty", "chart", "intervention", "hidden")}
    return hashlib.sha256(canonical_json(judged)).hexdigest()


def write_sheet(rows: Iterable[Row], decisions: Decisions, page: Path) -> None:
    """Write the page. Raises: BedsideError when the disk is full."""
    questions = [_question(row, decisions) for row in rows]
    words = Words(
        f"Plausibility of {how_many(len(questions), 'case')}",
        "Reject a case by the first criterion that it fails: it is left out of the next build. "
        "What was decided before is shown, and exported again.",
        "bedside build medconceal … --decisions decisions.csv",
        ("case_id", "decision", "reason", "content"),
        CRITERIA,
        warning="For reviewers only: this page shows what clinicians must not see.",
    )
    write_questions(questions, words, page)


def _question(row: Row, decisions: Decisions) -> Question:
    content, hidden = content_of(row), row["hidden"]
    chart = {**row["chart"], **row["intervention"]}
    person = {name: hidden[name] for name in ("marital_status", "education", "adherence_behavior")}
    for block in ("psychosocial", "roleplay", "self_management_domains"):
        person |= hidden[block]
    concerns = [
        _concern(concern, primary=place == hidden["primary_concern"])
        for place, concern in enumerate(hidden["hidden_concerns"])
    ]
    return Question(
        row["case_id"],
        content,
        row["specialty"],
        list(CRITERIA)[-1],
        decisions.matching([(row["case_id"], content)]).get(row["case_id"]),
        parts=(
            Part("Chart", _facts(chart), style="facts"),
            Part("Hidden concerns", concerns),
            Part("Person and role-play", _facts(person), open=False, style="facts"),
        ),
        otherwise="Kept unless rejected.",
    )


def _facts(block: Mapping[str, Any]) -> list[Field]:
    return [
        Field(name.replace("_", " "), "not stated" if value is None else str(value)) for name, value in block.items()
    ]


def _concern(concern: Mapping[str, Any], *, primary: bool) -> Field:
    name = f"{concern['category']}, {concern['confidence']:.2f}{', primary' if primary else ''}"
    evidence = ", ".join(f"“{snippet}”" for snippet in concern["evidence"])
    text = Markup('{}<p class="small">Evidence: {}</p>').format(concern["content"], evidence)
    return Field(name, text, "value" if primary else "")
