"""`bedside select`: which models play patient and assessor, by the paper's tests; and physicians beside a model."""

from __future__ import annotations

import hashlib
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from baselines.dialogue.evaluation import MAX_INVALID
from baselines.dialogue.game import Game, ScriptedAgent
from baselines.dialogue.playing import Player
from baselines.dialogue.run import Played, play_run, stands_in
from baselines.results.comparison import FinishedRun, read_runs
from baselines.results.run import ModelUsed, RunRecord
from baselines.threemdbench.consultation import selection, selection_assessor
from baselines.threemdbench.consultation.agents import scripted_agent as consultation_agent
from baselines.threemdbench.consultation.cases import Cases
from baselines.threemdbench.consultation.pictures import picture_path
from baselines.threemdbench.consultation.prompts import read_prompts
from baselines.threemdbench.consultation.selection_agents import scripted_agent as selection_agent
from baselines.threemdbench.consultation.selection_game import read_selection_prompts, selection_game
from baselines.threemdbench.consultation.selection_raters import (
    Annotations,
    Dialogue,
    Key,
    agreement,
    drawn,
    read_sheets,
    write_sheets,
)
from loaders.errors import InputError
from loaders.models.sentences import open_sentence_encoder
from scripts.physicians import SHEETS, SPLIT, cases_of, dialogues_of, digest_of
from scripts.terminal.console import errors, output
from scripts.terminal.dialogue import (
    Bare,
    BaseUrl,
    Concurrency,
    MaxInvalid,
    MaxRetries,
    ModelSeed,
    Timeout,
    bar,
    players,
    tell,
)
from scripts.terminal.finish import finish, used
from scripts.terminal.options import Device, Out, Seed

_LIMIT = typer.Option(None, min=1, metavar="N", help="Play N cases only, the first by id.")


def patient(
    data: str = typer.Argument(..., metavar="DATA", help="3mdbench[@TAG], official, a release folder, or REPO[@TAG]."),
    candidates: list[str] = typer.Option(
        ...,
        "--patient",
        metavar="MODEL",
        help="A candidate, or scripted/honest, scripted/hasty, scripted/inventor. May be repeated.",
    ),
    doctor: str = typer.Option(..., metavar="MODEL", help="Asks the questions; or scripted/doctor."),
    judge: str = typer.Option(..., metavar="MODEL", help="Rates the answers; or scripted/judge."),
    encoder: str = typer.Option(
        ..., metavar="NAME", help="Sentence encoder of the factuality: hf:ORG/NAME, a folder, or the stand-in words."
    ),
    out: Out = Path("runs/select-patient"),
    prompts: Path | None = typer.Option(None, metavar="DIR", help="Prompt texts of your own (selection_….md)."),
    split: str = SPLIT,
    limit: int | None = _LIMIT,
    base_url: BaseUrl = [],  # noqa: B006 - typer's way of an option that may be repeated
    concurrency: Concurrency = 16,
    max_retries: MaxRetries = 5,
    timeout: Timeout = 120.0,
    max_invalid: MaxInvalid = MAX_INVALID,
    bare: Bare = False,
    model_seed: ModelSeed = None,
    device: Device = None,
    seed: Seed = 0,
) -> None:
    """Let candidates play the patient and rank them: instruction following, relevance, factuality (Table 3).

    Each candidate's dialogues and answers are kept in a folder of its own below RUN; the same command goes on there.

    Example: `bedside select patient official --patient openai/gpt-4o-mini --patient vllm/Qwen/Qwen2.5-7B-Instruct
    --doctor openai/gpt-4o-mini --judge openai/gpt-4o-mini --encoder hf:BAAI/bge-base-en-v1.5`
    """  # fmt: skip
    started = time.monotonic()
    texts = read_selection_prompts(prompts)
    sentences = open_sentence_encoder(encoder, device=device)
    opened, found = cases_of(data, split)
    made = []
    acting: list[Player] = []
    for name in _distinct("--patient", candidates):
        playing = players(
            {"patient": name, "doctor": doctor, "judge": judge}, selection_agent, base_url=base_url,
            max_retries=max_retries, timeout=timeout,
        )  # fmt: skip
        acting += playing.values()
        played = _play(
            selection_game(texts), found.cases[:limit], playing, out / _folder(name), name, concurrency=concurrency,
            bare=bare, seed=model_seed, max_invalid=max_invalid,
        )  # fmt: skip
        made.append(selection.PatientCandidate(name, played.records, played.lost))
    models = [ModelUsed("patient", name) for name in candidates]
    models += [ModelUsed("doctor", doctor), ModelUsed("judge", judge)]
    models.append(ModelUsed("sentence encoder", encoder, sentences.revision))
    stand_ins = [f"the sentence encoder {encoder}"] if sentences.stand_in else []
    record = RunRecord(
        baseline="patient-selection",
        data=used(opened),
        models=tuple(models),
        options={"cases": len(found.cases[:limit]), "unplayable": len(found.invalid), "near": selection.NEAR},
        prompts=texts.digests,
        seeds={"bootstrap": seed} | ({} if model_seed is None else {"models": model_seed}),
        stand_in=_reasons(opened.stand_in, acting, stand_ins),
    )
    finish(out, selection.results(made, sentences, record, seed=seed), started)


