"""Physicians and a doctor model on the same cases without dialogue (Appendix D, Table 7).

    write_sheets(cases, Path("study/physicians.csv"), setting="image+basic", raters=2)
    results(read_sheets([...]), consultations, record)

A sheet has one row per case and one case per diagnosis: the photo's name, the complaints that the setting shows, and an
empty column for the diagnosis. It does not hold the gold diagnosis. What Table 7 calls F1 is accuracy, and its p values
are those of an unpaired t test over the same cases; the paired test that the design calls for is given too (exact
McNemar).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from baselines.results.run import Result, RunRecord, because
from baselines.results.sheets import UNFILLED, check_complete, rater_sheets, read_sheet, write_new
from baselines.statistics.significance import mcnemar_exact, unpaired_t, wilson_interval
from baselines.threemdbench.consultation.cases import picture_path
from baselines.threemdbench.consultation.diagnosis import extracted, first_name, is_none, taken_for_none
from baselines.threemdbench.consultation.names import PAPER, doctor_name
from baselines.threemdbench.consultation.record import Case, Consultation
from loaders.errors import InputError, how_many
from loaders.models.prompts import read_prompts
from loaders.threemdbench import NAMES

TABLE, GROUP = "Table 7", "one case per diagnosis (N=34 stated)"
SETTINGS = {"image+basic": "General complaint + image", "image+all": "Full complaints list + image"}
"""Setting of a consultation without dialogue -> its name in Table 7."""
COLUMNS = ("rater", "setting", "case", "case_id", "photo", "complaints", "diagnosis", "stand_in")


@dataclass(frozen=True, slots=True)
class Physicians:
    """What every rater of one setting named, by case: the text as it was written."""

    setting: str
    cases: tuple[str, ...]
    named: Mapping[str, tuple[str, ...]]
    stand_in: str | None


def one_a_diagnosis(cases: Sequence[Case], seed: int = 0) -> list[Case]:
    """One case of every diagnosis that has any, drawn by seed whatever the order of the cases."""
    by_name: dict[str, list[Case]] = {}
    for case in sorted(cases, key=lambda case: case.case_id):
        by_name.setdefault(case.diagnosis, []).append(case)
    return [random.Random(f"{seed} {name}").choice(by_name[name]) for name in NAMES if name in by_name]


def write_sheets(
    cases: Sequence[Case], path: Path, *, setting: str, raters: int = 2, seed: int = 0, stand_in: str | None = None
) -> list[Path]:
    """Write a blank sheet per rater, and instructions; returns the files. The cases are in a different order for each.

    Raises InputError on an unknown setting, no case, or an existing file.
    """
    if setting not in SETTINGS:
        raise InputError("setting", found=repr(setting), expected="one of " + ", ".join(SETTINGS))
    chosen = one_a_diagnosis(cases, seed)
    if len(chosen) < 2:
        raise InputError("sheet", found=how_many(len(chosen), "case"), expected="2 at least")
    numbers = case_numbers(chosen)

    def row(case: Case) -> dict[str, str]:
        return sheet_row(numbers[case.case_id], case.case_id, told(case, setting), setting, stand_in)

    contents = rater_sheets(path, raters, COLUMNS, chosen, row, seed=seed)
    known = {"selection_physicians": frozenset({"count", "diagnoses"})}
    texts = read_prompts(Path(__file__).parent / "prompts", known)
    instructions = texts.fill("selection_physicians", {"count": str(len(chosen)), "diagnoses": ", ".join(NAMES)})
    contents[path.with_suffix(".md")] = (instructions + "\n").encode()
    return write_new(contents)


def case_numbers(cases: Sequence[Case]) -> dict[str, str]:
    """Case id -> C01 and so on by the order of ids: the order of diagnoses would give them away."""
    return {case_id: f"C{at:02d}" for at, case_id in enumerate(sorted(case.case_id for case in cases), start=1)}


def told(case: Case, setting: str) -> tuple[str, ...]:
    """The complaints that a setting shows."""
    return case.basic, *(case.additional if setting == "image+all" else ())


def sheet_row(
    number: str, case_id: str, complaints: Sequence[str], setting: str, stand_in: str | None
) -> dict[str, str]:
    """What a sheet shows of a case."""
    return {
        "setting": setting,
        "case": number,
        "case_id": case_id,
        "photo": picture_path(Path(), case_id).name,
        "complaints": "\n".join(complaints),
        "stand_in": stand_in or "",
    }


def read_sheets(paths: Sequence[Path]) -> Physicians:
    """What the raters of one setting named.

    Raises InputError, with file and line, on a sheet that lacks a column, a row without rater, setting or case, one
    without a diagnosis (write "none"), a case twice, two settings, or a rater that left out a case of another.
    """
    given: dict[str, dict[str, str]] = {}
    settings: dict[str, str] = {}
    reasons: set[str] = set()
    for path in paths:
        for where, row in read_sheet(path, ("rater", "setting", "case_id", "diagnosis")):
            rater, case, named = row.get("rater", ""), row.get("case_id", ""), row.get("diagnosis", "")
            if not rater or not case or row.get("setting") not in SETTINGS:
                raise InputError(where, found="no rater, case_id or setting", expected="all three in every row")
            settings.setdefault(row["setting"], where)
            if len(settings) > 1:
                raise InputError(
                    where, found="another setting", expected="the sheets of one setting", do="Score each alone"
                )
            if not named:
                raise InputError(f"{where}, diagnosis", found="nothing", expected="a diagnosis, or none", do=UNFILLED)
            if case in given.setdefault(rater, {}):
                raise InputError(
                    where, found=f"case {case} of rater {rater} again", expected="each case once per rater"
                )
            given[rater][case] = named
            reasons.add(row.get("stand_in", ""))
    cases = tuple(sorted({case for named in given.values() for case in named}))
    if len(cases) < 2:
        found = how_many(len(cases), "case")
        raise InputError(", ".join(map(str, paths)) or "sheets", found=found, expected="2 or more")
    check_complete(given, cases, "diagnosis", "cases")
    named_by = {rater: tuple(by_case[case] for case in cases) for rater, by_case in given.items()}
    return Physicians(next(iter(settings)), cases, named_by, because(*sorted(reasons)))


def results(physicians: Physicians, consultations: Sequence[Consultation], record: RunRecord) -> list[Result]:
    """Table 7: accuracy of the model and of every rater over the cases of the sheets, and the raters' p values.

    `record` is that of the model's run. Raises InputError where the run is of another setting, lacks a case of the
    sheets, or played it several times.
    """
    played = {record.case_id: record for record in consultations if record.case_id in physicians.cases}
    setting = {record.setting for record in consultations}
    if setting != {physicians.setting}:
        played_in = ", ".join(sorted(setting)) or "no consultation"
        raise InputError("run", found=played_in, expected=f"the setting of the sheets, {physicians.setting}")
    if missing := [case for case in physicians.cases if case not in played]:
        raise InputError("run", found=f"no consultation of case {missing[0]}", expected="all cases of the sheets")
    if len({record.case_id for record in consultations}) < len(consultations):
        raise InputError("run", found="cases played several times", expected="one epoch")
    gold = [played[case].gold for case in physicians.cases]
    answers = [extracted(played[case]).text for case in physicians.cases]

    def right(texts: Sequence[str]) -> list[float]:
        return [float(first_name(text) == name) for text, name in zip(texts, gold, strict=True)]

    n = len(gold)
    cell = partial(
        Result, paper=PAPER, table=TABLE, setting=SETTINGS[physicians.setting], split_or_group=GROUP, n=n, record=record
    )

    def accuracy(row: str, outcomes: Sequence[float], unread: str = "") -> Result:
        low, high = wilson_interval(int(sum(outcomes)), n)
        return cell(
            row=row, column="F1", value=100 * sum(outcomes) / n, unit="percent", direction="up",
            numerator=sum(outcomes), denominator=float(n), ci95=(100 * low, 100 * high),
            note="; ".join(filter(None, ("accuracy, which the published values are", unread))),
        )  # fmt: skip

    model = right(answers)
    cells = [accuracy(doctor_name(record), model, taken_for_none(played.values()))]
    for rater, named in physicians.named.items():
        row, outcomes = f"Labeler {rater}", right(named)
        paired = mcnemar_exact(outcomes, model)
        cells += [
            accuracy(row, outcomes, _unknown(named)),
            cell(row=row, column="p-value vs the model's F1", value=unpaired_t(outcomes, model), unit="p",
                 note="unpaired t test, which the published values follow"),
            cell(row=row, column="p-value vs the model (paired)", value=paired.p, unit="p",
                 note=f"exact McNemar test: {paired.better} cases better, {paired.worse} worse"),
        ]  # fmt: skip
    return cells


def _unknown(named: Sequence[str]) -> str:
    """A note on the diagnoses of a rater that are none of the 34: they count as wrong."""
    count = sum(first_name(text) is None and not is_none(text) for text in named)
    return f"{how_many(count, 'diagnosis', 'diagnoses')} outside the 34 taken for wrong" if count else ""
