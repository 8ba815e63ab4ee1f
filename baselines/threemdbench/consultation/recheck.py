"""How stable the assessor is: finished consultations assessed again with the items shuffled and the replies padded.

    game = recheck_game(read_prompts(), {played.case_id: played for played in consultations})

Nothing about the doctor changes here. A judge that reads what it is asked gives the same scores in another order, and
no points for polite words without content (known weaknesses of LLM judges: position and length).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from baselines.dialogue.game import Ask, Game
from baselines.results.run import Result, RunRecord
from baselines.statistics.resampling import bootstrap_means
from baselines.threemdbench.consultation.assessor import assess
from baselines.threemdbench.consultation.game import transcript
from baselines.threemdbench.consultation.names import PAPER
from baselines.threemdbench.consultation.prompts import has_place
from baselines.threemdbench.consultation.protocol import BEDSIDE, Protocol
from baselines.threemdbench.consultation.record import HIGHEST, ITEMS, Assessment, Case, Consultation, Turn
from loaders.errors import InputError
from loaders.files.records import GROWN
from loaders.models.prompts import Prompts

TABLE = "Checks of the assessor"
KINDS = ("shuffled", "padded")


@dataclass(frozen=True, slots=True)
class Rechecked:
    """A consultation's assessments: as it was played, with the items shuffled, and with the replies padded.

    `group` is that of the consultation; rechecks of versions that did not store it have none.
    """

    case_id: str
    before: Assessment | None
    shuffled: Assessment
    padded: Assessment
    group: Annotated[str, GROWN] = ""


def recheck_game(
    prompts: Prompts, played: Mapping[str, Consultation], *, protocol: Protocol = BEDSIDE, seed: int = 0
) -> Game[Case, Rechecked]:
    """The assessor, asked twice more about each case of `played` (case id -> its consultation).

    Raises InputError for a prompt whose items cannot be asked in another order.
    """
    if not has_place(prompts, "assessment", "items"):
        found = "no placeholder {{items}}, so that they cannot be shuffled"
        raise InputError("assessment.md", found=found, expected="{{items}} in the text")

    async def play(case: Case, ask: Ask) -> Rechecked:
        before = played[case.case_id]
        order = shuffled_items(case.case_id, seed)
        shuffled = await assess(case, before.turns, ask, prompts, protocol=protocol, order=order)
        longer = await assess(case, padded(before.turns, prompts), ask, prompts, protocol=protocol)
        return Rechecked(case.case_id, before.assessment, shuffled, longer, before.group)

    def invalid(record: Rechecked) -> str | None:
        asked = {kind: getattr(record, kind).failure for kind in KINDS}
        failed = [f"the assessment failed, {kind}: {failure}" for kind, failure in asked.items() if failure is not None]
        return "; ".join(failed) or None

    return Game(
        name="recheck",
        roles=("assessor",),
        case_id=lambda case: case.case_id,
        play=play,
        transcript=lambda case, record: transcript(case, played[case.case_id]),
        scores=lambda record: {
            kind: float(sum(map(bool, (moved(record.before, getattr(record, kind)) or {}).values()))) for kind in KINDS
        },
        invalid=invalid,
        settings={"judge": protocol.judge, "protocol": protocol.name, "seed": seed, "prompts": prompts.digests},
        decoding={"assessor": protocol.decoding["assessor"]},
    )


def moved(before: Assessment | None, after: Assessment) -> dict[str, int] | None:
    """Item -> how far its score moved; None if one of the two assessments failed or was never made."""
    if before is None or before.items is None or after.items is None:
        return None
    return {item: after.items[item] - before.items[item] for item in ITEMS}


def shuffled_items(case_id: str, seed: int) -> tuple[str, ...]:
    """The items in an order specific to the case, never the usual one."""
    draw = random.Random(f"rubric order {seed} {case_id}")
    order = list(ITEMS)
    while tuple(order) == ITEMS:
        draw.shuffle(order)
    return tuple(order)


def padded(turns: Sequence[Turn], prompts: Prompts) -> tuple[Turn, ...]:
    """The turns with polite, empty words after each of the doctor's; a doctor's silence stays silence."""
    empty = prompts.fill("padding")
    return tuple(
        replace(turn, text=f"{turn.text} {empty}") if turn.role == "doctor" and "empty" not in turn.flags else turn
        for turn in turns
    )


def results(
    rechecked: Sequence[Rechecked], record: RunRecord, *, row: str, setting: str, seed: int = 0
) -> list[Result]:
    """By kind and item, the mean change of the score and the share of cases in which it changed at all. Intervals draw
    patients, lesions or near copies, as those of the consultations do.

    Raises InputError if no case has all three assessments.
    """
    cells = []
    for kind in KINDS:
        both = [
            (case.group or case.case_id, change)
            for case in rechecked
            if (change := moved(case.before, getattr(case, kind))) is not None
        ]
        if not both:
            raise InputError("assessments", found="no case that was assessed both times", expected="one or more")
        clusters, changes = zip(*both, strict=True)
        note = f"{len(rechecked) - len(changes)} of {len(rechecked)} cases without both assessments"
        for item in ITEMS:
            steps = np.array([change[item] for change in changes], dtype=np.float64)
            ends = (-HIGHEST[item], HIGHEST[item]), (0, 100)
            moves = np.column_stack([steps, 100.0 * (steps != 0)])
            spread = bootstrap_means(moves, seed=seed, within=ends, clusters=clusters)
            for at, (what, unit) in enumerate((("mean change", "points"), ("changed", "percent"))):
                value, ci95 = spread.estimate(at)
                cells.append(
                    Result(
                        paper=PAPER, table=TABLE, row=row, setting=f"{setting}, {kind}",
                        column=f"Criterion {item}, {what}", split_or_group="", value=value, unit=unit, note=note,
                        n=len(changes), ci95=ci95, record=record,
                    )
                )  # fmt: skip
    return cells
