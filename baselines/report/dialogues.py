"""Consultations to look at: who said what, what stayed hidden, how it was judged; and confusion matrices by domain."""

from __future__ import annotations

import base64
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from baselines.dialogue.played import PlayedCase, read_played
from baselines.report.sections import Numbered, Section
from baselines.results.comparison import FinishedRun
from baselines.threemdbench.consultation.diagnosis import (
    Extracted,
    Unfinished,
    confusion,
    extracted,
    first_name,
    is_none,
)
from baselines.threemdbench.consultation.differences import ALPHA, Difference, differences, system_of, told_apart
from baselines.threemdbench.consultation.names import doctor_name, role_model, setting_name, shared_family
from baselines.threemdbench.consultation.pictures import picture_path
from baselines.threemdbench.consultation.record import HIGHEST, Consultation
from loaders.threemdbench import DIAGNOSES, DOMAINS

SHOWN = 60
"""Dialogues on a page, all runs together."""
_LEAST = 6  # of a run, however many runs there are
_LONGEST_TURN = 4_000  # characters
_MATRIX = 10  # diagnoses of a domain, as in Figure 14

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


@dataclass(frozen=True, slots=True)
class Shown:
    """A turn as the page shows it."""

    role: str
    text: str
    cut: int
    """Characters that are not shown."""
    rationale: str | None
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """A played case as the page shows it; `record` is None for one that a model's error ended."""

    case_id: str
    epoch: int
    record: Consultation | None
    named: str | None
    """The diagnosis that counts, by the strict reading."""
    said: str
    """What was extracted, as it was written."""
    problems: tuple[str, ...]
    turns: tuple[Shown, ...]
    picture: str | None

    @property
    def correct(self) -> bool:
        """Whether the diagnosis that counts is the gold one."""
        return self.record is not None and self.named == self.record.gold


@dataclass(frozen=True, slots=True)
class Matrix:
    """A confusion matrix of a domain: gold diagnoses down, what was named across, shares of the row for the colour."""

    domain: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    left_out: int
    """Diagnoses of the domain that are not shown, the rarest ones."""

    def share(self, row: int, column: int) -> float:
        """A cell's share of its row, from 0 to 1."""
        return self.counts[row][column] / max(1, sum(self.counts[row]))

    def right(self, row: int, column: int) -> bool:
        """Whether a cell counts right answers."""
        return self.rows[row] == self.columns[column]


