"""What people have earned: welcome, finished cases, cases that broke off, and part of a case that they stopped in.

Pay is prorated, as in MedConceal: whoever stops is paid for the time spent on the case in hand, as a share of its
time. Deleting texts changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

from sqlalchemy import Connection, select

from baselines.study.design import Design
from baselines.study.flow import Stage
from baselines.study.journal import reached
from baselines.study.keys import STUDY, Keys
from baselines.study.people import Person, everybody
from baselines.study.slots import Slot, slots_of
from baselines.study.tables import identity

_PAST: tuple[Stage, ...] = ("comprehension", "work")
"""The stages after consent, survey, instructions and practice: everybody who goes on passes one of them."""


COLUMNS = ("person", "stage", "welcome", "done", "interrupted", "part", "amount", "currency")


def earned(design: Design, person: Person, slots: Sequence[Slot], *, welcome: bool) -> dict[str, str]:
    """What one person has earned, a row of `COLUMNS`: counts, and amounts in the design's currency, to the cent.

    `welcome` is whether they got as far as the questions about the instructions.
    """
    done = sum(slot.step == "done" for slot in slots)
    broken = sum(slot.step == "lost" and slot.why == "interrupted" for slot in slots)
    part = sum((_part(design, slot) for slot in slots), Decimal(0))
    pay = design.pay
    each, broke, first = (Decimal(str(one)) for one in (pay.each_case, pay.interrupted_case, pay.welcome))
    amount = done * each + broken * broke + part + (first if welcome else 0)
    cells = (person.id, person.stage, int(welcome), done, broken, f"{part:.2f}", f"{_cents(amount):.2f}", pay.currency)
    return dict(zip(COLUMNS, map(str, cells), strict=True))


def _part(design: Design, slot: Slot) -> Decimal:
    """For a talk that the person left, the share of its time that was used."""
    if slot.step != "lost" or slot.why == "interrupted" or not slot.talks or slot.allowed <= 0:
        return Decimal(0)
    share = min(1.0, slot.used / slot.allowed)
    return _cents(Decimal(str(design.pay.each_case)) * Decimal(str(share)))


def _cents(amount: Decimal) -> Decimal:
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)


def outside(connection: Connection, keys: Keys) -> dict[str, str]:
    """Person -> Prolific's id, for those who came from there and were not erased."""
    return {
        row.person: str((keys.open_json(STUDY, row.sealed) or {}).get("prolific", ""))
        for row in connection.execute(select(identity).where(identity.c.sealed != b""))
    }


def table(connection: Connection, design: Design) -> list[dict[str, str]]:
    """Everybody who has come so far, by pseudonym: the rows of `COLUMNS`."""
    came = {person for person, stage in reached(connection) if stage in _PAST}
    rows = []
    for person in everybody(connection):
        slots = slots_of(connection, person.id)
        welcome = person.id in came or bool(slots)
        if welcome or person.began is not None:
            rows.append(earned(design, person, slots, welcome=welcome))
    return rows
