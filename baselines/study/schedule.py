"""Who gets which item next: by seed, balanced, and as if decided beforehand.

    choice = choose(design, offers, held, person)      # None: nothing (more) for this person

Pure functions of the items and of what was given so far, in the order in which it was given.

Talks: every case in each task gets `completed` encounters. Nobody gets a case twice, not even in another task. The
order of tasks is a row of a Latin square: the row that the fewest people still in the study begin with. Of the cases
that a person may get, the least filled comes first, then the one that came up least often at this place of a session.

Ratings and diagnoses: `completed` people do all items (of their arm, if a task has conditions between people), each
in an order of their own: rows of a Williams square, again the least used first. Some of the items
come again, half the items later. Whoever leaves before the last item that does not come again is replaced by someone
who does all items: tables need complete raters.

Only finished and open items count, so that what somebody left unfinished is given out again, and arms, rows and cases
stay within one of each other.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from baselines.study.design import TALKS, Design, TaskName

BETWEEN: tuple[TaskName, ...] = ("diagnosis",)
"""Tasks whose parts are conditions between people."""
CHECKS = "check"
"""The part of the items that say what to answer."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What the schedule needs to know of an item: its id, its task and its case.

    An id may begin with a part and a slash: a condition between people (`image+all/C07`), a block that comes before the
    next (`basic/D01`, `additional/D01.1`), or `check`.
    """

    id: str
    task: TaskName
    group: str

    @property
    def part(self) -> str:
        """The part before the slash, or ""."""
        return self.id.partition("/")[0] if "/" in self.id else ""

    @property
    def check(self) -> bool:
        """Whether it says what to answer."""
        return self.part == CHECKS


@dataclass(frozen=True, slots=True)
class Held:
    """An item that somebody was given: by whom (the person's number, from 1), and its outcome."""

    person: int
    item: str
    task: TaskName
    group: str
    state: Literal["open", "done", "lost"]
    repeat: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person gets next."""

    offer: Offer
    repeat: bool = False


def choose(design: Design, offers: Sequence[Offer], held: Sequence[Held], person: int) -> Choice | None:
    """What a person with no open item gets next; None if they are done, or nothing more is wanted.

    It is called within the transaction that then writes the slot, so that no two people are given the last one.
    """
    mine = [one for one in held if one.person == person]
    order = _order(design, held, person)
    for task in order:
        # A check is no case: each task has its own, by the same names.
        elsewhere = {one.group for one in mine if one.task != task and not one.item.startswith(f"{CHECKS}/")}
        own = [offer for offer in offers if offer.task == task and offer.group not in elsewhere]
        if task in TALKS:
            talks = [name for name in order if name in TALKS]
            place = talks.index(task)
            share = (design.per_person - place + len(talks) - 1) // len(talks)
            choice = _talk(design, own, held, mine, share) if own else None
        else:
            choice = _rating(design, own, [one for one in held if one.task == task], person)
        if choice:
            return choice
    return None


def wanted(design: Design, offers: Sequence[Offer], held: Sequence[Held]) -> dict[tuple[TaskName, str], int]:
    """How many more people each (task, item) needs, besides those who have done it or are at it; without those at 0."""
    needed: dict[tuple[TaskName, str], int] = {}
    for task in design.tasks:
        own = [offer for offer in offers if offer.task == task]
        if task in TALKS:
            taken = _taken(held)
            left = {offer.id: design.completed - taken[task, offer.id] for offer in own}
        else:
            within = _raters(own, [one for one in held if one.task == task])
            arms = Counter(_arm(task, items[0].item) for items in within.values())
            cases = [offer for offer in own if not offer.check]  # checks go with them
            left = {offer.id: design.completed - arms[_arm(task, offer.id)] for offer in cases}
        needed.update({(task, item): count for item, count in left.items() if count > 0})
    return needed


def items_a_person(design: Design, offers: Sequence[Offer]) -> int:
    """How many items a person is given who does all of them, at least one."""
    talks = min(design.per_person, len({offer.group for offer in offers if offer.task in TALKS}))
    rated = sum(max(rounds(design, offers, task), default=0) for task in design.tasks if task not in TALKS)
    return max(talks + rated, 1)


def rounds(design: Design, offers: Sequence[Offer], task: TaskName) -> list[int]:
    """How many items a rater of each arm of a task is given, including repeats and those that say what to answer."""
    own = [offer for offer in offers if offer.task == task]
    return [len(visits(design, _within(own, arm), 0)) for arm in _arms(own)]


def fewest_people(design: Design, offers: Sequence[Offer]) -> int:
    """How many people the design needs, if nobody leaves."""
    talks = [task for task in design.tasks if task in TALKS]
    raters = design.completed * max(
        (len(rounds(design, offers, task)) for task in design.tasks if task not in TALKS), default=0
    )
    places = [offer for offer in offers if offer.task in talks]
    groups = Counter(offer.group for offer in places)
    each = max(1, min(design.per_person, len(groups)))
    # A person gets a case only once, so a case in two tasks takes two people.
    most = max(groups.values(), default=0) * design.completed
    return max(raters, most, -(-len(places) * design.completed // each))


# --- Talks ------------------------------------------------------------------------------------------------------------


def _order(design: Design, held: Sequence[Held], person: int) -> tuple[TaskName, ...]:
    """The tasks in this person's order: the one that they began in, else the one that the fewest have begun."""
    rows = _rows(design.tasks)
    begun: dict[int, list[TaskName]] = {}
    for one in held:
        begun.setdefault(one.person, []).append(one.task)
    if person in begun:
        return _row(rows, begun[person])
    within = {one.person for one in held if one.state != "lost"}
    used = Counter(_row(rows, tasks) for other, tasks in begun.items() if other in within)
    return min(rows, key=lambda row: (used[row], _drawn(design.seed, *row)))


def _row(rows: Sequence[tuple[TaskName, ...]], begun: Sequence[TaskName]) -> tuple[TaskName, ...]:
    """The first of the rows that agrees with the order in which tasks were begun."""
    seen = tuple(dict.fromkeys(begun))
    return next((row for row in rows if row[: len(seen)] == seen), rows[0])


def _rows(tasks: tuple[TaskName, ...]) -> list[tuple[TaskName, ...]]:
    """A Latin square of tasks, with the reversed rows added if their number is odd, so that neighbours balance."""
    rows = [tuple(tasks[at] for at in williams(len(tasks), row)) for row in range(len(tasks))]
    return rows + [row[::-1] for row in rows] if len(tasks) % 2 and len(tasks) > 1 else rows


def _talk(
    design: Design, own: Sequence[Offer], held: Sequence[Held], mine: Sequence[Held], share: int
) -> Choice | None:
    """A case of one task, whose offers are `own`; the person gets `share` of its cases."""
    task = own[0].task
    met = {one.group for one in mine}
    taken = _taken(held)
    free = [offer for offer in own if offer.group not in met and taken[task, offer.id] < design.completed]
    if not free or sum(one.task == task for one in mine) >= share:
        return None
    stood = _place_counts(held)
    # The tasks go through the cases with offsets, so that the last case open in one task is seldom one that the same
    # person had in the other.
    drawn = sorted((offer.id for offer in own), key=lambda item: _drawn(design.seed, item))
    begin = design.tasks.index(task) * len(drawn) // len(design.tasks)
    rank = {item: (at - begin) % len(drawn) for at, item in enumerate(drawn)}
    return Choice(
        min(free, key=lambda offer: (taken[task, offer.id], stood[task, offer.id, len(mine)], rank[offer.id]))
    )


def _taken(held: Sequence[Held]) -> Counter[tuple[TaskName, str]]:
    return Counter((one.task, one.item) for one in held if one.state != "lost")


def _place_counts(held: Sequence[Held]) -> Counter[tuple[TaskName, str, int]]:
    """How often each item came at each place of a session, from 0."""
    stood: Counter[tuple[TaskName, str, int]] = Counter()
    place: Counter[int] = Counter()
    for one in held:
        if one.state != "lost":
            stood[one.task, one.item, place[one.person]] += 1
        place[one.person] += 1
    return stood


# --- Ratings ----------------------------------------------------------------------------------------------------------


def _rating(design: Design, own: Sequence[Offer], held: Sequence[Held], person: int) -> Choice | None:
    """The next item for a rater of one task, whose offers are `own`; `held` is what was given so far."""
    mine = [one for one in held if one.person == person]
    others = {other: items for other, items in _raters(own, held).items() if other != person}
    arms = _arms(own)
    used = Counter(_arm(items[0].task, items[0].item) for items in others.values())
    if mine:
        arm = _arm(mine[0].task, mine[0].item)
    elif arms:
        arm = min(arms, key=lambda arm: (used[arm], _drawn(design.seed, arm)))
    else:
        return None
    if used[arm] >= design.completed and not any(one.state == "done" for one in mine):
        return None
    asked = _within(own, arm)
    done = {(one.item, one.repeat) for one in mine if one.state != "lost"}
    first = [items[0].item for items in others.values()]
    for choice in visits(design, asked, _row_of(design, asked, first, mine)):
        if (choice.offer.id, choice.repeat) not in done:
            return choice
    return None


def _raters(own: Sequence[Offer], held: Sequence[Held]) -> dict[int, list[Held]]:
    """What the raters whom nobody replaces were given. Whoever lost their last item has left; if that was a repeat or
    a check, and all else is done, nothing of theirs is missing in a table."""
    by_person: dict[int, list[Held]] = {}
    for one in held:
        by_person.setdefault(one.person, []).append(one)
    return {person: items for person, items in by_person.items() if items[-1].state != "lost" or _is_whole(own, items)}


def _is_whole(own: Sequence[Offer], given: Sequence[Held]) -> bool:
    """Whether a rater has done each item of their arm once."""
    asked = {offer.id for offer in _within(own, _arm(given[0].task, given[0].item)) if not offer.check}
    return asked <= {one.item for one in given if one.state == "done"}


def _arm(task: TaskName, item: str) -> str:
    return item.partition("/")[0] if task in BETWEEN else ""


def _arms(own: Sequence[Offer]) -> list[str]:
    """The arms of a task's items; a single one without a name if it has no conditions between people."""
    return sorted({_arm(offer.task, offer.id) for offer in own if not offer.check})


def _within(own: Sequence[Offer], arm: str) -> list[Offer]:
    """The items of an arm."""
    return [offer for offer in own if not arm or offer.part in (arm, CHECKS)]


def _row_of(design: Design, asked: Sequence[Offer], first: Sequence[str], mine: Sequence[Held]) -> int:
    """The row of a rater: the one that begins with what they began with, else the least used."""
    groups = _groups(design, asked)
    begins = {offer.id: groups.index(offer.group) for offer in asked if not offer.check}
    if mine and mine[0].item in begins:
        return begins[mine[0].item]
    used = Counter(begins[item] for item in first if item in begins)
    return min(spread(len(groups)), key=lambda row: used[row])  # the first of the least used ones


def visits(design: Design, asked: Sequence[Offer], row: int) -> list[Choice]:
    """The items of a rater in the order of a row: blocks one after another, in each the cases in that order.

    Over as many raters as cases, each case comes once at each place. Repeats (`design.repeated` of each block's items,
    drawn from its first half) come at least half the block later; items that say what to answer come anywhere but
    first.
    """
    groups = _groups(design, asked)
    if not groups:
        return []
    place = {groups[at]: number for number, at in enumerate(williams(len(groups), row))}
    items = [offer for offer in asked if not offer.check]
    parts = {part: at for at, part in enumerate(dict.fromkeys(offer.part for offer in items))}
    order = sorted(items, key=lambda offer: (parts[offer.part], place[offer.group]))
    count, rater = len(order), str(row)
    later: dict[int, list[Choice]] = {}
    for part in parts:
        block = [at for at, offer in enumerate(order) if offer.part == part]
        half = (len(block) + 1) // 2
        again = sorted(block[: len(block) - half], key=lambda at: _drawn(design.seed, rater, order[at].id))
        for at in again[: int(len(block) * design.repeated + 0.5)]:
            later.setdefault(at + half, []).append(Choice(order[at], repeat=True))
    checks = sorted((offer for offer in asked if offer.check), key=lambda offer: offer.id)
    for at, offer in enumerate(checks):
        low, high = at * count // len(checks), (at + 1) * count // len(checks)
        drawn = int(_drawn(design.seed, rater, offer.id)[:8], 16)
        later.setdefault(low + drawn % max(1, high - low), []).append(Choice(offer))
    return [choice for at, offer in enumerate(order) for choice in (Choice(offer), *later.get(at, ()))]


def _groups(design: Design, asked: Sequence[Offer]) -> list[str]:
    """The cases in an order drawn by seed."""
    groups = {offer.group for offer in asked if not offer.check}
    return sorted(groups, key=lambda group: _drawn(design.seed, asked[0].task, group))


# --- Squares ----------------------------------------------------------------------------------------------------------


def williams(count: int, row: int) -> list[int]:
    """A row of a Latin square of `count` symbols (Williams 1949); if that is even, each follows each other exactly
    once.

    >>> [williams(4, row) for row in range(4)]
    [[0, 3, 1, 2], [1, 0, 2, 3], [2, 1, 3, 0], [3, 2, 0, 1]]
    """
    zigzag = [at // 2 if at % 2 == 0 else count - (at + 1) // 2 for at in range(count)]
    return [(value + row) % count for value in zigzag]


def spread(count: int) -> list[int]:
    """The numbers below `count` in an order in which consecutive ones are far apart.

    >>> spread(8)
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    width = max(1, (count - 1).bit_length())
    return sorted(range(count), key=lambda number: f"{number:0{width}b}"[::-1])


@lru_cache(maxsize=1 << 14)
def _drawn(seed: int, *names: str) -> str:
    """A draw by seed that no machine or version changes: a digest, to sort by or to read as a number."""
    return hashlib.sha256("\x1f".join((str(seed), *names)).encode()).hexdigest()