def sections(runs: Sequence[Numbered], *, shown: int = SHOWN, seed: int = 0) -> list[Section]:
    """One section with the dialogues of all runs, those with a problem first; none where no run left any.

    Raises InputError when a run's file of dialogues cannot be read.
    """
    found = []
    for number, run in runs:
        rows = read_played(run.folder, PlayedCase[Consultation])
        if rows:
            found.append((number, run, rows))
    if not found:
        return []
    each = max(_LEAST, shown // len(found))
    views = [_view(number, run, rows, each, seed) for number, run, rows in found]
    environment = Environment(
        loader=PackageLoader("baselines.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    html = environment.get_template("dialogues.html").render(
        views=views,
        differences=_differences([(number, run) for number, run, _ in found]),
        alpha=ALPHA,
        items=ITEM_NAMES,
        highest=HIGHEST,
    )
    return [Section("consultations", "Consultations", Markup(html))]


def _differences(runs: Sequence[Numbered]) -> list[Difference]:
    """Every two runs over the first one's cases; runs over other cases are compared with nothing."""
    found = [(number, system) for number, run in runs if (system := system_of(run)) is not None]
    cases = [{one.case_id for one in system.consultations} for _, system in found]
    same = [one for one, own in zip(found, cases, strict=True) if own & cases[0]]
    systems = told_apart([system for _, system in same], [f"run {number}" for number, _ in same])
    return differences(systems) if len(systems) > 1 else []


@dataclass(frozen=True, slots=True)
class _View:
    number: int
    doctor: str
    setting: str
    models: tuple[tuple[str, str], ...]
    family: str | None
    stand_in: str | None
    total: int
    problems: tuple[tuple[str, int], ...]
    dialogues: tuple[Dialogue, ...]
    matrices: tuple[Matrix, ...]


def _view(number: int, run: FinishedRun, rows: Sequence[PlayedCase[Consultation]], count: int, seed: int) -> _View:
    unfinished: Unfinished = "authors" if run.record.options.get("unfinished") == "authors" else "paper"
    records = [row.record for row in rows if row.record is not None]
    problems = Counter(problem for row in rows for problem in _problems(row))
    setting = records[0].setting if records else str(run.record.options.get("setting", ""))
    return _View(
        number=number,
        doctor=doctor_name(run.record),
        setting=setting_name(setting),
        models=tuple(
            (role, name) for role in ("doctor", "patient", "assessor") if (name := role_model(run.record, role))
        ),
        family=shared_family(run.record),
        stand_in=run.record.stand_in,
        total=len(rows),
        problems=tuple(problems.most_common()),
        dialogues=tuple(_dialogue(run.folder, row, unfinished) for row in chosen(rows, count, seed)),
        matrices=tuple(matrices([extracted(record, unfinished) for record in records])),
    )


def chosen(rows: Sequence[PlayedCase[Consultation]], count: int, seed: int) -> list[PlayedCase[Consultation]]:
    """`count` rows drawn by seed, up to half of them with a problem; those first."""
    draw = random.Random(seed)
    troubled = [row for row in rows if _problems(row)]
    others = [row for row in rows if not _problems(row)]
    taken = min(len(troubled), max(count // 2, count - len(others)))
    first = sorted(draw.sample(range(len(troubled)), taken))
    rest = sorted(draw.sample(range(len(others)), min(len(others), count - taken)))
    return [troubled[at] for at in first] + [others[at] for at in rest]


def _problems(row: PlayedCase[Consultation]) -> tuple[str, ...]:
    """What did not go as it should: of the models, not the diagnosis, which is wrong in many a good dialogue."""
    record = row.record
    if record is None:
        return ("not played",)
    found = {
        "unfinished": not record.finished,
        "diagnosis not extracted": record.extraction.failure is not None,
        "not assessed": record.assessment is not None and record.assessment.items is None,
        "reasoning not parsed": record.parse_failures > 0,
        "invalid": row.problem is not None,
    }
    return tuple(problem for problem, there in found.items() if there)


def _dialogue(folder: Path, row: PlayedCase[Consultation], unfinished: Unfinished) -> Dialogue:
    record = row.record
    answer = extracted(record, unfinished).text if record else ""
    turns = record.turns if record else ()
    return Dialogue(
        case_id=row.case_id,
        epoch=row.epoch,
        record=record,
        named=first_name(answer),
        said="" if is_none(answer) else answer,
        problems=(*_problems(row), *([row.problem] if row.problem else [])),
        turns=tuple(
            Shown(
                turn.role,
                turn.text[:_LONGEST_TURN],
                max(0, len(turn.text) - _LONGEST_TURN),
                turn.rationale and turn.rationale[:_LONGEST_TURN],
                turn.flags,
            )
            for turn in turns
        ),
        picture=_picture(picture_path(folder, row.case_id)),
    )


def _picture(path: Path) -> str | None:
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return "data:image/jpeg;base64," + base64.b64encode(data).decode("ascii")


def matrices(answers: Sequence[Extracted]) -> list[Matrix]:
    """The confusion matrix of each domain that has a case, over its most frequent diagnoses (Figures 14 and 15)."""
    counts = Counter(one.gold for one in answers)
    found = []
    for domain in DOMAINS:
        names = [diagnosis.name for diagnosis in DIAGNOSES if diagnosis.domain == domain and counts[diagnosis.name]]
        names.sort(key=lambda name: -counts[name])
        shown, left_out = names[:_MATRIX], max(0, len(names) - _MATRIX)
        if shown:
            columns, table = confusion(answers, shown)
            found.append(Matrix(domain, tuple(shown), tuple(columns), tuple(map(tuple, table)), left_out))
    return found
