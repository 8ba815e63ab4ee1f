"""`bedside run recheck`: how far the assessor's scores move when nothing about the consultation has changed."""

from __future__ import annotations

import time
from importlib.metadata import version
from pathlib import Path

import typer

from baselines.dialogue.evaluation import MAX_INVALID
from baselines.dialogue.played import PlayedCase, read_played
from baselines.dialogue.run import play_run
from baselines.results.comparison import read_runs
from baselines.results.run import RunRecord
from baselines.threemdbench.consultation.agents import scripted_agent
from baselines.threemdbench.consultation.cases import read_cases
from baselines.threemdbench.consultation.names import model_name, setting_name
from baselines.threemdbench.consultation.prompts import read_prompts
from baselines.threemdbench.consultation.recheck import recheck_game, results
from baselines.threemdbench.consultation.record import Consultation
from loaders.errors import InputError
from loaders.opened import open_data
from scripts.run.consultation import Assessor, Data
from scripts.terminal.dialogue import (
    Bare,
    BaseUrl,
    Concurrency,
    MaxInvalid,
    MaxRetries,
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


def command(
    data: Data,
    assessor: Assessor,
    out: Out,
    run: Path = typer.Option(..., metavar="RUN", help="The finished run of consultations over this data."),
    limit: int | None = typer.Option(None, min=1, metavar="N", help="The first N of its consultations only."),
    prompts: Path | None = typer.Option(None, metavar="DIR", help="Prompt texts of your own, as in the run."),
    base_url: BaseUrl = [],  # noqa: B006 - typer's way of an option that may be repeated
    concurrency: Concurrency = 16,
    max_retries: MaxRetries = 5,
    timeout: Timeout = 120.0,
    max_invalid: MaxInvalid = MAX_INVALID,
    price: Price = [],  # noqa: B006
    bare: Bare = False,
    seed: Seed = 0,
) -> None:
    """Assess finished consultations again, with the items in another order and with padded replies.

    A judge that reads what is asked changes nothing; how far scores move says how far differences between doctors may
    be trusted. Two requests a consultation, kept and resumed as in `bedside run consultation`.

    Example: `bedside run recheck runs/3mdbench --run runs/keyword --assessor scripted/assessor -o runs/recheck`
    """
    started = time.monotonic()
    (finished,) = read_runs([run])
    if finished.record.baseline != "consultation":
        raise InputError(run, found=f"a run of {finished.record.baseline}", expected="one of consultation")
    played = {
        one.case_id: one.record
        for one in read_played(run, PlayedCase[Consultation])
        if one.record is not None and one.record.assessment is not None and one.epoch == 1
    }
    if not played:
        raise InputError(run, found="no assessed consultation", expected="one or more, in a setting with dialogue")
    opened = open_data(data, split="test", default="3mdbench")
    if opened.content_digest != finished.record.data.content_digest:
        raise InputError(data, found="other data than the run's", expected=finished.record.data.content_digest)
    cases = [case for case in read_cases(opened.splits["test"]).cases if case.case_id in played][:limit]
    texts = read_prompts(prompts)
    judge = finished.record.options.get("judge", "patient")
    game = recheck_game(texts, played, judge=judge, seed=seed)
    playing = players(
        {"assessor": assessor}, scripted_agent, base_url=base_url, max_retries=max_retries, timeout=timeout
    )
    costs = prices(price)
    with bar(f"{assessor}, again", len(cases)) as progress:
        done = play_run(
            game,
            cases,
            playing,
            out,
            concurrency=concurrency,
            bare=bare,
            max_invalid=max_invalid,
            prices=costs,
            progress=progress,
        )
    tell(done, costs, out)
    record = RunRecord(
        baseline="recheck",
        data=used(opened),
        models=done.models,
        options={"run": finished.record.run_id, "cases": len(cases), "judge": judge},
        prompts=texts.digests,
        seeds={"bootstrap": seed, "order": seed},
        versions={} if bare else {"inspect_ai": version("inspect_ai")},
        stand_in="; ".join(reason for reason in (finished.record.stand_in, done.stand_in) if reason) or None,
        **spent_in_all(done, costs),
    )
    setting = setting_name(next(iter(played.values())).setting)
    finish(out, results(done.records, record, row=model_name(assessor), setting=setting, seed=seed), started)
