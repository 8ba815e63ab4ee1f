"""The shape of a policy without dialogues: what simulated clinicians of a given quality get out of the patients.

    rate = reveal_rate(BEDSIDE, profiles, Simulated(quality=0.5), turns=8)

A turn of quality q has each feature of good practice near q (and none of gaming), words that were not said before,
and touches a hidden concern with probability `follows`, by one or two of its topic terms. That is a model of a
clinician, not a clinician; it shows where a policy is a step and where a slope, which no scripted dialogue can.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from baselines.medconceal.game import concerns_of
from baselines.medconceal.machine import Concern, PatientState, start, step
from baselines.medconceal.policy import PolicyConfig
from baselines.medconceal.record import ADDRESSED, HIDDEN, Features, TurnEvaluation
from baselines.medconceal.tables import GROUPS, PAPER
from baselines.results.run import Result, RunRecord
from loaders.medconceal import TASKS, Openness, PatientProfile, Task, chart

GOOD = ("DG", "ER", "PA", "CE", "SP", "NS", "CM", "PS")
"""The features that a turn of quality q has near q."""

BETWEEN_TURNS, WITHIN_TURN = 0.12, 0.12
QUALITIES = tuple(round(0.1 * step, 1) for step in range(1, 11))
SHAPE = "shape.json"
"""Name of the file of a run folder that holds shapes."""
TABLE = "Simulated clinicians"


@dataclass(frozen=True, slots=True)
class Simulated:
    """A clinician of mean `quality` in [0, 1]; `follows` is the share of turns that touch a concern, q / 2 by default.

    `repeats` means that it says one paragraph again and again.
    """

    quality: float
    follows: float | None = None
    repeats: bool = False


def reveal_rate(
    policy: PolicyConfig, profiles: Sequence[PatientProfile], clinician: Simulated, *, turns: int = 8, seed: int = 0
) -> float:
    """The share of all concerns that are out after `turns` turns of confirmation."""
    states = [state for state, _ in _played(policy, profiles, clinician, "confirmation", turns, seed)]
    concerns = [concern for state in states for concern in state.concerns]
    return sum(concern.state != HIDDEN for concern in concerns) / len(concerns)


def success_rate(
    policy: PolicyConfig, profiles: Sequence[PatientProfile], clinician: Simulated, *, turns: int = 8, seed: int = 0
) -> float:
    """The share of cases whose primary concern is addressed after at most `turns` turns of intervention."""
    played = _played(policy, profiles, clinician, "intervention", turns, seed)
    return sum(state.concerns[primary].state == ADDRESSED for state, primary in played) / len(played)


@dataclass(frozen=True, slots=True)
class Shape:
    """What simulated clinicians of each quality get out of one kind of patient in a task, over `cases` cases.

    `share` is, for each of `QUALITIES`, the share of concerns that are revealed (confirmation), or of cases whose
    primary one is addressed (intervention).
    """

    patient: str
    task: Task
    cases: int
    share: tuple[float, ...]


def shapes(policy: PolicyConfig, profiles: Sequence[PatientProfile], *, turns: int = 8, seed: int = 0) -> list[Shape]:
    """The shape of each kind of patient among the cases, by openness, in both tasks."""
    found = []
    for openness in get_args(Openness):
        own = [profile for profile in profiles if (profile.roleplay.openness or "guarded") == openness]
        for task in TASKS if own else ():
            rate = reveal_rate if task == "confirmation" else success_rate
            share = tuple(rate(policy, own, Simulated(quality), turns=turns, seed=seed) for quality in QUALITIES)
            found.append(Shape(openness, task, len(own), share))
    return found


def results(found: Sequence[Shape], record: RunRecord, *, turns: int) -> list[Result]:
    """The shapes as numbers; the paper has none of them."""
    return [
        Result(
            paper=PAPER, table=TABLE, row=f"{shape.patient} patients", setting=f"{turns} turns",
            column=f"{'Reveal Rate' if shape.task == 'confirmation' else 'Success'}, turns of quality {quality}",
            split_or_group=GROUPS[shape.task], value=value, unit="proportion", direction="up", n=shape.cases,
            note="simulated clinicians: the shape of the patients, and nobody's score", record=record,
        )
        for shape in found
        for quality, value in zip(QUALITIES, shape.share, strict=True)
    ]  # fmt: skip


def _played(
    policy: PolicyConfig,
    profiles: Sequence[PatientProfile],
    clinician: Simulated,
    task: Task,
    turns: int,
    seed: int,
) -> list[tuple[PatientState, int]]:
    found = []
    for profile in profiles:
        draw = random.Random(f"{seed}:{profile.case_id}:{clinician}")
        concerns = concerns_of(profile, chart(profile, task))
        primary = profile.intervention.primary_concern
        state = start(len(concerns), primary, task)
        for _ in range(turns):
            evaluation = TurnEvaluation(
                "other", {"other": 1.0}, _features(clinician, draw), None, 0.0, False, "rules", 0
            )
            text = "the same words to everybody" if clinician.repeats else _text(clinician, state, concerns, draw)
            state, _ = step(policy, state, evaluation, concerns, text)
        found.append((state, primary))
    return found


def _features(clinician: Simulated, draw: random.Random) -> Features:
    level = draw.gauss(clinician.quality, BETWEEN_TURNS)
    return Features(**{key: min(1.0, max(0.0, draw.gauss(level, WITHIN_TURN))) for key in GOOD})


def _text(clinician: Simulated, state: PatientState, concerns: Sequence[Concern], draw: random.Random) -> str:
    """Words that were not said before and, in a turn that follows the patient, terms of a concern."""
    fresh = [f"new{draw.getrandbits(40)}" for _ in range(12)]
    follows = clinician.quality / 2 if clinician.follows is None else clinician.follows
    if draw.random() < follows:
        about = concerns[draw.choice(state.tracked)]
        terms = draw.sample(about.terms, min(len(about.terms), draw.choice((1, 2))))
        fresh += [word for term in terms for word in sorted(term)]
    return " ".join(fresh)
