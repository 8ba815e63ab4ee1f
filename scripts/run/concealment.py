"""`bedside run confirmation` and `bedside run intervention`: MedConceal (Tables 1 to 4 and 6, Figure 2)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from baselines.dialogue.evaluation import MAX_INVALID
from baselines.dialogue.game import Game
from baselines.dialogue.run import play_run
from baselines.medconceal.agents import BY_ROLE, scripted_agent
from baselines.medconceal.clinician import prompts as read_prompts
from baselines.medconceal.game import confirmation_game, intervention_game
from baselines.medconceal.judged import judged_game
from baselines.medconceal.judgement import JudgedEpisode
from baselines.medconceal.policy import DEFAULT, PolicyConfig
from baselines.medconceal.tables import CURVES, clinician_name, curves, results, setting_name
from baselines.medconceal.transcripts import read_transcripts, transcript_game
from baselines.results.run import Result, RunRecord
from baselines.threemdbench.consultation.names import family
from loaders.errors import InputError
from loaders.medconceal import Task, cases
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
    players,
    prices,
    spent_in_all,
    tell,
)
from scripts.terminal.finish import finish, used
from scripts.terminal.options import Out, Seed

RULES, TEMPLATE = "rules", "template"
_NAMES = {role: ", ".join(f"scripted/{name}" for name in agents) for role, agents in BY_ROLE.items()}

Data = Annotated[
    str, typer.Argument(metavar="DATA", help="medconceal[@TAG], official, a release folder, or REPO[@TAG].")
]
Clinician = Annotated[
    str | None,
    typer.Option(metavar="MODEL", help=f"The model that is measured, or a stand-in: {_NAMES['clinician']}."),
]
Patient = Annotated[
    str | None, typer.Option(metavar="MODEL|template", help="Words the patient's replies; or fixed sentences for them.")
]
Evaluator = Annotated[
    str, typer.Option(metavar="MODEL|rules", help="Rates each turn of the clinician; or rules, a stand-in.")
]
Judge = Annotated[
    str, typer.Option(metavar="MODEL|rules", help="Matches findings, rates style and values; or rules, a stand-in.")
]
Turns = Annotated[int, typer.Option(metavar="8|20", help="8 turns, or up to 20.")]
Policy = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Constants and weights of the patient, as `bedside fit-policy` writes."),
]
PromptsFolder = Annotated[Path | None, typer.Option("--prompts", metavar="DIR", help="Prompt texts of your own.")]
Transcripts = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Score these dialogues of people (JSON) instead of playing any."),
]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="The first N cases only.")]
Temperature = Annotated[float, typer.Option(min=0.0, help="Of the clinician.")]


def confirmation(
    data: Data,
    out: Out,
    evaluator: Evaluator,
    judge: Judge,
    clinician: Clinician = None,
    patient: Patient = None,
    turns: Turns = 8,
    policy: Policy = None,
    prompts: PromptsFolder = None,
    transcripts: Transcripts = None,
    limit: Limit = None,
    temperature: Temperature = 0.0,
    epochs: Epochs = 1,
    base_url: BaseUrl = [],  # noqa: B006 - typer's way of an option that may be repeated
    concurrency: Concurrency = 16,
    max_retries: MaxRetries = 5,
    timeout: Timeout = 120.0,
    max_invalid: MaxInvalid = MAX_INVALID,
    price: Price = [],  # noqa: B006
    bare: Bare = False,
    model_seed: ModelSeed = None,
    seed: Seed = 0,
) -> None:
    """Task 1: surface what the patient hides, then write it down (Tables 1, 2 and 6).

    The clinician sees the chart and talks for 8 turns, or for up to 20 and may stop from turn 5 on. A finding counts
    only with a quote of the patient. Every answer is kept in RUN/answers.sqlite before it is used: a run that is
    stopped, even by kill -9, goes on with the same command.

    Try it without a model: `bedside run confirmation runs/medconceal --clinician scripted/expert --patient template
    --evaluator rules --judge rules -o runs/expert`
    """
    _run("confirmation", **locals())


def intervention(
    data: Data,
    out: Out,
    evaluator: Evaluator,
    judge: Judge,
    clinician: Clinician = None,
    patient: Patient = None,
    turns: Turns = 8,
    policy: Policy = None,
    prompts: PromptsFolder = None,
    transcripts: Transcripts = None,
    limit: Limit = None,
    temperature: Temperature = 0.0,
    epochs: Epochs = 1,
    base_url: BaseUrl = [],  # noqa: B006
    concurrency: Concurrency = 16,
    max_retries: MaxRetries = 5,
    timeout: Timeout = 120.0,
    max_invalid: MaxInvalid = MAX_INVALID,
    price: Price = [],  # noqa: B006
    bare: Bare = False,
    model_seed: ModelSeed = None,
    seed: Seed = 0,
) -> None:
    """Task 2: find the main concern, deal with it, and win the patient for the plan (Tables 3, 4 and 6).

    The clinician sees the chart, what the patient wants at first, and the target plan; the dialogue ends when the
    concern is addressed, after 8 or 20 turns at most. Resuming and models are as in `bedside run confirmation`.

    Try it without a model: `bedside run intervention runs/medconceal --clinician scripted/expert --patient template
    --evaluator rules --judge rules -o runs/expert-2`
    """
    _run("intervention", **locals())


def _run(
    task: Task,
    *,
    data: str,
    out: Path,
    clinician: str | None,
    patient: str | None,
    evaluator: str,
    judge: str,
    turns: int,
    policy: Path | None,
    prompts: Path | None,
    transcripts: Path | None,
    limit: int | None,
    temperature: float,
    epochs: int,
    base_url: Sequence[str],
    concurrency: int,
    max_retries: int,
    timeout: float,
    max_invalid: float,
    price: Sequence[str],
    bare: bool,
    model_seed: int | None,
    seed: int,
) -> None:
    started = time.monotonic()
    _check(turns, clinician, patient, transcripts)
    texts = read_prompts(prompts)
    rules = DEFAULT if policy is None else PolicyConfig.read(policy)
    names = {"clinician": clinician, "patient": patient, "evaluator": evaluator, "judge": judge}
    asked = {role: name for role, name in names.items() if name not in (None, RULES, TEMPLATE)}
    playing = players(
        {role: name for role, name in asked.items() if name is not None},
        scripted_agent,
        base_url=base_url,
        max_retries=max_retries,
        timeout=timeout,
    )
    costs = prices(price)
    opened = open_data(data, split="test", default="medconceal")
    if opened.corpus != "medconceal":
        raise InputError(data, found=f"a release of {opened.corpus}", expected="one of medconceal")
    profiles = cases(opened.splits["test"])[:limit]
    by_evaluator, judging = "rules" if evaluator == RULES else "model", None if judge == RULES else texts
    found: Sequence[Any]
    game: Game[Any, JudgedEpisode]
    if transcripts is None:
        make = confirmation_game if task == "confirmation" else intervention_game
        by_patient = "template" if patient == TEMPLATE else "model"
        game = judged_game(
            make(
                turns=turns,
                policy=rules,
                prompts=texts,
                evaluator=by_evaluator,  # type: ignore[arg-type]  # one of the two
                patient=by_patient,  # type: ignore[arg-type]
                temperature=temperature,
            ),
            judging,
        )
        found = profiles
    else:
        told = transcript_game(task, policy=rules, prompts=texts, evaluator=by_evaluator)  # type: ignore[arg-type]
        game = judged_game(told, judging)
        found = [one for one in read_transcripts(transcripts, profiles) if one.task == task]
        if not found:
            raise InputError(transcripts, found=f"no {task}", expected="one dialogue of the task or more")
    row = "Human clinicians" if clinician is None else clinician_name(clinician)
    with bar(f"{row}, {task}", len(found) * epochs) as progress:
        played = play_run(
            game,
            found,
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
    record = RunRecord(
        baseline=task,
        data=used(opened),
        models=played.models,
        options={
            **{name: value for name, value in game.settings.items() if name != "prompts"},
            "cases": len(found),
            "epochs": epochs,
            "transcripts": transcripts is not None,
        },
        prompts=texts.digests,
        seeds={"bootstrap": seed} | ({} if model_seed is None else {"models": model_seed}),
        versions={} if bare else {"inspect_ai": version("inspect_ai")},
        stand_in=_stand_in(opened, played.stand_in, names, rules),
        **spent_in_all(played, costs),
    )
    if clinician and family(clinician) and family(clinician) == family(judge):
        shared = family(clinician)
        errors.print(f"Clinician and judge are both of the family {shared}: judges favour their own", style="yellow")
    made = results(played.records, record, row=row, seed=seed)
    _print(made, setting_name(played.records[0].episode))
    extra = {CURVES: curves([one.episode for one in played.records])}
    finish(out, made, started, extra, printed=False)


def _check(turns: int, clinician: str | None, patient: str | None, transcripts: Path | None) -> None:
    """Raises InputError for options that do not go together: nobody plays a role that was not given."""
    if turns not in (8, 20):
        raise InputError("--turns", found=str(turns), expected="8 or 20")
    for option, given in (("--clinician", clinician), ("--patient", patient)):
        if transcripts is None and given is None:
            raise InputError(option, found="no model", expected="one, or --transcripts with dialogues to score")
        if transcripts is not None and given is not None:
            raise InputError(option, found=given, expected="none beside --transcripts, whose dialogues are finished")


def _stand_in(
    opened: Opened, scripted: str | None, names: Mapping[str, str | None], policy: PolicyConfig
) -> str | None:
    """Why the numbers are no results, or None."""
    reasons = [opened.stand_in, scripted]
    by_rules = [role for role, name in names.items() if name in (RULES, TEMPLATE)]
    if by_rules:
        reasons.append(f"{', '.join(by_rules)} without a model")
    if policy.training.get("stand_in"):
        reasons.append("the patient's weights are set by hand or fitted to stand-ins")
    return "; ".join(reason for reason in reasons if reason) or None


def _print(made: Sequence[Result], setting: str) -> None:
    first = made[0]
    shown = table(f"{first.row}, {setting}: {first.split_or_group}", "", "value", "95 %", right=("value", "95 %"))
    for result in made:
        value = "not computed" if result.value is None else f"{result.value:.3f}"
        interval = "" if result.ci95 is None else f"{result.ci95[0]:.3f} to {result.ci95[1]:.3f}"
        shown.add_row(result.column, value, interval)
    output.print(shown)
