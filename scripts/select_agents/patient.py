"""`bedside select patient`: which model plays the patient (3MDBench, Table 3)."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from baselines.results.run import ModelUsed
from baselines.threemdbench.consultation import selection
from baselines.threemdbench.consultation.selection_game import read_selection_prompts, scripted_agent, selection_game
from loaders.models.sentences import open_sentence_encoder
from scripts.run.consultation import Data
from scripts.select_agents.candidates import Selecting, Split, cases_of, play_each, record_of_choice
from scripts.terminal.console import warn
from scripts.terminal.finish import finish
from scripts.terminal.options import Device, Out
from scripts.terminal.options_of import options_of


@dataclass(frozen=True, kw_only=True)
class Patients(Selecting):
    data: Data
    candidates: Annotated[
        tuple[str, ...],
        typer.Option(
            "--patient",
            metavar="MODEL",
            help="Candidate model, or scripted/honest, scripted/hasty, scripted/inventor. May be repeated.",
        ),
    ]
    doctor: Annotated[str, typer.Option(metavar="MODEL", help="Model that asks the questions; or scripted/doctor.")]
    judge: Annotated[str, typer.Option(metavar="MODEL", help="Model that rates the answers; or scripted/judge.")]
    encoder: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="Sentence encoder for factuality: hf:ORG/NAME, a folder, or the stand-in `words`."
        ),
    ]
    out: Out = Path("runs/select-patient")
    prompts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder with your own prompt texts (selection_….md).")
    ] = None
    split: Split = "test"
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Play only N cases, the first by id.")] = None
    device: Device = None


@options_of(Patients)
def command(options: Patients) -> None:
    """Rank candidate patient models by instruction following, relevance and factuality (Table 3).

    Each candidate's dialogues and answers are kept in its own folder in RUN; run the same command again to resume.

    Example: `bedside select patient official --patient openai/gpt-4o-mini --patient vllm/Qwen/Qwen2.5-7B-Instruct
    --doctor openai/gpt-4o-mini --judge openai/gpt-4o-mini --encoder hf:BAAI/bge-base-en-v1.5`
    """
    texts = read_selection_prompts(options.prompts)
    sentences = open_sentence_encoder(options.encoder, device=options.device)
    opened, read = cases_of(options.data, options.split)
    cases = read.cases[: options.limit]
    others = {"doctor": options.doctor, "judge": options.judge}
    played = play_each(selection_game(texts), cases, options, scripted_agent, "patient", options.candidates, others)
    record = record_of_choice(
        "patient-selection",
        played,
        options,
        opened,
        facts={"cases": len(cases), "unplayable": len(read.invalid), "near": selection.NEAR},
        texts=texts,
        reasons=(f"the sentence encoder {options.encoder}" if sentences.stand_in else None,),
        models=(ModelUsed("sentence encoder", options.encoder, sentences.revision),),
    )
    candidates = [selection.PatientCandidate(name, run.records, run.lost) for name, run in played.items()]
    results = selection.results(candidates, sentences, record, seed=options.seed)
    for note in {one.note for one in results if one.column == "Mean Rank" and one.note}:
        warn(f"Mean Rank: {note}")
    finish(options.out, results)
