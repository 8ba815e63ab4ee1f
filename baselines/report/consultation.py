"""Consultations to look at: who said what, what stayed hidden, how it was judged; and confusion matrices by domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from baselines.dialogue.played import PlayedCase
from baselines.report.dialogues import SHOWN, PlayedRun, played
from baselines.report.matrix import Matrix, most_frequent
from baselines.report.sections import Numbered, Section
from baselines.threemdbench.consultation.cases import picture_path
from baselines.threemdbench.consultation.diagnosis import (
    Extracted,
    confusion,
    extracted,
    first_name,
    is_none,
)
from baselines.threemdbench.consultation.differences import ALPHA, Difference, differences, system_of, told_apart
from baselines.threemdbench.consultation.names import doctor_name, role_model, setting_name, shared_family
from baselines.threemdbench.consultation.protocol import Unfinished
from baselines.threemdbench.consultation.record import HIGHEST, Consultation
from loaders.files.images import image_bytes
from loaders.files.untrusted import is_file
from loaders.pages import data_url, render
from loaders.threemdbench import DIAGNOSES, DOMAINS

ITEM_NAMES = {
    "1.1": "asks about history",
    "1.2": "asks about symptoms, causes and what was tried",
    "1.3": "explains the conclusion",
    "2.1": "is respectful, kind and to the point",
    "2.2": "respects the patient's wishes",
    "3.1": "plans how to confirm the diagnosis",
    "3.2": "plans treatment",
    "4.1": "overall competence",
}
_ENDED = {"break": "the patient", "cap": "the cap on utterances", "answer": "the one answer"}


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A played case as the page shows it; its record is None where a model's error ended it.

    `named` is the diagnosis that counts, by the strict reading; `said` what was extracted, as it was written.
    """

    case_id: str
    epoch: int
    record: Consultation | None
    named: str | None
    said: str
    problems: tuple[str, ...]
    picture: str | None

    @property
    def correct(self) -> bool:
        """Whether the diagnosis that counts is the gold one."""
        return self.record is not None and self.named == self.record.gold


def sections(runs: Sequence[Numbered], *, shown: int = SHOWN, seed: int = 0) -> list[Section]:
    """One section with the dialogues of all runs, those with a problem first; none where no run left any.

    Raises: InputError when a run's file of dialogues cannot be read.
    """
    read = played(runs, PlayedCase[Consultation], lambda row: bool(_problems(row)), shown=shown, seed=seed)
    if not read:
        return []
    html = render(
        "baselines/report/consultation.html",
        views=[_view(played_run) for played_run in read],
        differences=_differences([(played_run.number, played_run.run) for played_run in read]),
        alpha=ALPHA,
        items=ITEM_NAMES,
        highest=HIGHEST,
        ended=_ENDED,
    )
    return [Section("consultations", "Consultations", html)]


def _differences(runs: Sequence[Numbered]) -> list[Difference]:
    """Every two runs over the first one's cases; runs over other cases are compared with nothing."""
    systems = [(number, system) for number, run in runs if (system := system_of(run)) is not None]
    cases = [{consultation.case_id for consultation in system.consultations} for _, system in systems]
    same = [numbered for numbered, own in zip(systems, cases, strict=True) if own & cases[0]]
    named = told_apart([system for _, system in same], [f"run {number}" for number, _ in same])
    return differences(named) if len(named) > 1 else []


def _view(played_run: PlayedRun[Consultation]) -> dict[str, Any]:
    run, rows = played_run.run, played_run.rows
    unfinished: Unfinished = "authors" if run.record.options.get("unfinished") == "authors" else "paper"
    records = [row.record for row in rows if row.record is not None]
    setting = records[0].setting if records else str(run.record.options.get("setting", ""))
    family = shared_family(run.record)
    warning = Markup(
        "<strong>Judge and doctor are of one family ({}).</strong> Models tend to favour texts of their own kind: take "
        "the scores of quality with care, or judge with a model of another family."
    )
    return {
        "number": played_run.number,
        "run": run,
        "title": f"{doctor_name(run.record)}, {setting_name(setting)}",
        "notice": warning.format(family) if family else None,
        "models": [
            (role, name) for role in ("doctor", "patient", "assessor") if (name := role_model(run.record, role))
        ],
        "total": len(rows),
        "problems": Counter(problem for row in rows for problem in _problems(row)).most_common(),
        "dialogues": [_dialogue(run.folder, row, unfinished) for row in played_run.shown],
        "matrices": matrices([extracted(record, unfinished) for record in records]),
    }


def _problems(row: PlayedCase[Consultation]) -> tuple[str, ...]:
    """What did not go as it should: of the models, not the diagnosis, which is wrong in many a good dialogue."""
    record = row.record
    if record is None:
        return ("not played",)
    problems = {
        "unfinished": not record.finished,
        "diagnosis not extracted": record.extraction.failure is not None,
        "not assessed": record.assessment is not None and record.assessment.items is None,
        "reasoning not parsed": record.parse_failures > 0,
        "invalid": row.problem is not None,
    }
    return tuple(problem for problem, there in problems.items() if there)


def _dialogue(folder: Path, row: PlayedCase[Consultation], unfinished: Unfinished) -> Dialogue:
    answer = extracted(row.record, unfinished).text if row.record else ""
    picture = picture_path(folder, row.case_id)
    return Dialogue(
        case_id=row.case_id,
        epoch=row.epoch,
        record=row.record,
        named=first_name(answer),
        said="" if is_none(answer) else answer,
        problems=(*_problems(row), *([row.problem] if row.problem else [])),
        picture=data_url(image_bytes(picture)) if is_file(picture) else None,
    )


def matrices(answers: Sequence[Extracted]) -> list[Matrix]:
    """The confusion matrix of each domain that has a case, over its most frequent diagnoses (Figures 14 and 15)."""
    counts = Counter(answer.gold for answer in answers)
    found = []
    for domain in DOMAINS:
        names = [diagnosis.name for diagnosis in DIAGNOSES if diagnosis.domain == domain and counts[diagnosis.name]]
        shown = [names[place] for place in most_frequent([counts[name] for name in names])]
        if shown:
            columns, table = confusion(answers, shown)
            left_out = len(names) - len(shown)
            found.append(Matrix(domain, tuple(shown), tuple(columns), tuple(map(tuple, table)), left_out))
    return found