def sheet(
    runs: list[Path] = typer.Argument(..., metavar="RUN…", help="Finished runs of consultations to draw from."),
    out: Path = typer.Option(Path("sheet.csv"), "--out", "-o", metavar="FILE", help="Name of the sheets."),
    count: int = typer.Option(100, min=2, metavar="N", help="Dialogues to annotate."),
    raters: int = typer.Option(5, min=1, metavar="N", help="Annotators; each gets a sheet, in another order."),
    seed: int = typer.Option(0, help="Which dialogues, and in which order."),
) -> None:
    """Write blank sheets for annotators of consultations, with instructions and photos (Section 3.4, Appendix B).

    Example: `bedside select sheet runs/gpt-4o-mini runs/gemma -o study/sheet.csv`
    """
    chosen = drawn([one for run in read_runs(runs) for one in dialogues_of(run)], count, seed)
    written = write_sheets(chosen, out, raters=raters, count=count, seed=seed)
    copied = _copy_pictures(runs, {one.record.case_id for one in chosen}, out.parent)
    output.print(f"{count} dialogues for {raters} annotators, {copied} photos in images:", highlight=False)
    for path in written:
        output.print(f"  {path}", highlight=False, soft_wrap=True)


def assessor(
    sheets: list[Path] = SHEETS,
    runs: list[Path] = typer.Option(
        ..., "--run", metavar="RUN", help="The runs the sheets were drawn from. May be repeated."
    ),
    data: str = typer.Option(..., metavar="DATA", help="What these runs were played on, for the photos."),
    candidates: list[str] = typer.Option(
        ..., "--assessor", metavar="MODEL", help="A candidate, or scripted/assessor. May be repeated."
    ),
    out: Out = Path("runs/select-assessor"),
    prompts: Path | None = typer.Option(None, metavar="DIR", help="Prompt texts of your own."),
    keep_all: bool = typer.Option(False, "--keep-all", help="Keep annotators who look careless."),
    base_url: BaseUrl = [],  # noqa: B006
    concurrency: Concurrency = 16,
    max_retries: MaxRetries = 5,
    timeout: Timeout = 120.0,
    max_invalid: MaxInvalid = MAX_INVALID,
    bare: Bare = False,
    model_seed: ModelSeed = None,
    seed: Seed = 0,
) -> None:
    """Let candidates assess the annotated dialogues: kappa with the annotators, extraction F1 (Table 4, Figure 8).

    Annotators who agree with the others clearly less than these among themselves are named and left out, as in the
    paper.

    Example: `bedside select assessor study/sheet-R*.csv --run runs/gpt-4o-mini --data official --assessor
    openai/gpt-4o-mini`
    """
    started = time.monotonic()
    texts = read_prompts(prompts)
    annotations = read_sheets(sheets)
    everyone = annotations
    graph = agreement(annotations, seed=seed) if len(annotations.raters) > 1 else None
    if graph and graph.careless and not keep_all:
        errors.print(f"left out as careless: {', '.join(graph.careless)} (--keep-all keeps them)", style="yellow")
        annotations = annotations.without(graph.careless)
    read = read_runs(runs)
    opened, found = cases_of(data, read[0].record.data.split)
    wanted = _annotated(annotations, read, found)
    made = []
    acting: list[Player] = []
    for name in _distinct("--assessor", candidates):
        playing = players(
            {"assessor": name}, _scripted_assessor, base_url=base_url, max_retries=max_retries, timeout=timeout
        )
        acting += playing.values()
        played = _play(
            selection_assessor.assessment_game(texts), wanted, playing, out / _folder(name), name,
            concurrency=concurrency, bare=bare, seed=model_seed, max_invalid=max_invalid,
        )  # fmt: skip
        made.append(selection_assessor.AssessorCandidate(name, played.records))
    record = RunRecord(
        baseline="assessor-selection",
        data=used(opened),
        models=tuple(ModelUsed("assessor", name) for name in candidates),
        options={
            "dialogues": len(annotations.dialogues),
            "raters": list(everyone.raters),
            "careless": list(graph.careless) if graph else [],
            "kept": list(annotations.raters),
            "sheets": digest_of(sheets),
        },
        prompts=texts.digests,
        seeds={"bootstrap": seed} | ({} if model_seed is None else {"models": model_seed}),
        stand_in=_reasons(opened.stand_in, acting, [annotations.stand_in] if annotations.stand_in else []),
    )
    results = selection_assessor.results(made, annotations, record, seed=seed)
    if graph:
        results += selection_assessor.graph_results(graph, everyone, record)
    finish(out, results, started)


