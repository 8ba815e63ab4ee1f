"""`bedside run recheck`: how far the assessor's scores move although nothing about the consultation has changed."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from baselines.dialogue.played import PlayedCase, read_played
from baselines.results.comparison import read_runs
from baselines.threemdbench.consultation.agents import scripted_agent
from baselines.threemdbench.consultation.cases import read_cases
from baselines.threemdbench.consultation.names import model_name, setting_name
from baselines.threemdbench.consultation.prompts import read_prompts
from baselines.threemdbench.consultation.protocol import protocol_named
from baselines.threemdbench.consultation.recheck import Rechecked, recheck_game, results
from baselines.threemdbench.consultation.record import Consultation
from loaders.errors import InputError
from loaders.opened import open_data
from scripts.run.consultation import Assessor, Data
from scripts.run.play import Asking, play, record_of, roles_of
from scripts.run.stored import Rescored, Stored
from scripts.terminal.finish import finish
from scripts.terminal.options_of import options_of


@dataclass(frozen=True, kw_only=True)
class Recheck(Asking):
    data: Data
    assessor: Assessor
    run: Annotated[Path, typer.Option(metavar="RUN", help="Finished consultation run over this data.")]
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N of its consultations.")] = None
    prompts: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder with your own prompt texts, as in the run.")
    ] = None


@options_of(Recheck)
def command(options: Recheck) -> None:
    """Assess finished consultations again, with rubric items reordered and replies padded.

    A judge that reads carefully gives the same scores; how far they move shows how far differences between doctors can
    be trusted. Two requests per consultation, stored and resumed as in `bedside run consultation`.

    Example: `bedside run recheck runs/3mdbench --run runs/keyword --assessor scripted/assessor -o runs/recheck`
    """
    started = time.monotonic()
    (finished,) = read_runs([options.run])
    if finished.record.baseline != "consultation":
        raise InputError(options.run, found=f"a run of {finished.record.baseline}", expected="one of consultation")
    assessed = {
        one.case_id: one.record
        for one in read_played(options.run, PlayedCase[Consultation])
        if one.record is not None and one.record.assessment is not None and one.epoch == 1
    }
    if not assessed:
        expected = "at least one, in a setting with dialogue"
        raise InputError(options.run, found="no assessed consultation", expected=expected)
    opened = open_data(options.data, split="test", default="3mdbench")
    if opened.content_digest != finished.record.data.content_digest:
        raise InputError(options.data, found="data other than the run's", expected=finished.record.data.content_digest)
    cases = [case for case in read_cases(opened.splits["test"]).cases if case.case_id in assessed][: options.limit]
    texts = read_prompts(options.prompts)
    as_played = finished.record.options
    protocol = protocol_named(as_played.get("protocol", "bedside")).having(judge=as_played.get("judge"))
    game = recheck_game(texts, assessed, protocol=protocol, seed=options.seed)
    roles = roles_of({"assessor": options.assessor}, scripted_agent, options)
    played = play(game, cases, roles, options, title=f"{options.assessor}, again")
    record = record_of(
        "recheck",
        played,
        options,
        opened,
        facts={"run": finished.record.run_id, "cases": len(cases), "judge": protocol.judge, "protocol": protocol.name},
        texts=texts,
        reasons=(finished.record.stand_in, played.stand_in),
    )
    record = replace(record, seeds=options.seeds | {"order": options.seed})
    setting = setting_name(next(iter(assessed.values())).setting)
    row = model_name(options.assessor)
    finish(options.out, results(played.records, record, row=row, setting=setting, seed=options.seed), started)


def rescore(stored: Stored) -> Rescored:
    """Recompute the numbers from the stored assessments."""
    records = [one.record for one in stored.played(PlayedCase[Rechecked]) if one.record is not None]
    first = stored.run.results[0]
    setting = first.setting.rpartition(", ")[0]
    return Rescored(results(records, stored.record, row=first.row, setting=setting, seed=stored.seed))
