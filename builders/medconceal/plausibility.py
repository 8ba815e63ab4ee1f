"""The sheet on which a clinician judges whether cases are plausible, by the paper's four criteria (Section 2.1).

    bedside build medconceal … --out DIR            # leaves WORK/review.html
    bedside build medconceal … --decisions FILE     # applies what was decided

The page shows cases whole, hidden parts too: it is for the reviewer alone and no part of a release.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from builders.curation.review import ACCEPT, REJECT, Decisions, read_decisions
from builders.pipeline.rows import Row
from loaders.disk import write_whole, writing
from loaders.manifest import canonical_json

CRITERIA = {
    "turn structure": "Could this patient answer in short turns that bring one or two issues each?",
    "health literacy": "Do wording and knowledge fit the patient's schooling and background, without borrowed jargon?",
    "gradual disclosure": "Would these concerns come out bit by bit, and is none of them visible on the chart?",
    "intervention": "Does the plan turn on the primary concern, so that naming the plan alone would not do?",
    "other": "Anything else that makes the case implausible or unsafe.",
}
"""Short name of a criterion, as an exclusion gives it, and the question to the reviewer."""


def read_plausibility(paths: Sequence[Path]) -> Decisions:
    """The decisions of all files (columns case_id, decision, reason, content). Raises: InputError as in `review`."""
    return read_decisions(paths, column="case_id", reasons=tuple(CRITERIA))


def content_of(row: Row) -> str:
    """SHA-256 of what a reviewer judges: a decision is never applied to another text."""
    judged = {name: row[name] for name in ("specialty", "chart", "intervention", "hidden")}
    return hashlib.sha256(canonical_json(judged)).hexdigest()


def write_sheet(rows: Iterable[Row], decisions: Decisions, page: Path) -> None:
    """Write the page: one self-contained file, no network. Raises: BedsideError when the disk is full."""
    cases = [_shown(row, decisions) for row in rows]
    store = hashlib.sha256(repr([(case["key"], case["content"]) for case in cases]).encode()).hexdigest()[:16]
    record = {"accept": ACCEPT, "reject": REJECT, "store": f"bedside plausibility {store}"}
    environment = Environment(
        loader=PackageLoader("builders.medconceal", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    html = environment.get_template("review.html").render(
        cases=cases, criteria=CRITERIA, accept=ACCEPT, reject=REJECT, record=_embedded(record)
    )
    with writing(page.parent):
        page.parent.mkdir(parents=True, exist_ok=True)
    write_whole(page, html.encode())


def _shown(row: Row, decisions: Decisions) -> dict[str, Any]:
    content = content_of(row)
    decided = decisions.matching([(row["case_id"], content)]).get(row["case_id"])
    hidden = row["hidden"]
    return {
        "key": row["case_id"],
        "content": content,
        "specialty": row["specialty"],
        "chart": row["chart"],
        "intervention": row["intervention"],
        "concerns": hidden["hidden_concerns"],
        "primary": hidden["primary_concern"],
        "rest": {
            "who": {name: hidden[name] for name in ("marital_status", "education", "adherence_behavior")},
            **{name: hidden[name] for name in ("psychosocial", "roleplay", "self_management_domains")},
        },
        "decided": decided,
    }


def _embedded(record: object) -> Markup:
    """JSON that cannot end the script element that holds it."""
    text = json.dumps(record, ensure_ascii=True, sort_keys=True)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