# --- Parts ------------------------------------------------------------------------------------------------------------


def _scripted_assessor(role: str, name: str) -> ScriptedAgent:
    """The consultation's scripted assessor, which knows the case alone."""
    agent = consultation_agent(role, name)
    return lambda one: agent(one.case)


def _play(
    game: Game[Any, Any], cases: Sequence[Any], playing: dict[str, Player], out: Path, name: str, **options: Any
) -> Played[Any]:
    with bar(name, len(cases)) as progress:
        played = play_run(game, cases, playing, out, progress=progress, **options)
    output.print(name, style="bold", highlight=False)
    tell(played, {}, out)
    return played


def _annotated(
    annotations: Annotations, runs: Sequence[FinishedRun], found: Cases
) -> list[selection_assessor.Annotated]:
    dialogues: dict[Key, Dialogue] = {one.key: one for run in runs for one in dialogues_of(run)}
    cases = {case.case_id: case for case in found.cases}
    wanted = []
    for key in annotations.dialogues:
        if key not in dialogues:
            raise InputError(
                "--run", found=f"no dialogue of case {key[1]} in run {key[0]}", expected="all runs that were annotated"
            )
        if key[1] not in cases:
            raise InputError("--data", found=f"no case {key[1]}", expected="what the runs were played on")
        wanted.append(selection_assessor.Annotated(cases[key[1]], dialogues[key]))
    return wanted


def _copy_pictures(runs: Sequence[Path], cases: set[str], out: Path) -> int:
    copied = 0
    for case in sorted(cases):
        source = next((path for run in runs if (path := picture_path(run, case)).exists()), None)
        if source is not None:
            place = picture_path(out, case)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, place)
            copied += 1
    return copied


def _distinct(option: str, names: Sequence[str]) -> Sequence[str]:
    if len(set(names)) < len(names):
        raise InputError(option, found="the same model twice", expected="each candidate once")
    return names


def _folder(name: str) -> str:
    """A folder for a model: its name, and a digest, since different names may look alike as folders."""
    return f"{re.sub(r'[^A-Za-z0-9.-]+', '-', name)}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def _reasons(data: str | None, acting: Sequence[Player], more: Sequence[str]) -> str | None:
    scripted = sorted({player.name for player in acting if stands_in(player)})
    agents = [f"scripted agents {', '.join(scripted)}"] if scripted else []
    reasons = [reason for reason in (data, *agents, *more) if reason]
    return "; ".join(dict.fromkeys(reasons)) or None
