"""How often a fixed sentence stands in place of a model's reply, and why: counted with each reply, and shown at once.

A patient whose drafts are all rejected (they give the concern away, are empty, and so on: `patient.FAULTS`) says a
fixed sentence instead. Nobody notices in the talk itself, and a study in which it happens often measures the sentences.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select, update

from baselines.medconceal.record import Exchange
from baselines.medconceal.validity import MOST_REPLACED
from baselines.study.tables import slots

_OWN = "model"


@dataclass(frozen=True, slots=True)
class Counted:
    """How many replies models were asked for, and of those that were replaced, how many by what was wrong."""

    of: int
    by: Mapping[str, int]

    @property
    def replaced(self) -> int:
        return sum(self.by.values())

    def told(self) -> str:
        """The numbers as a text."""
        if not self.replaced:
            return f"0 of {self.of:,}"
        causes = ", ".join(f"{cause} {count:,}" for cause, count in sorted(self.by.items()))
        return f"{self.replaced:,} of {self.of:,} ({self.replaced / self.of:.0%}); last draft rejected for: {causes}"

    def warning(self) -> str:
        """What is wrong if there are more than a valid run may have, else ""."""
        if self.replaced <= MOST_REPLACED * self.of:
            return ""
        return (
            f"fixed sentences stand in place of {self.replaced:,} of {self.of:,} replies of the patient; "
            f"with more than {MOST_REPLACED:.0%} a run is not valid"
        )


def keep(connection: Connection, number: int, exchanges: Sequence[Exchange]) -> None:
    """Stores how the replies of a talk came about, all of them: whatever was stored before."""
    found = Counter(one.replaced or _OWN for one in exchanges if one.drafted)
    told = json.dumps(found, sort_keys=True)
    connection.execute(update(slots).where(slots.c.id == number).values(replies=told))


def counted(connection: Connection, number: int | None = None) -> Counted:
    """The count of one talk, or of all."""
    asked = select(slots.c.replies).where(slots.c.replies.is_not(None))
    if number is not None:
        asked = asked.where(slots.c.id == number)
    found: Counter[str] = Counter()
    for row in connection.execute(asked):
        found.update(json.loads(row.replies))
    return Counted(found.total(), {cause: count for cause, count in found.items() if cause != _OWN})
