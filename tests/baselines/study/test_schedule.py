"""Who gets which item next: whole studies are played by people who come, work, and leave when they like."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from baselines.study.design import Design, TaskName
from baselines.study.schedule import Choice, Held, Offer, choose, fewest_people, spread, visits, wanted, williams

TALKS: tuple[TaskName, ...] = ("confirmation", "intervention")


def design(*tasks: TaskName, **more: object) -> Design:
    return Design("A study", "a@b.example", tasks, **more)  # type: ignore[arg-type]


def talks(cases: int, tasks: Sequence[TaskName]) -> list[Offer]:
    return [Offer(f"c{case}", task, f"c{case}") for task in tasks for case in range(cases)]


def diagnoses(cases: int) -> list[Offer]:
    return [
        Offer(f"{arm}/c{case}", "diagnosis", f"c{case}")
        for arm in ("image+basic", "image+all")
        for case in range(cases)
    ]


def played(
    plan: Design, offers: Sequence[Offer], people: Iterable[int], *, drop: float = 0.0, seed: int = 0
) -> list[Held]:
    """What is given to people who come in this order; each leaves a case for good with the chance `drop`."""
    draw = random.Random(seed)
    held: list[Held] = []
    for person in people:
        while choice := choose(plan, offers, held, person):
            leaves = draw.random() < drop
            held.append(slot(person, choice, "lost" if leaves else "done"))
            if leaves:
                break
    return held


def slot(person: int, choice: Choice, state: str) -> Held:
    offer = choice.offer
    return Held(person, offer.id, offer.task, offer.group, state, choice.repeat)  # type: ignore[arg-type]


def counts(held: Sequence[Held], offers: Sequence[Offer]) -> list[int]:
    live = Counter((one.task, one.item) for one in held if one.state != "lost" and not one.repeat)
    return [live[offer.task, offer.id] for offer in offers]


def within_one(numbers: Iterable[int]) -> bool:
    known = list(numbers)
    return max(known, default=0) - min(known, default=0) <= 1


PLANS = st.tuples(
    st.sampled_from([TALKS, TALKS[:1], TALKS[::-1]]), st.integers(1, 3), st.integers(1, 4), st.integers(0, 2**32)
)


@settings(max_examples=25)
@given(PLANS, st.integers(0, 12), st.integers(1, 300), st.sampled_from([0.0, 0.1, 0.5]))
def test_every_case_gets_its_encounters_and_nobody_a_case_twice(
    plan: tuple[tuple[TaskName, ...], int, int, int], more: int, people: int, drop: float
) -> None:
    tasks, completed, each, seed = plan
    drawn = design(*tasks, completed=completed, per_person=each, seed=seed)
    offers = talks(3 * each + more, tasks)
    held = played(drawn, offers, range(1, people + 1), drop=drop, seed=seed)
    assert max(counts(held, offers)) <= completed
    met = Counter((one.person, one.group) for one in held)
    assert not met or max(met.values()) == 1
    assert max(Counter(one.person for one in held).values()) <= each
    missing = wanted(drawn, offers, held)
    assert sum(missing.values()) == len(offers) * completed - sum(counts(held, offers))
    if not drop:
        assert all(within_one(counts(held, [o for o in offers if o.task == task])) for task in tasks)
        begun = Counter(next(one.task for one in held if one.person == person) for person in {h.person for h in held})
        half = len(offers) * completed // each // len(tasks)  # at the end only what is left is given
        assert people > half or within_one(begun[task] for task in tasks)
    elif missing:
        # Somebody new takes what those who left had left, unless nothing is missing.
        assert choose(drawn, offers, held, people + 1)
    enough = range(people + 1, people + 20 * len(offers) * completed)
    if drop < 0.5 and people < 40:
        whole = played(drawn, offers, [*range(1, people + 1), *enough], drop=drop, seed=seed)
        assert counts(whole, offers) == [completed] * len(offers)


def test_the_least_filled_case_comes_first_whatever_places_it_had() -> None:
    plan, offers = design("confirmation", completed=4, per_person=3), talks(3, ["confirmation"])
    had = {1: [0, 1], 2: [2, 1], 3: [2, 1], 4: [2]}  # c0 once and first, c1 three times and never first
    held = [slot(person, Choice(offers[at]), "done") for person, order in had.items() for at in order]
    assert choose(plan, offers, held, 5) == Choice(offers[0])
    # Filled alike, the one that came up first least often; what was left counts for neither.
    left = [slot(person, Choice(offers[1]), "lost") for person in range(10, 20)]
    assert choose(plan, offers[1:], [*held, *left], 5) == Choice(offers[1])


def test_nobody_rates_a_case_that_they_had_in_another_task() -> None:
    plan = design("diagnosis", "rubric", completed=2)
    offers = [Offer("image+all/c0", "diagnosis", "c0"), *(Offer(f"D{at}", "rubric", f"c{at}") for at in range(2))]
    held = played(plan, offers, range(1, 7))
    assert {one.task for one in held} == {"diagnosis", "rubric"}
    assert max(Counter((one.person, one.group) for one in held).values()) == 1


def test_cases_come_at_each_place_of_a_session_equally_often() -> None:
    plan = design(*TALKS, completed=6, per_person=4)
    offers = talks(12, TALKS)
    held = played(plan, offers, range(1, 37))
    places: Counter[tuple[str, str, int]] = Counter()
    for person in range(1, 37):
        for at, one in enumerate(held_by(held, person)):
            places[one.task, one.item, at] += 1
    assert set(places.values()) <= {1, 2, 3}
    assert len(places) >= len(offers) * 3


def held_by(held: Sequence[Held], person: int) -> list[Held]:
    return [one for one in held if one.person == person]


@pytest.mark.parametrize("tasks", [TALKS[:1], TALKS])
def test_who_has_met_all_cases_gets_no_more(tasks: tuple[TaskName, ...]) -> None:
    plan, offers = design(*tasks, per_person=10, completed=3), talks(3, tasks)
    held = played(plan, offers, [1])
    assert sorted(one.group for one in held) == ["c0", "c1", "c2"]


def test_what_somebody_left_is_given_again_and_what_is_open_is_not() -> None:
    plan, offers = design("confirmation", per_person=1), talks(1, TALKS[:1])
    given = choose(plan, offers, [], 1)
    assert given
    assert choose(plan, offers, [slot(1, given, "open")], 2) is None
    assert choose(plan, offers, [slot(1, given, "lost")], 2) == given
    assert choose(plan, offers, [slot(1, given, "lost")], 1) is None  # they know the patient


@pytest.mark.parametrize("seed", [0, 7])
def test_choices_do_not_depend_on_the_order_of_items(seed: int) -> None:
    plan, offers = design(*TALKS, per_person=2, seed=seed), talks(6, TALKS)
    assert played(plan, offers, range(1, 9)) == played(plan, offers[::-1], range(1, 9))


def test_the_seed_decides() -> None:
    offers = talks(9, TALKS)
    some, others = (played(design(*TALKS, per_person=2, seed=seed), offers, range(1, 9)) for seed in (1, 2))
    assert some != others


@settings(max_examples=12)
@given(st.integers(1, 24), st.integers(1, 12), st.integers(0, 99), st.sampled_from([0.0, 0.02, 0.2]))
def test_raters_get_the_same_items_in_orders_that_balance(cases: int, people: int, seed: int, drop: float) -> None:
    plan = design("pairs", completed=people, seed=seed, repeated=0.05)
    offers = [Offer(f"p{case}", "pairs", f"p{case}") for case in range(cases)]
    held = played(plan, offers, range(1, people + 1), drop=drop, seed=seed)
    whole = {one.person for one in held} - {one.person for one in held if one.state == "lost"}
    for person in whole:
        own = held_by(held, person)
        assert sorted(one.item for one in own if not one.repeat) == sorted(offer.id for offer in offers)
        assert sum(one.repeat for one in own) == (int(cases * 0.05 + 0.5) if cases > 1 else 0)
    if not drop:
        for at in range(cases):
            stood = Counter([one for one in held_by(held, person) if not one.repeat][at].item for person in whole)
            assert within_one(stood[offer.id] for offer in offers)
        assert wanted(plan, offers, held) == {}
    later = played(plan, offers, range(1, people * 12), drop=drop / 10, seed=seed)
    done = Counter(person for person in {one.person for one in later} if held_by(later, person)[-1].state == "done")
    assert len(done) == people or drop


@settings(max_examples=6)
@given(st.integers(2, 300), st.sampled_from([0.0, 0.01]))
def test_levels_of_information_are_compared_between_people(people: int, drop: float) -> None:
    cases = 2
    plan = design("diagnosis", completed=(people + 1) // 2, setting="both", repeated=0.0)
    offers = diagnoses(cases)
    held = played(plan, offers, range(1, people + 1), drop=drop)
    arms = {person: {one.item.partition("/")[0] for one in held_by(held, person)} for person in range(1, people + 1)}
    assert all(len(seen) == 1 for seen in arms.values())
    left = {one.person for one in held if one.state == "lost"}
    there = Counter(next(iter(seen)) for person, seen in arms.items() if person not in left)
    assert abs(there["image+basic"] - there["image+all"]) <= 1 + (left != set()) * len(left)
    if not left:
        assert within_one(there.values())


def test_who_leaves_is_replaced_in_the_same_arm_and_does_all() -> None:
    plan = design("diagnosis", completed=1, setting="both", repeated=0.0)
    offers = diagnoses(3)
    held = played(plan, offers, [1])
    held[-1] = slot(1, Choice(offers[[offer.id for offer in offers].index(held[-1].item)]), "lost")
    arm = held[0].item.partition("/")[0]
    after = played(plan, offers, [2])
    assert after  # the other arm, or this one: both are open
    again = choose(
        plan, offers, [*held, *[Held(3, o.id, o.task, o.group, "done") for o in offers if arm not in o.id]], 4
    )
    assert again and again.offer.part == arm


def test_who_comes_back_goes_on_with_what_they_left_unless_they_had_finished_nothing() -> None:
    plan = design("pairs", completed=1, repeated=0.0)
    offers = [Offer(f"p{at}", "pairs", f"p{at}") for at in range(3)]
    order = [choice.offer for choice in visits(plan, offers, 0)]
    done, left = (slot(1, Choice(offer), state) for offer, state in zip(order, ("done", "lost"), strict=False))
    assert choose(plan, offers, [done, left], 1) == Choice(order[1])
    replaced = [Held(2, offer.id, offer.task, offer.group, "done") for offer in offers]
    assert choose(plan, offers, [done, left, *replaced], 1) == Choice(order[1])
    assert choose(plan, offers, [left, *replaced], 1) is None


@pytest.mark.parametrize(("kept", "wanted_more"), [(5, 0), (4, 1), (3, 1)])
def test_who_lost_only_what_comes_again_is_not_replaced(kept: int, wanted_more: int) -> None:
    """Somebody new did all items, whose ratings had all been there."""
    plan = design("pairs", completed=1, repeated=0.5)
    offers = [Offer(f"p{at}", "pairs", f"p{at}") for at in range(4)]
    given = visits(plan, offers, 0)
    assert [choice.repeat for choice in given] == [False, False, False, True, False, True]
    held = [slot(1, choice, "done") for choice in given[:kept]] + [slot(1, given[kept], "lost")]
    assert (choose(plan, offers, held, 2) is not None) == bool(wanted_more)
    assert set(wanted(plan, offers, held).values()) == ({1} if wanted_more else set())
    assert choose(plan, offers, held, 1) == given[kept]


@pytest.mark.parametrize("count", [4, 5, 9])
def test_as_many_items_are_repeated_as_the_design_says(count: int) -> None:
    plan, offers = design("pairs", repeated=0.3), [Offer(f"p{at}", "pairs", f"p{at}") for at in range(count)]
    for row in range(count):
        assert sum(choice.repeat for choice in visits(plan, offers, row)) == int(count * 0.3 + 0.5)


def test_repeats_come_late_and_checks_never_first() -> None:
    plan = design("pairs", repeated=0.1, attention=0.1)
    offers = [Offer(f"p{case}", "pairs", f"p{case}") for case in range(40)]
    checks = [Offer(f"check/k{at}", "pairs", f"check{at}") for at in range(4)]
    for row in range(40):
        order = visits(plan, [*checks, *offers], row)
        ids = [choice.offer.id for choice in order]
        assert len(order) == 48 and order[0].offer.part == ""
        for at, choice in enumerate(order):
            if choice.repeat:
                assert at - ids.index(choice.offer.id) >= 20
        fourths = [sum("check" in name for name in ids[at : at + 12]) for at in range(0, 48, 12)]
        assert sum(fourths) == 4 and max(fourths) <= 3


def test_blocks_follow_each_other_with_the_cases_in_the_same_order() -> None:
    plan = design("relevance", repeated=0.0)
    offers = [Offer(f"basic/D{at}", "relevance", f"D{at}") for at in range(5)]
    offers += [Offer(f"additional/D{at}.{n}", "relevance", f"D{at}") for at in range(5) for n in (1, 2)]
    order = [choice.offer for choice in visits(plan, offers, 3)]
    assert [offer.part for offer in order] == ["basic"] * 5 + ["additional"] * 10
    assert [offer.group for offer in order[:5]] == list(dict.fromkeys(offer.group for offer in order[5:]))
    assert [offer.id[-2:] for offer in order[5:]] == [".1", ".2"] * 5
    again = [choice.offer.part for choice in visits(replace(plan, repeated=0.4), offers, 3) if choice.repeat]
    assert again == ["basic"] * 2 + ["additional"] * 4  # of each block its share


def test_fewest_people_can_do_it() -> None:
    for tasks, completed, each, cases in (
        (TALKS, 1, 2, 12),
        (TALKS, 3, 4, 20),
        (TALKS, 1, 3, 7),
        (TALKS[:1], 2, 5, 15),
    ):
        plan, offers = design(*tasks, completed=completed, per_person=each), talks(cases, tasks)
        fewest = fewest_people(plan, offers)
        assert wanted(plan, offers, played(plan, offers, range(1, fewest + 1))) == {}
        assert wanted(plan, offers, played(plan, offers, range(1, fewest)))
    assert fewest_people(design("diagnosis", completed=2), diagnoses(3)) == 4


@pytest.mark.parametrize("count", [1, 2, 5, 34, 100])
def test_squares_are_latin(count: int) -> None:
    rows = [williams(count, row) for row in range(count)]
    assert all(sorted(row) == list(range(count)) for row in [*rows, *zip(*rows, strict=True)])
    assert sorted(spread(count)) == list(range(count))
