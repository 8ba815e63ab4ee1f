"""`bedside select assessor`: which model assesses, by sheets that people filled in (3MDBench, Table 4, Figure 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from baselines.dialogue.game import ScriptedAgent
from baselines.results.comparison import FinishedRun, read_runs
from baselines.threemdbench.consultation import selection_assessor
from baselines.threemdbench.consultation.agents import scripted_agent
from baselines.threemdbench.consultation.cases import Cases
from baselines.threemdbench.consultation.prompts import read_prompts
from baselines.threemdbench.consultation.selection_raters import (
    Annotations,
    Dialogue,
    Key,
    agreement,
    dialogues_of,
    read_sheets,
)
from loaders.errors import InputError
from scripts.select_agents.candidates import Selecting, Sheets, cases_of, digest_of, play_each, record_of_choice
from scripts.terminal.console import errors
from scripts.terminal.finish import finish
from scripts.terminal.options import Out, refuse_itself
from scripts.terminal.options_of import options_of


@dataclass(frozen=True, kw_only=True)
class Assessors(Selecting):
    sheets: Sheets
    runs: Annotated[
        tuple[Path, ...],
        typer.Option("--run", metavar="RUN", help="Runs from which the sheets were drawn. May be repeated."),
    ]
    data: Annotated[str, typer.Option(metavar="DATA", help="Data that these runs were played on, for the photos.")]
    candidates: Annotated[
        tuple[str, ...],
        typer.Option("--assessor", metavar="MODEL", help="Candidate model, or scripted/assessor. May be repeated."),
    ]
    out: Out = Path("runs/select-assessor")
    keep_all: Annotated[bool, typer.Option("--keep-all", help="Keep careless annotators.")] = False


@options_of(Assessors)
def command(options: Assessors) -> None:
    """Rank candidate assessors by kappa with annotators and by extraction F1 (Table 4, Figure 8).

    As in the paper, annotators who agree with the others clearly less than the others do among themselves are named and
    left out.

    Example: `bedside select assessor study/sheet-R*.csv --run runs/gpt-4o-mini --data official --assessor
    openai/gpt-4o-mini`
    """
    refuse_itself(options.out, options.runs)
    texts = read_prompts(options.prompts)
    everyone = annotations = read_sheets(options.sheets)
    graph = agreement(everyone, seed=options.seed) if len(everyone.raters) > 1 else None
    careless = graph.careless if graph else ()
    if careless and not options.keep_all:
        errors.print(f"left out as careless: {', '.join(careless)} (to keep them: --keep-all)", style="yellow")
        annotations = everyone.without(careless)
    runs = read_runs(options.runs)
    opened, read = cases_of(options.data, runs[0].record.data.split)
    played = play_each(
        selection_assessor.assessment_game(texts),
        _annotated(annotations, runs, read),
        options,
        _scripted_agent,
        "assessor",
        options.candidates,
        {},
    )
    record = record_of_choice(
        "assessor-selection",
        played,
        options,
        opened,
        facts={
            "dialogues": len(annotations.dialogues),
            "raters": list(everyone.raters),
            "careless": list(careless),
            "kept": list(annotations.raters),
            "sheets": digest_of(options.sheets),
        },
        texts=texts,
        reasons=(annotations.stand_in,),
    )
    candidates = {name: run.records for name, run in played.items()}
    results = selection_assessor.results(candidates, annotations, record, seed=options.seed)
    if graph:
        results += selection_assessor.graph_results(graph, everyone, record)
    finish(options.out, results)


def _scripted_agent(role: str, name: str) -> ScriptedAgent:
    """The consultation's scripted assessor, which only needs the case."""
    agent = scripted_agent(role, name)
    return lambda annotated: agent(annotated.case)


def _annotated(
    annotations: Annotations, runs: Sequence[FinishedRun], read: Cases
) -> list[selection_assessor.Annotated]:
    dialogues: dict[Key, Dialogue] = {dialogue.key: dialogue for run in runs for dialogue in dialogues_of(run)}
    cases = {case.case_id: case for case in read.cases}
    wanted = []
    for key in annotations.dialogues:
        if key not in dialogues:
            raise InputError(
                "--run", found=f"no dialogue of case {key[1]} in run {key[0]}", expected="all annotated runs"
            )
        if key[1] not in cases:
            raise InputError("--data", found=f"no case {key[1]}", expected="what the runs were played on")
        wanted.append(selection_assessor.Annotated(cases[key[1]], dialogues[key]))
    return wanted
