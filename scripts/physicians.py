"""`bedside select physicians-sheet` and `physicians`: people beside a model without dialogue (3MDBench, Table 7)."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from baselines.dialogue.played import PlayedCase, read_played
from baselines.results.comparison import FinishedRun, read_runs
from baselines.threemdbench.consultation import physicians as pilot
from baselines.threemdbench.consultation.cases import Cases, read_cases
from baselines.threemdbench.consultation.pictures import keep_pictures
from baselines.threemdbench.consultation.record import Consultation
from baselines.threemdbench.consultation.selection_raters import Dialogue
from loaders.errors import InputError
from loaders.opened import Opened, open_data
from scripts.terminal.console import errors, output
from scripts.terminal.finish import finish
from scripts.terminal.options import Out

SPLIT = typer.Option("test", metavar="NAME", help="Split to play; the paper's validation part is not public.")
SHEETS = typer.Argument(..., metavar="SHEET…", help="Filled sheets of all raters.")


def sheet(
    data: str = typer.Argument(..., metavar="DATA", help="3mdbench[@TAG], official, a release folder, or REPO[@TAG]."),
    out: Path = typer.Option(Path("physicians.csv"), "--out", "-o", metavar="FILE", help="Name of the sheets."),
    setting: str = typer.Option("image+basic", metavar="NAME", help="image+basic, or image+all with every complaint."),
    raters: int = typer.Option(2, min=1, metavar="N", help="Physicians; others for the other setting."),
    split: str = SPLIT,
    seed: int = typer.Option(0, help="Which case of a diagnosis, and in which order."),
) -> None:
    """Write blank sheets for physicians, one case a diagnosis, with photos (Appendix D, Table 7).

    Example: `bedside select physicians-sheet official --setting image+all -o study/full.csv`
    """
    opened, found = cases_of(data, split)
    cases = pilot.one_a_diagnosis(found.cases, seed)
    written = pilot.write_sheets(found.cases, out, setting=setting, raters=raters, seed=seed, stand_in=opened.stand_in)
    keep_pictures(out.parent, cases)
    output.print(f"{len(cases)} cases for {raters} physicians, photos in {out.parent / 'images'}:", highlight=False)
    for path in written:
        output.print(f"  {path}", highlight=False, soft_wrap=True)


def command(
    sheets: list[Path] = SHEETS,
    run: Path = typer.Option(..., "--run", metavar="RUN", help="The model's run in the setting of the sheets."),
    out: Out = Path("runs/physicians"),
) -> None:
    """Set physicians beside a model on the same cases (Table 7).

    Example: `bedside select physicians study/full-R*.csv --run runs/gpt-all`
    """
    started = time.monotonic()
    read = pilot.read_sheets(sheets)
    (model,) = read_runs([run])
    consultations = [one.record for one in dialogues_of(model)]
    reasons = [reason for reason in (model.record.stand_in, read.stand_in) if reason]
    record = replace(
        model.record,
        baseline="physicians",
        options={"run": model.record.run_id, "setting": read.setting, "sheets": digest_of(sheets)},
        stand_in="; ".join(dict.fromkeys(reasons)) or None,
        input_tokens=None,
        output_tokens=None,
        cost_usd=None,
    )
    finish(out, pilot.results(read, consultations, record), started)


# --- What the commands of `bedside select` share ----------------------------------------------------------------------


def cases_of(data: str, split: str) -> tuple[Opened, Cases]:
    """The cases of a split that can be played; says how many rows cannot. Raises InputError where none can."""
    opened = open_data(data, split=split, default="3mdbench")
    if opened.corpus != "3mdbench":
        raise InputError(data, found=f"a release of {opened.corpus}", expected="one of 3mdbench")
    found = read_cases(opened.splits[split])
    if not found.cases:
        expected = "cases with complaints; train and validation have none"
        raise InputError(data, found=f"no case of {split} that can be played", expected=expected)
    if found.invalid:
        first = found.invalid[0]
        text = f"not played: {len(found.invalid):,} cases, the first {first.case_id}: {first.reason}"
        errors.print(text, style="yellow", highlight=False, markup=False)
    return opened, found


def dialogues_of(run: FinishedRun) -> list[Dialogue]:
    """The consultations of a run. Raises InputError for a run without any."""
    found = [
        Dialogue(run.record.run_id, one.epoch, one.record, run.record.stand_in)
        for one in read_played(run.folder, PlayedCase[Consultation])
        if one.record is not None
    ]
    if run.record.baseline != "consultation" or not found:
        raise InputError(run.folder, found=f"a run of {run.record.baseline}", expected="one with consultations")
    return found


def digest_of(paths: Sequence[Path]) -> str:
    """SHA-256 of filled sheets, in whatever order they were named."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(paths))).hexdigest()
