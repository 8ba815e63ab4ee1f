"""What people have earned: welcome, finished cases, cases that broke off, and part of a case that they stopped in.

Pay is prorated, as in MedConceal: whoever stops is paid for the time spent on the case in hand, as a share of its
time. Deleting texts changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from sqlalchemy import select

from baselines.study.design import TALKS, Design
from baselines.study.flow import Stage
from baselines.study.keys import STUDY, Keys
from baselines.study.people import Person, everybody
from baselines.study.slots import Slot, slots_of
from baselines.study.store import identity, journal

if TYPE_CHECKING:
    from sqlalchemy import Connection

_PAST: tuple[Stage, ...] = ("comprehension", "work", "debriefing", "done", "screened_out")
"""Stages that nobody reaches without consent, survey, instructions and practice."""


@dataclass(frozen=True, slots=True)
class Earned:
    """A person's pay: counts, and `amount` in the design's currency, to the cent."""

    person: str
    stage: Stage
    welcome: bool
    done: int
    interrupted: int
    part: Decimal
    amount: Decimal


COLUMNS = ("person", "stage", "welcome", "done", "interrupted", "part", "amount", "currency")


def earned(design: Design, person: Person, slots: Sequence[Slot], *, welcome: bool) -> Earned:
    """What one person has earned; `welcome` is whether they got as far as the questions about the instructions."""
    done = sum(slot.step == "done" for slot in slots)
    broken = sum(slot.step == "lost" and slot.why == "interrupted" for slot in slots)
    part = sum((_part(design, slot) for slot in slots), Decimal(0))
    pay = design.pay
    each, broke, first = (Decimal(str(one)) for one in (pay.each_case, pay.interrupted_case, pay.welcome))
    amount = done * each + broken * broke + part + (first if welcome else 0)
    return Earned(person.id, person.stage, welcome, done, broken, part, _cents(amount))


def _part(design: Design, slot: Slot) -> Decimal:
    """For a talk that the person left, the share of its time that was used."""
    if slot.step != "lost" or slot.why == "interrupted" or slot.task not in TALKS or slot.allowed <= 0:
        return Decimal(0)
    share = min(1.0, slot.used / slot.allowed)
    return _cents(Decimal(str(design.pay.each_case)) * Decimal(str(share)))


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)


def outside(connection: Connection, keys: Keys) -> dict[str, str]:
    """Person -> Prolific's id, for those who came from there and were not erased."""
    return {
        row.person: str((keys.open_json(STUDY, row.sealed) or {}).get("prolific", ""))
        for row in connection.execute(select(identity))
    }


def table(connection: Connection, design: Design) -> list[dict[str, str]]:
    """Everybody who has come so far, by pseudonym: the rows of `COLUMNS`."""
    came = set()
    for row in connection.execute(select(journal.c.person, journal.c.detail).where(journal.c.what == "stage")):
        if json.loads(row.detail).get("stage") in _PAST:
            came.add(row.person)
    rows = []
    for person in everybody(connection):
        slots = slots_of(connection, person.id)
        one = earned(design, person, slots, welcome=person.id in came or bool(slots))
        if one.welcome or person.began is not None:
            rows.append(
                {
                    "person": one.person,
                    "stage": one.stage,
                    "welcome": str(int(one.welcome)),
                    "done": str(one.done),
                    "interrupted": str(one.interrupted),
                    "part": f"{one.part:.2f}",
                    "amount": f"{one.amount:.2f}",
                    "currency": design.pay.currency,
                }
            )
    return rows
