"""How steady the assessor is: finished consultations assessed again with the items shuffled and the replies padded.

    game = recheck_game(read_prompts(), {one.case_id: one for one in consultations})

Nothing about the doctor is at stake here. A judge that reads what is asked gives the same scores in another order, and
none for polite words without content (anchors of LLM judging: position and length).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from baselines.dialogue.game import Ask, Game
from baselines.results.run import Result, RunRecord
from baselines.results.statistics import bootstrap_means
from baselines.threemdbench.consultation.game import transcript
from baselines.threemdbench.consultation.names import PAPER
from baselines.threemdbench.consultation.record import ITEMS, Assessment, Case, Consultation
from baselines.threemdbench.consultation.rubric import Judge, moved, recheck
from loaders.errors import InputError
from loaders.models.prompts import Prompts

TABLE = "Checks of the assessor"
KINDS = ("shuffled", "padded")


@dataclass(frozen=True, slots=True)
class Rechecked:
    """A consultation's assessments: as it was played, with the items shuffled, and with the replies padded."""

    case_id: str
    before: Assessment | None
    shuffled: Assessment
    padded: Assessment


def recheck_game(
    prompts: Prompts, played: Mapping[str, Consultation], *, judge: Judge = "patient", seed: int = 0
) -> Game[Case, Rechecked]:
    """The assessor asked twice more about each case of `played` (case id -> its consultation)."""

    async def play(case: Case, ask: Ask) -> Rechecked:
        one = played[case.case_id]
        again = await recheck(case, one, ask, prompts, judge=judge, seed=seed)
        return Rechecked(case.case_id, one.assessment, again.shuffled, again.padded)

    def invalid(record: Rechecked) -> str | None:
        failure = record.shuffled.failure or record.padded.failure
        return None if failure is None else f"the assessment failed: {failure}"

    return Game(
        name="recheck",
        roles=("assessor",),
        case_id=lambda case: case.case_id,
        play=play,
        transcript=lambda case, record: transcript(case, played[case.case_id]),
        scores=lambda record: {kind: float(_moved_items(record, kind)) for kind in KINDS},
        invalid=invalid,
        settings={"judge": judge, "seed": seed, "prompts": prompts.digests},
    )


def _moved_items(record: Rechecked, kind: str) -> int:
    change = moved(record.before, getattr(record, kind))
    return sum(step != 0 for step in change.values()) if change else 0


def results(
    rechecked: Sequence[Rechecked], record: RunRecord, *, row: str, setting: str, seed: int = 0
) -> list[Result]:
    """By kind and item, the mean change of the score and the share of cases in which it changed at all.

    Raises InputError where no case has all three assessments.
    """
    found = []
    for kind in KINDS:
        changes = [change for one in rechecked if (change := moved(one.before, getattr(one, kind))) is not None]
        if not changes:
            raise InputError("assessments", found="no case that was assessed both times", expected="one or more")
        for item in ITEMS:
            steps = np.array([change[item] for change in changes], dtype=np.float64)
            columns = np.column_stack([steps, 100.0 * (steps != 0)])
            bootstrap = bootstrap_means(columns, seed=seed)
            for at, (what, unit) in enumerate((("mean change", "points"), ("changed", "percent"))):
                low, high = bootstrap.interval()[at]
                found.append(
                    Result(
                        paper=PAPER,
                        table=TABLE,
                        row=row,
                        setting=f"{setting}, {kind}",
                        column=f"Criterion {item}, {what}",
                        split_or_group="",
                        value=float(bootstrap.estimates[at]),
                        unit=unit,
                        note=f"{len(rechecked) - len(changes)} of {len(rechecked)} cases without both assessments",
                        n=len(changes),
                        ci95=(float(low), float(high)),
                        record=record,
                    )
                )
    return found
