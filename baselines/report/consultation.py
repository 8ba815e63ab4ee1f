"""Consultations to explore: who said what, what was left unsaid, how it was judged; confusion matrices by domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup

from baselines.dialogue.played import PlayedCase
from baselines.report.dialogues import PlayedRun, played
from baselines.report.matrix import Matrix, most_frequent
from baselines.report.rows import Explored, Row, Said, Told
from baselines.report.sections import Numbered, Section
from baselines.results.confounds import also_differing
from baselines.results.differences import ALPHA, Difference
from baselines.results.published import meaning, named
from baselines.threemdbench.consultation.cases import PICTURES, picture_path
from baselines.threemdbench.consultation.diagnosis import Extracted, confusion, extracted, first_name, is_none
from baselines.threemdbench.consultation.differences import differences, system_of, told_apart
from baselines.threemdbench.consultation.names import PAPER, doctor_name, role_model, setting_name, shared_family
from baselines.threemdbench.consultation.protocol import unfinished_of
from baselines.threemdbench.consultation.record import HIGHEST, Consultation
from loaders.files.images import image_bytes
from loaders.files.paths import is_file, is_folder
from loaders.pages import data_url, render
from loaders.threemdbench import DIAGNOSES, DOMAINS

FACETS = ("diagnosis", "domain", "temperament", "setting", "problem", "ended by")
_ENDED = {"break": "the patient", "cap": "the cap on utterances", "answer": "the one answer"}


def sections(runs: Sequence[Numbered], *, public: bool = False) -> list[Section]:
    """One section with the dialogues of all runs; none if no run left any. With `public` it has no photo. Raises:
    InputError when a run's file of dialogues cannot be read."""
    read = played(runs, PlayedCase[Consultation], public=public)
    if not read:
        return []
    rows = [_row(played_run, row) for played_run in read for row in played_run.rows]
    names = {played_run.number: f"run {played_run.number}: {_title(played_run)}" for played_run in read}
    found, also = _differences([(played_run.number, played_run.run) for played_run in read])
    html = render(
        "baselines/report/consultation.html",
        views=[_view(played_run, public=public) for played_run in read],
        differences=found,
        also=also,
        alpha=ALPHA,
        named=named,
    )
    explored = Explored.of("consultations", rows, FACETS, runs=names)
    if not public:  # a photo belongs to a case, whatever runs it is in
        places = ((row.case_id, picture_path(one.run.folder, row.case_id)) for one in read for row in one.rows)
        explored = explored.pictured((case, partial(_photo, path)) for case, path in places if is_file(path))
    return [Section("consultations", "Consultations", html, explored)]


def _differences(runs: Sequence[Numbered]) -> tuple[list[Difference], list[tuple[str, str, str]]]:
    """Every two runs that share cases, others are not compared; and what else two of them differ in, if anything:
    first, second, what `bedside contrast` says of them."""
    systems = [(number, run.record, system) for number, run in runs if (system := system_of(run)) is not None]
    named = told_apart([system for *_, system in systems], [f"run {number}" for number, *_ in systems])
    found = differences(named, sharing_cases=True) if len(named) > 1 else []
    record_of = {system.label: record for system, (_, record, _) in zip(named, systems, strict=True)}
    pairs = dict.fromkeys((one.first, one.second) for one in found)
    told = [(*pair, also_differing([record_of[name] for name in pair])) for pair in pairs]
    return found, [one for one in told if one[2]]


def _title(played_run: PlayedRun[Consultation]) -> str:
    record = played_run.run.record
    settings = [row.record.setting for row in played_run.rows if row.record is not None]
    setting = settings[0] if settings else str(record.options.get("setting", ""))
    return f"{doctor_name(record)}, {setting_name(setting)}"


def _view(played_run: PlayedRun[Consultation], *, public: bool) -> dict[str, Any]:
    run, rows = played_run.run, played_run.rows
    records = [row.record for row in rows if row.record is not None]
    family = shared_family(*(role_model(run.record, role) for role in ("doctor", "assessor")))
    warning = Markup(
        "<strong>Judge and doctor are from the same model family ({}).</strong> Models tend to favour their own "
        "family: treat the quality scores with caution, or use a judge from another family."
    )
    return {
        "number": played_run.number,
        "run": run,
        "title": _title(played_run),
        "notice": warning.format(family) if family else None,
        "models": [
            (role, name) for role in ("doctor", "patient", "assessor") if (name := role_model(run.record, role))
        ],
        "total": len(rows),
        "no_photos": not public and not is_folder(run.folder / PICTURES),
        "problems": Counter(problem for row in rows for problem in _problems(row)).most_common(),
        "matrices": matrices([extracted(record, unfinished_of(run.record.options)) for record in records]),
    }


def _problems(row: PlayedCase[Consultation]) -> tuple[str, ...]:
    """What went wrong technically: about the models, not the diagnosis, which is wrong in many a good dialogue."""
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


def _photo(path: Path) -> str:
    return data_url(image_bytes(path))


def _row(played_run: PlayedRun[Consultation], row: PlayedCase[Consultation]) -> Row:
    record, problems = row.record, _problems(row)
    problem = "; ".join([*problems, *([row.problem] if row.problem else [])])
    if record is None:
        facets = {"problem": list(problems)}
        return Row(row.case_id, row.case_id, played_run.number, row.epoch, problem=problem, facets=facets)
    answer = extracted(record, unfinished_of(played_run.run.record.options)).text
    said = "" if is_none(answer) else answer
    named = first_name(answer)
    good = named == record.gold
    return Row(
        case=row.case_id,
        title=record.gold if good else f"{record.gold}, named: {named or said or 'none'}",
        run=played_run.number,
        epoch=row.epoch,
        good=good,
        note=f"{record.temperament} · {record.utterances} utterances · {row.case_id}",
        problem=problem,
        facets={
            "diagnosis": [record.gold],
            "domain": [record.domain],
            "temperament": [record.temperament],
            "setting": [setting_name(record.setting)],
            "problem": list(problems) or ["none"],
            "ended by": [_ENDED[record.ended]],
        },
        told=list(_told(record, said)),
        said=[
            Said(
                who=turn.role.capitalize(),
                text=turn.text,
                tone="expert" if turn.role == "doctor" else "lay",
                notes=[f"changed before it was sent on: {', '.join(turn.flags)}"] if turn.flags else [],
                folded=turn.rationale or "",
            )
            for turn in record.turns
        ],
        alt=f"Photo of the case; gold diagnosis: {record.gold}",
    )


def _told(record: Consultation, said: str) -> list[Told]:
    told = [
        Told("Gold diagnosis", f"{record.gold} ({record.domain})"),
        Told("Extracted", said or "none"),
        Told("Ended by", _ENDED[record.ended]),
    ]
    if record.extraction.failure:
        told.append(Told("Not extracted", record.extraction.failure, "failed"))
    if record.cues:
        told.append(Told("Cues of the classifier", ", ".join(record.cues)))
    if record.assessment and record.assessment.items:
        scores = [
            f"{score} of {HIGHEST[item]}: {meaning(PAPER, f'Criterion {item}')} ({item})"
            for item, score in record.assessment.items.items()
        ]
        told.append(Told("Assessment", scores))
    elif record.assessment:
        told.append(Told("Not assessed", record.assessment.failure or "", "failed"))
    return told


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
