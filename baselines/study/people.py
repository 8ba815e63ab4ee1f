"""The people of a study: invited, in, done, gone. Each step is taken once, from the stage that it belongs to.

A person is P001, P002 and so on, everywhere. Their identity elsewhere (Prolific's id) is in one table, encrypted.
"""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update

from baselines.study import slots as at
from baselines.study.access import make_link
from baselines.study.design import Check, Prolific, Question
from baselines.study.flow import ENDED, Stage
from baselines.study.journal import note
from baselines.study.keys import STUDY, Keys
from baselines.study.store import fact_in
from baselines.study.tables import answers, drafts, identity, links, messages, people, requests, sessions, slots
from baselines.study.tasks.task import Form, FormError
from loaders.errors import InputError

MOST_LINE = 500  # characters of an answer in a survey
TRIES = 3
"""How often the comprehension questions may be answered."""
FACTORS = (1.0, 1.5, 2.0)
"""Factors of the time limit that a coordinator may grant."""
_DRAFTED: tuple[Stage, ...] = ("survey", "practice", "comprehension")
_OUTSIDE = re.compile(r"[0-9a-f]{24}")  # an id of Prolific


@dataclass(frozen=True, slots=True)
class Person:
    """A person, as in the database row; what they wrote stays encrypted."""

    id: str
    number: int
    stage: Stage
    began: float | None
    ended: float | None
    factor: float
    consent: str | None
    tries: int
    paste: int


_COLUMNS = [people.c[name] for name in Person.__slots__]
_BY_NAME = select(*_COLUMNS).where(people.c.id == bindparam("name"))


def person_of(connection: Connection, name: str) -> Person:
    """A person by name. Raises InputError."""
    row = connection.execute(_BY_NAME, {"name": name}).mappings().first()
    if row is None:
        raise InputError("person", found=repr(name), expected="a person of the study, such as P001")
    return Person(**row)


def everybody(connection: Connection) -> list[Person]:
    """All people, in the order in which they were invited."""
    return [Person(**row) for row in connection.execute(select(*_COLUMNS).order_by(people.c.number)).mappings()]


def check_keys(connection: Connection, keys: Keys) -> None:
    """Raises InputError if somebody who was not erased has no key: all of theirs would look erased."""
    there = keys.holders()
    missing = [person.id for person in everybody(connection) if person.stage != "erased" and person.id not in there]
    if missing:
        half = [name for name in missing if name in keys.erased()]
        raise InputError(
            keys.path or "keys",
            found=f"no key of {', '.join(missing[:3])}{' …' if missing[3:] else ''}",
            expected="a key of everybody who was not erased",
            do=f"Their deletion was interrupted: complete it by `bedside study erase STUDY {' '.join(half)}`"
            if half == missing
            else "Restore its backup; if `bedside study erase` was interrupted, repeat it",
        )


def end_erasing(connection: Connection, keys: Keys, now: float) -> bool:
    """Completes deletions that were interrupted once the key was erased; returns whether there were any."""
    gone = keys.erased()
    half = [person for person in everybody(connection) if person.stage != "erased" and person.id in gone]
    for person in half:
        erase(connection, keys, person.id, now)
    return bool(half)


def invite(connection: Connection, keys: Keys, count: int, now: float) -> list[tuple[str, str]]:
    """New people, each with the token of a one-time link."""
    invited = []
    last: int = connection.execute(select(func.max(people.c.number))).scalar() or 0
    # A database that was restored from a backup no longer knows everybody; their keys do.
    first = 1 + max([last, *(int(name[1:]) for name in (keys.holders() | keys.erased()) - {STUDY})])
    for number in range(first, first + count):
        name = f"P{number:03d}"
        keys.make(name)
        connection.execute(people.insert().values(id=name, number=number, stage="invited", invited=now))
        note(connection, now, "invited", person=name)
        invited.append((name, make_link(connection, name, now)))
    return invited


