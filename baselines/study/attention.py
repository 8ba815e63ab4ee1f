"""Signs that somebody did not read: flags with a reason, for a person to decide on. They exclude nobody.

3MDBench excluded one of five annotators, who was abnormally fast and answered at random (Appendix B); each sign here
would have shown that before the agreement did.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, partial
from statistics import median

from sqlalchemy import Connection

from baselines.study import slots as at
from baselines.study.design import TALKS, TASKS
from baselines.study.keys import Erased, Keys
from baselines.study.people import Person
from baselines.study.tasks.forms import repeats
from baselines.study.tasks.task import Response
from loaders.errors import how_many

FEWEST = 5
"""Items of a person below which times and sameness say nothing."""
HASTY = 1 / 3
"""Share of the other people's typical time for an item."""
WORDS_A_SECOND = 10.0
"""The fastest possible reading: about 250 words a minute is usual, 600 the maximum."""
UNSTEADY = 0.5
"""Share of equal answers to repeated items, below which somebody is inconsistent."""
ALIKE = 20
"""Number of items that all have the same answers."""


def flagged(connection: Connection, keys: Keys, everybody: Sequence[Person]) -> dict[str, list[str]]:
    """Person -> reasons, for those with one: pastes, the instructions, tools, and how they rated."""
    found: dict[str, list[str]] = {}
    item_of = cache(partial(at.item_of, connection))  # with its picture: loaded once, whoever has rated it
    rated: dict[str, list[Response]] = {task: [] for task in TASKS if task not in TALKS}
    for person in everybody:
        told = found.setdefault(person.id, [])
        if person.paste:
            told.append(f"{how_many(person.paste, 'paste')} refused")
        if person.tries:
            often = "once" if person.tries == 1 else f"{person.tries} times"
            told.append(f"answered wrongly about the instructions {often}")
        tools = 0
        try:
            for slot, given, after in at.answered(connection, keys, person.id):
                tools += after.get("tools", "None") not in ("", "None")
                if slot.task in rated and given is not None:
                    item = item_of(slot.task, slot.item)
                    rated[slot.task].append(Response(person.id, item, given, slot.used, slot.repeat, slot.position))
        except Erased:
            pass
        if tools:
            told.append(f"says a tool was used in {how_many(tools, 'case')}")
    for responses in rated.values():
        for name, reasons in flags(responses).items():
            found[name] += reasons
    return {name: reasons for name, reasons in found.items() if reasons}


def flags(responses: Sequence[Response]) -> dict[str, list[str]]:
    """Person -> why their answers should be looked at, for those with a reason; `responses` are all of one task."""
    by_person: dict[str, list[Response]] = {}
    for one in responses:
        by_person.setdefault(one.participant, []).append(one)
    usual = {person: median(one.seconds for one in own) for person, own in by_person.items() if len(own) >= FEWEST}
    found = {}
    for person, own in by_person.items():
        others = [seconds for other, seconds in usual.items() if other != person]
        reasons = [*_checks(own), *_repeats(own), *_times(own, usual.get(person), others), *_alike(own)]
        if reasons:
            found[person] = reasons
    return found


def _checks(own: Sequence[Response]) -> list[str]:
    asked = [one for one in own if one.item.check]
    wrong = [one for one in asked if _plain(one.given) != _plain(one.item.key["expected"])]
    were = "was" if len(wrong) == 1 else "were"
    return [f"{len(wrong)} of {len(asked)} attention checks {were} answered wrongly"] if wrong else []


def _plain(answer: Mapping[str, object]) -> dict[str, object]:
    """An answer normalised for comparison with the expected one: "None." is none."""
    return {name: given.casefold().strip(" .") if isinstance(given, str) else given for name, given in answer.items()}


def _repeats(own: Sequence[Response]) -> list[str]:
    twice = repeats(own)
    equal = sum(one["first"] == one["again"] for one in twice)
    if not twice or equal / len(twice) >= UNSTEADY:
        return []
    return [f"{equal} of {len(twice)} answers to repeated items were the same"]


def _times(own: Sequence[Response], usual: float | None, others: Sequence[float]) -> list[str]:
    if usual is None:
        return []
    reasons = []
    if len(others) >= 2 and usual < HASTY * median(others):
        reasons.append(f"{usual:.0f} s an item (median), others {median(others):.0f} s")
    read = [one for one in own if not one.repeat]
    hasty = sum(one.seconds < _words(one) / WORDS_A_SECOND for one in read)
    if hasty * 2 > len(read):
        reasons.append(f"{hasty} of {len(read)} items were answered faster than they can be read")
    return reasons


def _words(response: Response) -> int:
    return sum(len(text.split()) for text in _texts(response.item.payload))


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for one in value for text in _texts(one)] if isinstance(value, (list, tuple)) else []


def _alike(own: Sequence[Response]) -> list[str]:
    given = [one.given for one in own if not one.repeat and not one.item.check]
    # Marks of complaints have a name each: they are alike if all are the same mark.
    marks = {mark for one in given for mark in one.values()}
    if len(given) < ALIKE or (len(marks) > 1 and any(one != given[0] for one in given)):
        return []
    return [f"all {len(given)} items have the same answers"]
