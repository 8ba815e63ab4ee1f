"""`bedside run consultation`: Tables 5 and 6, Figures 3-5 and 9-13."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from baselines.dialogue.evaluation import MAX_INVALID
from baselines.dialogue.run import play_run
from baselines.results.run import ModelUsed, Result, RunRecord
from baselines.threemdbench.classifier.cues import Cues, read_cues
from baselines.threemdbench.consultation.agents import BY_ROLE, scripted_agent
from baselines.threemdbench.consultation.cases import Cases, read_cases
from baselines.threemdbench.consultation.game import consultation_game
from baselines.threemdbench.consultation.names import shared_family
from baselines.threemdbench.consultation.pictures import keep_pictures
from baselines.threemdbench.consultation.prompts import read_prompts
from baselines.threemdbench.consultation.settings import SETTINGS, setting_named
from baselines.threemdbench.consultation.tables import results
from loaders.errors import InputError
from loaders.opened import Opened, open_data
from scripts.terminal.console import errors, output, table
from scripts.terminal.dialogue import (
    Bare,
    BaseUrl,
    Concurrency,
    Epochs,
    MaxInvalid,
    MaxRetries,
    ModelSeed,
    Price,
    Timeout,
    bar,
    choose,
    players,
    prices,
    spent_in_all,
    tell,
)
from scripts.terminal.finish import finish, used
from scripts.terminal.options import Out, Seed

_NAMES = {role: ", ".join(f"scripted/{name}" for name in agents) for role, agents in BY_ROLE.items()}

Data = Annotated[str, typer.Argument(metavar="DATA", help="3mdbench[@TAG], official, a release folder, or REPO[@TAG].")]
Doctor = Annotated[
    str,
    typer.Option(metavar="MODEL", help=f"The model that is measured, or a stand-in: {_NAMES['doctor']}."),
]
Patient = Annotated[
    str | None,
    typer.Option(metavar="MODEL", help=f"Plays the patient, text only; or a stand-in: {_NAMES['patient']}."),
]
Assessor = Annotated[
    str,
    typer.Option(
        metavar="MODEL",
        help="Reads out the diagnosis and judges the dialogue; of another family than the doctor. Or a stand-in: "
        f"{_NAMES['assessor']}.",
    ),
]


def command(
    data: Data,
    out: Out,
    doctor: Doctor,
    assessor: Assessor,
    patient: Patient = None,
    setting: str = typer.Option("dialogue+image", metavar="NAME", help="One of " + ", ".join(SETTINGS) + "."),
    cues: Path | None = typer.Option(
        None, metavar="FILE", help="cues.parquet of `bedside run classifier`, for the settings with cues."
    ),
    prompts: Path | None = typer.Option(None, metavar="DIR", help="Prompt texts of your own."),
    split: str = typer.Option("test", metavar="NAME", help="Split to play."),
    limit: int | None = typer.Option(None, min=1, metavar="N", help="Play N cases only, the first by id."),
    epochs: Epochs = 1,
    cap_mode: str = typer.Option("paper", metavar="paper|authors", help="At most 28 utterances, or 29 as their code."),
    judge: str = typer.Option("patient", metavar="patient|experts", help="Who the assessor is told to be."),
    photos: str = typer.Option(
        "small", metavar="small|original", help="Photos of at most 400 pixels in width, or as they are."
    ),
    unfinished: str = typer.Option(
        "paper", metavar="paper|authors", help="Dialogues cut off at the cap count as no diagnosis, or as they are."
    ),
    f1: str = typer.Option("authors", metavar="authors|strict", help="Which F1 is printed first; all are kept."),
    base_url: BaseUrl = [],  # noqa: B006 - typer's way of an option that may be repeated
    concurrency: Concurrency = 16,
    max_retries: MaxRetries = 5,
    timeout: Timeout = 120.0,
    max_invalid: MaxInvalid = MAX_INVALID,
    price: Price = [],  # noqa: B006
    bare: Bare = False,
    model_seed: ModelSeed = None,
    resamples: int = typer.Option(1000, min=10, help="Bootstrap resamples."),
    seed: Seed = 0,
) -> None:
    """Simulated consultations: a doctor model talks to a patient model, an assessor judges (Tables 5 and 6).

    Every answer is kept in RUN/answers.sqlite before it is used: a run that is stopped, even by kill -9, goes on with
    the same command, in the middle of a dialogue, and pays for nothing twice. `inspect view --log-dir RUN/logs` shows
    every dialogue with its photo and scores. A model can be any of inspect_ai's, such as openai/gpt-4o-mini,
    vllm/Qwen/Qwen2-VL-7B-Instruct, or openai-api/local/NAME with LOCAL_API_KEY set and --base-url; the three roles may
    be of three providers.

    Try it without a model:
    `bedside run consultation runs/3mdbench --doctor scripted/keyword --patient scripted/patient --assessor
    scripted/assessor -o runs/keyword`

    The paper's: `bedside run consultation official --doctor openai/gpt-4o-mini --patient
    vllm/meta-llama/Meta-Llama-3-8B-Instruct --assessor vllm/llava-hf/llava-onevision-qwen2-72b-ov-chat-hf --setting
    dialogue+image -o runs/gpt-4o-mini`
    """
    started = time.monotonic()
    choose("--unfinished", unfinished, "paper", "authors")
    choose("--f1", f1, "authors", "strict")
    choose("--photos", photos, "small", "original")
    texts = read_prompts(prompts)
    game = consultation_game(setting, texts, cap_mode=cap_mode, judge=judge)  # type: ignore[arg-type]  # it checks
    names = {"patient": patient, "doctor": doctor, "assessor": assessor}
    if not setting_named(setting).dialogue:
        # Nobody is asked what the patient would say, and a model for it would stand in the record for nothing.
        game = replace(game, roles=("doctor", "assessor"))
        del names["patient"]
    elif patient is None:
        raise InputError("--patient", found="no model", expected=f"one, as {setting} is a dialogue")
    chosen = {role: name for role, name in names.items() if name is not None}
    playing = players(chosen, scripted_agent, base_url=base_url, max_retries=max_retries, timeout=timeout)
    costs = prices(price)
    opened = open_data(data, split=split, default="3mdbench")
    if opened.corpus != "3mdbench":
        raise InputError(data, found=f"a release of {opened.corpus}", expected="one of 3mdbench")
    given = _cues(setting, cues, opened)
    found = read_cases(
        opened.splits[split],
        photos=photos,  # type: ignore[arg-type]  # checked above
        cues=None if given is None else given.names,
        folder=out / "photos" if photos == "original" else None,
    )
    cases = found.cases[:limit]
    _tell_about(found, data)
    with bar(f"{doctor}, {setting}", len(cases) * epochs) as progress:
        played = play_run(
            game,
            cases,
            playing,
            out,
            epochs=epochs,
            concurrency=concurrency,
            bare=bare,
            seed=model_seed,
            max_invalid=max_invalid,
            prices=costs,
            progress=progress,
        )
    tell(played, costs, out)
    keep_pictures(out, cases)
    options = {
        **{name: value for name, value in game.settings.items() if name != "prompts"},
        "cases": len(cases),
        "unplayable": len(found.invalid),
        "epochs": epochs,
        "photos": photos,
        "unfinished": unfinished,
        "resamples": resamples,
        "cues": None if given is None else {"model": given.model, "file": given.file_digest},
    }
    reasons = [opened.stand_in, played.stand_in, given.stand_in if given else None]
    record = RunRecord(
        baseline="consultation",
        data=used(opened),
        models=(*played.models, *([ModelUsed("cues", given.model, given.run_id)] if given else [])),
        options=options,
        prompts=texts.digests,
        seeds={"bootstrap": seed} | ({} if model_seed is None else {"models": model_seed}),
        versions={} if bare else {"inspect_ai": version("inspect_ai")},
        stand_in="; ".join(reason for reason in reasons if reason) or None,
        **spent_in_all(played, costs),
    )
    if family := shared_family(record):
        errors.print(f"Doctor and assessor are both of the family {family}: judges favour their own", style="yellow")
    made = results(
        played.records,
        record,
        unfinished=unfinished,  # type: ignore[arg-type]  # checked above
        lost=played.lost,
        resamples=resamples,
        seed=seed,
    )
    _print(made, f1)
    finish(out, made, started, printed=False)


def _cues(setting: str, path: Path | None, opened: Opened) -> Cues | None:
    wanted = setting_named(setting).cues
    if wanted and path is None:
        do = "Make cues.parquet with: bedside run classifier"
        raise InputError("--cues", found="no file", expected=f"one, for the setting {setting}", do=do)
    if path is None:
        return None
    if not wanted:
        raise InputError("--cues", found=f"{setting} gives the doctor none", expected="a setting with cues")
    return read_cues(path, opened.content_digest)


def _tell_about(found: Cases, data: str) -> None:
    """Says which rows are not played. Raises InputError where none is left."""
    if not found.cases:
        reason = f", the first: {found.invalid[0].case_id}, {found.invalid[0].reason}" if found.invalid else ""
        raise InputError(data, found=f"no case that can be played{reason}", expected="one or more")
    for row in found.invalid[:5]:
        errors.print(f"not played: {row.case_id}: {row.reason}", style="yellow", highlight=False, markup=False)
    if len(found.invalid) > 5:
        errors.print(f"not played: {len(found.invalid) - 5:,} more", style="yellow", highlight=False)
    if found.giveaways:
        text = f"{len(found.giveaways):,} cases have a complaint that names the diagnosis, so that a patient may say it"
        errors.print(text, style="yellow", highlight=False)


def _print(made: Sequence[Result], f1: str) -> None:
    """Tables 5 and 6 of the run, the chosen F1 first; by domain and temperament there is too much for a terminal."""
    whole = [result for result in made if result.table in ("Table 5", "Table 6")]
    chosen = "F1 (strict)" if f1 == "strict" else "F1"
    shown = table(
        f"{whole[0].row}, {whole[0].setting}: {whole[0].split_or_group}", "", "value", "95 %", right=("value", "95 %")
    )
    for result in sorted(whole, key=lambda result: (result.table, result.column != chosen)):
        value = "not computed" if result.value is None else f"{result.value:.2f}"
        interval = "" if result.ci95 is None else f"{result.ci95[0]:.2f} to {result.ci95[1]:.2f}"
        shown.add_row(result.column, value, interval)
    output.print(shown)
    others = len(made) - len(whole)
    output.print(f"{others} more numbers by domain and temperament: bedside report\n", highlight=False)