def link_again(connection: Connection, name: str, now: float) -> str:
    """Another link for somebody who can no longer get in. Raises InputError for one who has ended, and, in a closed
    study, for one who has not begun."""
    person = person_of(connection, name)
    if person.stage in ENDED:
        raise InputError(name, found=person.stage, expected="a person who is still in the study")
    if person.stage == "invited" and fact_in(connection, "closed") is not None:
        raise InputError(name, found="has not begun, and the study is closed", expected="a person who has begun")
    note(connection, now, "linked again", person=name)
    return make_link(connection, name, now)


def of_prolific(connection: Connection, keys: Keys, query: Mapping[str, str]) -> str | None:
    """Who was here before with this id of Prolific, though another of its studies may lead here now."""
    known = identity.c.known == keys.known(query.get("PROLIFIC_PID", ""))
    found: str | None = connection.execute(select(identity.c.person).where(known)).scalar()
    return found


def came_by_prolific(connection: Connection, name: str) -> bool:
    """Whether Prolific sent this person: whoever came by a link of a coordinator has no use for its codes."""
    return connection.execute(select(identity.c.person).where(identity.c.person == name)).first() is not None


def is_sent_by(prolific: Prolific, query: Mapping[str, str]) -> bool:
    """Whether an address has three ids as Prolific sends them, of this study."""
    ids = (query.get("PROLIFIC_PID", ""), query.get("SESSION_ID", ""))
    return query.get("STUDY_ID") == prolific.study_id and all(map(_OUTSIDE.fullmatch, ids))


def from_prolific(connection: Connection, keys: Keys, query: Mapping[str, str], now: float) -> str:
    """Somebody new, whose ids of Prolific are kept; the token of their link."""
    ((name, token),) = invite(connection, keys, 1, now)
    outside = query["PROLIFIC_PID"]
    sealed = keys.seal_json(STUDY, {"prolific": outside, "session": query["SESSION_ID"]})
    connection.execute(identity.insert().values(person=name, sealed=sealed, known=keys.known(outside)))
    return token


# --- Steps ------------------------------------------------------------------------------------------------------------


def move(connection: Connection, person: Person, stage: Stage, now: float, **values: Any) -> None:
    """Move the person from their current stage to another."""
    if stage in ENDED:
        values["ended"] = now
    changed = connection.execute(
        update(people).where(people.c.id == person.id, people.c.stage == person.stage).values(stage=stage, **values)
    )
    if changed.rowcount:
        note(connection, now, "stage", person=person.id, stage=stage)


def keep(connection: Connection, keys: Keys, person: Person, name: str, value: Any) -> None:
    """Adds to the encrypted facts about a person."""
    told = known_of(connection, keys, person.id) | {name: value}
    connection.execute(update(people).where(people.c.id == person.id).values(sealed=keys.seal_json(person.id, told)))


def keep_draft(connection: Connection, keys: Keys, person: Person, draft: dict[str, list[str]]) -> None:
    """Stores what is being filled in before the items. Of the consent form nothing is stored before its button."""
    if person.stage in _DRAFTED:
        keep(connection, keys, person, "draft", {"stage": person.stage, "given": draft})


def draft_of(connection: Connection, keys: Keys, person: Person) -> dict[str, list[str]]:
    """What was being filled in on the page of this stage."""
    told = known_of(connection, keys, person.id).get("draft") if person.stage in _DRAFTED else None
    return told["given"] if told and told["stage"] == person.stage else {}


def drop_draft(connection: Connection, keys: Keys, person: Person) -> None:
    """Deletes what was being filled in: it was sent, or the person stops."""
    if known_of(connection, keys, person.id).get("draft"):
        keep(connection, keys, person, "draft", None)


def known_of(connection: Connection, keys: Keys, name: str) -> dict[str, Any]:
    """What a person answered outside the items: survey, practice. Raises Erased."""
    sealed = connection.execute(select(people.c.sealed).where(people.c.id == name)).scalar()
    return keys.open_json(name, sealed) or {}


