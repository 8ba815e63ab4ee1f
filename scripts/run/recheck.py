"""`bedside run recheck`: how far the assessor's scores move although nothing about the consultation has changed."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from baselines.dialogue.game import with_decoding
from baselines.dialogue.played import PlayedCase, read_played
from baselines.results.run import RunRecord, check_baseline, read_run
from baselines.threemdbench.consultation.agents import scripted_agent
from baselines.threemdbench.consultation.cases import read_cases
from baselines.threemdbench.consultation.names import model_name, role_model, setting_name
from baselines.threemdbench.consultation.prompts import read_prompts
from baselines.threemdbench.consultation.protocol import protocol_named
from baselines.threemdbench.consultation.recheck import Rechecked, recheck_game, results
from baselines.threemdbench.consultation.record import Consultation
from loaders.errors import InputError, how_many
from loaders.models.messages import Decoding
from loaders.models.prompts import Prompts
from loaders.opened import open_data
from scripts.run.consultation import Assessor, Data
from scripts.run.play import Asking, decoding_of, play, record_of, roles_of
from scripts.run.stored import Rescored, Stored, place_of
from scripts.terminal.console import errors
from scripts.terminal.finish import finish
from scripts.terminal.options import refuse_itself
from scripts.terminal.options_of import options_of

_ASKED = ("assessment", "rubric", "judge_")
"""How the names of the prompts begin that an assessment is made of."""


@dataclass(frozen=True, kw_only=True)
class Recheck(Asking):
    data: Data
    assessor: Assessor
    run: Annotated[Path, typer.Option(metavar="RUN", help="Finished consultation run over this data.")]
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N of its consultations.")] = None


@options_of(Recheck)
def command(options: Recheck) -> None:
    """Assess finished consultations again, with rubric items reordered and replies padded.

    A judge that reads carefully gives the same scores; how far they move shows how far differences between doctors can
    be trusted. So the assessor, its prompts and its decoding must be those of the run. Two requests per consultation,
    stored and resumed as in `bedside run consultation`.

    Example: `bedside run recheck runs/3mdbench --run runs/keyword --assessor scripted/assessor -o runs/recheck`
    """
    before, _ = read_run(options.run)
    check_baseline(options.run, before, "consultation")
    refuse_itself(options.out, [options.run])
    stored = read_played(options.run, PlayedCase[Consultation])
    first = [one.record for one in stored if one.record is not None and one.record.assessment and one.epoch == 1]
    # Of the others there is no score to compare with.
    assessed = {one.case_id: one for one in first if one.assessment and one.assessment.items is not None}
    if not assessed:
        expected = "at least one, in a setting with dialogue"
        raise InputError(options.run, found="no assessed consultation", expected=expected)
    opened = open_data(options.data, split=before.data.split, default="3mdbench")
    if opened.content_digest != before.data.content_digest:
        raise InputError(
            options.data,
            found=f"cases other than the run's (content digest {opened.content_digest[:16]})",
            expected=f"{place_of(before.data) or 'the data'} that it played (content digest "
            f"{before.data.content_digest[:16]})",
        )
    every = read_cases(opened.splits[before.data.split]).cases
    cases = [case for case in every if case.case_id in assessed][: options.limit]
    texts = read_prompts(options.prompts)
    protocol = protocol_named(before.options.get("protocol", "bedside")).having(judge=before.options.get("judge"))
    game = recheck_game(texts, assessed, protocol=protocol, seed=options.seed)
    names = {"assessor": options.assessor}
    _check_unchanged(options, before, with_decoding(game, decoding_of(options, names)).decoding["assessor"], texts)
    roles = roles_of(names, scripted_agent, options)
    if repeated := sum(one.epoch > 1 for one in stored):
        errors.print(
            f"Of each case, the first consultation is assessed again; "
            f"{how_many(repeated, 'repetition is', 'repetitions are')} not"
        )
    if failed := len(first) - len(assessed):
        errors.print(
            f"{how_many(failed, 'consultation')} whose assessment failed in the run "
            f"{'is' if failed == 1 else 'are'} not assessed again"
        )
    played = play(game, cases, roles, options, title=f"{options.assessor}, again")
    record = record_of(
        "recheck",
        played,
        options,
        opened,
        facts={"run": before.run_id, "cases": played.cases, "judge": protocol.judge, "protocol": protocol.name},
        texts=texts,
        reasons=(before.stand_in, played.stand_in),
    )
    record = replace(record, seeds=options.seeds | {"order": options.seed})
    setting = setting_name(next(iter(assessed.values())).setting)
    row = model_name(options.assessor)
    finish(options.out, results(played.records, record, row=row, setting=setting, seed=options.seed))


def _check_unchanged(options: Recheck, before: RunRecord, decoding: Decoding, texts: Prompts) -> None:
    """Raises InputError if the assessor is not asked as in the run: its scores would move for that reason too."""
    assessor = role_model(before, "assessor") or options.assessor
    if options.assessor != assessor:
        do = "For the scores of another one, play the run with it: `bedside run consultation`"
        raise InputError("--assessor", found=options.assessor, expected=f"{assessor}, who assessed the run", do=do)
    if other := [
        name for name in texts.digests if name.startswith(_ASKED) and texts.digests[name] != before.prompts.get(name)
    ]:
        expected = "the texts that the run used (its run.json has their digests)"
        raise InputError(
            "prompts", found=f"other texts of {', '.join(other)}", expected=expected, do="Pass its --prompts"
        )
    was = before.options.get("decoding", {}).get("assessor")
    if was is not None and was != decoding:
        raise InputError(
            "decoding of the assessor", found=json.dumps(decoding), expected=f"{json.dumps(was)}, as in the run"
        )


def rescore(stored: Stored) -> Rescored:
    """Recompute the numbers from the stored assessments."""
    records = stored.records(PlayedCase[Rechecked])
    first = stored.run.results[0]
    setting = first.setting.rpartition(", ")[0]
    return Rescored(results(records, stored.record, row=first.row, setting=setting, seed=stored.seed))
