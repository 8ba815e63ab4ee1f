"""What a study could show and would take, before anybody is invited.

People and models get the same cases. The difference between a person's score and a model's has one component that all
encounters of the person share, and one that all encounters of the case share. Both are assumptions, and labelled so: no
study has published them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from baselines.dialogue.budget import estimate
from baselines.dialogue.game import Case, Game, ScriptedAgent
from baselines.dialogue.played import Spent
from baselines.results.power import independent
from baselines.study.design import TALKS, Design, TaskName
from baselines.study.schedule import Offer, fewest_people, rounds

BY_PERSON, BY_CASE = 0.1, 0.3
"""Shares of the variance of a person-model difference that are common to a person, and to a case: assumptions."""
COMPARED: tuple[TaskName, ...] = (*TALKS, "diagnosis")
"""Tasks in which models get the same cases, and a score from 0 to 1; in the others people judge."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A task as planned: cases, encounters or ratings in all, people, and how many independent differences each case is
    worth."""

    task: TaskName
    cases: int
    encounters: int
    people: int
    each: float

    def cases_for(self, needed: int) -> int | None:
        """How many cases are worth so many independent differences; None if no number is, as with few raters: they rate
        all cases, and have in common what each of them shares with themselves. Talks of more cases take more people."""
        if self.task in TALKS:
            return ceil(needed / self.each)
        room = self.people - needed * BY_PERSON
        return ceil(needed * (1 - BY_PERSON + (self.people - 1) * BY_CASE) / room) if room > 0 else None


def expected(design: Design, offers: Sequence[Offer]) -> list[Expected]:
    """The tasks of a design over its items; in ratings everybody gets all cases (of their arm)."""
    found = []
    people = max(design.people, fewest_people(design, offers))
    for task in design.tasks:
        cases = len({offer.group for offer in offers if offer.task == task and not offer.check})
        if cases == 0:
            continue
        encounters = cases * design.completed
        working = min(people, encounters) if task in TALKS else design.completed
        worth = independent(encounters, working, cases, by_person=BY_PERSON, by_case=BY_CASE)
        found.append(Expected(task, cases, encounters, working, worth / cases))
    return found


def taken(
    design: Design,
    game: Game[Case, Any],
    cases: Sequence[Case],
    agents: Mapping[str, ScriptedAgent | None],
    *,
    endless: bool = False,
) -> dict[str, Spent]:
    """What the models of one talk task would take over all its encounters, without the person's own role; if `endless`,
    of encounters that go on to the limit of the game."""
    spent = estimate(game, cases, agents, epochs=design.completed, endless=endless)
    return {role: one for role, one in spent.items() if role != "clinician"}


def paid(design: Design, offers: Sequence[Offer]) -> float:
    """The total pay if everybody finishes, in the design's currency; every item counts the same. Whoever finds no place
    is told so before they begin, and is not paid."""
    talks = sum(one.encounters for one in expected(design, offers) if one.task in TALKS)
    given = [rounds(design, offers, task) for task in design.tasks if task not in TALKS]
    places = talks + design.completed * max(map(len, given), default=0)
    people = min(max(design.people, fewest_people(design, offers)), places)
    return people * design.pay.welcome + (talks + design.completed * sum(map(sum, given))) * design.pay.each_case
