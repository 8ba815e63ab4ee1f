"""What a study would show: the power of a design in which people and cases are crossed, and what people are paid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from baselines.dialogue.budget import estimate
from baselines.medconceal.agents import rules_evaluator
from baselines.medconceal.clinician_scripted import CLINICIANS
from baselines.medconceal.game import Rules, task_game
from baselines.results.power import independent, smallest_difference
from baselines.study.design import Design, Pay, TaskName
from baselines.study.planned import BY_CASE, BY_PERSON, expected, paid, taken
from baselines.study.schedule import Held, Offer, choose, items_a_person, wanted
from builders.samples.medconceal.cases import profiles


@pytest.mark.parametrize(("people", "cases", "each"), [(4, 8, 2), (6, 6, 6), (8, 8, 1)])
def test_worth_is_that_of_the_covariances_of_all_encounters(people: int, cases: int, each: int) -> None:
    met = [(person, (person * each + at) % cases) for person in range(people) for at in range(each)]
    who, case = (np.array(column) for column in zip(*met, strict=True))
    same_person, same_case = who[:, None] == who, case[:, None] == case
    covariance = 0.2 * same_person + 0.3 * same_case + 0.5 * np.eye(len(met))
    variance = covariance.mean()
    count = len(met)
    assert independent(count, people, cases, by_person=0.2, by_case=0.3) == pytest.approx(1 / variance)


def test_nothing_in_common_is_worth_all_encounters() -> None:
    assert independent(60, 20, 30, by_person=0, by_case=0) == 60
    assert independent(60, 1, 60, by_person=1, by_case=0) == pytest.approx(1)
    for wrong in ({"by_person": 0.8, "by_case": 0.3}, {"by_person": -0.3, "by_case": 0.1}):
        with pytest.raises(ValueError, match="shares"):
            independent(60, 20, 30, **wrong)


def offers(task: TaskName, cases: int) -> list[Offer]:
    return [Offer(f"c{at}", task, f"c{at}") for at in range(cases)]


def test_a_design_is_summarised_by_task() -> None:
    design = Design(
        "A",
        "a@b.example",
        ("confirmation", "pairs"),
        completed=3,
        per_person=5,
        people=10,
        pay=Pay("EUR", 4.0, 4.0, 2.0),
    )
    items = [*offers("confirmation", 20), *offers("pairs", 50), Offer("check/1", "pairs", "check/1")]
    talks, pairs = expected(design, items)
    assert (talks.task, talks.cases, talks.encounters, talks.people) == ("confirmation", 20, 60, 12)
    assert (pairs.cases, pairs.encounters, pairs.people) == (50, 150, 3)
    whole = independent(60, 12, 20, by_person=BY_PERSON, by_case=BY_CASE)
    assert talks.each == pytest.approx(whole / 20) and 1 < talks.each < 3
    # More of the same people on the same cases show less than as many independent ones.
    assert smallest_difference(int(whole), 0.5) > smallest_difference(60, 0.5)
    # Nobody comes for less than one talk.
    (few, _) = expected(replace(design, completed=1, people=30), items)
    assert (few.encounters, few.people) == (20, 20)
    # 60 talks; each of 3 raters has 50 pairs, 3 of them again, and one that says what to answer.
    assert paid(design, items) == 12 * 2 + (60 + 3 * 54) * 4


def test_models_are_paid_for_all_encounters_and_the_person_is_no_model() -> None:
    game, cases = task_game(Rules("confirmation")), profiles()[:2]
    agents = {"clinician": CLINICIANS["expert"], "patient": None, "evaluator": rules_evaluator}
    once = estimate(game, cases, agents)
    found = taken(Design("A", "a", ("confirmation",), completed=3), game, cases, agents)
    assert found.keys() == {"patient", "evaluator"} and once["patient"].requests > 0
    assert {role: spent.requests for role, spent in found.items()} == {role: 3 * once[role].requests for role in found}
    assert found["patient"].input_tokens == 3 * once["patient"].input_tokens


@pytest.mark.parametrize("setting", ["both", "image+all"])
def test_what_raters_are_given_is_what_is_planned(setting: str) -> None:
    """The length that a page tells, and the pay of `check`, count the items that the schedule gives."""
    design = Design(
        "A", "a", ("diagnosis",), completed=2, repeated=0.3, setting=setting, pay=Pay(each_case=1, welcome=0)
    )
    arms = ("image+basic", "image+all") if setting == "both" else (setting,)
    items = [Offer(f"{arm}/C{at}", "diagnosis", f"c{at}") for arm in arms for at in range(7)]
    items += [Offer(f"check/{at}", "diagnosis", f"check/{at}") for at in range(3)]
    held: list[Held] = []
    for person in range(1, 2 * len(arms) + 1):
        while given := choose(design, items, held, person):
            held.append(Held(person, given.offer.id, "diagnosis", given.offer.group, "done", given.repeat))
    assert {sum(one.person == person for one in held) for person in {one.person for one in held}} == {
        items_a_person(design, items)
    }
    assert paid(design, items) == len(held)
    assert wanted(design, items, held) == {}  # the items that say what to answer were wanted for ever
    # Whoever comes when all places are taken does not begin, and gets no welcome.
    many = replace(design, people=20, pay=Pay(each_case=1, welcome=100))
    assert paid(many, items) == len(held) + 100 * 2 * len(arms)


@pytest.mark.parametrize(("raters", "needed"), [(3, 5), (3, 29), (3, 30), (12, 100), (40, 285)])
def test_no_number_of_cases_makes_few_raters_many(raters: int, needed: int) -> None:
    """Whoever rates all cases has in common what each of them shares with themselves, however many the cases."""

    def worth(cases: int) -> float:
        return independent(cases * raters, raters, cases, by_person=BY_PERSON, by_case=BY_CASE)

    (rated,) = expected(Design("A", "a", ("pairs",), completed=raters, people=raters), offers("pairs", 10))
    found = rated.cases_for(needed)
    if found is None:
        assert worth(10**9) < needed
    else:
        assert worth(found) >= needed - 1e-9 and (found == 1 or worth(found - 1) < needed)
    talks = replace(rated, task="confirmation", each=0.5)  # further cases come with further people
    assert talks.cases_for(needed) == 2 * needed


def test_each_task_of_a_person_has_its_own_checks() -> None:
    """Those of the second task were left out, as if a case of the same name had been met in the first."""
    design = Design("A", "a", ("diagnosis", "relevance"), completed=2)
    items = [Offer(f"image+basic/C{at}", "diagnosis", f"c{at}") for at in range(4)]
    items += [Offer(f"basic/D{at}", "relevance", f"d{at}") for at in range(3)]
    items += [Offer("check/1", task, "check/1") for task in design.tasks]
    held: list[Held] = []
    for person in (1, 2):
        while given := choose(design, items, held, person):
            held.append(Held(person, given.offer.id, given.offer.task, given.offer.group, "done", given.repeat))
    checked = [(one.person, one.task) for one in held if one.item == "check/1"]
    assert sorted(checked) == [(person, task) for person in (1, 2) for task in design.tasks]
    assert len(held) == 2 * items_a_person(design, items)
