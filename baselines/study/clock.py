"""The clock of a talk across server downtime: it resumes at what the person was last shown, to the second.

The clock is computed from stored instants (`Slot.spent`). When a server starts, nobody knows how long there was none:
all clocks are stopped as of the last heartbeat (`stand`), also those that would start with a reply, and each resumes
with its person's first request (`go_on`), from what the last page that reached the browser showed. The browser reports
that, in a cookie that came with the page (`shown`): the server can only store something before or after it sends a
page, which is not the moment in which the page arrives, and a kill can fall in between. Without the cookie, in another
browser, the last heartbeat counts. A cookie is believed only at that moment and for the talk that it came with; it
gives back at most the time of the words being written, and takes at most what may lie between the last heartbeat and
the end (`SILENT`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from sqlalchemy import Connection, update

from baselines.study.journal import note
from baselines.study.slots import Slot, slot_of
from baselines.study.tables import slots

SILENT = 10.0
"""Seconds without a heartbeat after which no server was running, whatever a lock of a lost machine says."""


def steady() -> Callable[[], float]:
    """The seconds since 1970, counted from now on by a clock that nobody sets and that stands while the machine sleeps.

    The machine's own clock may be set during a talk: back, and replies come before their messages; forward, and all
    talks are over.
    """
    ahead = time.time() - time.monotonic()
    return lambda: ahead + time.monotonic()


def shown(slot: Slot, now: float) -> str:
    """What a browser stores of the clock that it is sent: the talk, and the seconds used."""
    return f"{slot.id}-{slot.spent(now)!r}"


def _last_shown(slot: Slot, cookie: str | None) -> float | None:
    found = re.fullmatch(r"(\d{1,18})-(\d{1,9}(?:\.\d{1,20})?)", cookie or "", re.ASCII)
    return float(found[2]) if found and int(found[1]) == slot.id and slot.step == "talk" else None


def stand(connection: Connection, beat: float) -> None:
    """No server has run since `beat`: clocks stop as of then, until their people are back. That of a talk that
    waits for a reply would start with the reply, with nobody there."""
    going = slots.c.since.is_not(None) | (slots.c.step == "talk")
    connection.execute(update(slots).where(going, slots.c.stood.is_(None)).values(stood=beat))


def go_on(connection: Connection, slot: Slot, cookie: str | None, now: float) -> Slot:
    """The slot, with its clock running again from what the person was shown; unchanged if it was not stopped."""
    if slot.stood is None:
        return slot
    if slot.preparing:  # its clock starts with the reply
        connection.execute(update(slots).where(slots.c.id == slot.id).values(stood=None))
        return slot_of(connection, slot.id)
    told, spent = _last_shown(slot, cookie), slot.spent(now)
    if told is not None:
        spent = min(max(slot.used, told), spent + SILENT)
    # What a browser claims to have shown cannot be proved, so the time that it gave back is recorded in the journal.
    note(connection, now, "clock", person=slot.person, slot=slot.id, back=round(slot.spent(now) - spent, 1))
    going = update(slots).where(slots.c.id == slot.id).values(since=now - (spent - slot.used), stood=None)
    connection.execute(going)
    return slot_of(connection, slot.id)
