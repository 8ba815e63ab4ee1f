"""Signs that somebody did not read: each is found, and a careful person has none."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import pytest

from baselines.study.attention import flags
from baselines.study.tasks.task import Item, Response

TEXT = "Chest radiograph with a small left pleural effusion. " * 4
GIVEN = [{"fluency": at % 3 + 3, "simplicity": at % 2 + 4} for at in range(24)]


def item(at: int, *, expected: Mapping[str, Any] | None = None) -> Item:
    name = f"P{at}" if expected is None else f"check/{at}"
    return Item(name, "pairs", name, {"expert_caption": TEXT}, {} if expected is None else {"expected": expected})


def careful(person: str, *, seconds: float = 20.0) -> list[Response]:
    found = [Response(person, item(at), given, seconds + at % 5, position=at) for at, given in enumerate(GIVEN)]
    return [
        *found,
        Response(person, item(30, expected={"fluency": 2}), {"fluency": 2}, 9.0, position=30),
        Response(person, item(0), GIVEN[0], 10.0, repeat=True, position=31),
    ]


def others() -> list[Response]:
    return [one for person in ("P002", "P003") for one in careful(person)]


def test_careful_people_have_no_flags() -> None:
    assert flags([*careful("P001"), *others()]) == {}
    assert flags([]) == {} and flags(careful("P001")[:3]) == {}


def changed(kind: str) -> list[Response]:
    own = careful("P001")
    match kind:
        case "check":
            own[-2] = Response("P001", own[-2].item, {"fluency": 5}, 9.0, position=30)
        case "repeat":
            own[-1] = Response("P001", own[-1].item, {"fluency": 1, "simplicity": 1}, 9.0, repeat=True)
        case "fast":
            own = [Response("P001", one.item, one.given, 5.0, one.repeat, one.position) for one in own]
        case "unread":
            own = [Response("P001", one.item, one.given, 1.0, one.repeat, one.position) for one in own]
        case "alike":
            own = [Response("P001", one.item, {"fluency": 5}, one.seconds) for one in own[:24]]
    return own


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("check", "1 of 1 attention checks"),
        ("repeat", "0 of 2 answers to repeated items"),
        ("fast", "5 s an item (median), others 22 s"),
        ("unread", "faster than they can be read"),
        ("alike", "all 24 items have the same answers"),
    ],
)
def test_each_sign_is_found_and_reported_with_its_reason(kind: str, reason: str) -> None:
    found = flags([*changed(kind), *others()])
    assert list(found) == ["P001"] and any(reason in told for told in found["P001"])
    assert found["P001"][0] != found["P001"][-1] or len(found["P001"]) == 1


def test_what_was_asked_for_in_other_letters_is_what_was_asked_for() -> None:
    check = item(30, expected={"diagnosis": "none"})
    asked = [Response("P001", check, {"diagnosis": told}, 9.0) for told in ("None.", "NONE", "none")]
    assert flags(asked) == {}


def test_the_order_of_answers_does_not_matter() -> None:
    mixed = [*changed("fast"), *others()]
    random.Random(1).shuffle(mixed)
    assert flags(mixed)["P001"] == flags([*changed("fast"), *others()])["P001"]


def rated(person: str, count: int, seconds: float, *, hasty: int = 0) -> list[Response]:
    """Different answers to `count` items, `hasty` of them in 3 seconds: TEXT takes 3.2 at least."""
    times = [3.0] * hasty + [seconds] * (count - hasty)
    return [Response(person, item(at), GIVEN[at], time, position=at) for at, time in enumerate(times)]


@pytest.mark.parametrize(
    ("own", "others", "told"),
    [
        (rated("P", 5, 6), [10, 30], ["6 s an item (median), others 20 s"]),  # below a third of theirs
        (rated("P", 5, 7), [10, 30], []),
        (rated("P", 4, 6), [10, 30], []),  # too few items of theirs, or too few others
        (rated("P", 5, 6), [30], []),
        (rated("P", 10, 20, hasty=6), [], ["6 of 10 items were answered faster than they can be read"]),
        (rated("P", 10, 20, hasty=5), [], []),
        # A text that was read before may be passed over.
        ([*rated("P", 10, 20), *(Response("P", item(at), GIVEN[at], 1.0, repeat=True) for at in range(9))], [], []),
    ],
)
def test_times_count_from_their_bounds_on(own: list[Response], others: list[float], told: list[str]) -> None:
    rest = [one for at, seconds in enumerate(others) for one in rated(f"Q{at}", 5, seconds)]
    assert flags([*own, *rest]).get("P", []) == told


def test_half_of_the_repeated_answers_and_nineteen_alike_are_no_signs() -> None:
    again = Response("P", item(0), {**GIVEN[0], "fluency": 1}, 9.0, repeat=True)
    assert flags([*rated("P", 3, 20), again]) == {}
    alike = [Response("P", item(at), {"fluency": 5}, 20.0) for at in range(20)]
    check = Response("P", item(30, expected={"fluency": 2}), {"fluency": 2}, 9.0)
    once_more = Response("P", item(0), {"fluency": 5}, 9.0, repeat=True)
    assert flags([*alike[:19], once_more]) == {}
    assert flags([*alike, check, once_more]) == {"P": ["all 20 items have the same answers"]}


def test_the_same_mark_of_every_complaint_is_the_same_answer() -> None:
    """Each complaint has a name of its own, so that whoever marked all of them alike was never flagged."""
    marked = [Response("P", item(at), {f"D{at}.{one}": 1 for one in range(1 + at % 8)}, 20.0) for at in range(20)]
    assert flags(marked) == {"P": ["all 20 items have the same answers"]}
    other = Response("P", item(20), {"D20.1": 0}, 20.0)
    assert flags([*marked, other]) == {}