def read_survey(questions: Sequence[Question], form: Form) -> dict[str, str]:
    """The answers of a survey. Raises FormError for the first that is missing or not one of the options."""
    found = {}
    for question in questions:
        text = " ".join(" ".join(form.get(question.name, ())).split())[:MOST_LINE]
        if question.kind == "choice" and text and text not in question.options:
            raise FormError(question.name, f"“{question.shown}”: choose one of the answers.")
        if question.kind == "number" and text and not re.fullmatch(r"\d{1,6}", text):
            raise FormError(question.name, f"“{question.shown}”: a whole number, please.")
        if question.kind == "number" and text:
            text = str(int(text))  # in digits that whoever reads an export knows, whatever script they were typed in
        if question.required and not text:
            raise FormError(question.name, f"“{question.shown}” has no answer yet.")
        found[question.name] = text
    return found


def asked(checks: Sequence[Check], seed: int, name: str) -> list[tuple[str, list[tuple[int, str]]]]:
    """The comprehension questions as a person sees them, always in the same way: numbered options, in an order drawn
    for that person. In the design, the right option comes first."""
    shown = []
    for place, check in enumerate(checks):
        options = list(enumerate(check.options))
        random.Random(f"{seed} {name} {place}").shuffle(options)  # seeded by text: the same in every process
        shown.append((check.shown, options))
    return shown


def right(checks: Sequence[Check], form: Form) -> bool:
    """Whether all comprehension questions are answered correctly. Raises FormError for one without an answer."""
    given = []
    for number in range(len(checks)):
        chosen = form.get(f"check{number}", ())
        if len(chosen) != 1:
            raise FormError(f"check{number}", f"Question {number + 1} has no answer yet.")
        given.append(chosen[0])
    return given == [str(check.right) for check in checks]


def withdraw(connection: Connection, keys: Keys, person: Person, now: float, *, erased: bool) -> None:
    """The person stops: the item in hand is left, and with `erased` everything that they did is deleted."""
    mine = at.open_slot(connection, person.id)
    if mine is not None:
        at.leave(connection, keys, mine, "stopped", now)
    if person.stage not in ENDED:
        move(connection, person, "withdrawn", now)
    if erased:
        erase(connection, keys, person.id, now)
    else:
        drop_draft(connection, keys, person)


def erase(connection: Connection, keys: Keys, name: str, now: float) -> None:
    """Delete all texts of a person, and the key that opens copies of them. What remains: that there was somebody, when,
    how many items, and the keyed digest of their outside id. Raises InputError for an unknown person."""
    person = person_of(connection, name)
    mine = select(slots.c.id).where(slots.c.person == name).scalar_subquery()
    for table in (messages, drafts, requests):
        connection.execute(delete(table).where(table.c.slot.in_(mine)))
    # Models' answers were paid for, and count: their tokens stay, without a text and without the digest of a request.
    for row in connection.execute(select(answers.c.digest).where(answers.c.slot.in_(mine))).all():
        aside = "".join(row.digest.partition(".")[1:])  # as `talks.Asked.set_aside`
        bare = {"digest": f"erased {secrets.token_hex(16)}{aside}", "sealed": b""}
        connection.execute(update(answers).where(answers.c.digest == row.digest).values(**bare))
    connection.execute(update(slots).where(slots.c.person == name).values(sealed=None, after=None, episode=None))
    for slot in at.slots_of(connection, name):
        at.leave(connection, keys, slot, "stopped", now)
    # The keyed digest of the outside id stays, so that nobody takes part, and is paid, twice.
    connection.execute(update(identity).where(identity.c.person == name).values(sealed=b""))
    connection.execute(delete(links).where(links.c.person == name))
    connection.execute(delete(sessions).where(sessions.c.person == name))
    values = {"sealed": None, "stage": "erased", "ended": person.ended or now, "consent": None}
    connection.execute(update(people).where(people.c.id == name).values(**values))
    note(connection, now, "erased", person=name)
    keys.erase(name)


def grant(connection: Connection, name: str, factor: float, now: float) -> None:
    """More time for a person, from the next talk on; it is recorded, and reported separately. Raises InputError."""
    if factor not in FACTORS:
        raise InputError("factor", found=str(factor), expected="one of 1, 1.5 and 2")
    person = person_of(connection, name)
    connection.execute(update(people).where(people.c.id == person.id).values(factor=factor))
    note(connection, now, "granted", person=name, factor=factor)
