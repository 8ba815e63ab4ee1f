"""What happened in a study, row by row, each with the digest of the one before, and without anything that was said.

    note(connection, at, "message", person="P001", slot=3, number=5)
    checked(connection)                        # how many rows, and the digest of the last

Rows are written in the same transaction as what they record, and never changed. To prove later that no row was
cut off at the end, keep the last digest elsewhere: `study check`, `export` and the coordinator's page print it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from sqlalchemy import Connection, select

from baselines.study.tables import journal
from loaders.errors import InputError

BEGINNING = "0" * 64
_LAST = select(journal.c.number, journal.c.digest).order_by(journal.c.number.desc()).limit(1)
_ROW = journal.insert()


def note(
    connection: Connection,
    at: float,
    what: str,
    *,
    person: str | None = None,
    slot: int | None = None,
    **detail: str | int | float | bool | None,
) -> None:
    """Writes a row; `detail` holds counts, codes and digests, never a person's text."""
    last = connection.execute(_LAST).first()
    number, previous = (1, BEGINNING) if last is None else (last.number + 1, last.digest)
    told = json.dumps(detail, sort_keys=True)
    values = {
        "number": number, "at": at, "what": what, "person": person, "slot": slot, "detail": told, "previous": previous,
    }  # fmt: skip
    connection.execute(_ROW, {**values, "digest": _digest(values)})


def checked(connection: Connection) -> tuple[int, str]:
    """How many rows there are, and the digest of the last one.

    Raises InputError for the first row that was changed, or that no longer follows the same row as before.
    """
    previous, count = BEGINNING, 0
    for row in connection.execute(select(journal).order_by(journal.c.number)).mappings():
        values = {name: row[name] for name in ("number", "at", "what", "person", "slot", "detail", "previous")}
        count += 1
        if row["number"] != count or row["previous"] != previous or row["digest"] != _digest(values):
            raise InputError(
                f"journal, row {count}",
                found="was changed, or an earlier row is missing",
                expected="an append-only journal",
                do="Compare with a backup: the database was changed from outside",
            )
        previous = row["digest"]
    return count, previous


def reached(connection: Connection) -> Iterator[tuple[str, str]]:
    """Each person who came to a stage, and the stage, in order."""
    told = select(journal.c.person, journal.c.detail).where(journal.c.what == "stage").order_by(journal.c.number)
    return ((row.person, str(json.loads(row.detail).get("stage"))) for row in connection.execute(told))


def last_failure(connection: Connection) -> str:
    """What was wrong with a model last, to be put after a number; "" if nothing is known."""
    told = select(journal.c.detail).where(journal.c.what == "model failed").order_by(journal.c.number.desc()).limit(1)
    why = json.loads(connection.execute(told).scalar() or "{}").get("why")
    return f"; the last: {why}" if why else ""


def head(connection: Connection) -> str:
    """The digest of the last row."""
    found = connection.execute(_LAST).first()
    return BEGINNING if found is None else str(found.digest)


def _digest(values: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()
