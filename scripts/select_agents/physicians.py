"""`bedside select physicians`: people beside a model without dialogue (3MDBench, Table 7)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from baselines.results.comparison import read_runs
from baselines.results.run import because
from baselines.threemdbench.consultation.physicians import read_sheets, results
from baselines.threemdbench.consultation.selection_raters import dialogues_of
from scripts.select_agents.candidates import digest_of
from scripts.terminal.finish import finish
from scripts.terminal.options import Out, refuse_itself


def command(
    sheets: Annotated[list[Path], typer.Argument(metavar="SHEET…", help="Filled-in sheets of all raters.")],
    run: Annotated[Path, typer.Option(metavar="RUN", help="The model's run, in the same setting as the sheets.")],
    out: Out = Path("runs/physicians"),
) -> None:
    """Compare physicians with a model on the same cases (Table 7).

    Example: `bedside select physicians study/full-R*.csv --run runs/gpt-all`
    """
    refuse_itself(out, [run])
    read = read_sheets(sheets)
    (model,) = read_runs([run])
    consultations = [dialogue.record for dialogue in dialogues_of(model)]
    record = replace(
        model.record,
        baseline="physicians",
        options={"run": model.record.run_id, "setting": read.setting, "sheets": digest_of(sheets)},
        stand_in=because(model.record.stand_in, read.stand_in),
        input_tokens=None,
        output_tokens=None,
        cost_usd=None,
    )
    finish(out, results(read, consultations, record))
